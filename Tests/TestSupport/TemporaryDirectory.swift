import Glibc

/// A directory of a test's own, removed with all in it when the object goes.
public final class TemporaryDirectory {
  /// Its absolute path, without symbolic links.
  public let path: String

  /// Makes it, mode 0700.
  public init() throws {
    var template = Array("/tmp/roost-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw SpawnFailed(code: errno, program: "mkdtemp") }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  deinit { Self.removeAll(path) }

  /// Removes a file, or a directory with all in it; links are removed and not followed.
  private static func removeAll(_ path: String) {
    if unlink(path) == 0 { return }
    // A test may have taken our own rights to it.
    chmod(path, 0o700)
    if let folder = opendir(path) {
      while let entry = readdir(folder) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        if name != "." && name != ".." { removeAll("\(path)/\(name)") }
      }
      closedir(folder)
    }
    rmdir(path)
  }
}
