internal import EventIndex
internal import Storage

/// Walks backwards in time through the postings of one term in one segment, a block at a time.
struct SegmentCursor {
  private let segment: Int64
  private let term: Int64
  private let since: Int64
  private var until: Int64
  private var entries: [PostingBlock.Entry] = []
  private var index = 0
  /// The key of the block that was read last; the next block is before it.
  private var oldest: Int64
  private var block = Int64.max
  private var isOver = false

  init(segment: Int64, term: UInt64, since: Int64, until: Int64) {
    self.segment = segment
    self.term = Int64(bitPattern: term)
    self.since = since
    self.until = until
    oldest = until
  }

  /// The next entry; nil at the end.
  mutating func next(_ session: StorageSession) throws -> PostingBlock.Entry? {
    while true {
      while index < entries.count {
        let entry = entries[index]
        index += 1
        if entry.time > until { continue }
        if entry.time < since {
          isOver = true
          entries = []
          return nil
        }
        return entry
      }
      guard try !isOver && readBlock(session) else { return nil }
    }
  }

  /// Skips what is newer than `time`; blocks with only newer entries are not read.
  mutating func skip(to time: Int64) {
    until = min(until, time)
    guard time < oldest else { return }
    // All entries of the block that was read last are newer.
    entries = []
    index = 0
    (oldest, block) = (time, .max)
  }

  private mutating func readBlock(_ session: StorageSession) throws -> Bool {
    let statement = try session.statement(
      """
      SELECT oldest, block, entries FROM posting
      WHERE segment = ? AND term = ? AND (oldest, block) < (?, ?) ORDER BY oldest DESC, block DESC LIMIT 1
      """, segment, term, oldest, block)
    guard try statement.step() else {
      isOver = true
      entries = []
      return false
    }
    defer { statement.reset() }
    oldest = statement.number(0)
    block = statement.number(1)
    guard let read = statement.withBytes(2, { PostingBlock($0) }) else {
      throw StorageFault(.corrupt, path: session.path, "a block of postings in segment \(segment) cannot be read")
    }
    entries = read.entries
    index = 0
    return true
  }
}
