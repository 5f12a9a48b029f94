internal import Glibc
public import LinuxSystem

// Everything that this module needs of a file system, so that a test can make each single call fail once and see what
// is lost. All calls block, and run on the thread pool only.

/// The calls that keep logs and letters. Each does what it says or throws, with the path in the fault.
public protocol FileOperations: Sendable {
  /// Makes sure that a directory exists, belongs to this user, and is closed to others.
  func ensureDirectory(_ path: String) throws(SystemFault)
  /// Opens a file for appending, and makes it with mode 0600 if it does not exist. The caller closes the descriptor.
  func openForAppending(_ path: String) throws(SystemFault) -> Int32
  /// Makes a new file with mode 0600 for writing; a file that exists already is a fault. The caller closes the
  /// descriptor.
  func create(_ path: String) throws(SystemFault) -> Int32
  /// The size of an open file in bytes, and whether a name still leads to it.
  func status(of descriptor: Int32) throws(SystemFault) -> (byteCount: Int, hasName: Bool)
  /// The last byte of an open file; nil if it is empty or cannot be read by position.
  func lastByte(of descriptor: Int32, byteCount: Int) -> UInt8?
  /// Writes as many bytes as the system takes, at least one.
  func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, path: String) throws(SystemFault) -> Int
  /// Truncates an open file.
  func truncate(_ descriptor: Int32, byteCount: Int, path: String) throws(SystemFault)
  /// Waits until an open file's contents are on the disk.
  func synchronize(_ descriptor: Int32, path: String) throws(SystemFault)
  /// Waits until the names in a directory are on the disk.
  func synchronizeDirectory(_ path: String) throws(SystemFault)
  /// Closes a descriptor.
  func close(_ descriptor: Int32)
  /// Renames a file, and replaces the file that has the new name.
  func rename(_ path: String, to target: String) throws(SystemFault)
  /// Removes a file; a file that does not exist is no fault.
  func remove(_ path: String) throws(SystemFault)
  /// The names in a directory, unsorted, without `.` and `..`.
  func names(in directory: String) throws(SystemFault) -> [String]
  /// The contents of a whole file; a file of more than `byteCountMaximum` is a fault (EFBIG).
  func contents(of path: String, byteCountMaximum: Int) throws(SystemFault) -> [UInt8]
}

/// The machine's own file system.
public struct SystemFiles: FileOperations {
  /// The file system.
  public init() {}

  /// See ``FileOperations``.
  public func ensureDirectory(_ path: String) throws(SystemFault) { try PrivateDirectory.ensure(path) }

  /// See ``FileOperations``.
  public func openForAppending(_ path: String) throws(SystemFault) -> Int32 {
    // Readable too: the last byte shows whether the last line is whole.
    try Self.result(open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0o600), "open", path)
  }

  /// See ``FileOperations``.
  public func create(_ path: String) throws(SystemFault) -> Int32 {
    try Self.result(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600), "open", path)
  }

  /// See ``FileOperations``.
  public func status(of descriptor: Int32) throws(SystemFault) -> (byteCount: Int, hasName: Bool) {
    var status = stat()
    try Self.result(fstat(descriptor, &status), "fstat", "descriptor \(descriptor)")
    return (Int(status.st_size), status.st_nlink > 0)
  }

  /// See ``FileOperations``.
  public func lastByte(of descriptor: Int32, byteCount: Int) -> UInt8? {
    var byte: UInt8 = 0
    return byteCount > 0 && pread(descriptor, &byte, 1, off_t(byteCount - 1)) == 1 ? byte : nil
  }

  /// See ``FileOperations``.
  public func write(
    _ bytes: UnsafeRawBufferPointer, to descriptor: Int32, path: String
  ) throws(SystemFault) -> Int {
    while true {
      let written = Glibc.write(descriptor, bytes.baseAddress, bytes.count)
      if written > 0 || bytes.isEmpty { return written }
      let code = written == 0 ? EIO : errno
      if code != EINTR { throw SystemFault(call: "write", subject: path, code: code) }
    }
  }

  /// See ``FileOperations``.
  public func truncate(_ descriptor: Int32, byteCount: Int, path: String) throws(SystemFault) {
    try Self.result(ftruncate(descriptor, off_t(byteCount)), "ftruncate", path)
  }

  /// See ``FileOperations``.
  public func synchronize(_ descriptor: Int32, path: String) throws(SystemFault) {
    try Self.result(fsync(descriptor), "fsync", path)
  }

  /// See ``FileOperations``.
  public func synchronizeDirectory(_ path: String) throws(SystemFault) {
    try DirectoryEntries.synchronize(path)
  }

  /// See ``FileOperations``.
  public func close(_ descriptor: Int32) { Descriptors.close(descriptor) }

  /// See ``FileOperations``.
  public func rename(_ path: String, to target: String) throws(SystemFault) {
    try Self.result(Glibc.rename(path, target), "rename", path)
  }

  /// See ``FileOperations``.
  public func remove(_ path: String) throws(SystemFault) {
    guard unlink(path) != 0, errno != ENOENT else { return }
    throw SystemFault(call: "unlink", subject: path, code: errno)
  }

  /// See ``FileOperations``.
  public func names(in directory: String) throws(SystemFault) -> [String] {
    guard let stream = opendir(directory) else { throw SystemFault(call: "opendir", subject: directory, code: errno) }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name != "." && name != ".." { names.append(name) }
    }
    return names
  }

  /// See ``FileOperations``.
  public func contents(of path: String, byteCountMaximum: Int) throws(SystemFault) -> [UInt8] {
    // Without blocking: a pipe may be at this path.
    let descriptor = try Self.result(open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), "open", path)
    defer { close(descriptor) }
    let byteCount = try status(of: descriptor).byteCount
    guard byteCount <= byteCountMaximum else { throw SystemFault(call: "read", subject: path, code: EFBIG) }
    var bytes = [UInt8](repeating: 0, count: byteCount)
    var filled = 0
    while filled < byteCount {
      let count = bytes.withUnsafeMutableBytes { buffer in
        read(descriptor, buffer.baseAddress.map { $0 + filled }, byteCount - filled)
      }
      if count < 0 && errno == EINTR { continue }
      if count < 0 { throw SystemFault(call: "read", subject: path, code: errno) }
      if count == 0 { break }
      filled += count
    }
    bytes.removeLast(byteCount - filled)
    return bytes
  }

  @discardableResult
  private static func result(_ result: Int32, _ call: String, _ subject: String) throws(SystemFault) -> Int32 {
    guard result < 0 else { return result }
    throw SystemFault(call: call, subject: subject, code: errno)
  }
}
