internal import Cryptography
internal import Nostr
internal import Storage

// Reads the events of a damaged file that can still be read.
//
// Rows are read in runs, in the order of seqs. A run ends at a page that cannot be read; the rows read before it are
// kept. After it each seq is looked up singly. A look-up goes down the table's tree to one leaf, so events on sound
// pages are found whatever the state of other pages, and the next run begins at the first seq that can be read. After
// `fineSearchCount` failed look-ups in a row, as behind a damaged page near the root of a large file, or in a gap, the
// steps double. When a step succeeds, a binary search finds the first good seq.
//
// Rejected: to go through the pages of the file without the tree. It would find events behind damaged inner pages, but
// also events that were removed and must not come back.

/// Reads a damaged file. Used by one thread.
struct DamagedFile {
  struct Row {
    let seq: Int64
    let flags: Int64
    let json: [UInt8]

    /// The event; nil when it is no longer what was signed.
    func event(_ verifier: EventVerifier, now: Int64) -> VerifiedEvent? {
      json.withUnsafeBytes { bytes in
        do throws(EventFault) {
          return try VerifiedEvent(
            bytes, ScannedEvent(bytes), verifier: verifier, receivedAt: now,
            rank: ArchiveRetention.rank(flags: flags))
        } catch { return nil }
      }
    }
  }

  /// The rows of a run.
  static let runCount: Int64 = 200
  /// How many failed look-ups in a row before the steps grow: the work of a second.
  static let fineSearchCount = 65_536
  /// No file of the archive has a higher seq.
  static let seqMaximum: Int64 = 1 << 53

  /// The last seq that was given; nil when that is not known.
  let last: Int64?
  /// How many events the file had; nil when it does not say.
  let eventCount: Int64?
  /// The last seq that was looked at.
  private(set) var seq: Int64 = 0
  /// Why something could not be read, most recently.
  private(set) var reason: String?

  private let file: StorageFile
  private var isSearching = false

  /// Opens the file.
  ///
  /// - Parameter given: the last seq that may have been given, if another file says so.
  /// - Throws: when nothing can be read of the file.
  init(path: String, given: Int64?) throws(StorageFault) {
    var settings = StorageSettings(durability: .normal)
    settings.isDamaged = true
    file = try StorageFile(path: path, settings, migrations: ArchiveSchema.migrations)
    let stored = Self.number(file, "SELECT value FROM property WHERE name = 'last-seq'")
    let highest = Self.number(file, "SELECT max(seq) FROM event")
    last = given ?? [stored, highest].compactMap { $0 }.max().map { min($0, Self.seqMaximum) }
    eventCount = Self.number(file, "SELECT value FROM property WHERE name = 'event-count'")
  }

  private static func number(_ file: StorageFile, _ sql: String) -> Int64? {
    do throws(StorageFault) {
      return try file.readNow { session in
        return try session.first(sql) { $0.number(0) }
      }
    } catch { return nil }
  }

  /// The next rows. Empty after a damaged part without rows; nil at the end.
  mutating func next() -> [Row]? {
    if isSearching {
      guard let found = nextReadable() else { return nil }
      (seq, isSearching) = (found - 1, false)
    }
    var rows: [Row] = []
    do throws(StorageFault) {
      try read(&rows)
      guard let end = rows.last?.seq else { return nil }
      seq = end
    } catch {
      reason = error.reason
      isSearching = true
      // Without a row, the next seq is the one that cannot be read, or that has no event.
      seq = rows.last?.seq ?? seq + 1
    }
    return rows
  }

  /// Closes the file.
  mutating func close() {
    do throws(StorageFault) { try file.close() } catch { reason = error.reason }
  }

  /// Rows that were read before the damage stay in `rows`: a transaction that has met damage always ends with an error.
  private func read(_ rows: inout [Row]) throws(StorageFault) {
    var read: [Row] = []
    defer { rows = read }
    try file.readNow { session in
      let statement = try session.statement("SELECT seq, flags, json FROM event WHERE seq >= ? ORDER BY seq LIMIT ?")
      // Not `seq > ?` with the last seq, because its leaf may be the damaged one.
      statement.bind(seq + 1, Self.runCount)
      while try statement.step() {
        read.append(Row(seq: statement.number(0), flags: statement.number(1), json: statement.bytes(2)))
      }
    }
  }

  /// The first later seq that can be looked up, whether or not it has an event; nil when there is no such seq up to the
  /// last.
  private func nextReadable() -> Int64? {
    let end = last ?? Self.seqMaximum
    var (failed, step, count) = (seq, Int64(1), 0)
    while failed < end {
      let candidate = failed + min(step, end - failed)
      if isReadable(candidate) { return firstReadable(after: failed, upTo: candidate) }
      failed = candidate
      count += 1
      if count >= Self.fineSearchCount { step *= 2 }
    }
    return nil
  }

  private func firstReadable(after failed: Int64, upTo good: Int64) -> Int64 {
    var (failed, good) = (failed, good)
    while good - failed > 1 {
      let middle = failed + (good - failed) / 2
      if isReadable(middle) { good = middle } else { failed = middle }
    }
    return good
  }

  private func isReadable(_ seq: Int64) -> Bool {
    do throws(StorageFault) {
      try file.readNow { session in
        let statement = try session.statement("SELECT 1 FROM event WHERE seq = ?", seq)
        if try statement.step() { statement.reset() }
      }
      return true
    } catch { return false }
  }
}
