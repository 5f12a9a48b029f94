internal import Glibc
internal import CLinux

/// A lock on a path (`flock`), held as long as any copy of its descriptor is open anywhere.
///
/// The word "anywhere" is the purpose. The lock of a run directory says that a supervisor is alive, and needs no
/// clean-up after `kill -9`: the kernel releases it. The lock of a worker's name is passed to the worker's process on
/// descriptor 4. If the supervisor dies and its successor starts while the old worker still runs, the successor finds
/// the lock taken and does not start a second worker. A pid file can do neither: it outlives its process, and its
/// number may belong to another process.
///
/// The file's single line tells people which process holds the lock; no decision depends on it. The file is never
/// removed: otherwise a lock on the removed file and a lock on its successor would both be "the" lock.
/// There is no call to unlock. `flock(LOCK_UN)` on one copy would release the lock for all copies; closing a copy does
/// not.
public final class FileLock: Sendable {
  /// Longest line of information read or written, in bytes.
  public static let informationByteCountMaximum = 512

  /// The result of an attempt.
  public enum Attempt: Sendable {
    /// The lock is ours until the object is released.
    case acquired(FileLock)
    /// Another process has it. The line is what the holder wrote, and may be empty.
    case held(by: String)
  }

  /// The path of the lock file.
  public let path: String
  /// Our copy of the locked descriptor, close-on-exec. Borrowed: it is closed when this object is released.
  public let descriptor: Int32

  private init(path: String, descriptor: Int32) {
    self.path = path
    self.descriptor = descriptor
  }

  deinit { Descriptors.close(descriptor) }

  /// Tries to take the lock without waiting, and writes one line about this process into the file.
  ///
  /// The file is created with mode 0600. A symbolic link in its place is refused.
  /// - Parameters:
  ///   - path: the lock file; its folder must exist.
  ///   - information: for people, such as `roostd pid 4711 since 2026-07-01T08:00Z`. Line breaks become spaces; the
  ///     line is cut at 512 bytes.
  public static func attempt(path: String, information: String) throws(SystemFault) -> Attempt {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
    guard descriptor >= 0 else {
      throw SystemFault(
        call: "open", subject: path, code: errno,
        advice: "The lock file must be ours to write, in a directory that exists.")
    }
    // From here on the object owns the descriptor, however this function ends.
    let lock = FileLock(path: path, descriptor: descriptor)
    let result = roost_lock_exclusively(descriptor)
    if result == -EWOULDBLOCK { return .held(by: lock.readInformation()) }
    try checked(result, "flock", path, "Does the file system know locks?")
    try lock.checkStillInPlace()
    try lock.write(information)
    return .acquired(lock)
  }

  /// Another descriptor of the same lock, for a child. The caller owns it and closes it after the spawn; the lock stays
  /// held while the child, this object or any other copy is alive.
  public func duplicate() throws(SystemFault) -> Int32 { try Descriptors.duplicate(descriptor) }

  /// Whether the file at ``path`` is still the locked one. If it was removed or replaced, our lock protects nothing.
  public var isInPlace: Bool {
    var ours = stat()
    var present = stat()
    return fstat(descriptor, &ours) == 0 && stat(path, &present) == 0
      && ours.st_ino == present.st_ino && ours.st_dev == present.st_dev
  }

  /// The file may be replaced between opening and locking it.
  private func checkStillInPlace() throws(SystemFault) {
    guard isInPlace else {
      throw SystemFault(
        call: "flock", subject: path, code: ESTALE,
        advice: "The lock file was replaced at this moment. No program should remove it; try again.")
    }
  }

  private func readInformation() -> String {
    var bytes = [UInt8](repeating: 0, count: Self.informationByteCountMaximum)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    let line = bytes.prefix(max(count, 0)).prefix { $0 != UInt8(ascii: "\n") }
    return String(decoding: line, as: UTF8.self)
  }

  private func write(_ information: String) throws(SystemFault) {
    var bytes = information.utf8.map { $0 < 0x20 || $0 == 0x7F ? UInt8(ascii: " ") : $0 }
    bytes = bytes.prefix(Self.informationByteCountMaximum - 1) + [UInt8(ascii: "\n")]
    // Written before the file is cut: a reader in between sees the end of an old line rather than nothing.
    guard pwrite(descriptor, bytes, bytes.count, 0) == bytes.count, ftruncate(descriptor, off_t(bytes.count)) == 0
    else {
      throw SystemFault(call: "write", subject: path, code: errno, advice: "Is the disk full?")
    }
  }
}
