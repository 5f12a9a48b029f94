/// The answer of `backup.status`.
public struct BackupStatus: Codable, Sendable, Hashable, Payload {
  /// A backup.
  public struct Backup: Codable, Sendable, Hashable {
    /// The file.
    public var path: String
    /// When it was begun, seconds since 1970.
    public var time: Int64
    /// Its size in bytes.
    public var byteCount: Int64

    /// A backup.
    public init(path: String, time: Int64, byteCount: Int64) {
      (self.path, self.time, self.byteCount) = (path, time, byteCount)
    }
  }

  /// The directory; absent: none is set, and no backup is made.
  public var directory: String?
  /// Whether the backups are sealed.
  public var isSealed: Bool
  /// The latest backup in the directory.
  public var last: Backup?
  /// How many there are.
  public var count: Int
  /// When the next one is due, seconds since 1970.
  public var nextAt: Int64?
  /// Whether one is being made.
  public var isMaking: Bool
  /// Folders that the latest backup of this process has not, since their workers do not run.
  public var leftOut: [String]
  /// Why the last attempt made none, or why the program after it failed.
  public var reason: String?

  /// A status without a directory.
  public init() { (isSealed, count, isMaking, leftOut) = (false, 0, false, []) }
}
