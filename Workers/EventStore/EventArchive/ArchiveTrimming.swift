internal import EventIndex
public import Storage

// Removes the postings of removed events from a segment. A block is rewritten at its place, or removed; no block moves.
// So a reader that has already looked at the segment misses nothing: what can still be found is where it was.

/// How far the trimming of a segment has come.
struct SegmentTrimmer: Sendable {
  let number: Int64
  /// Events that were gone when the trimming began.
  let gone: Int64
  private let living: Set<Int64>
  private var last: (term: Int64, oldest: Int64, block: Int64) = (.min, .min, .min)
  private var keptBlockCount = 0

  /// The blocks that one transaction looks at.
  static let sliceBlockCount = 4_000

  /// Reads which events of the segment still exist.
  init(_ segment: ArchiveMemory.Segment, _ session: StorageSession) throws {
    number = segment.number
    gone = segment.gone
    let statement = try session.statement(
      "SELECT seq FROM event WHERE seq BETWEEN ? AND ?", segment.firstSeq, segment.lastSeq)
    var living = Set<Int64>()
    while try statement.step() { living.insert(statement.number(0)) }
    self.living = living
  }

  /// The result of a slice.
  enum Outcome: Sendable {
    case unfinished
    case trimmed
    /// Nothing of the segment is left.
    case empty
  }

  /// Trims the next blocks.
  mutating func trimSlice(_ session: StorageSession) throws -> Outcome {
    let blocks = try nextBlocks(session)
    for block in blocks {
      let entries = block.block.entries.filter { living.contains($0.seq) }
      if !entries.isEmpty { keptBlockCount += 1 }
      guard entries.count < block.block.entries.count else { continue }
      try replace(block.key, PostingBlock(entries), session)
    }
    if let key = blocks.last?.key { last = key }
    guard blocks.count < Self.sliceBlockCount else { return .unfinished }
    return try end(session)
  }

  private typealias Key = (term: Int64, oldest: Int64, block: Int64)

  private func nextBlocks(_ session: StorageSession) throws -> [(key: Key, block: PostingBlock)] {
    let statement = try session.statement(
      """
      SELECT term, oldest, block, entries FROM posting
      WHERE segment = ? AND (term, oldest, block) > (?, ?, ?) ORDER BY term, oldest, block LIMIT ?
      """)
    for (index, value) in [number, last.term, last.oldest, last.block, Int64(Self.sliceBlockCount)].enumerated() {
      statement.bind(value, at: Int32(index + 1))
    }
    var blocks: [(key: Key, block: PostingBlock)] = []
    while try statement.step() {
      guard let block = statement.withBytes(3, { PostingBlock($0) }) else {
        statement.reset()
        throw StorageFault(.corrupt, path: session.path, "a block of postings in segment \(number) cannot be read")
      }
      blocks.append(((statement.number(0), statement.number(1), statement.number(2)), block))
    }
    return blocks
  }

  private func replace(_ key: Key, _ block: PostingBlock, _ session: StorageSession) throws {
    let isEmpty = block.entries.isEmpty
    let condition = "WHERE segment = ?1 AND term = ?2 AND oldest = ?3 AND block = ?4"
    let statement = try session.statement(
      isEmpty ? "DELETE FROM posting \(condition)" : "UPDATE posting SET entries = ?5 \(condition)")
    for (index, value) in [number, key.term, key.oldest, key.block].enumerated() {
      statement.bind(value, at: Int32(index + 1))
    }
    if !isEmpty { statement.bind(block.bytes, at: 5) }
    try statement.run()
  }

  private func end(_ session: StorageSession) throws -> Outcome {
    let isEmpty = keptBlockCount == 0
    let statement = try session.statement(
      isEmpty
        ? "DELETE FROM segment WHERE number = ?1" : "UPDATE segment SET gone = max(0, gone - ?2) WHERE number = ?1",
      number)
    if !isEmpty { statement.bind(gone, at: 2) }
    try statement.run()
    return isEmpty ? .empty : .trimmed
  }
}

extension EventArchive {
  /// Whether a slice of a segment waits to be trimmed.
  public var hasTrimWork: Bool { memory.segments.contains { $0.isSparse } }

  /// Trims one slice of a segment, if one needs it.
  public func trimSlice() async throws(StorageFault) {
    _ = try await file.write({ [self] session in try trimSlice(session) }, onCommit: { [self] in trimmed($0) })
  }

  /// The same, waiting on this thread.
  public func trimSliceNow() throws(StorageFault) {
    _ = try file.writeNow({ session in try trimSlice(session) }, onCommit: { trimmed($0) })
  }

  private struct Trimmed: Sendable {
    let trimmer: SegmentTrimmer
    let outcome: SegmentTrimmer.Outcome
    let usedByteCount: Int64
  }

  private func trimSlice(_ session: StorageSession) throws -> Trimmed? {
    guard let segment = memory.segments.first(where: \.isSparse) else { return nil }
    var trimmer: SegmentTrimmer
    if let begun = self.trimmer, begun.number == segment.number {
      trimmer = begun
    } else {
      trimmer = try SegmentTrimmer(segment, session)
    }
    let outcome = try trimmer.trimSlice(session)
    return Trimmed(trimmer: trimmer, outcome: outcome, usedByteCount: try session.usedByteCount())
  }

  private func trimmed(_ slice: Trimmed?) {
    guard let slice else { return }
    ended(slice.trimmer, slice.outcome, usedByteCount: slice.usedByteCount)
  }
}
