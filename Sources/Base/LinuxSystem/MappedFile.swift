internal import Glibc

/// A file of fixed length, mapped into memory and shared with the file itself: what is stored in it is there for the
/// next process, however this one ends, and storing costs no system call.
///
/// It survives a process, not a machine: nothing here waits for the disk. The file is created with mode 0600, and its
/// blocks are allocated at once, because on a full disk a store would otherwise kill the process. A symbolic link in
/// its place is refused. If it is mapped before a sandbox is entered, it needs no right to write there.
///
/// It stays mapped for the rest of the process's life, so that no code can store into unmapped memory.
public struct MappedFile: Sendable {
  /// The path of the file.
  public let path: String
  /// The length of the file.
  public let byteCount: Int
  private let address: UInt

  /// The file's contents.
  public var bytes: UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(start: UnsafeMutableRawPointer(bitPattern: address), count: byteCount)
  }

  /// Opens the file, or creates it full of zeros. A file of another length is set to this length.
  ///
  /// - Parameters:
  ///   - path: its folder must exist.
  ///   - byteCount: above 0.
  public init(path: String, byteCount: Int) throws(SystemFault) {
    precondition(byteCount > 0, "nothing cannot be mapped")
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw SystemFault(call: "open", subject: path, code: errno) }
    // The mapping stays valid without the descriptor.
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
