internal import Glibc

// A sandbox names the files that existed when it was made. A certificate is renewed by a new file in the place of the
// old one, or by a link with a new target; the sandbox does not name that new file. Its directory can be named instead,
// with everything below, now and later; but that is too much if the directory is a user's home.

extension SandboxProfile {
  /// The paths to list for a file that others replace while we run: the file, its directory, and the directory of a
  /// link's target. Each directory is listed only if it contains no further directories.
  ///
  /// - Parameter path: of the file; may be a link, or not exist.
  public static func renewable(_ path: String) -> [String] {
    var paths = [path]
    for place in [path, resolved(path)].compactMap(\.self) {
      let directory = directory(of: place)
      if !paths.contains(directory), isFlat(directory) { paths.append(directory) }
    }
    return paths
  }

  private static func resolved(_ path: String) -> String? {
    guard let text = realpath(path, nil) else { return nil }
    defer { free(text) }
    return String(cString: text)
  }

  private static func directory(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Whether a directory can be listed, and contains only files and links.
  private static func isFlat(_ path: String) -> Bool {
    guard let folder = opendir(path) else { return false }
    defer { closedir(folder) }
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      let isPlain = [UInt8(DT_REG), UInt8(DT_LNK)].contains(entry.pointee.d_type)
      guard isPlain || name == "." || name == ".." else { return false }
    }
    return true
  }
}
