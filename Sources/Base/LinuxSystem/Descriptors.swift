internal import CLinux
internal import Glibc

/// Two connected descriptors, of which one usually goes to a child. Both are plain numbers: the owner of the pair
/// closes each once, by ``Descriptors/close(_:)`` or by passing it to code that closes it.
public struct DescriptorPair: Sendable {
  /// A pipe's reading end; for a socket pair, one of two equal ends.
  public let first: Int32
  /// A pipe's writing end; for a socket pair, the other end.
  public let second: Int32
}

/// Raw descriptors: created close-on-exec, so that a child gets one only if it is passed on purpose.
public enum Descriptors {
  /// A connected pair of unix stream sockets, blocking and close-on-exec.
  public static func socketPair() throws(SystemFault) -> DescriptorPair {
    var numbers: [Int32] = [-1, -1]
    try checked(roost_socket_pair(&numbers), "socketpair", "", "Is the limit of open files reached?")
    return DescriptorPair(first: numbers[0], second: numbers[1])
  }

  /// A pipe, blocking and close-on-exec: `first` is read, `second` is written.
  public static func pipe() throws(SystemFault) -> DescriptorPair {
    var numbers: [Int32] = [-1, -1]
    try checked(roost_pipe(&numbers), "pipe2", "", "Is the limit of open files reached?")
    return DescriptorPair(first: numbers[0], second: numbers[1])
  }

  /// Closes a descriptor. It is closed afterwards, even if the kernel reports an error: a second attempt could close
  /// another file that got the same number meanwhile.
  public static func close(_ descriptor: Int32) {
    _ = Glibc.close(descriptor)
  }

  /// A second number for the same open file, close-on-exec. The caller owns it.
  public static func duplicate(_ descriptor: Int32) throws(SystemFault) -> Int32 {
    // From 3 upwards: a copy must never become a child's standard output.
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    return try checked(copy < 0 ? -errno : copy, "fcntl", "descriptor \(descriptor)")
  }

  /// A file in memory that contains `bytes`, positioned at its beginning, close-on-exec: input for a child that is
  /// never written to a disk. The caller owns it.
  public static func memoryFile(_ bytes: [UInt8]) throws(SystemFault) -> Int32 {
    let descriptor = try checked(roost_memory_file("input"), "memfd_create", "")
    do throws(SystemFault) {
      try writeAll(bytes, to: descriptor)
    } catch {
      close(descriptor)
      throw error
    }
    lseek(descriptor, 0, SEEK_SET)
    return descriptor
  }

  /// Closes a descriptor and all higher ones, for a program that is about to become another.
  public static func closeAll(from first: UInt32) throws(SystemFault) {
    try checked(roost_close_from(first), "close_range", "descriptors from \(first)")
  }

  /// Writes all bytes, in as many calls as it takes.
  ///
  /// On a non-blocking descriptor it waits, at most `timeoutMilliseconds` each time nothing can be written.
  /// - Throws: `ETIMEDOUT` if the reader does not read, `EPIPE` if it is gone (when SIGPIPE is ignored). Some bytes may
  ///   have been written by then.
  public static func writeAll(
    _ bytes: UnsafeRawBufferPointer, to descriptor: Int32, timeoutMilliseconds: Int32 = 5_000
  ) throws(SystemFault) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let slice = UnsafeRawBufferPointer(rebasing: rest)
      let written = Glibc.write(descriptor, slice.baseAddress, slice.count)
      if written >= 0 {
        rest = rest.dropFirst(written)
        continue
      }
      switch errno {
      case EINTR: continue
      case EAGAIN: try waitUntilWritable(descriptor, timeoutMilliseconds)
      case let code: throw SystemFault(call: "write", subject: "descriptor \(descriptor)", code: code)
      }
    }
  }

  /// Writes a text as UTF-8; as ``writeAll(_:to:timeoutMilliseconds:)-(UnsafeRawBufferPointer,_,_)``.
  public static func writeAll(
    _ text: String, to descriptor: Int32, timeoutMilliseconds: Int32 = 5_000
  ) throws(SystemFault) {
    try writeAll(Array(text.utf8), to: descriptor, timeoutMilliseconds: timeoutMilliseconds)
  }

  private static func writeAll(
    _ bytes: [UInt8], to descriptor: Int32, timeoutMilliseconds: Int32 = 5_000
  ) throws(SystemFault) {
    let result = bytes.withUnsafeBytes { buffer -> Result<Void, SystemFault> in
      do throws(SystemFault) {
        return .success(try writeAll(buffer, to: descriptor, timeoutMilliseconds: timeoutMilliseconds))
      } catch { return .failure(error) }
    }
    try result.get()
  }

  private static func waitUntilWritable(_ descriptor: Int32, _ timeoutMilliseconds: Int32) throws(SystemFault) {
    var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    let ready = poll(&entry, 1, timeoutMilliseconds)
    if ready > 0 || (ready < 0 && errno == EINTR) { return }
    throw SystemFault(
      call: "write", subject: "descriptor \(descriptor)", code: ready == 0 ? ETIMEDOUT : errno,
      advice: ready == 0 ? "The reader does not read." : "")
  }
}
