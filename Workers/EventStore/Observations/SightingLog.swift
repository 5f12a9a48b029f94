// Stored events that relays sent again, in that order, for the observers that need them: under `network-only` every
// sighting counts, and for single relays those of events that were never seen there before.
//
// A ring: an observer keeps a position in it, and reads on when it has room. The ring is bounded, because it is not on
// disk. An observer that falls behind by more than the whole ring is informed that it missed something, and starts
// again.

/// A stored event came again.
public struct Sighting: Hashable, Sendable {
  /// The event.
  public let seq: Int64
  /// The relay's number.
  public let relay: Int64
  /// Whether the relay had never sent it before.
  public let isNew: Bool

  /// A sighting.
  public init(seq: Int64, relay: Int64, isNew: Bool) {
    self.seq = seq
    self.relay = relay
    self.isNew = isNew
  }
}

/// The recent sightings.
public struct SightingLog: Sendable {
  private var ring: [Sighting] = []
  private let capacity: Int
  /// The position after the last sighting.
  public private(set) var end: UInt64 = 0

  /// The standard number of sightings kept: 24 bytes each.
  public static let standardCapacity = 65_536

  /// An empty log.
  public init(capacity: Int = SightingLog.standardCapacity) { self.capacity = capacity }

  /// Adds a sighting; when the ring is full, the oldest is dropped.
  public mutating func append(_ sighting: Sighting) {
    if ring.count < capacity {
      ring.append(sighting)
    } else {
      ring[Int(end % UInt64(capacity))] = sighting
    }
    end += 1
  }

  /// The sightings from a position on, `count` at most; nil when some of them were dropped.
  public func page(from place: UInt64, count: Int) -> [Sighting]? {
    guard end - place <= UInt64(ring.count) else { return nil }
    let wanted = min(count, Int(end - place))
    var page: [Sighting] = []
    page.reserveCapacity(wanted)
    for index in place..<place + UInt64(wanted) { page.append(ring[Int(index % UInt64(capacity))]) }
    return page
  }
}
