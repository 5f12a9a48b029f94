internal import Glibc

// A file's name is kept by its directory, and not by the file: after `fsync` of the file alone a loss of power may take
// a name that was just made, or give one back that a renaming had taken. So whoever creates, renames or removes what
// others rely on brings the directory to the disk as well, before it says so or builds on it.

/// The names in a directory, and when they are on the disk.
public enum DirectoryEntries {
  /// Waits until the names in a directory are on the disk: what was created, renamed and removed in it.
  ///
  /// Blocks. A file system that cannot do this for directories (EINVAL) has no such wait, and is believed.
  public static func synchronize(_ directory: String) throws(SystemFault) {
    let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw SystemFault(call: "open", subject: directory, code: errno) }
    defer { Descriptors.close(descriptor) }
    guard fsync(descriptor) == 0 || errno == EINVAL else {
      throw SystemFault(call: "fsync", subject: directory, code: errno)
    }
  }

  /// Waits until the name of a file or directory is on the disk, or that it has none: synchronizes what it is in.
  public static func synchronize(nameOf path: String) throws(SystemFault) { try synchronize(parent(of: path)) }

  /// The same for a name in a directory that may be another user's: where one may write and not read it, its file
  /// system brings the name to the disk in its time.
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
