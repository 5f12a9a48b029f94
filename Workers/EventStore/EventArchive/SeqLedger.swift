internal import Glibc
internal import LinuxSystem
internal import Storage
internal import Synchronization

// Which seqs were given, written apart from the database: a client that resumes by seq must never find another event
// under a seq it has seen. If SQLite's log of writes is damaged, SQLite continues without the commits after the damage
// and reports nothing; after a loss of power the last commits may be missing.
//
// Two numbers in the file `events.db.seqs`, 42 bytes of text:
//
//     reserved   no seq above it was given; fsynced before a commit has a seq above the old value
//     committed  up to here events were committed; written after each commit, never synced
//
// A start continues after `reserved`, so each seq is given once, whatever happened to the database; the seqs between
// are left out. After an orderly stop `reserved` is the last seq, and none is left out. If the database has less than
// `committed`, commits were lost. A killed process changes neither number. A loss of power may lose the last values of
// `committed`, and then a loss of commits is not noticed.
//
// Rejected: to look in the log of writes for frames after a bad one. That finds nothing when the damage is in its first
// page.

/// The file of the seqs. Only the writer uses it, one transaction after the other.
final class SeqLedger: Sendable {
  /// The content of the file.
  struct Entry: Sendable, Hashable {
    var reserved: Int64
    var committed: Int64
  }

  /// How many seqs are reserved at once: one fsync for so many events.
  static let step: Int64 = 65_536
  /// How many seqs are left out when it is not known how many were given.
  static let unknownGap: Int64 = 1_000_000

  private let path: String
  private let descriptor: Int32
  private let state: Mutex<Entry?>
  private let isUnreadable: Bool

  /// What the file's name adds to that of the database.
  static let suffix = ".seqs"

  /// Opens the file; creates it if it does not exist.
  init(database: String) throws(StorageFault) {
    path = database + Self.suffix
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Self.fault("open", path) }
    var bytes = [UInt8](repeating: 0, count: Self.byteCount + 1)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    let entry = Self.entry(bytes.prefix(max(0, count)))
    state = Mutex(entry)
    // Before the first seq is given, the file's name must survive a loss of power; without the file all seqs would be
    // given again.
    if count == 0 {
      do throws(SystemFault) { try DirectoryEntries.synchronize(nameOf: path) } catch {
        Glibc.close(descriptor)
        throw StorageFault(error, path: path)
      }
    }
    isUnreadable = count != 0 && entry == nil
  }

  deinit { Glibc.close(descriptor) }

  /// No seq above it was given; nil when the file is new or cannot be read.
  var reserved: Int64? { entry?.reserved }

  private var entry: Entry? { state.withLock { $0 } }

  /// Starts with what the file and the database know.
  ///
  /// - Parameter lastSeq: the last seq of the database.
  /// - Returns: the seq after which new ones are given, and the seqs that the database should have but does not.
  func begin(after lastSeq: Int64) throws(StorageFault) -> (lastSeq: Int64, lost: ClosedRange<Int64>?) {
    guard let entry else {
      let first = lastSeq + (isUnreadable ? Self.unknownGap : 0)
      try write(Entry(reserved: first, committed: lastSeq))
      return (first, nil)
    }
    let lost = entry.committed > lastSeq ? lastSeq + 1...entry.committed : nil
    return (max(entry.reserved, lastSeq), lost)
  }

  /// Called before the commit of seqs up to this one.
  func willCommit(_ seq: Int64) throws(StorageFault) {
    guard let entry, seq > entry.reserved else { return }
    try write(Entry(reserved: seq + Self.step, committed: entry.committed))
  }

  /// Called after it. If the file cannot be written, the seq is not recorded, as after a loss of power.
  func committed(_ seq: Int64) {
    guard let entry, seq > entry.committed else { return }
    let new = Entry(reserved: max(entry.reserved, seq), committed: seq)
    if put(new) { state.withLock { $0 = new } }
  }

  /// No more seqs are given; the database is closed.
  func close(lastSeq: Int64) throws(StorageFault) {
    guard let entry else { return }
    try write(Entry(reserved: lastSeq, committed: entry.committed))
  }

  /// What a backup has in place of this file: after the backup more seqs were given, and how many is not known.
  static let unknown = Array("unknown\n".utf8)

  // MARK: Bytes

  private static let digitCount = 20
  private static let byteCount = 2 * (digitCount + 1)

  private static func entry(_ bytes: ArraySlice<UInt8>) -> Entry? {
    guard bytes.count == byteCount else { return nil }
    let numbers = String(decoding: bytes, as: UTF8.self).split { $0 == " " || $0 == "\n" }.compactMap { Int64($0) }
    guard numbers.count == 2, 0 <= numbers[1], numbers[1] <= numbers[0] else { return nil }
    return Entry(reserved: numbers[0], committed: numbers[1])
  }

  private func write(_ entry: Entry) throws(StorageFault) {
    guard put(entry) else { throw Self.fault("pwrite", path) }
    guard fdatasync(descriptor) == 0 else { throw Self.fault("fdatasync", path) }
    state.withLock { $0 = entry }
  }

  /// In place: so few bytes, in one block of the disk, are either all new or all old.
  private func put(_ entry: Entry) -> Bool {
    let words = [entry.reserved, entry.committed].map { number in
      let digits = "\(number)"
      return String(repeating: "0", count: Self.digitCount - digits.utf8.count) + digits
    }
    let bytes = Array("\(words[0]) \(words[1])\n".utf8)
    return pwrite(descriptor, bytes, bytes.count, 0) == bytes.count
  }

  private static func fault(_ call: String, _ path: String) -> StorageFault {
    StorageFault(SystemFault(call: call, subject: path, code: errno), path: path)
  }
}
