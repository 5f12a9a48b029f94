internal import Frames
internal import Nostr

// How a query continues after a lost connection. Pure.
//
// The order of the answer is fixed: newest first, and within one second the lowest id first. So the last event received
// says where to continue: the client requests events that are not newer, and skips those that come before it. A
// filter's `limit` applies to its own newest events: events already received count against it, except those of the last
// second, which arrive again.

/// The position of a query: what to request after an interruption.
struct QueryPlace: Sendable {
  private let filters: [Filter]
  private let limit: Int?
  /// Whether it began after an event: it is not known how many events of that second arrive again, so the client
  /// applies the limit itself.
  private let isBehind: Bool
  private var last: (createdAt: Int64, id: EventID)?
  /// Events received, in all and by filter.
  private var taken: [Int]
  private var takenCount = 0
  /// The number of these that have the same second as the last one.
  private var takenInSecond: [Int]
  private var countInSecond = 0

  /// - Parameter last: the event to begin after.
  init(_ filters: [Filter], limit: Int?, behind last: Event? = nil) {
    self.filters = filters
    self.last = last.map { ($0.createdAt, $0.id) }
    self.limit = limit
    isBehind = last != nil
    taken = filters.map { _ in 0 }
    takenInSecond = taken
  }

  /// The filters of the next request.
  var nextFilters: [Filter] {
    guard let last else { return filters }
    return filters.enumerated().map { index, filter in
      var filter = filter
      filter.until = min(filter.until ?? .max, last.createdAt)
      if let limit = filter.limit { filter.limit = max(0, limit - taken[index] + takenInSecond[index]) }
      return filter
    }
  }

  /// The limit of the next request.
  var nextLimit: Int? { isBehind ? nil : limit.map { max(0, $0 - takenCount + countInSecond) } }

  /// Whether as many events were received as requested.
  var isComplete: Bool { limit.map { takenCount >= $0 } ?? false }

  /// Records an event; false for one that was received before.
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
      // It was read as an event just before.
      (try? ScannedEvent(bytes)).map { IndexedEvent($0, in: bytes) }
    }
    guard let indexed else { return }
    for (index, filter) in filters.enumerated() where filter.matches(indexed) {
      taken[index] += 1
      takenInSecond[index] += 1
    }
  }
}
