import EventArchive
import EventIndex
import EventLoop
import Frames
import Nostr
import Storage

/// What a query asks of the archive, and which events count.
struct QueryScope {
  let filters: [Filter]
  /// The only keys whose gift wraps count; nil: all.
  var recipients: Recipients?
  /// Only events count that one of these relays had; nil: all.
  var seenAt: Set<Int64>?
  /// Only events up to this seq count: the caller sends later ones by other means.
  var lastSeq = Int64.max
  /// Seconds since 1970: events that ended before are left out.
  let now: Int64

  /// Whether something that a filter matches may not count.
  var isPartial: Bool { seenAt != nil || lastSeq != .max }
}

/// What several filters match, each event once, a block at a time from the archive: first what is found by words, the
/// best first, filter after filter (NIP-50); then what the other filters match together, newest first.
///
/// ``next()`` gives what is at hand and never waits; ``fetch()`` reads the next block when one is used up. So a sender
/// of a thousand events awaits twice, and a caller that reads slowly, or no further, costs one block for each filter
/// and nothing more.
@EventLoopActor
final class QueryStream {
  /// What comes next.
  enum Next {
    /// An event, which is lent by its block.
    case event(EventBlock, EventBlock.Entry)
    /// A block must be fetched first.
    case notAtHand
    /// Nothing.
    case end
  }

  private struct Source {
    let filter: Filter
    /// Events the filter may still give.
    var room: Int
    var block = EventBlock()
    /// Which of the block comes next.
    var index = 0
    var position: QueryPosition?
    /// Events of the next block at most.
    var blockCount = QueryStream.firstBlockCount
    var isOver: Bool

    var head: EventBlock.Entry? { index < block.entries.count ? block.entries[index] : nil }

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
    /// Events found and not read yet; nil before the search.
    var seqs: ArraySlice<Int64>?
    var block = EventBlock()
    var index = 0
  }

  private var sources: [Source]
  private var searches: [Search]
  /// Events that searches gave: they are not given again.
  private var found: Set<Int64> = []
  private let scope: QueryScope
  private let archive: EventArchive
  private let reads: ArchiveReads
  private let use = ReadSlots.Use()
  private var last: QueryPosition?
  /// The first events that filters' own limits left out, as long as no other filter gives them.
  private var cut: Set<Int64> = []
  private var isUncertain: Bool

  /// Events read at once for a filter: few at first, because most queries want few, then four times as many each time.
  nonisolated static let firstBlockCount = 50
  nonisolated static let blockCountMaximum = 1_000
  /// Bytes that the blocks of all filters have together, about; each has room for one event in any case.
  nonisolated static let blockByteMaximum = 128 << 10
  nonisolated static let blockByteMinimum = 16 << 10
  /// Events found by words that are read at once.
  nonisolated static let foundCount = 200

  init(_ scope: QueryScope, _ reads: ArchiveReads) {
    self.scope = scope
    sources = scope.filters.filter { !EventArchive.isSearch($0) }.map { Source($0) }
    searches = scope.filters.filter { EventArchive.isSearch($0) }.map { Search(filter: $0, room: $0.limit ?? .max) }
    // A filter with limit 0 asks for no stored event, so whether there is one is not looked up.
    isUncertain = scope.filters.contains { $0.limit == 0 && !$0.matchesNothing }
    self.reads = reads
    archive = reads.archive
  }

  /// At the end: whether all that matches and counts was given; nil when that is not known.
  var isComplete: Bool? { cut.isEmpty ? (isUncertain ? nil : true) : false }

  /// The next event, if it is at hand.
  func next() -> Next {
    while !searches.isEmpty {
      if let (block, entry) = nextFound() { return .event(block, entry) }
      guard searches[0].room == 0 || searches[0].seqs?.isEmpty == true else { return .notAtHand }
      if searches[0].seqs?.isEmpty != true { isUncertain = true }
      searches.removeFirst()
    }
    while true {
      var first: Int?
      for index in sources.indices {
        guard let head = sources[index].head else {
          if sources[index].isOver { continue }
          return .notAtHand
        }
        if let best = first.flatMap({ sources[$0].head }), !head.position.precedes(best.position) { continue }
        first = index
      }
      guard let first, let entry = sources[first].head else { return .end }
      sources[first].index += 1
      guard entry.position != last else { continue }
      last = entry.position
      if !found.isEmpty, found.contains(entry.seq) { continue }
      // Another filter gives what one left out: what else that one left out is not known.
      if !cut.isEmpty, cut.remove(entry.seq) != nil { isUncertain = true }
      return .event(sources[first].block, entry)
    }
  }

  /// Reads the block that ``next()`` needs.
  func fetch() async throws(Refusal) {
    if !searches.isEmpty { return try await fetchFound() }
    for index in sources.indices {
      // A block none of whose events counts says nothing of the next.
      while sources[index].head == nil, !sources[index].isOver { try await fill(index) }
    }
  }

  /// Whether there is another event.
  func hasNext() async throws(Refusal) -> Bool {
    while true {
      switch next() {
      case .event: return true
      case .end: return false
      case .notAtHand: try await fetch()
      }
    }
  }

  // MARK: By words

  private func nextFound() -> (EventBlock, EventBlock.Entry)? {
    while searches[0].room > 0, searches[0].index < searches[0].block.count {
      let entry = searches[0].block.entries[searches[0].index]
      searches[0].index += 1
      searches[0].room -= 1
      if found.insert(entry.seq).inserted { return (searches[0].block, entry) }
    }
    return nil
  }

  private func fetchFound() async throws(Refusal) {
    let (search, archive, scope) = (searches[0], archive, scope)
    guard let seqs = search.seqs else {
      let seqs = try await reads.read(for: use) { () throws(StorageFault) in
        try await archive.search(search.filter, for: scope.recipients, now: scope.now)
      }
      if seqs.count == EventArchive.searchHitMaximum { isUncertain = true }
      searches[0].seqs = seqs[...]
      return
    }
    let next = Array(seqs.prefix(min(Self.foundCount, search.room)))
    searches[0].seqs = seqs.dropFirst(next.count)
    searches[0].index = 0
    searches[0].block = try await reads.read(for: use) { () throws(StorageFault) in
      try await Self.counting(archive.events(next, now: scope.now), scope, archive)
    }
  }

  // MARK: By time

  private func fill(_ index: Int) async throws(Refusal) {
    let source = sources[index]
    // One more than there is room for, to know whether the limit leaves anything out.
    let limit = source.room <= source.blockCount ? source.room + 1 : source.blockCount
    var (block, position) = try await block(of: source, limit)
    var isOver = block.isLast
    if block.count > source.room {
      cut.insert(block.entries[source.room].seq)
      block.keepFirst(source.room)
      isOver = true
    } else if block.count == source.room, !isOver {
      // To find one more that counts could take all there is.
      isUncertain = true
      isOver = true
    }
    position = position ?? source.position
    sources[index].block = block
    sources[index].index = 0
    sources[index].position = position
    sources[index].room -= block.count
    sources[index].blockCount = min(source.blockCount * 4, Self.blockCountMaximum)
    sources[index].isOver = isOver
  }

  /// The events of a filter's next block that count, and the place behind which the block after it begins.
  private func block(
    of source: Source, _ limit: Int
  ) async throws(Refusal) -> (block: EventBlock, end: QueryPosition?) {
    let (archive, scope) = (archive, scope)
    let byteLimit = max(Self.blockByteMinimum, Self.blockByteMaximum / sources.count)
    let recalled = archive.recalled(
      source.filter, for: scope.recipients, after: source.position, limit: limit, now: scope.now)
    if let recalled, !scope.isPartial { return (recalled, recalled.entries.last?.position) }
    return try await reads.read(for: use) { () throws(StorageFault) in
      let block = try await archive.block(
        source.filter, for: scope.recipients, after: source.position, limit: limit, byteLimit: byteLimit,
        now: scope.now)
      return (try await Self.counting(block, scope, archive), block.entries.last?.position)
    }
  }

  private static func counting(
    _ block: EventBlock, _ scope: QueryScope, _ archive: EventArchive
  ) async throws(StorageFault) -> EventBlock {
    guard scope.isPartial else { return block }
    var block = block
    if scope.lastSeq != .max { block.keep { $0.seq <= scope.lastSeq } }
    guard let relays = scope.seenAt else { return block }
    let seen = try await archive.seen(block.entries.map(\.seq), at: relays)
    block.keep { seen.contains($0.seq) }
    return block
  }
}
