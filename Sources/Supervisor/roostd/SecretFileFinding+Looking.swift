import Glibc
import RoostConfiguration

extension SecretFileFinding {
  /// Most bytes that are looked at.
  private static let byteCountMaximum = 64 << 10

  /// Looks at a path; nil if nothing is there.
  ///
  /// - Parameter readsContents: whether to look into it. `roostd --check` does; a supervisor that runs looks into no
  ///   file with a key.
  init?(at path: String, readsContents: Bool) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      guard errno != ENOENT else { return nil }
      self.init(.unreadable(String(cString: strerror(errno))))
      return
    }
    defer { close(descriptor) }
    var facts = stat()
    guard fstat(descriptor, &facts) == 0 else { return nil }
    switch facts.st_mode & S_IFMT {
    case S_IFREG:
      self.init(
        .file, isOpenToOthers: facts.st_mode & 0o077 != 0,
        contents: readsContents ? Self.contents(of: descriptor) : nil)
    case S_IFDIR: self.init(.directory)
    default: self.init(.special)
    }
  }

  /// What the file says it is. Its bytes are wiped.
  private static func contents(of descriptor: CInt) -> Contents {
    withUnsafeTemporaryAllocation(byteCount: byteCountMaximum, alignment: 1) { buffer in
      guard let base = buffer.baseAddress else { return .empty }
      let count = max(0, pread(descriptor, base, buffer.count, 0))
      let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
      defer { explicit_bzero(base, buffer.count) }
      guard let first = bytes.first(where: { $0 != 0x20 && !(0x09...0x0D).contains($0) }) else { return .empty }
      let labels = Self.labels(in: bytes)
      return !labels.isEmpty ? .pem(labels) : first == UInt8(ascii: "{") ? .object : .other
    }
  }

  private static let begin = Array("-----BEGIN ".utf8)
  /// The longest label that is one: there are only names of ours between, and none of a key's bytes.
  private static let labelByteCountMaximum = 32
  private static let labelMaximum = 16

  private static func labels(in bytes: UnsafeRawBufferPointer) -> [String] {
    var labels: [String] = []
    for line in bytes.split(separator: UInt8(ascii: "\n")) where line.starts(with: begin) {
      let label = line.dropFirst(begin.count).prefix { $0 != UInt8(ascii: "-") }
      guard label.count <= labelByteCountMaximum, labels.count < labelMaximum else { continue }
      labels.append(String(decoding: label, as: UTF8.self))
    }
    return labels
  }
}
