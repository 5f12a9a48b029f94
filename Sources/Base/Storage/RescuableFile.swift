internal import Glibc
internal import LinuxSystem

// A damaged database is set aside under another name, never removed, and a new one is filled with what can still be
// read of it. The owner decides how to read it and which contents are sound; the procedure here is the same for all:
//
//     events.db.is-damaged      a rescue is due; once it has begun, the file holds the TIME of the damaged file
//     events.db.damaged-TIME    the damaged file; TIME counts up by a second while that name is taken
//     events.db.new             the file that is being filled; it is renamed to events.db when it is complete
//     events.db.is-new          there was no file, and SQLite was called to create it
//
// If the process dies on the way, the mark stays, and the next start begins again with the same damaged file: a file
// that is half filled is never taken for the database. If the filled file turns out to be damaged in turn, it is set
// aside and rescued like the first: no damage keeps its owner from starting forever.
//
// SQLite takes a file of 0 bytes for a new database, and removes the log beside it. Here such a file counts as
// truncated, and is set aside unread, with its log; unless `is-new` says that a start was killed while it created the
// file.

/// The place of a damaged database that was set aside.
public struct Quarantine: Sendable, Hashable {
  /// The damaged file.
  public let path: String
  /// When the file was set aside, in seconds since 1970; a little later if another file already had that second.
  public let time: Int64
  /// Whether an earlier start has already filled the new file, but died before it could record that.
  public internal(set) var isRefilled = false
  /// Whether the damaged file has no bytes. Then it must not be opened: SQLite would make a new database of it, and
  /// remove the log that was set aside with it.
  public internal(set) var isEmpty = false

  /// Why nothing is saved from a file without bytes.
  public static let emptyReason = "it had no bytes"

  /// The place for a database that was found damaged at a time.
  public init(of database: String, time: Int64) {
    path = "\(database).damaged-\(time)"
    self.time = time
  }
}

/// A database that is made again from what can be read when it is damaged.
public struct RescuableFile: Sendable {
  /// The database file.
  public let path: String
  /// Suffixes of the files beside an unfinished database that are removed with it.
  private let companions: [String]

  /// A database.
  ///
  /// - Parameters:
  ///   - path: the database file.
  ///   - companions: suffixes of further files that are created beside it.
  public init(path: String, companions: [String] = []) {
    self.path = path
    self.companions = companions
  }

  private var mark: DamageMark { DamageMark(database: path) }
  private var beginning: EmptyMark { EmptyMark(path: path + ".is-new") }

  /// Marks the database as found damaged while it was in use: the next start rescues what it can. If the mark cannot be
  /// written, the next use finds the damage again.
  public func markDamaged() { mark.set() }

  /// Opens the database. If it is damaged or empty, or was marked by ``markDamaged()``, sets it aside and has a new one
  /// filled.
  ///
  /// - Parameters:
  ///   - now: seconds since 1970, for the name of the damaged file.
  ///   - open: opens the database at a path, and reads what must be sound for a start.
  ///   - refill: makes a database at the first path from what can be read at the second, and closes it.
  /// - Returns: the result of `open`, and where the damaged file is, if there is one.
  /// - Throws: what the two closures throw, except `corrupt` from the first `open`; `inaccessible` and `full` for the
  ///   files.
  public func open<Opened>(
    now: Int64, _ open: (_ path: String) throws(StorageFault) -> Opened,
    refill: (_ path: String, _ damaged: Quarantine) throws(StorageFault) -> Void
  ) throws(StorageFault) -> (Opened, Quarantine?) {
    if !mark.isSet, let opened = try openIfSound(open) { return (opened, nil) }
    var quarantine = try mark.quarantine(now: now)
    if quarantine.isRefilled {
      if let opened = try openIfSound(open) {
        mark.clear()
        return (opened, quarantine)
      }
      // The filled file is damaged as well, and is set aside under a name that is free.
      quarantine = try mark.nextQuarantine(now: now)
    }
    try putAside(quarantine)
    quarantine.isEmpty = DatabaseFiles.byteCount(quarantine.path) == 0
    let unfinished = path + ".new"
    for suffix in DatabaseFiles.suffixes + companions { unlink(unfinished + suffix) }
    try refill(unfinished, quarantine)
    for suffix in companions + [DatabaseHeader.copySuffix] { unlink(unfinished + suffix) }
    guard rename(unfinished, path) == 0 else { throw cannotMove }
    try keepNames()
    let opened = try open(path)
    mark.clear()
    return (opened, quarantine)
  }

  /// Opens the database without a rescue; nil if it is damaged or empty. If there is no file, a new one is created; if
  /// an earlier start died while it created the file, the creation begins again.
  private func openIfSound<Opened>(
    _ open: (_ path: String) throws(StorageFault) -> Opened
  ) throws(StorageFault) -> Opened? {
    switch DatabaseFiles.byteCount(path) {
    // If the mark cannot be written, the database cannot be either, and its fault says why.
    case nil: beginning.set()
    case 0 where !beginning.isSet: return nil
    default: break
    }
    do throws(StorageFault) {
      let opened = try open(path)
      beginning.clear()
      return opened
    } catch {
      guard error.kind == .corrupt else { throw error }
      return nil
    }
  }

  private func putAside(_ quarantine: Quarantine) throws(StorageFault) {
    for suffix in DatabaseFiles.suffixes where access(path + suffix, F_OK) == 0 {
      guard rename(path + suffix, quarantine.path + suffix) == 0 else { throw cannotMove }
    }
    try keepNames()
  }

  /// Each step is on the disk before the next: after a loss of power, a file that was set aside must not have its old
  /// name again.
  private func keepNames() throws(StorageFault) {
    do throws(SystemFault) { try DirectoryEntries.synchronize(nameOf: path) } catch {
      throw StorageFault(error, path: path)
    }
  }

  private var cannotMove: StorageFault {
    StorageFault(
      .inaccessible, path: path, "it is damaged and cannot be put aside: \(String(cString: strerror(errno)))")
  }
}

/// The files of a database.
private enum DatabaseFiles {
  /// The database's own name comes last: while it is there, not everything was set aside. A journal exists if the first
  /// transaction was interrupted; SQLite would roll it back into any file that takes the database's place.
  static let suffixes = ["-wal", "-shm", "-journal", DatabaseHeader.copySuffix, ""]

  /// The size of a file; nil if it cannot be determined.
  static func byteCount(_ path: String) -> Int64? {
    var status = stat()
    return stat(path, &status) == 0 ? Int64(status.st_size) : nil
  }
}

/// A file whose existence is its message.
private struct EmptyMark {
  let path: String

  var isSet: Bool { access(path, F_OK) == 0 }

  func set() {
    let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { return }
    Glibc.close(file)
    // Treated like a mark that cannot be created: the message is found again, or the database reports it.
    do throws(SystemFault) { try DirectoryEntries.synchronize(nameOf: path) } catch {}
  }

  func clear() { unlink(path) }
}

/// The file that says that a database is damaged, and when it was set aside.
private struct DamageMark {
  let database: String
  private let file: EmptyMark
  private var path: String { file.path }

  init(database: String) {
    self.database = database
    file = EmptyMark(path: database + ".is-damaged")
  }

  /// Whether a rescue is due, or was begun.
  var isSet: Bool { file.isSet }

  func set() { file.set() }

  /// Where the damaged database is put. The name is chosen on the first call and written down, because a rescue that
  /// begins again must find the file.
  func quarantine(now: Int64) throws(StorageFault) -> Quarantine {
    guard let time = try time() else { return try nextQuarantine(now: now) }
    var quarantine = Quarantine(of: database, time: time)
    // Both exist if the last start died when only the mark was left to remove.
    quarantine.isRefilled = access(database, F_OK) == 0 && access(quarantine.path, F_OK) == 0
    return quarantine
  }

  /// The first free place from a time on. Damage may be found twice in one second, and a file that was set aside
  /// earlier must not be overwritten, or taken for the one that is damaged now.
  func nextQuarantine(now: Int64) throws(StorageFault) -> Quarantine {
    var quarantine = Quarantine(of: database, time: now)
    while DatabaseFiles.suffixes.contains(where: { access(quarantine.path + $0, F_OK) == 0 }) {
      quarantine = Quarantine(of: database, time: quarantine.time + 1)
    }
    try write(quarantine.time)
    return quarantine
  }

  /// The time in the mark.
  private func time() throws(StorageFault) -> Int64? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    if file < 0, errno == ENOENT { return nil }
    guard file >= 0 else { throw fault }
    defer { Glibc.close(file) }
    var bytes = [UInt8](repeating: 0, count: Self.timeByteCount)
    let count = pread(file, &bytes, bytes.count, 0)
    return Int64(String(decoding: bytes.prefix(max(0, count)), as: UTF8.self))
  }

  /// Replaces the time in the mark. A half-written time counts as missing: a mark without a time gets a new one.
  private func write(_ time: Int64) throws(StorageFault) {
    let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw fault }
    defer { Glibc.close(file) }
    let text = Array("\(time)".utf8)
    guard ftruncate(file, 0) == 0, pwrite(file, text, text.count, 0) == text.count, fsync(file) == 0 else {
      throw fault
    }
    do throws(SystemFault) { try DirectoryEntries.synchronize(nameOf: path) } catch {
      throw StorageFault(error, path: database)
    }
  }

  /// The rescue is finished.
  func clear() { file.clear() }

  /// More digits than a time has.
  private static let timeByteCount = 20

  private var fault: StorageFault {
    let kind: StorageFault.Kind = errno == ENOSPC ? .full : .inaccessible
    return StorageFault(
      kind, path: database, "it is damaged, and \(path) cannot be written: \(String(cString: strerror(errno)))")
  }
}
