internal import EventIndex
internal import HeapModule
internal import Nostr
internal import Storage

/// Walks backwards in time through all postings of some terms, in memory and in segments. A segment is opened when the
/// walk reaches its newest event: to open it costs a search for each term, and most queries end before most segments.
struct PostingWalk {
  private enum Source {
    case memory(PostingCursor)
    case segment(SegmentCursor)
  }

  private struct Head: Comparable {
    let entry: PostingBlock.Entry
    let source: Int

    static func < (left: Head, right: Head) -> Bool { left.entry.time < right.entry.time }
    static func == (left: Head, right: Head) -> Bool { left.entry.time == right.entry.time }
  }

  private let terms: [UInt64]
  private let since: Int64
  private var until: Int64
  private var sources: [Source] = []
  private var heads = Heap<Head>()
  /// Segments that are not open yet, the newest last.
  private var closed: [ArchiveMemory.Segment]

  /// A walk through the times that a filter allows, back from `position` if there is one.
  init(_ terms: [UInt64], _ filter: Filter, until position: Int64?, _ reader: ArchiveReader) throws {
    self.terms = terms
    let since = filter.since ?? .min
    let until = min(filter.until ?? .max, position ?? .max)
    (self.since, self.until) = (since, until)
    closed = reader.memory.segments
      .filter { $0.times.upperBound >= since && $0.times.lowerBound <= until }
      .sorted { $0.times.upperBound < $1.times.upperBound }
    for term in terms {
      for generation in reader.memory.generations {
        sources += generation.postings.cursors(term: term, since: since, until: until).map { .memory($0) }
      }
    }
    for source in sources.indices { try pull(source, reader.session) }
  }

  /// The next second that has any events; nil at the end.
  mutating func second(_ session: StorageSession) throws -> Int64? {
    while let segment = closed.last, segment.times.upperBound >= heads.max?.entry.time ?? .min {
      closed.removeLast()
      for term in terms {
        sources.append(.segment(SegmentCursor(segment: segment.number, term: term, since: since, until: until)))
        try pull(sources.count - 1, session)
      }
    }
    return heads.max?.entry.time
  }

  /// Takes the events of the next second, each once; replaces the content of `seqs`.
  mutating func take(_ second: Int64, _ session: StorageSession, into seqs: inout [Int64]) throws {
    seqs.removeAll(keepingCapacity: true)
    while let head = heads.max, head.entry.time == second {
      heads.removeMax()
      seqs.append(head.entry.seq)
      try pull(head.source, session)
    }
    // An event may occur under several of the terms, or both in memory and in the segment that is being written.
    guard seqs.count > 1 else { return }
    seqs.sort()
    var last: Int64?
    seqs.removeAll { seq in
      defer { last = seq }
      return seq == last
    }
  }

  /// Skips what is newer than `second`.
  mutating func skip(to second: Int64, _ session: StorageSession) throws {
    until = second
    while let head = heads.max, head.entry.time > second {
      heads.removeMax()
      switch sources[head.source] {
      case .memory(var cursor):
        cursor.skip(to: second)
        sources[head.source] = .memory(cursor)
      case .segment(var cursor):
        cursor.skip(to: second)
        sources[head.source] = .segment(cursor)
      }
      try pull(head.source, session)
    }
  }

  private mutating func pull(_ source: Int, _ session: StorageSession) throws {
    let entry: PostingBlock.Entry?
    switch sources[source] {
    case .memory(var cursor):
      entry = cursor.next().map { PostingBlock.Entry(time: $0.time, seq: $0.seq) }
      sources[source] = .memory(cursor)
    case .segment(var cursor):
      entry = try cursor.next(session)
      sources[source] = .segment(cursor)
    }
    if let entry { heads.insert(Head(entry: entry, source: source)) }
  }
}
