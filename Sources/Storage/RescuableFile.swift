internal import Glibc

// A damaged database is put aside under another name, never removed, and another is filled with what can still be read
// of it. How that is read, and what proves itself, is the owner's affair; this is the way there, which is the same for
// all:
//
//     events.db.is-damaged      a rescue is to be done; once it has begun, where the damaged file is put
//     events.db.damaged-TIME    the damaged file
//     events.db.new             what is being filled; takes its place when it is whole
//
// A death on the way leaves the mark, and the next start begins again with the same damaged file: what is half filled
// is never taken for what was there.

/// Where a damaged database was put.
public struct Quarantine: Sendable, Hashable {
  /// The damaged file.
  public let path: String
  /// When it was put there, seconds since 1970.
  public let time: Int64
  /// Whether an earlier start has filled the new one already, and ended before it could say so.
  public internal(set) var isRefilled = false

  /// The one of a database that was found damaged at a time.
  public init(of database: String, time: Int64) {
    path = "\(database).damaged-\(time)"
    self.time = time
  }
}

/// A database that is made anew of what can be read when it is damaged.
public struct RescuableFile: Sendable {
  /// The database file.
  public let path: String
  /// Endings of files beside an unfinished one that go with it.
  private let companions: [String]

  /// The database's own last: while it is at its place, not all was put aside.
  private static let suffixes = ["-wal", "-shm", ""]

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

  /// Says that it was found to be damaged while it was in use: the next start rescues what it can. Where that cannot be
  /// written the damage is met again.
  public func markDamaged() { mark.set() }

  /// Opens it; if it is damaged, or was found so by ``markDamaged()``, puts it aside and has another filled.
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
    if !mark.isSet {
      do throws(StorageFault) { return (try open(path), nil) } catch {
        guard error.kind == .corrupt else { throw error }
      }
    }
    var quarantine = try mark.quarantine(now: now)
    // Both are there when only the mark was left to be taken away.
    quarantine.isRefilled = access(path, F_OK) == 0 && access(quarantine.path, F_OK) == 0
    if !quarantine.isRefilled {
      for suffix in Self.suffixes where access(path + suffix, F_OK) == 0 {
        guard rename(path + suffix, quarantine.path + suffix) == 0 else { throw cannotMove }
      }
      let unfinished = path + ".new"
      for suffix in Self.suffixes + companions { unlink(unfinished + suffix) }
      try refill(unfinished, quarantine)
      for suffix in companions { unlink(unfinished + suffix) }
      guard rename(unfinished, path) == 0 else { throw cannotMove }
    }
    let opened = try open(path)
    mark.clear()
    return (opened, quarantine)
  }

  private var cannotMove: StorageFault {
    StorageFault(
      .inaccessible, path: path, "it is damaged and cannot be put aside: \(String(cString: strerror(errno)))")
  }
}

/// The file that says that a database is damaged, and when it was put aside.
private struct DamageMark {
  let database: String
  private var path: String { database + ".is-damaged" }

  init(database: String) { self.database = database }

  /// Whether a rescue is to be done, or was begun.
  var isSet: Bool { access(path, F_OK) == 0 }

  func set() {
    let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    if file >= 0 { Glibc.close(file) }
  }

  /// Where the damaged database is put: named when it is asked for first, and written down, since a rescue that begins
  /// again must find it.
  func quarantine(now: Int64) throws(StorageFault) -> Quarantine {
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw fault }
    defer { Glibc.close(file) }
    var bytes = [UInt8](repeating: 0, count: Self.timeByteCount)
    let count = pread(file, &bytes, bytes.count, 0)
    if let time = Int64(String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)) {
      return Quarantine(of: database, time: time)
    }
    let text = Array("\(now)".utf8)
    guard ftruncate(file, 0) == 0, pwrite(file, text, text.count, 0) == text.count, fsync(file) == 0 else {
      throw fault
    }
    return Quarantine(of: database, time: now)
  }

  /// It is rescued.
  func clear() { unlink(path) }

  /// More than a time has digits.
  private static let timeByteCount = 20

  private var fault: StorageFault {
    let kind: StorageFault.Kind = errno == ENOSPC ? .full : .inaccessible
    return StorageFault(
      kind, path: database, "it is damaged, and \(path) cannot be written: \(String(cString: strerror(errno)))")
  }
}
