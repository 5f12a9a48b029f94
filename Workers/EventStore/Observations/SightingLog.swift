// What relays have sent that was stored already, in its order, for those observers to whom it counts now: under
// `network-only` whatever comes, and of some relays what was never seen there before.
//
// A ring: an observer keeps a place in it and reads on when he has room. It is bounded, because it is on no disk;
// whoever falls behind by more than all of it is told that he missed something, and begins again.

/// A stored event came again.
public struct Sighting: Hashable, Sendable {
  /// The event.
  public let seq: Int64
  /// The relay's number.
  public let relay: Int64
  /// Whether it had never come from there before.
  public let isNew: Bool

  /// A sighting.
  public init(seq: Int64, relay: Int64, isNew: Bool) {
    self.seq = seq
    self.relay = relay
    self.isNew = isNew
  }
}

/// The sightings of late.
public struct SightingLog: Sendable {
  private var ring: [Sighting] = []
  private let capacity: Int
  /// The place behind the last sighting.
  public private(set) var end: UInt64 = 0

  /// Sightings kept unless told otherwise: 24 bytes each.
  public static let standardCapacity = 65_536

  /// An empty log.
  public init(capacity: Int = SightingLog.standardCapacity) { self.capacity = capacity }

  /// Writes one down; the oldest goes when there is one too many.
  public mutating func append(_ sighting: Sighting) {
    if ring.count < capacity {
      ring.append(sighting)
    } else {
      ring[Int(end % UInt64(capacity))] = sighting
    }
    end += 1
  }

  /// The sightings from a place on, `count` at most; nil when some of them are not kept any more.
  public func page(from place: UInt64, count: Int) -> [Sighting]? {
    guard end - place <= UInt64(ring.count) else { return nil }
    let wanted = min(count, Int(end - place))
    var page: [Sighting] = []
    page.reserveCapacity(wanted)
    for index in place..<place + UInt64(wanted) { page.append(ring[Int(index % UInt64(capacity))]) }
    return page
  }
}
