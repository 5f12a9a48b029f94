internal import Frames
internal import Nostr

// How a query goes on after a lost connection. Pure.
//
// The order of the answer is fixed: newest first, of one second the lowest id first. So the last event taken says where
// to go on: ask for what is not newer, and pass over what stands before it. A filter's `limit` is about its own newest
// events: those taken count against it, except those of the last second, which come once more.

/// How far a query has come: what to ask when it has to be asked again.
struct QueryPlace: Sendable {
  private let filters: [Filter]
  private let limit: Int?
  /// Whether it began behind an event: nobody knows how many of its second come once more, so the limit is held here.
  private let isBehind: Bool
  private var last: (createdAt: Int64, id: EventID)?
  /// Events taken, in all and by filter.
  private var taken: [Int]
  private var takenCount = 0
  /// Those of them that are of the last one's second.
  private var takenInSecond: [Int]
  private var countInSecond = 0

  /// - Parameter last: an event to begin behind.
  init(_ filters: [Filter], limit: Int?, behind last: Event? = nil) {
    self.filters = filters
    self.last = last.map { ($0.createdAt, $0.id) }
    self.limit = limit
    isBehind = last != nil
    taken = filters.map { _ in 0 }
    takenInSecond = taken
  }

  /// The filters to ask with now.
  var nextFilters: [Filter] {
    guard let last else { return filters }
    return filters.enumerated().map { index, filter in
      var filter = filter
      filter.until = min(filter.until ?? .max, last.createdAt)
      if let limit = filter.limit { filter.limit = max(0, limit - taken[index] + takenInSecond[index]) }
      return filter
    }
  }

  /// Most events to ask for now.
  var nextLimit: Int? { isBehind ? nil : limit.map { max(0, $0 - takenCount + countInSecond) } }

  /// Whether as many were taken as were wanted.
  var isComplete: Bool { limit.map { takenCount >= $0 } ?? false }

  /// Takes note of an event; false for one that was taken before.
  mutating func isNew(_ received: ReceivedEvent) -> Bool {
    let event = received.event
    if let last {
      if event.createdAt > last.createdAt { return false }
      if event.createdAt == last.createdAt, event.id <= last.id { return false }
    }
    if last?.createdAt != event.createdAt {
      takenInSecond = filters.map { _ in 0 }
      countInSecond = 0
    }
    last = (event.createdAt, event.id)
    takenCount += 1
    countInSecond += 1
    count(received.json)
    return true
  }

  private mutating func count(_ json: [UInt8]) {
    guard filters.contains(where: { $0.limit != nil }) else { return }
    let indexed = json.withUnsafeBytes { bytes -> IndexedEvent? in
      // It was read as an event a moment ago.
      (try? ScannedEvent(bytes)).map { IndexedEvent($0, in: bytes) }
    }
    guard let indexed else { return }
    for (index, filter) in filters.enumerated() where filter.matches(indexed) {
      taken[index] += 1
      takenInSecond[index] += 1
    }
  }
}
