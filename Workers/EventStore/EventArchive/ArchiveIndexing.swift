internal import EventIndex
internal import Nostr
public import Storage

// Words are indexed after the commit, in transactions of their own: a post is stored and answered before its words are
// extracted. The property `searched-seq` says how far the index has come, in the same transaction as the words, so a
// death repeats nothing and leaves nothing out.
//
// The words of an event are removed with it, in the same transaction. SQLite's table keeps no text, so the removal must
// name the words again. They are made from the event's JSON by the same rules; if the rules change, the whole index is
// built again (`SearchedText.version`).

extension EventArchive {
  /// The most events whose words are indexed in one transaction.
  public static let indexEventCount = 250
  /// Once a transaction has read this many bytes of JSON, it takes no further event.
  static let indexByteCount = 1 << 20

  /// Whether there are events whose words are not indexed yet.
  public var hasSearchWork: Bool { searchedSeq < lastSeq }

  /// Indexes the words of the next events.
  public func indexSlice() async throws(StorageFault) {
    _ = try await file.write(
      { [self] session in try indexSlice(session) }, onCommit: { [self] seq in searchedSeq = seq })
  }

  /// The same, waiting on this thread.
  public func indexSliceNow() throws(StorageFault) {
    _ = try file.writeNow({ session in try indexSlice(session) }, onCommit: { searchedSeq = $0 })
  }

  private func indexSlice(_ session: StorageSession) throws -> Int64 {
    let (start, end) = (searchedSeq, lastSeq)
    guard start < end else { return start }
    let writer = writer(session)
    let statement = try session.statement(
      "SELECT seq, json FROM event WHERE seq > ? ORDER BY seq LIMIT ?", start, Self.indexEventCount)
    defer { statement.reset() }
    var (reached, count, byteCount) = (start, 0, 0)
    while byteCount < Self.indexByteCount, try statement.step() {
      reached = statement.number(0)
      count += 1
      let text = try session.scanned(statement, 1, seq: reached) { event, bytes in
        byteCount += bytes.count
        return SearchedText(event, in: bytes)
      }
      if !text.isEmpty { try writer.insertWords(reached, text) }
    }
    // After the last event there may be seqs whose events are gone.
    if byteCount < Self.indexByteCount, count < Self.indexEventCount { reached = end }
    try session.write(property: "searched-seq", reached)
    return reached
  }
}

extension ArchiveWriter {
  func insertWords(_ seq: Int64, _ text: SearchedText) throws {
    try session.run(
      "INSERT INTO search (rowid, title, body) VALUES (?, ?, ?)", seq, UTF8Column(text.title.utf8),
      UTF8Column(text.body.utf8))
  }

  /// Removes the words of an event that still exists.
  func removeWords(_ seq: Int64) throws {
    guard seq <= searchedSeq else { return }
    let text = try session.event(seq) { event, bytes in SearchedText(event, in: bytes) }
    guard let text, !text.isEmpty else { return }
    try session.run(
      "INSERT INTO search (search, rowid, title, body) VALUES ('delete', ?, ?, ?)", seq, UTF8Column(text.title.utf8),
      UTF8Column(text.body.utf8))
  }
}
