internal import GRDB
internal import Glibc
internal import Synchronization

// If the write-ahead log is damaged, SQLite continues without the commits after the damage, and reports nothing. So
// each ledger counts its commits twice: in the database (its `application_id`, which is written with the commit), and
// beside it, in a file of one line: `COUNT VERSION`, for example `1042 3`. The file is written after each commit and
// never synchronized. A killed process leaves it correct; a loss of power may take its last values, and then a loss of
// commits is not noticed. The count in the file is never ahead of the commits. The version distinguishes a file of a
// later program from a file in whose header a bit has changed.
//
// Rejected: a table for the count. An older program would refuse the file as one of a later version. It leaves the
// `application_id` alone, and then both counts stay the same.

/// Counts the commits of one database. Only the writer uses it, in one transaction after the other.
final class CommitCounter: Sendable {
  /// The file's name is the database's name and this suffix.
  static let suffix = ".commits"

  private struct State {
    var count: Int32 = 0
    var pending: Int32?
  }

  private let path: String
  private let database: String
  private let descriptor: Int32
  private let entry: (count: Int32, version: Int)?
  private let state = Mutex(State())
  private let knownVersion: Int

  /// Opens the file, or creates it.
  init(database: String, knownVersion: Int) throws(StorageFault) {
    (path, self.database, self.knownVersion) = (database + Self.suffix, database, knownVersion)
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw StorageFault(code: errno, path: database, "\(path) cannot be opened") }
    entry = Self.entry(of: descriptor)
  }

  deinit { Glibc.close(descriptor) }

  /// The version with which the database was last written; nil if it is not known.
  static func version(ofDatabase path: String) -> Int? {
    let file = open(path + suffix, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { Glibc.close(file) }
    return entry(of: file)?.version
  }

  /// The number of commits that the file beside a database says.
  static func count(ofDatabase path: String) -> Int32? {
    let file = open(path + suffix, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { Glibc.close(file) }
    return entry(of: file)?.count
  }

  /// Why the version in a database is damage; nil if it is not.
  func objection(toVersion version: Int) -> String? {
    guard let entry, version < entry.version || version > knownVersion && entry.version <= knownVersion else {
      return nil
    }
    return "it says that its form is \(version), and \(entry.version) was written"
  }

  /// Starts counting from the database's own count.
  ///
  /// - Returns: how many commits the database should have but lacks.
  func begin(_ session: Database) throws -> Int64 {
    let count = try Int32.fetchOne(session, sql: "PRAGMA application_id") ?? 0
    state.withLock { $0.count = count }
    let missing = entry.map { ($0.count &- count) & .max } ?? 0
    if missing >= Self.half || missing == 0 {
      try write(count)
      return 0
    }
    return Int64(missing)
  }

  /// Writes the present count into the file, so that the missing commits are not reported again.
  func settle() throws(StorageFault) { try write(state.withLock { $0.count }) }

  /// Called as the last step of a transaction that has changed something.
  func willCommit(_ session: Database) throws {
    let next = state.withLock { $0.count &+ 1 } & .max
    try session.execute(sql: "PRAGMA application_id = \(next)")
    state.withLock { $0.pending = next }
  }

  /// The transaction has ended. If the count cannot be written into the file, a loss of commits is not noticed.
  func ended(isCommitted: Bool) {
    let count = state.withLock { state -> Int32? in
      defer { state.pending = nil }
      guard isCommitted, let pending = state.pending else { return nil }
      state.count = pending
      return pending
    }
    if let count { _ = put(count) }
  }

  // MARK: Bytes

  /// Counts wrap around; a larger difference than this is not a loss.
  private static let half: Int32 = 1 << 30
  private static let byteCount = 24

  private static func entry(of file: Int32) -> (count: Int32, version: Int)? {
    var bytes = [UInt8](repeating: 0, count: byteCount + 1)
    guard pread(file, &bytes, bytes.count, 0) == byteCount else { return nil }
    let numbers = String(decoding: bytes.prefix(byteCount), as: UTF8.self).split { $0 == " " || $0 == "\n" }
    guard numbers.count == 2, let count = Int32(numbers[0]), count >= 0, let version = Int(numbers[1]), version >= 0
    else { return nil }
    return (count, version)
  }

  private func write(_ count: Int32) throws(StorageFault) {
    guard put(count) else { throw StorageFault(code: errno, path: database, "\(path) cannot be written") }
  }

  /// Writes in place, always the same number of bytes.
  private func put(_ count: Int32) -> Bool {
    let text = "\(count) \(knownVersion)"
    let bytes = Array((text + String(repeating: " ", count: max(0, Self.byteCount - 1 - text.utf8.count)) + "\n").utf8)
    return pwrite(descriptor, bytes, bytes.count, 0) == bytes.count
  }
}
