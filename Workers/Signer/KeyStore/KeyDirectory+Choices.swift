internal import Glibc
internal import LinuxSystem

// The file of choices is written like a key: under another name, flushed, and renamed.

extension KeyDirectory {
  /// The file's name in the directory.
  public static let choicesName = "choices"

  /// The choices in the file.
  ///
  /// - Returns: nil if the file is damaged or cannot be read; no choices if there is no file.
  public func choices() -> AccountChoices? {
    let file = path + "/" + Self.choicesName
    let descriptor = open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return errno == ENOENT ? AccountChoices() : nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: AccountChoices.byteCountMaximum + 1)
    var count = 0
    while count < bytes.count {
      let got = bytes.withUnsafeMutableBytes { buffer in
        read(descriptor, buffer.baseAddress?.advanced(by: count), buffer.count - count)
      }
      if got < 0, errno == EINTR { continue }
      guard got >= 0 else { return nil }
      if got == 0 { break }
      count += got
    }
    guard count <= AccountChoices.byteCountMaximum else { return nil }
    return AccountChoices(contents: bytes[..<count])
  }

  /// Stores choices. When this returns, they survive a crash of the machine.
  public func store(_ choices: AccountChoices) throws(KeyStoreFault) {
    try put(choices.contents, named: Self.choicesName)
  }
}
