internal import GRDB
internal import GRDBSQLite
internal import Glibc
public import LinuxSystem

/// Why a database could not be opened, read or written.
public struct StorageFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of failure: each requires something different from the operator.
  public enum Kind: String, Hashable, Sendable {
    /// No space on the disk, or a file size limit: nothing was lost, writing continues when there is room.
    case full
    /// The file's contents are not what was written.
    case corrupt
    /// The file was written by a later version of the program.
    case newer
    /// The file, or a directory above it, cannot be opened or written.
    case inaccessible
    /// Another process uses the file.
    case busy
    /// The system failed to read, write or allocate memory, and the file is not to blame: a disk that failed, or was
    /// full for a moment.
    case interrupted
    /// A failure that waiting does not mend: the request makes no sense, or the file was taken away.
    case failed
  }

  /// The kind.
  public let kind: Kind
  /// Whether the failure may pass without help: the disk is full or failed, or another process uses the file. A worker
  /// that cannot start because of it reports that something is unavailable, and is started again.
  public var mayPass: Bool { kind == .full || kind == .busy || kind == .interrupted }
  /// The database file.
  public let path: String
  /// SQLite's message.
  public let reason: String

  /// A failure.
  public init(_ kind: Kind, path: String, _ reason: String) {
    self.kind = kind
    self.path = path
    self.reason = reason
  }

  /// A refusal of the system for one of the database's own files.
  public init(_ fault: SystemFault, path: String) {
    self.init(Self.kind(of: fault.code), path: path, String(cString: strerror(fault.code)))
  }

  init(_ error: any Error, path: String) {
    if let fault = error as? StorageFault {
      self = fault
      return
    }
    guard let error = error as? DatabaseError else {
      self.init(.failed, path: path, "\(error)")
      return
    }
    let kind: Kind =
      switch error.resultCode {
      case .SQLITE_FULL: .full
      case .SQLITE_CORRUPT, .SQLITE_NOTADB: .corrupt
      case .SQLITE_IOERR, .SQLITE_NOMEM, .SQLITE_PROTOCOL, .SQLITE_INTERRUPT: Self.interruption(of: path)
      case .SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH:
        Self.mayUse(path) ? Self.interruption(of: path) : .inaccessible
      case .SQLITE_BUSY, .SQLITE_LOCKED: .busy
      default: .failed
      }
    self.init(kind, path: path, error.message ?? "SQLite error \(error.extendedResultCode.rawValue)")
  }

  /// A failed call on a file, by its error number.
  init(code: Int32, path: String, _ reason: String) {
    self.init(Self.kind(of: code), path: path, "\(reason): \(String(cString: strerror(code)))")
  }

  private static func kind(of code: Int32) -> Kind {
    switch code {
    case ENOSPC, EDQUOT, EFBIG: .full
    case EACCES, EPERM, EROFS, ENOENT, ENOTDIR, EISDIR, ELOOP, ENAMETOOLONG: .inaccessible
    default: .interrupted
    }
  }

  /// Free bytes below which a disk counts as full: less than a database needs to be opened, with its log and its index.
  private static let fullByteCount: UInt64 = 256 << 10

  /// The kind of a read or write error. SQLite reports some writes that found no room as failed writes (above all
  /// writes to the log's index), and the moment has passed when the error arrives. So this also checks the disk for
  /// free space.
  private static func interruption(of path: String) -> Kind {
    var disk = statvfs()
    guard statvfs(directory(of: path), &disk) == 0 else { return .interrupted }
    let isFull = UInt64(disk.f_bavail) * UInt64(disk.f_frsize) < fullByteCount
    let hasNoPlace = disk.f_files > 0 && disk.f_favail == 0
    return isFull || hasNoPlace ? .full : .interrupted
  }

  /// Whether owner and mode permit to write the file, and to create others beside it. If they do, the cause was
  /// something else, such as the limit of open files.
  private static func mayUse(_ path: String) -> Bool {
    guard access(directory(of: path), R_OK | W_OK | X_OK) == 0 else { return false }
    return ["", "-wal", "-shm"].allSatisfy { suffix in
      var status = stat()
      guard stat(path + suffix, &status) == 0 else { return errno == ENOENT }
      return status.st_mode & S_IFMT == S_IFREG && access(path + suffix, R_OK | W_OK) == 0
    }
  }

  private static func directory(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// A sentence: what happened, where, and what to do.
  public var description: String {
    switch kind {
    case .full:
      // SQLite's own word for an error that the system reports later.
      "the disk is full: \(path) cannot grow\(reason == "not an error" ? "" : " (\(reason))"); make room, and writing "
        + "continues"
    case .corrupt: "the database \(path) is damaged (\(reason))"
    case .newer: "the database \(path) \(reason); run that version, or move the file away to start with an empty one"
    case .inaccessible: "the database \(path) cannot be opened for writing (\(reason)); look at its owner and mode"
    case .busy: "the database \(path) is in use by another process (\(reason))"
    case .interrupted: "the database \(path) could not be read or written (\(reason))"
    case .failed: "the database \(path): \(reason)"
    }
  }
}
