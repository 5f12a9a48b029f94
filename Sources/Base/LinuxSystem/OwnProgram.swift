internal import Glibc

/// The file that this process runs.
public enum OwnProgram {
  /// The directory of the file, absolute and without links; "" if the kernel does not tell.
  public static var directory: String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    let path = String(decoding: buffer[..<max(0, count)].map(UInt8.init(bitPattern:)), as: UTF8.self)
    return String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
  }

  /// `version` with the commit that the installed programs were built from, as in `0.2.0 (3f2a9c41d07b)`.
  ///
  /// The commit is in the file `commit` beside the programs, which a package has and a build directory has not. It is
  /// not in the programs themselves: otherwise each commit would compile and link all of them again.
  public static func described(_ version: String) -> String {
    guard let commit else { return version }
    return "\(version) (\(commit))"
  }

  /// The commit: 7 to 64 hexadecimal digits, and `+` if the tree had other changes; nil in a build directory.
  public static var commit: String? {
    guard let bytes = KernelFiles.read(directory + "/commit", byteCountMaximum: 128) else { return nil }
    let text = String(decoding: bytes.prefix { $0 > 0x20 }, as: UTF8.self)
    let digits = text.hasSuffix("+") ? text.dropLast() : text[...]
    guard (7...64).contains(digits.utf8.count), digits.allSatisfy({ $0.isASCII && $0.isHexDigit }) else { return nil }
    return text
  }
}
