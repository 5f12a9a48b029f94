internal import CLinux
internal import Glibc

// A folder that a program of somebody else's has written into. Nothing in it is followed: names are looked up below
// the folder that holds them, and links are removed, not gone through. However deep it is, no more than
// `depthMaximum` folders are open at a time.

/// A folder with all that is below it.
public enum FolderTree {
  /// How deep below the folder things are counted, and removed where they are; what is deeper is moved up first.
  static let depthMaximum = 64

  /// What a folder takes.
  public struct Usage: Hashable, Sendable {
    /// Bytes on the disk.
    public var byteCount: Int64 = 0
    /// Files and folders in it.
    public var entryCount = 0
  }

  /// Counts what is in a folder.
  ///
  /// - Parameters:
  ///   - path: the folder; one that is not there has nothing in it.
  ///   - entryMaximum: counting ends when there are more.
  public static func usage(of path: String, entryMaximum: Int) -> Usage {
    var usage = Usage()
    let folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    if folder >= 0 { count(folder, depth: 0, entryMaximum, &usage) }
    return usage
  }

  /// Removes a folder with all that is in it; one that is not there is no fault.
  public static func remove(_ path: String) throws(SystemFault) {
    let folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard folder >= 0 else {
      if errno == ENOENT { return }
      throw SystemFault(call: "open", subject: path, code: errno)
    }
    defer { Descriptors.close(folder) }
    // Each pass leaves what it has moved up, which is less deep by as much.
    var (moved, before) = (0, 0)
    repeat {
      before = moved
      empty(try duplicated(folder), top: folder, depth: 0, &moved)
    } while moved > before
    guard rmdir(path) == 0 else { throw SystemFault(call: "rmdir", subject: path, code: errno) }
  }

  private static func duplicated(_ folder: Int32) throws(SystemFault) -> Int32 {
    // Not a second number of the same open file: that would share its place in the list.
    let again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard again >= 0 else { throw SystemFault(call: "open", subject: "descriptor \(folder)", code: errno) }
    return again
  }

  /// Takes over the descriptor.
  private static func names(in folder: Int32, _ body: (Int32, String) -> Bool) {
    guard let list = fdopendir(folder) else { return Descriptors.close(folder) }
    defer { closedir(list) }
    while let entry = readdir(list) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != "..", !body(folder, name) { return }
    }
  }

  private static func count(_ folder: Int32, depth: Int, _ maximum: Int, _ usage: inout Usage) {
    names(in: folder) { folder, name in
      var status = stat()
      guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return true }
      usage.entryCount += 1
      usage.byteCount += Int64(status.st_blocks) * 512
      if status.st_mode & S_IFMT == S_IFDIR, depth < depthMaximum {
        let inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        if inner >= 0 { count(inner, depth: depth + 1, maximum, &usage) }
      }
      return usage.entryCount <= maximum
    }
  }

  /// Removes what is in a folder, whose descriptor it takes over.
  private static func empty(_ folder: Int32, top: Int32, depth: Int, _ moved: inout Int) {
    // Whoever has made it may have closed it to itself.
    fchmod(folder, 0o700)
    names(in: folder) { folder, name in
      if unlinkat(folder, name, 0) == 0 || errno == ENOENT { return true }
      if depth >= depthMaximum {
        if renameat(folder, name, top, "roost-moved-\(moved)") == 0 { moved += 1 }
        return true
      }
      var inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      if inner < 0, errno == EACCES, fchmodat(folder, name, 0o700, 0) == 0 {
        inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      }
      if inner >= 0 { empty(inner, top: top, depth: depth + 1, &moved) }
      unlinkat(folder, name, AT_REMOVEDIR)
      return true
    }
  }
}
