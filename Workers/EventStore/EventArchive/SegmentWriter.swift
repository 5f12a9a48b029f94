internal import EventIndex
internal import Storage

/// Writes the postings and ids of one generation to disk, a slice at a time, so that a caller that stores an event
/// waits for one slice and not for the whole segment.
///
/// The segment is valid from the transaction that marks it complete. The next start removes what a death leaves of an
/// incomplete one.
struct SegmentWriter: Sendable {
  let number: Int64
  let firstSeq: Int64
  let lastSeq: Int64
  /// The oldest and the newest `created_at`.
  let times: ClosedRange<Int64>
  private let postings: [Posting]
  private let ids: [(term: UInt64, seq: Int64)]
  /// The number of events in the segment.
  var eventCount: Int64 { Int64(ids.count) }
  private var postingIndex = 0
  private var idIndex = 0

  /// The rows that one transaction writes, so that no other transaction waits longer.
  static let sliceRowCount = 2_000

  init(number: Int64, _ generation: ArchiveMemory.Generation, lastSeq: Int64) {
    self.number = number
    firstSeq = generation.firstSeq
    self.lastSeq = lastSeq
    // Sorted by signed term, like the keys of the table. Postings of events that were removed again are left out if
    // they are many.
    var sorted = generation.postings.sorted()
    if generation.ids.count < generation.storedCount * 3 / 4 {
      let living = Set(generation.ids.values)
      sorted.removeAll { !living.contains($0.seq) }
    }
    let times = sorted.lazy.map(\.time)
    self.times = (times.min() ?? 0)...(times.max() ?? 0)
    let negative = sorted.firstIndex { $0.term > UInt64(Int64.max) } ?? sorted.count
    postings = Array(sorted[negative...] + sorted[..<negative])
    // In the order of the table's keys, which are signed.
    ids = generation.ids.map { ($0.key, $0.value) }
      .sorted { Int64(bitPattern: $0.term) < Int64(bitPattern: $1.term) }
  }

  /// Writes the next slice; true when that was the last, and the segment is complete.
  mutating func writeSlice(_ session: StorageSession) throws -> Bool {
    if postingIndex == 0 && idIndex == 0 { try begin(session) }
    var room = Self.sliceRowCount
    try writePostings(session, &room)
    try writeIDs(session, &room)
    guard postingIndex == postings.count, idIndex == ids.count, room > 0 else { return false }
    try session.run("UPDATE segment SET isComplete = 1 WHERE number = ?", number)
    return true
  }

  private func begin(_ session: StorageSession) throws {
    try session.run(
      "INSERT INTO segment (number, firstSeq, lastSeq, isComplete, events) VALUES (?, ?, ?, 0, ?)", number, firstSeq,
      lastSeq, eventCount)
  }

  private mutating func writePostings(_ session: StorageSession, _ room: inout Int) throws {
    let statement = try session.statement(
      "INSERT INTO posting (segment, term, oldest, block, entries) VALUES (?, ?, ?, ?, ?)")
    while postingIndex < postings.count, room > 0 {
      // One block, of one term; the entries are sorted oldest first here.
      let term = postings[postingIndex].term
      var end = postingIndex + 1
      while end < postings.count, end - postingIndex < PostingBlock.entryCountMaximum, postings[end].term == term {
        end += 1
      }
      let entries = postings[postingIndex..<end].reversed().map { PostingBlock.Entry(time: $0.time, seq: $0.seq) }
      try statement.run(number, term, postings[postingIndex].time, postingIndex, PostingBlock(entries).bytes)
      postingIndex = end
      room -= 1
    }
  }

  private mutating func writeIDs(_ session: StorageSession, _ room: inout Int) throws {
    let statement = try session.statement("INSERT OR IGNORE INTO identity (term, seq) VALUES (?, ?)")
    while idIndex < ids.count, room > 0 {
      try statement.run(ids[idIndex].term, ids[idIndex].seq)
      idIndex += 1
      room -= 1
    }
  }
}
