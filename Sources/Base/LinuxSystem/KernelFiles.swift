internal import Glibc

/// Reads the small files and folders of `/proc`, whose contents exist only while they are read.
enum KernelFiles {
  /// A file's bytes, up to `byteCountMaximum`; nil if it cannot be opened or its process ended meanwhile.
  static func read(_ path: String, byteCountMaximum: Int = 64 << 10) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { Descriptors.close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while bytes.count < byteCountMaximum {
      let count = Glibc.read(descriptor, &chunk, min(chunk.count, byteCountMaximum - bytes.count))
      if count < 0 && errno == EINTR { continue }
      if count < 0 { return nil }
      if count == 0 { break }
      bytes += chunk[..<count]
    }
    return bytes
  }

  /// The names in a folder, without `.` and `..`; nil if it cannot be opened.
  static func names(in path: String) -> [String]? {
    guard let folder = opendir(path) else { return nil }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names
  }

  /// The number at the start of some ASCII bytes, after blanks; nil if the bytes do not start with a number.
  static func number(in bytes: some Sequence<UInt8>) -> UInt64? {
    var number: UInt64?
    for byte in bytes {
      if byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t"), number == nil { continue }
      guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { break }
      let (product, overflowed) = (number ?? 0).multipliedReportingOverflow(by: 10)
      let (sum, carried) = product.addingReportingOverflow(UInt64(byte - UInt8(ascii: "0")))
      if overflowed || carried { return nil }
      number = sum
    }
    return number
  }
}
