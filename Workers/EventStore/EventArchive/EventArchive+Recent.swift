public import EventIndex
public import Nostr

// Look-ups by id. Events in memory are returned from there; the others are read, and are in memory afterwards.

extension EventArchive {
  /// The standard bytes of recent events in memory.
  public static let standardRecentByteCount = 16 << 20

  /// The bytes of recent events in memory; 0: none. A new value forgets the events.
  public var recentByteCount: Int {
    get { recent.byteLimit }
    set { recent.byteLimit = newValue }
  }

  /// The page that ``block(_:for:after:limit:byteLimit:now:)`` would return, if all ids of the filter are in memory;
  /// else nil. Never waits.
  public func recalled(
    _ filter: Filter, for recipients: Recipients? = nil, after position: QueryPosition? = nil, limit: Int, now: Int64
  ) -> EventBlock? {
    guard filter.ids != nil else { return nil }
    let request = PageRequest(
      self, SearchingMatcher(filter, for: recipients), after: position, limit: limit, byteLimit: .max, now: now)
    return request.needsReading ? nil : request.page(.events([]))
  }

  /// The part of a filter's answer that is in memory, and the filter for the rest; nil when nothing is left to read.
  func recall(_ filter: Filter) -> (events: [StoredEvent], rest: Filter?) {
    guard let ids = filter.ids, !ids.isEmpty else { return ([], filter) }
    var (events, missing): ([StoredEvent], [EventID]) = ([], [])
    for id in Set(ids) {
      if let event = recent.event(id) { events.append(event) } else { missing.append(id) }
    }
    guard !missing.isEmpty else { return (events, nil) }
    var rest = filter
    rest.ids = missing
    return (events, rest)
  }
}
