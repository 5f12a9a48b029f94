internal import Glibc

// A file's name is stored in its directory, not in the file. After `fsync` of the file alone, a loss of power may take
// away a new name, or bring back one that a renaming had removed. So code that creates, renames or removes a file that
// others rely on must also synchronize the directory, before it reports or uses the change.

/// The names in a directory, and their synchronization.
public enum DirectoryEntries {
  /// Waits until the names in a directory are on the disk: everything created, renamed and removed in it.
  ///
  /// Blocks. A file system that cannot do this for directories (EINVAL) is trusted without the wait.
  public static func synchronize(_ directory: String) throws(SystemFault) {
    let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw SystemFault(call: "open", subject: directory, code: errno) }
    defer { Descriptors.close(descriptor) }
    guard fsync(descriptor) == 0 || errno == EINVAL else {
      throw SystemFault(call: "fsync", subject: directory, code: errno)
    }
  }

  /// Waits until the name of a file or directory, or its removal, is on the disk: synchronizes the directory it is in.
  public static func synchronize(nameOf path: String) throws(SystemFault) { try synchronize(parent(of: path)) }

  /// The same for a name in a directory that may belong to another user: if this user may write but not read the
  /// directory, nothing is synchronized here, and the file system writes the name later.
  public static func synchronizeReadable(nameOf path: String) throws(SystemFault) {
    do throws(SystemFault) { try synchronize(nameOf: path) } catch {
      guard error.code == EACCES else { throw error }
    }
  }

  static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}
