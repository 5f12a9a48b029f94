internal import Cryptography
public import Nostr

/// Finds the listeners for an event: an index of the filters of all listeners.
///
/// To match every event with a thousand filters would cost more than to verify it. So each filter is filed under the
/// values of one of its lists, the list that is likely to match the fewest events. An event is matched only with the
/// filters filed under its own id, tags, author and kind, and with the few that are filed under nothing.
public struct LiveFilters<Listener: Hashable & Comparable & Sendable>: Sendable {
  private struct Entry: Sendable {
    let listener: Listener
    let matcher: SearchingMatcher
  }

  private var entries: [Int: Entry] = [:]
  private var entriesByListener: [Listener: [Int]] = [:]
  private var nextEntry = 0
  private var byID: [EventID: Set<Int>] = [:]
  private var byTag: [IndexedEvent.Tag: Set<Int>] = [:]
  private var byAuthor: [PublicKey: Set<Int>] = [:]
  private var byKind: [UInt16: Set<Int>] = [:]
  private var unfiled: Set<Int> = []

  /// No listeners.
  public init() {}

  /// The number of listeners.
  public var count: Int { entriesByListener.count }

  /// Adds a listener with these filters, any of which may match; replaces an earlier listener of the same name. Filters
  /// that no event can match are dropped.
  ///
  /// - Parameters:
  ///   - listener: the listener's name.
  ///   - filters: its filters.
  ///   - recipients: the only recipients whose gift wraps the listener may receive; nil: all.
  public mutating func add(_ listener: Listener, _ filters: [Filter], for recipients: Recipients? = nil) {
    remove(listener)
    entriesByListener[listener] = []
    for filter in filters where !filter.matchesNothing {
      let number = nextEntry
      nextEntry += 1
      entries[number] = Entry(listener: listener, matcher: SearchingMatcher(filter, for: recipients))
      entriesByListener[listener, default: []].append(number)
      file(number, filter) { _ = $0.insert($1) }
    }
  }

  /// Removes a listener.
  public mutating func remove(_ listener: Listener) {
    for number in entriesByListener.removeValue(forKey: listener) ?? [] {
      guard let entry = entries.removeValue(forKey: number) else { continue }
      file(number, entry.matcher.filter) { _ = $0.remove($1) }
    }
  }

  /// The listeners with a filter that matches, in order, each once.
  ///
  /// - Parameters:
  ///   - event: the event.
  ///   - text: makes the event's words; called once at most, and only for a filter that searches.
  public func listeners(for event: IndexedEvent, text: () -> SearchedText) -> [Listener] {
    var found: [Listener] = []
    var words: SearchedText?
    func searchedText() -> SearchedText {
      if let words { return words }
      let made = text()
      words = made
      return made
    }
    func ask(_ numbers: Set<Int>?) {
      for number in numbers ?? [] {
        guard let entry = entries[number], entry.matcher.matches(event, text: searchedText) else { continue }
        found.append(entry.listener)
      }
    }
    ask(unfiled)
    ask(byKind[event.kind])
    ask(byAuthor[event.pubkey])
    ask(byID[event.id])
    if !byTag.isEmpty {
      for tag in event.tags { ask(byTag[tag]) }
    }
    guard found.count > 1 else { return found }
    found.sort()
    return found.indices.filter { $0 == 0 || found[$0] != found[$0 - 1] }.map { found[$0] }
  }

  /// Changes the entries of a filter. Its list follows from the filter alone, so a removal finds the same entries.
  private mutating func file(_ number: Int, _ filter: Filter, _ change: (inout Set<Int>, Int) -> Void) {
    if let ids = filter.ids {
      for id in ids { Self.change(&byID, id, number, change) }
    } else if let (letter, values) = filter.tags.min(by: { ($0.value.count, $0.key) < ($1.value.count, $1.key) }) {
      for value in values { Self.change(&byTag, IndexedEvent.Tag(letter, value), number, change) }
    } else if let authors = filter.authors {
      for author in authors { Self.change(&byAuthor, author, number, change) }
    } else if let kinds = filter.kinds {
      for kind in kinds { Self.change(&byKind, kind, number, change) }
    } else {
      change(&unfiled, number)
    }
  }

  private static func change<Value: Hashable>(
    _ places: inout [Value: Set<Int>], _ value: Value, _ number: Int, _ change: (inout Set<Int>, Int) -> Void
  ) {
    change(&places[value, default: []], number)
    if places[value]?.isEmpty == true { places[value] = nil }
  }
}
