internal import Glibc
internal import LinuxSystem

// A damaged database is put aside under another name, never removed, and another is filled with what can still be read
// of it. How that is read, and what proves itself, is the owner's affair; this is the way there, which is the same for
// all:
//
//     events.db.is-damaged      a rescue is to be done; once it has begun, where the damaged file is put
//     events.db.damaged-TIME    the damaged file; a second later than it is where one stands there already
//     events.db.new             what is being filled; takes its place when it is whole
//     events.db.is-new          nothing was there, and SQLite was asked to make it
//
// A death on the way leaves the mark, and the next start begins again with the same damaged file: what is half filled
// is never taken for what was there. What was filled and turns out to be damaged in its turn is put aside like the
// first, and rescued: no damage keeps its owner from starting for ever.
//
// A file of 0 bytes is a database to SQLite, a new one, and it removes the log beside it. Here it is one that was cut
// off, and is put aside with its log, unread; unless `is-new` says that a start was killed while it was made.

/// Where a damaged database was put.
public struct Quarantine: Sendable, Hashable {
  /// The damaged file.
  public let path: String
  /// When it was put there, seconds since 1970; a little later where another stands under that second.
  public let time: Int64
  /// Whether an earlier start has filled the new one already, and ended before it could say so.
  public internal(set) var isRefilled = false
  /// Whether the damaged file has no bytes. Nothing is to be read of it: SQLite would make a new database of it, and
  /// remove the log that was put aside with it.
  public internal(set) var isEmpty = false

  /// Why nothing is saved of a file without bytes.
  public static let emptyReason = "it had no bytes"

  /// The one of a database that was found damaged at a time.
  public init(of database: String, time: Int64) {
    path = "\(database).damaged-\(time)"
    self.time = time
  }
}

/// A database that is made again of what can be read when it is damaged.
public struct RescuableFile: Sendable {
  /// The database file.
  public let path: String
  /// Endings of files beside an unfinished one that go with it.
  private let companions: [String]

  /// A database.
  ///
  /// - Parameters:
  ///   - path: the database file.
  ///   - companions: endings of further files that are made beside it.
  public init(path: String, companions: [String] = []) {
    self.path = path
    self.companions = companions
  }

  private var mark: DamageMark { DamageMark(database: path) }
  private var beginning: EmptyMark { EmptyMark(path: path + ".is-new") }

  /// Says that it was found to be damaged while it was in use: the next start rescues what it can. Where that cannot be
  /// written the damage is met again.
  public func markDamaged() { mark.set() }

  /// Opens it; if it is damaged, empty, or was found damaged by ``markDamaged()``, puts it aside and has another
  /// filled.
  ///
  /// - Parameters:
  ///   - now: seconds since 1970, for the name of the damaged file.
  ///   - open: opens the database at a path, and reads what has to be sound for a start.
  ///   - refill: makes a database at the first path of what can be read at the second, and closes it.
  /// - Returns: what `open` gave, and where the damaged file is, if there is one.
  /// - Throws: what the two throw, but for `corrupt` of the first `open`; `inaccessible` and `full` of the files.
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
      // What was filled is damaged as well, and goes where nothing is yet.
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

  /// Opens it as it stands; nil when it is damaged or empty. One that is not there is begun, and what a death leaves of
  /// that is begun again.
  private func openIfSound<Opened>(
    _ open: (_ path: String) throws(StorageFault) -> Opened
  ) throws(StorageFault) -> Opened? {
    switch DatabaseFiles.byteCount(path) {
    // Where it cannot be written the database cannot either, and says why.
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

  /// Each step is on the disk before the next: a loss of power must not give a name back to what was put aside.
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
  /// The database's own last: while it is at its place, not all was put aside. A journal is there where the first
  /// transaction was cut off, and would be rolled back into whatever takes the file's place.
  static let suffixes = ["-wal", "-shm", "-journal", DatabaseHeader.copySuffix, ""]

  /// How large a file is; nil when it cannot be found.
  static func byteCount(_ path: String) -> Int64? {
    var status = stat()
    return stat(path, &status) == 0 ? Int64(status.st_size) : nil
  }
}

/// A file that says something by being there.
private struct EmptyMark {
  let path: String

  var isSet: Bool { access(path, F_OK) == 0 }

  func set() {
    let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { return }
    Glibc.close(file)
    // Like a mark that cannot be made: what it says is met again, or said by the database.
    do throws(SystemFault) { try DirectoryEntries.synchronize(nameOf: path) } catch {}
  }

  func clear() { unlink(path) }
}

/// The file that says that a database is damaged, and when it was put aside.
private struct DamageMark {
  let database: String
  private let file: EmptyMark
  private var path: String { file.path }

  init(database: String) {
    self.database = database
    file = EmptyMark(path: database + ".is-damaged")
  }

  /// Whether a rescue is to be done, or was begun.
  var isSet: Bool { file.isSet }

  func set() { file.set() }

  /// Where the damaged database is put: named when it is asked for first, and written down, since a rescue that begins
  /// again must find it.
  func quarantine(now: Int64) throws(StorageFault) -> Quarantine {
    guard let time = try time() else { return try nextQuarantine(now: now) }
    var quarantine = Quarantine(of: database, time: time)
    // Both are there when only the mark was left to be taken away.
    quarantine.isRefilled = access(database, F_OK) == 0 && access(quarantine.path, F_OK) == 0
    return quarantine
  }

  /// The first place from a time on at which nothing is yet: damage may be met twice in a second, and what was put
  /// aside before is neither written over nor taken for what is damaged now.
  func nextQuarantine(now: Int64) throws(StorageFault) -> Quarantine {
    var quarantine = Quarantine(of: database, time: now)
    while DatabaseFiles.suffixes.contains(where: { access(quarantine.path + $0, F_OK) == 0 }) {
      quarantine = Quarantine(of: database, time: quarantine.time + 1)
    }
    try write(quarantine.time)
    return quarantine
  }

  /// The time that is written down.
  private func time() throws(StorageFault) -> Int64? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    if file < 0, errno == ENOENT { return nil }
    guard file >= 0 else { throw fault }
    defer { Glibc.close(file) }
    var bytes = [UInt8](repeating: 0, count: Self.timeByteCount)
    let count = pread(file, &bytes, bytes.count, 0)
    return Int64(String(decoding: bytes.prefix(max(0, count)), as: UTF8.self))
  }

  /// Writes a time down in place of another. What is half written is none: a mark without a time asks for a new one.
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

  /// It is rescued.
  func clear() { file.clear() }

  /// More than a time has digits.
  private static let timeByteCount = 20

  private var fault: StorageFault {
    let kind: StorageFault.Kind = errno == ENOSPC ? .full : .inaccessible
    return StorageFault(
      kind, path: database, "it is damaged, and \(path) cannot be written: \(String(cString: strerror(errno)))")
  }
}
