import Glibc

/// Test vectors and events that are too large for the repository, in the folder `shared` beside the checkout.
///
/// Tests that use them carry a few values of their own and say so when the folder is not there.
public enum SharedFolder {
  /// The repository's root, found from this file's place in it.
  public static let repository: String = {
    var parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
    parts.removeLast(3)
    return parts.joined(separator: "/")
  }()

  /// The lines of `shared/<path>` without their line ends, or nil, with a word on standard error, when it is not there.
  public static func lines(of path: String) -> [[UInt8]]? {
    guard let bytes = bytes(ofFile: repository + "/../shared/" + path) else {
      write("(shared/\(path) is not there: only the test's own values were tried)\n")
      return nil
    }
    return bytes.split(separator: UInt8(ascii: "\n")).map(Array.init)
  }

  /// Whether `shared/<path>` is there.
  public static func has(_ path: String) -> Bool { access(repository + "/../shared/" + path, R_OK) == 0 }

  /// The whole file at `path`, or nil when it cannot be opened.
  public static func bytes(ofFile path: String) -> [UInt8]? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var contents: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = fread(&buffer, 1, buffer.count, file)
      if count == 0 { return contents }
      contents += buffer[..<count]
    }
  }

  /// All plain files below a directory, by their paths; those that go meanwhile are left out.
  public static func files(below path: String) -> [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var found: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard name != ".", name != ".." else { continue }
      let file = path + "/" + name
      var status = stat()
      guard lstat(file, &status) == 0 else { continue }
      switch status.st_mode & S_IFMT {
      case S_IFDIR: found += files(below: file)
      case S_IFREG: found.append(file)
      default: continue
      }
    }
    return found
  }

  private static func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
  }
}
