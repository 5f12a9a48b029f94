internal import Glibc

/// A file of fixed length in memory, shared with the file itself: what is stored in it is there for the next process,
/// however this one ends, and storing costs no system call.
///
/// It survives a process, not a machine: nothing here waits for the disk. The file is created with mode 0600, and its
/// blocks are taken at once, because a full disk would otherwise kill whoever stores. A symbolic link in its place is
/// refused. Mapped before a sandbox is entered, it needs no right to write in it.
///
/// It stays mapped for the rest of the process's life, so that nobody can store into what is gone.
public struct MappedFile: Sendable {
  /// Where the file is.
  public let path: String
  /// How long it is.
  public let byteCount: Int
  private let address: UInt

  /// The file's contents.
  public var bytes: UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(start: UnsafeMutableRawPointer(bitPattern: address), count: byteCount)
  }

  /// Opens the file, or makes it full of zeroes. One of another length is brought to this one.
  ///
  /// - Parameters:
  ///   - path: its folder must be there.
  ///   - byteCount: above 0.
  public init(path: String, byteCount: Int) throws(SystemFault) {
    precondition(byteCount > 0, "nothing cannot be mapped")
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw SystemFault(call: "open", subject: path, code: errno) }
    // The mapping stays without it.
    defer { Descriptors.close(descriptor) }
    guard ftruncate(descriptor, off_t(byteCount)) == 0 else {
      throw SystemFault(call: "ftruncate", subject: path, code: errno)
    }
    let allocated = posix_fallocate(descriptor, 0, off_t(byteCount))
    guard allocated == 0 else { throw SystemFault(call: "posix_fallocate", subject: path, code: allocated) }
    let memory = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
    guard let memory, memory != MAP_FAILED else { throw SystemFault(call: "mmap", subject: path, code: errno) }
    self.path = path
    self.byteCount = byteCount
    address = UInt(bitPattern: memory)
  }
}
