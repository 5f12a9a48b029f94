/// Who can be read where: authors, and the relays that each declares for writing (NIP-65).
///
/// Ids of authors and relays are the caller's. ``DeliveryBeliefs`` uses the same ids, so a caller that learns keeps
/// them over all selections. Relays are numbered from 0 to ``relayCount``, which may be at most ``relayCountMaximum``.
///
/// Lists are hostile input: a relay that is named twice counts once, a number that no relay has is left out, and so are
/// all relays of a list after the first ``listMaximum``.
public struct RelayCandidates: Sendable {
  /// Relays of one author that count.
  public static let listMaximum = 24
  /// Relays that can have a number.
  public static let relayCountMaximum = 1 << 20

  /// Relays there are.
  public let relayCount: Int
  /// The ids of the authors, in the order in which they were added.
  public private(set) var authors: [Int32] = []
  /// Relays that are never asked: blocked, or not trusted.
  public var blocked: Set<Int32> = []
  /// Relays that a monitor calls alive (NIP-66), by number; nil: no monitor was asked.
  public var alive: [Bool]?

  /// Where the relays of each author begin in `entries`, and the end.
  private(set) var starts: [Int32] = [0]
  private(set) var entries: [Int32] = []

  /// Without an author.
  public init(relayCount: Int) {
    self.relayCount = min(max(0, relayCount), Self.relayCountMaximum)
  }

  /// Adds an author; one whose id is negative is left out.
  public mutating func add(_ author: Int32, _ relays: some Sequence<Int32>) {
    guard author >= 0 else { return }
    authors.append(author)
    entries += Self.usable(relays, relayCount)
    starts.append(Int32(entries.count))
  }

  /// The relays of the author at a place of ``authors``.
  public func relays(at place: Int) -> ArraySlice<Int32> { entries[Int(starts[place])..<Int(starts[place + 1])] }

  /// The relays of a list that count.
  static func usable(_ relays: some Sequence<Int32>, _ relayCount: Int) -> [Int32] {
    var list: [Int32] = []
    for relay in relays where relay >= 0 && relay < relayCount && !list.contains(relay) {
      list.append(relay)
      if list.count == listMaximum { break }
    }
    return list
  }
}

/// The same by relay: the authors that each relay can be asked for, without blocked relays.
struct RelayIndex: Sendable {
  private(set) var starts: [Int32]
  /// Places of authors.
  private(set) var places: [Int32]

  init(_ candidates: RelayCandidates) {
    var starts = [Int32](repeating: 0, count: candidates.relayCount + 1)
    var isBlocked = [Bool](repeating: false, count: candidates.relayCount)
    for relay in candidates.blocked where relay >= 0 && relay < candidates.relayCount { isBlocked[Int(relay)] = true }
    for relay in candidates.entries where !isBlocked[Int(relay)] { starts[Int(relay) + 1] += 1 }
    for relay in 0..<candidates.relayCount { starts[relay + 1] += starts[relay] }
    var places = [Int32](repeating: 0, count: Int(starts[candidates.relayCount]))
    var next = starts
    for place in candidates.authors.indices {
      for relay in candidates.relays(at: place) where !isBlocked[Int(relay)] {
        places[Int(next[Int(relay)])] = Int32(place)
        next[Int(relay)] += 1
      }
    }
    self.starts = starts
    self.places = places
  }

  var relayCount: Int { starts.count - 1 }

  func range(_ relay: Int) -> Range<Int> { Int(starts[relay])..<Int(starts[relay + 1]) }

  func authors(of relay: Int32, in candidates: RelayCandidates) -> [Int32] {
    range(Int(relay)).map { candidates.authors[Int(places[$0])] }
  }
}
