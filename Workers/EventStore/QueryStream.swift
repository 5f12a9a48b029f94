import EventArchive
import EventLoop
import Nostr
import Storage

/// What several filters match, each event once, a page at a time from the archive: first what is found by words, the
/// best first, filter after filter (NIP-50); then what the other filters match together, newest first.
///
/// A page is read when the one before it is used up: a caller who reads slowly, or no further, costs nothing more.
@EventLoopActor
final class QueryStream {
  private struct Source {
    let filter: Filter
    /// Events the filter may still give.
    var room: Int
    /// The newest at the end.
    var page: [StoredEvent] = []
    var position: QueryPosition?
    var isOver: Bool

    init(_ filter: Filter) {
      self.filter = filter
      room = filter.limit ?? .max
      isOver = filter.matchesNothing || filter.limit == 0
    }
  }

  /// A filter with words.
  private struct Search {
    let filter: Filter
    var room: Int
    /// What was found and not yet read; nil before it was looked for.
    var seqs: ArraySlice<Int64>?
    var page: ArraySlice<StoredEvent> = []
  }

  private var sources: [Source]
  private var searches: [Search]
  /// What was given of the searches: it is not given again.
  private var found: Set<Int64> = []
  private let archive: EventArchive
  private let reads: ReadSlots
  private let now: Int64
  /// Only events count that one of these relays had; nil: all.
  private let seenAt: Set<Int64>?
  private var last: QueryPosition?

  /// Events read at once, for each filter; the first page is shorter, because most queries want few.
  static let pageCount = 200
  static let firstPageCount = 50

  init(_ filters: [Filter], _ archive: EventArchive, _ reads: ReadSlots, seenAt: Set<Int64>? = nil, now: Int64) {
    sources = filters.filter { !EventArchive.isSearch($0) }.map { Source($0) }
    searches = filters.filter { EventArchive.isSearch($0) }.map { Search(filter: $0, room: $0.limit ?? .max) }
    self.archive = archive
    self.reads = reads
    self.now = now
    self.seenAt = seenAt
  }

  /// The next event; nil at the end.
  func next() async throws(StorageFault) -> StoredEvent? {
    while !searches.isEmpty {
      if let event = try await nextFound() { return event }
      searches.removeFirst()
    }
    while let event = try await nextMatch() {
      if !found.contains(event.seq) { return event }
    }
    return nil
  }

  // MARK: By words

  private func nextFound() async throws(StorageFault) -> StoredEvent? {
    while searches[0].room > 0 {
      if let event = searches[0].page.popFirst() {
        searches[0].room -= 1
        if found.insert(event.seq).inserted { return event }
        continue
      }
      let (search, archive, now, seenAt) = (searches[0], archive, now, seenAt)
      guard let seqs = search.seqs else {
        searches[0].seqs = try await reads.read { () throws(StorageFault) in
          try await archive.search(search.filter, now: now)[...]
        }
        continue
      }
      guard !seqs.isEmpty else { return nil }
      let next = Array(seqs.prefix(min(Self.pageCount, search.room)))
      searches[0].seqs = seqs.dropFirst(next.count)
      searches[0].page = try await reads.read { () throws(StorageFault) in
        let events = try await archive.events(next, now: now)
        return (seenAt == nil ? events : try await archive.seen(events, at: seenAt))[...]
      }
    }
    return nil
  }

  // MARK: By time

  private func nextMatch() async throws(StorageFault) -> StoredEvent? {
    while true {
      for index in sources.indices {
        // A page none of whose events counts says nothing of the next.
        while sources[index].page.isEmpty, !sources[index].isOver { try await fill(index) }
      }
      var first: Int?
      for index in sources.indices {
        guard let event = sources[index].page.last else { continue }
        if let best = first.flatMap({ sources[$0].page.last }), !event.position.precedes(best.position) { continue }
        first = index
      }
      guard let first else { return nil }
      let event = sources[first].page.removeLast()
      guard event.position != last else { continue }
      last = event.position
      return event
    }
  }

  private func fill(_ index: Int) async throws(StorageFault) {
    let source = sources[index]
    let limit = min(source.room, source.position == nil ? Self.firstPageCount : Self.pageCount)
    let (page, counting) = try await page(of: source, limit)
    sources[index].page = counting.reversed()
    sources[index].position = page.last?.position ?? source.position
    sources[index].room -= counting.count
    sources[index].isOver = page.count < limit || sources[index].room == 0
  }

  /// The next page of a filter, and those of its events that count.
  private func page(
    of source: Source, _ limit: Int
  ) async throws(StorageFault) -> (page: [StoredEvent], counting: [StoredEvent]) {
    let (archive, now, seenAt) = (archive, now, seenAt)
    let recalled = archive.recalled(source.filter, after: source.position, limit: limit, now: now)
    if let recalled, seenAt == nil { return (recalled, recalled) }
    return try await reads.read { () throws(StorageFault) in
      let page = try await archive.query(source.filter, after: source.position, limit: limit, now: now)
      return (page, seenAt == nil ? page : try await archive.seen(page, at: seenAt))
    }
  }
}
