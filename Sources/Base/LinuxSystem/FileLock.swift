internal import Glibc
internal import CLinux

/// A lock on a path (`flock`), held as long as any copy of its descriptor is open anywhere.
///
/// That "anywhere" is what it is for. The lock of a run directory says that a supervisor lives, and needs no clean-up
/// after `kill -9`: the kernel opens it. The lock of a worker's name is given to the worker's process on descriptor 4;
/// if the supervisor dies and its successor starts while the old worker still runs, the successor finds the lock taken
/// and does not start a second one. A pid file can do neither: it outlives its process, and its number may belong to a
/// stranger.
///
/// The file's single line tells people who holds it; no decision rests on it. The file is never removed: a lock on a
/// removed file and a lock on its successor would both be "the" lock.
///
/// There is no call to unlock. `flock(LOCK_UN)` on one copy would open the lock for all; closing the copies cannot.
public final class FileLock: Sendable {
  /// Longest line of information read or written, in bytes.
  public static let informationByteCountMaximum = 512

  /// What came of an attempt.
  public enum Attempt: Sendable {
    /// The lock is ours until the object goes.
    case acquired(FileLock)
    /// Somebody has it. The line is what the holder wrote, perhaps nothing.
    case held(by: String)
  }

  /// Where the lock file is.
  public let path: String
  /// Our copy of the locked descriptor, close-on-exec. Borrowed: it is closed when this object goes.
  public let descriptor: Int32

  private init(path: String, descriptor: Int32) {
    self.path = path
    self.descriptor = descriptor
  }

  deinit { Descriptors.close(descriptor) }

  /// Tries to take the lock without waiting, and writes one line about ourselves into the file.
  ///
  /// The file is created with mode 0600. A symbolic link in its place is refused.
  /// - Parameters:
  ///   - path: the lock file; its folder must be there.
  ///   - information: for people, as `roostd pid 4711 since 2026-07-01T08:00Z`. Line breaks become spaces; what exceeds
  ///     512 bytes is cut.
  public static func attempt(path: String, information: String) throws(SystemFault) -> Attempt {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
    guard descriptor >= 0 else {
      throw SystemFault(
        call: "open", subject: path, code: errno,
        advice: "The lock file must be ours to write, in a directory that exists.")
    }
    // From here on the object owns the descriptor, whichever way this function ends.
    let lock = FileLock(path: path, descriptor: descriptor)
    let result = roost_lock_exclusively(descriptor)
    if result == -EWOULDBLOCK { return .held(by: lock.readInformation()) }
    try checked(result, "flock", path, "Does the file system know locks?")
    try lock.checkStillInPlace()
    try lock.write(information)
    return .acquired(lock)
  }

  /// Another descriptor of the same lock, to be handed to a child. The caller owns it and closes it after the spawn;
  /// the lock stays held while the child, this object or any other copy lives.
  public func duplicate() throws(SystemFault) -> Int32 { try Descriptors.duplicate(descriptor) }

  /// Whether the file at ``path`` is still the one we have locked. If somebody has removed or replaced it, our lock
  /// guards nothing.
  public var isInPlace: Bool {
    var ours = stat()
    var present = stat()
    return fstat(descriptor, &ours) == 0 && stat(path, &present) == 0
      && ours.st_ino == present.st_ino && ours.st_dev == present.st_dev
  }

  /// That may happen between our opening and locking it.
  private func checkStillInPlace() throws(SystemFault) {
    guard isInPlace else {
      throw SystemFault(
        call: "flock", subject: path, code: ESTALE,
        advice: "The lock file was replaced at this moment. Nobody should remove it; try again.")
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
    // Written before it is cut: a reader in between sees an old line's end rather than nothing.
    guard pwrite(descriptor, bytes, bytes.count, 0) == bytes.count, ftruncate(descriptor, off_t(bytes.count)) == 0
    else {
      throw SystemFault(call: "write", subject: path, code: errno, advice: "Is the disk full?")
    }
  }
}
