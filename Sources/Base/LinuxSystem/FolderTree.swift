internal import CLinux
internal import Glibc

// A folder that a foreign program has written into, and may be writing into now. Nothing in it is followed: names are
// looked up relative to the folder that contains them, and links are removed, not followed. A name may be any bytes. A
// folder whose mode denies its owner access is opened up for its owner. However deep the tree is, at most
// `depthMaximum` folders are open at a time.

/// A folder with everything below it.
public enum FolderTree {
  /// Down to this depth, entries are counted, and removed in place; deeper ones are moved up before they are removed.
  static let depthMaximum = 64

  /// The size of a folder.
  public struct Usage: Hashable, Sendable {
    /// Bytes on the disk.
    public var byteCount: Int64 = 0
    /// Files and folders in it.
    public var entryCount = 0
    /// Whether everything was counted; false if an entry is too deep, or could not be examined.
    public var isWhole = true
  }

  /// Counts the contents of a folder.
  ///
  /// - Parameters:
  ///   - path: the folder; a missing one counts as empty.
  ///   - entryMaximum: counting ends when there are more.
  public static func usage(of path: String, entryMaximum: Int) -> Usage {
    var usage = Usage()
    let folder = opened(path, in: AT_FDCWD)
    if folder >= 0 { count(folder, depth: 0, entryMaximum, &usage) } else { usage.isWhole = errno == ENOENT }
    return usage
  }

  /// Removes a folder with all its contents; a missing one is no fault.
  public static func remove(_ path: String) throws(SystemFault) {
    let folder = opened(path, in: AT_FDCWD)
    guard folder >= 0 else {
      if errno == ENOENT { return }
      throw SystemFault(call: "open", subject: path, code: errno)
    }
    defer { Descriptors.close(folder) }
    // Each pass leaves only what it has moved up, which is then less deep.
    var (moved, before) = (0, 0)
    repeat {
      before = moved
      empty(try duplicated(folder), top: folder, depth: 0, &moved)
    } while moved > before
    guard rmdir(path) == 0 else { throw SystemFault(call: "rmdir", subject: path, code: errno) }
  }

  private static func duplicated(_ folder: Int32) throws(SystemFault) -> Int32 {
    // A new open file, not a duplicate descriptor: a duplicate would share the position in the list.
    let again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard again >= 0 else { throw SystemFault(call: "open", subject: "descriptor \(folder)", code: errno) }
    return again
  }

  /// Opens a folder with all rights that its owner can have, even if its mode denies them to the owner.
  ///
  /// - Returns: its descriptor, or -1.
  private static func opened(_ name: UnsafePointer<CChar>, in parent: Int32) -> Int32 {
    let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
    var folder = openat(parent, name, flags)
    // Not through a link, which may have been placed there a moment ago.
    if folder < 0, errno == EACCES, fchmodat(parent, name, S_IRWXU, AT_SYMLINK_NOFOLLOW) == 0 {
      folder = openat(parent, name, flags)
    }
    guard folder >= 0 else { return -1 }
    var status = stat()
    if fstat(folder, &status) == 0, status.st_mode & S_IRWXU != S_IRWXU { fchmod(folder, S_IRWXU) }
    return folder
  }

  /// Takes ownership of the descriptor. A name is passed as bytes, since it need not be UTF-8.
  private static func names(in folder: Int32, _ body: (Int32, UnsafePointer<CChar>) -> Bool) {
    guard let list = fdopendir(folder) else { return Descriptors.close(folder) }
    defer { closedir(list) }
    while let entry = readdir(list) {
      let goesOn = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: entry.pointee.d_name)) { name in
          strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || body(folder, name)
        }
      }
      if !goesOn { return }
    }
  }

  private static func count(_ folder: Int32, depth: Int, _ maximum: Int, _ usage: inout Usage) {
    names(in: folder) { folder, name in
      var status = stat()
      guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
        if errno != ENOENT { usage.isWhole = false }
        return true
      }
      usage.entryCount += 1
      usage.byteCount += Int64(status.st_blocks) * 512
      if status.st_mode & S_IFMT == S_IFDIR {
        let inner = depth < depthMaximum ? opened(name, in: folder) : -1
        if inner >= 0 {
          count(inner, depth: depth + 1, maximum, &usage)
        } else if depth == depthMaximum || errno != ENOENT {
          usage.isWhole = false
        }
      }
      return usage.entryCount <= maximum
    }
  }

  /// Removes the contents of a folder, and takes ownership of its descriptor.
  private static func empty(_ folder: Int32, top: Int32, depth: Int, _ moved: inout Int) {
    names(in: folder) { folder, name in
      if unlinkat(folder, name, 0) == 0 || errno == ENOENT { return true }
      if depth >= depthMaximum {
        if renameat(folder, name, top, "roost-moved-\(moved)") == 0 { moved += 1 }
        return true
      }
      let inner = opened(name, in: folder)
      if inner >= 0 { empty(inner, top: top, depth: depth + 1, &moved) }
      unlinkat(folder, name, AT_REMOVEDIR)
      return true
    }
  }
}
