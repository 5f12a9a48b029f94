public import EventIndex
public import Nostr

// Look-ups by id. What is in memory is answered from there, the rest is read and is in memory afterwards.

extension EventArchive {
  /// Bytes of recent events kept in memory, unless told otherwise.
  public static let standardRecentByteCount = 16 << 20

  /// Bytes of recent events kept in memory; 0: none. Setting it forgets them.
  public var recentByteCount: Int {
    get { recent.byteLimit }
    set { recent.byteLimit = newValue }
  }

  /// The page that ``block(_:for:after:limit:byteLimit:now:)`` would answer, when all ids that the filter names are in
  /// memory; else nil. Waits for nothing.
  public func recalled(
    _ filter: Filter, for recipients: Recipients? = nil, after position: QueryPosition? = nil, limit: Int, now: Int64
  ) -> EventBlock? {
    guard filter.ids != nil else { return nil }
    let request = PageRequest(
      self, SearchingMatcher(filter, for: recipients), after: position, limit: limit, byteLimit: .max, now: now)
    return request.needsReading ? nil : request.page(.events([]))
  }

  /// The part of a filter's answer that is in memory, and the filter for the rest; nil for the rest when there is none.
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
