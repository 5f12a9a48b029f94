import Cryptography
import Testing

extension SecretKey {
  /// The key of 64 digits; nil when they are none.
  convenience init?(hex: String) {
    guard let bytes = Hexadecimal.decode(hex.utf8) else { return nil }
    let secret = SecretMemory(byteCount: max(bytes.count, 1)) { $0.copyBytes(from: bytes) }
    self.init(secret)
  }

  var hex: String { withSecret { Hexadecimal.text(of: $0) } }
}

extension SecretMemory {
  convenience init(hex: String) throws {
    let bytes = try #require(Hexadecimal.decode(hex.utf8))
    self.init(byteCount: bytes.count) { $0.copyBytes(from: bytes) }
  }
}

extension SHA256 {
  static func hex(of text: String) -> String { hash(Array(text.utf8)).description }
}
