internal import CLinux
internal import Glibc

/// Directories that only we can access (mode 0700), for sockets, locks and databases.
public enum PrivateDirectory {
  /// Makes sure that `path` is a directory that belongs to us and that no other user can enter.
  ///
  /// Missing parents are created too, with the same mode. An existing directory of ours is tightened to 0700; a
  /// directory of another user, or a symbolic link in its place, is refused.
  /// - Parameter path: absolute.
  public static func ensure(_ path: String) throws(SystemFault) {
    try make(path)
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw SystemFault(
        call: "open", subject: path, code: errno, advice: "It must be a directory of ours, not a link to one.")
    }
    defer { Descriptors.close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw SystemFault(call: "fstat", subject: path, code: errno) }
    guard status.st_uid == geteuid() else {
      throw SystemFault(
        call: "fstat", subject: path, code: EPERM,
        advice: "It belongs to user \(status.st_uid), not to us (user \(geteuid())). Name another directory.",
        isOwnCheck: true)
    }
    guard status.st_mode & 0o777 != 0o700 else { return }
    guard fchmod(descriptor, 0o700) == 0 else { throw SystemFault(call: "fchmod", subject: path, code: errno) }
  }

  private static func make(_ path: String) throws(SystemFault) {
    guard path.hasPrefix("/") else {
      throw SystemFault(call: "mkdir", subject: path, code: EINVAL, advice: "The path must begin with a slash.")
    }
    var step = ""
    for name in path.split(separator: "/") {
      step += "/\(name)"
      let result = mkdir(step, 0o700)
      // A loss of power must not remove a directory with what was accepted in it.
      if result == 0 { try DirectoryEntries.synchronizeReadable(nameOf: step) }
      guard result != 0, errno != EEXIST else { continue }
      let code = errno
      // If we may not write, the step may exist nevertheless: a read-only file system gives this error.
      var status = stat()
      guard stat(step, &status) == 0 else { throw SystemFault(call: "mkdir", subject: step, code: code) }
    }
  }
}
