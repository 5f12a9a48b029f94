internal import Glibc

/// Reads a small file whole. Nothing else in this module touches the machine.
public enum FileReading {
  /// Why a file that exists could not be read.
  public struct Failure: Error, Hashable, Sendable {
    /// For people: `Permission denied`.
    public var reason: String
    /// A failure with this reason.
    public init(reason: String) { self.reason = reason }
  }

  /// The bytes of the file at `path`; nil if it does not exist. Reading stops one byte above
  /// ``Configuration/fileByteCountMaximum``, so that the caller can see that the file is too long.
  ///
  /// Opening does not block: a FIFO at the path is refused and cannot hang the daemon.
  public static func contents(of path: String) throws(Failure) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw Failure(reason: reason(errno))
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Failure(reason: reason(errno)) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw Failure(reason: "it is not a regular file") }
    let limit = Configuration.fileByteCountMaximum + 1
    var bytes: [UInt8] = []
    while bytes.count < limit {
      var chunk = [UInt8](repeating: 0, count: min(64 << 10, limit - bytes.count))
      let count = read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw Failure(reason: reason(errno)) }
      if count == 0 { break }
      bytes += chunk[..<count]
    }
    return bytes
  }

  private static func reason(_ code: CInt) -> String {
    strerror(code).map { String(cString: $0) } ?? "error \(code)"
  }
}
