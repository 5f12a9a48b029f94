internal import Glibc

/// Why a backup cannot be written, read or restored.
public struct BackupFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong.
  public enum Kind: Hashable, Sendable {
    /// The file is no backup, or is not complete, or was changed.
    case unsound
    /// A later version of Roost has made it.
    case newer
    /// It is sealed, and the passphrase is not the right one.
    case wrongPassphrase
    /// It is sealed, and no passphrase was given.
    case sealed
    /// The system refuses to read or write.
    case system
    /// The place for the restored files is not empty.
    case occupied
  }

  /// What is wrong.
  public let kind: Kind
  /// A sentence for people, without a full stop.
  public let description: String

  /// A fault.
  public init(_ kind: Kind, _ description: String) { (self.kind, self.description) = (kind, description) }

  /// A call that failed, with `errno`.
  static func system(_ call: String, _ path: String) -> BackupFault {
    BackupFault(.system, "\(path): \(call): \(String(cString: strerror(errno)))")
  }
}
