internal import GRDB
internal import GRDBSQLite

/// Why a database could not be opened, read or written.
public struct StorageFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// What kind of failure it is: each asks something else of whoever runs the machine.
  public enum Kind: String, Hashable, Sendable {
    /// No space on the disk, or a file size limit: nothing was lost, writing goes on when there is room.
    case full
    /// What is in the file is not what was written.
    case corrupt
    /// The file was written by a later version of the program.
    case newer
    /// The file, or a directory above it, cannot be opened or written.
    case inaccessible
    /// Another process has the file.
    case busy
    /// A read or write failed otherwise.
    case failed
  }

  /// The kind.
  public let kind: Kind
  /// Whether it may pass by itself: the disk is full, or another process has the file.
  public var mayPass: Bool { kind == .full || kind == .busy }
  /// The database file.
  public let path: String
  /// SQLite's words.
  public let reason: String

  /// A failure.
  public init(_ kind: Kind, path: String, _ reason: String) {
    self.kind = kind
    self.path = path
    self.reason = reason
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
      case .SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH: .inaccessible
      case .SQLITE_BUSY, .SQLITE_LOCKED: .busy
      default: .failed
      }
    self.init(kind, path: path, error.message ?? "SQLite error \(error.extendedResultCode.rawValue)")
  }

  /// A sentence: what happened, where, and what to do.
  public var description: String {
    switch kind {
    case .full: "the disk is full: \(path) cannot grow (\(reason)); make room, and writing goes on"
    case .corrupt: "the database \(path) is damaged (\(reason))"
    case .newer: "the database \(path) \(reason); run that version, or move the file away to start anew"
    case .inaccessible: "the database \(path) cannot be opened for writing (\(reason)); look at its owner and mode"
    case .busy: "the database \(path) is in use by another process (\(reason))"
    case .failed: "the database \(path): \(reason)"
    }
  }
}
