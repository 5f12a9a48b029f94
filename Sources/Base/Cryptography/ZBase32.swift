/// 32 bytes as 52 letters of z-base-32, the form in which people and links write keys of Ed25519 (Pkarr, Pubky).
///
/// Five bits make a letter, the highest first. The last letter has one bit of the 256 and four unused bits, so it is
/// `y` or `o`. Reading accepts only what writing produces, no upper case either: otherwise one key would have many
/// names.
public enum ZBase32 {
  /// Letters for 32 bytes.
  public static let characterCount = 52

  private static let letters = Array("ybndrfg8ejkmcpqxot1uwisza345h769".utf8)

  /// The value of each byte as a letter; 0xFF for a byte that is no letter.
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 0xFF, count: 256)
    for (value, letter) in letters.enumerated() { values[Int(letter)] = UInt8(value) }
    return values
  }()

  /// The 52 letters.
  public static func text(of octets: Octets32) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(characterCount)
    var bits: UInt32 = 0
    var bitCount: UInt32 = 0
    for byte in octets.bytes {
      bits = bits << 8 | UInt32(byte)
      bitCount += 8
      while bitCount >= 5 {
        bitCount -= 5
        text.append(letters[Int(bits >> bitCount & 31)])
      }
    }
    text.append(letters[Int(bits << 4 & 31)])
    return String(decoding: text, as: UTF8.self)
  }

  /// The 32 bytes that `text` encodes; nil if it is not what writing produces.
  public static func octets(_ text: some StringProtocol) -> Octets32? {
    guard text.utf8.count == characterCount else { return nil }
    var text = String(text)
    return text.withUTF8 { octets($0) }
  }

  private static func octets(_ text: UnsafeBufferPointer<UInt8>) -> Octets32? {
    withUnsafeTemporaryAllocation(byteCount: Octets32.byteCount, alignment: 8) { bytes in
      var bits: UInt32 = 0
      var bitCount: UInt32 = 0
      var count = 0
      for letter in text {
        let value = values[Int(letter)]
        guard value < 32 else { return nil }
        bits = bits << 5 | UInt32(value)
        bitCount += 5
        guard bitCount >= 8 else { continue }
        bitCount -= 8
        bytes[count] = UInt8(truncatingIfNeeded: bits >> bitCount)
        count += 1
      }
      // Four unused bits are left, and must be 0.
      guard bits & 15 == 0, let address = bytes.baseAddress else { return nil }
      return Octets32(at: address)
    }
  }
}
