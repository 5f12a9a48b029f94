// Bech32 (BIP-173), the spelling of `npub1…` and the like.
//
// One pass in either direction, five bits at a time, without intermediate storage: reading a secret key makes no copy
// except the requested one, and no fault repeats the text.
//
// Bech32 and not Bech32m (BIP-350), because NIP-19 chose it earlier. It has a known weakness: a `q` may be inserted or
// removed before a `p` at the end. That cannot turn one entity into another: those of 32 bytes have their length
// checked, and the others consist of fields with a length each.

/// Why a text is not Bech32. Never reveals the text: it may be a secret.
public enum Bech32Fault: Error, Hashable, Sendable, CustomStringConvertible {
  /// More characters than the caller accepts.
  case tooLong(count: Int, maximum: Int)
  /// A byte that is not allowed at this offset.
  case badCharacter(at: Int)
  /// Upper and lower case in one text.
  case mixedCase
  /// No `1` between the prefix and the data.
  case noSeparator
  /// The part before the last `1` is empty, or has more than 83 characters.
  case badPrefix
  /// Fewer than the six characters of the checksum after the prefix.
  case tooShort
  /// The checksum is wrong: the text was mistyped or truncated.
  case badChecksum
  /// The last character has unused bits that are not zero, or consists of unused bits only.
  case badPadding
  /// More data than fits into the buffer.
  case tooMuchData(maximumByteCount: Int)

  /// The end of a sentence: `the checksum is wrong; it was mistyped or is not all there`.
  public var description: String {
    switch self {
    case .tooLong(let count, let maximum): "it has \(count) characters, and at most \(maximum) are taken"
    case .badCharacter(let offset): "the character at place \(offset + 1) cannot stand there"
    case .mixedCase: "it has upper and lower case letters"
    case .noSeparator: "there is no 1 after its prefix"
    case .badPrefix: "its prefix has not 1 to 83 characters"
    case .tooShort: "it ends too early"
    case .badChecksum: "the checksum is wrong; it was mistyped or is not all there"
    case .badPadding: "its last character holds bits that belong to nothing"
    case .tooMuchData(let maximum): "it holds more than \(maximum) bytes"
    }
  }
}

/// Bytes in Bech32 (BIP-173), regrouped from eight bits to five. Pure; safe on any thread.
public enum Bech32 {
  /// Characters of the checksum.
  private static let checksumCount = 6
  /// The most characters of a prefix (BIP-173).
  private static let prefixCountMaximum = 83

  private static let characters = Array("qpzry9x8gf2tvdw0s3jn54khce6mua7l".utf8)

  /// The five bits of each ASCII character in lower or upper case; 0xFF for any other byte.
  private static let values: [UInt8] = (0..<256).map { byte in
    let lower = (0x41...0x5A).contains(byte) ? byte + 0x20 : byte
    return characters.firstIndex(of: UInt8(truncatingIfNeeded: lower)).map { UInt8($0) } ?? 0xFF
  }

  /// Writes `data` in lower case after `hrp` and a `1`.
  ///
  /// - Parameters:
  ///   - hrp: 1 to 83 characters of printable ASCII, none in upper case.
  ///   - data: any bytes; may be empty.
  public static func encode(hrp: String, data: [UInt8]) -> String {
    let prefix = Array(hrp.utf8)
    precondition(
      (1...prefixCountMaximum).contains(prefix.count)
        && prefix.allSatisfy { (33...126).contains($0) && !(0x41...0x5A).contains($0) },
      "a prefix has 1 to 83 characters of printable ASCII in lower case")
    var text = prefix + [UInt8(ascii: "1")]
    text.reserveCapacity(text.count + (data.count * 8 + 4) / 5 + checksumCount)
    var checksum = Checksum(prefix: prefix)
    var bits: UInt32 = 0
    var bitCount = 0
    for byte in data {
      bits = (bits & 0xF) << 8 | UInt32(byte)
      bitCount += 8
      while bitCount >= 5 {
        bitCount -= 5
        append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)) & 31, to: &text, &checksum)
      }
    }
    if bitCount > 0 { append(UInt8(truncatingIfNeeded: bits << UInt32(5 - bitCount)) & 31, to: &text, &checksum) }
    for value in checksum.values { text.append(characters[Int(value)]) }
    return String(decoding: text, as: UTF8.self)
  }

  private static func append(_ value: UInt8, to text: inout [UInt8], _ checksum: inout Checksum) {
    text.append(characters[Int(value)])
    checksum.add(value)
  }

  /// Reads a text and its checksum.
  ///
  /// - Parameters:
  ///   - text: the text.
  ///   - maximumCount: the most characters accepted, including the prefix; nothing is allocated for more.
  /// - Returns: the prefix in lower case, and the bytes.
  public static func decode(
    _ text: String, maximumCount: Int
  ) throws(Bech32Fault) -> (hrp: String, data: [UInt8]) {
    guard text.utf8.count <= maximumCount else { throw .tooLong(count: text.utf8.count, maximum: maximumCount) }
    let bytes = Array(text.utf8)
    var data = [UInt8](repeating: 0, count: bytes.count * 5 / 8)
    let result = bytes.withUnsafeBytes { bytes in
      data.withUnsafeMutableBytes { data -> Result<(hrp: String, byteCount: Int), Bech32Fault> in
        do throws(Bech32Fault) { return .success(try decode(bytes, maximumCount: maximumCount, into: data)) } catch {
          return .failure(error)
        }
      }
    }
    let (hrp, byteCount) = try result.get()
    data.removeLast(data.count - byteCount)
    return (hrp, data)
  }

  /// The same into the caller's buffer, for secrets: no other copy of the data is made. After a fault the buffer may
  /// contain a part of it.
  ///
  /// - Parameters:
  ///   - maximumCount: the most characters accepted, including the prefix.
  ///   - text: ASCII.
  ///   - data: a buffer for the bytes; they are written from its start.
  /// - Returns: the prefix in lower case, and how many bytes were written.
  public static func decode(
    _ text: UnsafeRawBufferPointer, maximumCount: Int, into data: UnsafeMutableRawBufferPointer
  ) throws(Bech32Fault) -> (hrp: String, byteCount: Int) {
    let prefix = try prefix(of: text, maximumCount: maximumCount)
    let dataEnd = text.count - checksumCount
    var checksum = Checksum(prefix: prefix)
    var bits: UInt32 = 0
    var bitCount = 0
    var byteCount = 0
    for offset in (prefix.count + 1)..<text.count {
      let value = values[Int(text[offset])]
      guard value < 32 else { throw .badCharacter(at: offset) }
      checksum.add(value)
      guard offset < dataEnd else { continue }
      bits = (bits & 0x7F) << 5 | UInt32(value)
      bitCount += 5
      guard bitCount >= 8 else { continue }
      bitCount -= 8
      guard byteCount < data.count else { throw .tooMuchData(maximumByteCount: data.count) }
      data[byteCount] = UInt8(truncatingIfNeeded: bits >> UInt32(bitCount))
      byteCount += 1
    }
    guard checksum.isRight else { throw .badChecksum }
    guard bitCount < 5, bits & ((1 << UInt32(bitCount)) - 1) == 0 else { throw .badPadding }
    return (String(decoding: prefix, as: UTF8.self), byteCount)
  }

  /// Writes five-bit values directly, for data that does not consist of bytes (BOLT-11).
  static func encode(hrp: String, values data: some Sequence<UInt8>) -> String {
    var text = Array(hrp.utf8) + [UInt8(ascii: "1")]
    var checksum = Checksum(prefix: Array(hrp.utf8))
    for value in data { append(value, to: &text, &checksum) }
    for value in checksum.values { text.append(characters[Int(value)]) }
    return String(decoding: text, as: UTF8.self)
  }

  /// Reads a text and its checksum, and returns the five-bit values between prefix and checksum.
  static func decodeValues(
    _ text: String, maximumCount: Int
  ) throws(Bech32Fault) -> (hrp: String, values: [UInt8]) {
    guard text.utf8.count <= maximumCount else { throw .tooLong(count: text.utf8.count, maximum: maximumCount) }
    let bytes = Array(text.utf8)
    let result = bytes.withUnsafeBytes { bytes -> Result<[UInt8], Bech32Fault> in
      do throws(Bech32Fault) {
        return .success(try prefix(of: bytes, maximumCount: maximumCount))
      } catch {
        return .failure(error)
      }
    }
    let hrp = try result.get()
    var checksum = Checksum(prefix: hrp)
    var data: [UInt8] = []
    data.reserveCapacity(bytes.count)
    for offset in (hrp.count + 1)..<bytes.count {
      let value = values[Int(bytes[offset])]
      guard value < 32 else { throw .badCharacter(at: offset) }
      checksum.add(value)
      data.append(value)
    }
    guard checksum.isRight else { throw .badChecksum }
    data.removeLast(checksumCount)
    return (String(decoding: hrp, as: UTF8.self), data)
  }

  /// The character of a five-bit value.
  static func character(of value: UInt8) -> Character { Character(UnicodeScalar(characters[Int(value & 31)])) }

  /// The prefix in lower case, of a text that has all its parts and only one case.
  private static func prefix(of text: UnsafeRawBufferPointer, maximumCount: Int) throws(Bech32Fault) -> [UInt8] {
    guard text.count <= maximumCount else { throw .tooLong(count: text.count, maximum: maximumCount) }
    var hasUpper = false
    var hasLower = false
    for (offset, byte) in text.enumerated() {
      guard (33...126).contains(byte) else { throw .badCharacter(at: offset) }
      if byte &- 0x41 < 26 { hasUpper = true }
      if byte &- 0x61 < 26 { hasLower = true }
    }
    if hasUpper && hasLower { throw .mixedCase }
    guard let separator = text.lastIndex(of: UInt8(ascii: "1")) else { throw .noSeparator }
    guard (1...prefixCountMaximum).contains(separator) else { throw .badPrefix }
    guard text.count - separator > checksumCount else { throw .tooShort }
    return text[..<separator].map { $0 &- 0x41 < 26 ? $0 | 0x20 : $0 }
  }
}

/// The BCH code of BIP-173 over a prefix and five-bit values.
private struct Checksum {
  private var state: UInt32 = 1

  private static let generator: [UInt32] = [0x3B6A_57B2, 0x2650_8E6D, 0x1EA1_19FA, 0x3D42_33DD, 0x2A14_62B3]

  init(prefix: [UInt8]) {
    for byte in prefix { add(byte >> 5) }
    add(0)
    for byte in prefix { add(byte & 31) }
  }

  mutating func add(_ value: UInt8) {
    let top = state >> 25
    state = (state & 0x1FF_FFFF) << 5 ^ UInt32(value)
    for (bit, term) in Self.generator.enumerated() where top >> UInt32(bit) & 1 == 1 { state ^= term }
  }

  /// Whether prefix, data and the six values of the checksum were all added, and match.
  var isRight: Bool { state == 1 }

  /// The six values that make it match.
  var values: [UInt8] {
    var ended = self
    for _ in 0..<6 { ended.add(0) }
    let bits = ended.state ^ 1
    return (0..<6).map { UInt8(truncatingIfNeeded: bits >> UInt32(25 - 5 * $0)) & 31 }
  }
}
