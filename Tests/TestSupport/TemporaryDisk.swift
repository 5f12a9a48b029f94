internal import Glibc

/// A small disk of a test's own, in memory. Only root may make one.
public final class TemporaryDisk {
  /// Whether one can be made here.
  public static var isPossible: Bool {
    guard let disk = try? TemporaryDisk(byteCount: 64 << 10) else { return false }
    return !disk.path.isEmpty
  }

  private let directory: TemporaryDirectory
  /// Where it is mounted.
  public var path: String { directory.path }

  /// Makes a disk with room for so many bytes.
  public init(byteCount: Int) throws {
    directory = try TemporaryDirectory()
    guard mount("tmpfs", directory.path, "tmpfs", 0, "size=\(byteCount),mode=0700") == 0 else {
      throw SpawnFailed(code: errno, program: "mount")
    }
  }

  deinit { umount2(directory.path, Int32(MNT_DETACH)) }

  /// Fills it to the last byte, or what was given back since.
  public func fill() {
    let file = open(path + "/filler", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard file >= 0 else { return }
    defer { close(file) }
    let bytes = [UInt8](repeating: 0x7A, count: 4_096)
    while write(file, bytes, bytes.count) > 0 {}
    while write(file, bytes, 1) > 0 {}
  }

  /// Makes room again.
  public func empty() { unlink(path + "/filler") }
}
