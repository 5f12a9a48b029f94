import EventArchive
import EventLoop
import Nostr
import Storage

/// What several filters match, each event once, newest first, a page at a time from the archive.
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
  }

  private var sources: [Source]
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
    sources = filters.map { filter in
      Source(filter: filter, room: filter.limit ?? .max, isOver: filter.matchesNothing || filter.limit == 0)
    }
    self.archive = archive
    self.reads = reads
    self.now = now
    self.seenAt = seenAt
  }

  /// The next event; nil at the end.
  func next() async throws(StorageFault) -> StoredEvent? {
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
    let (archive, now, seenAt) = (archive, now, seenAt)
    let (page, seen) = try await reads.read { () throws(StorageFault) in
      let page = try await archive.query(source.filter, after: source.position, limit: limit, now: now)
      guard let seenAt else { return (page, Set<Int64>?.none) }
      return (page, try await archive.seen(page.map(\.seq), at: seenAt))
    }
    let counting = page.filter { seen?.contains($0.seq) ?? true }
    sources[index].page = counting.reversed()
    sources[index].position = page.last?.position ?? source.position
    sources[index].room -= counting.count
    sources[index].isOver = page.count < limit || sources[index].room == 0
  }
}
