internal import Glibc

// A damaged database is put aside under another name, never removed, and another is filled with what can still be read
// of it. How that is read, and what proves itself, is the owner's affair; this is the way there, which is the same for
// all:
//
//     events.db.is-damaged      a rescue is to be done; once it has begun, where the damaged file is put
//     events.db.damaged-TIME    the damaged file; a second later than it is where one stands there already
//     events.db.new             what is being filled; takes its place when it is whole
//
// A death on the way leaves the mark, and the next start begins again with the same damaged file: what is half filled
// is never taken for what was there. What was filled and turns out to be damaged in its turn is put aside like the
// first, and rescued: no damage keeps its owner from starting for ever.

/// Where a damaged database was put.
public struct Quarantine: Sendable, Hashable {
  /// The damaged file.
  public let path: String
  /// When it was put there, seconds since 1970; a little later where another stands under that second.
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
    if quarantine.isRefilled {
      do throws(StorageFault) {
        let opened = try open(path)
        mark.clear()
        return (opened, quarantine)
      } catch {
        guard error.kind == .corrupt else { throw error }
      }
      // What was filled is damaged as well, and goes where nothing is yet.
      quarantine = try mark.nextQuarantine(now: now)
    }
    try putAside(quarantine)
    let unfinished = path + ".new"
    for suffix in DatabaseFiles.suffixes + companions { unlink(unfinished + suffix) }
    try refill(unfinished, quarantine)
    for suffix in companions { unlink(unfinished + suffix) }
    guard rename(unfinished, path) == 0 else { throw cannotMove }
    let opened = try open(path)
    mark.clear()
    return (opened, quarantine)
  }

  private func putAside(_ quarantine: Quarantine) throws(StorageFault) {
    for suffix in DatabaseFiles.suffixes where access(path + suffix, F_OK) == 0 {
      guard rename(path + suffix, quarantine.path + suffix) == 0 else { throw cannotMove }
    }
  }

  private var cannotMove: StorageFault {
    StorageFault(
      .inaccessible, path: path, "it is damaged and cannot be put aside: \(String(cString: strerror(errno)))")
  }
}

/// The files of a database.
private enum DatabaseFiles {
  /// The database's own last: while it is at its place, not all was put aside.
  static let suffixes = ["-wal", "-shm", ""]
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
