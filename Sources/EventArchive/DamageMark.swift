internal import Glibc
internal import Storage

/// The file that says that a database is damaged, and where it is put aside.
struct DamageMark {
  private let database: String
  private let path: String

  /// The mark beside a database.
  init(database: String) {
    self.database = database
    path = database + ".is-damaged"
  }

  /// Whether a rescue is to be done, or was begun.
  var isSet: Bool { access(path, F_OK) == 0 }

  /// Sets it. Where it cannot be written the damage is met again.
  func set() {
    let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    if file >= 0 { Glibc.close(file) }
  }

  /// Where the damaged database is put: named when it is asked for first, and written down, since a rescue that begins
  /// again must find it.
  func aside(now: Int64) throws(StorageFault) -> (path: String, time: Int64) {
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw fault }
    defer { Glibc.close(file) }
    var bytes = [UInt8](repeating: 0, count: Self.timeByteCount)
    let count = pread(file, &bytes, bytes.count, 0)
    if let time = Int64(String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)) {
      return (Self.asidePath(database, time), time)
    }
    let text = Array("\(now)".utf8)
    guard ftruncate(file, 0) == 0, pwrite(file, text, text.count, 0) == text.count, fsync(file) == 0 else {
      throw fault
    }
    return (Self.asidePath(database, now), now)
  }

  /// It is rescued.
  func clear() { unlink(path) }

  /// More than a time has digits.
  private static let timeByteCount = 20

  /// Where a database found damaged at a time is put.
  static func asidePath(_ database: String, _ time: Int64) -> String { "\(database).damaged-\(time)" }

  private var fault: StorageFault {
    let kind: StorageFault.Kind = errno == ENOSPC ? .full : .inaccessible
    return StorageFault(
      kind, path: database, "it is damaged, and \(path) cannot be written: \(String(cString: strerror(errno)))")
  }
}
