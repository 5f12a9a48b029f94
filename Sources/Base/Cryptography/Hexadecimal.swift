/// Bytes as hexadecimal digits. Writing produces lower case. Reading accepts lower case only, because NIP-01 allows no
/// other, and a program could take two spellings of one id for two ids.
public enum Hexadecimal {
  /// Marks of wrong digits read so far: 0 = none. Checked once for many digits.
  typealias Doubt = UInt64

  /// 16 digits at `address` as a big-endian number, which is valid only if `doubt` stays 0.
  @inline(__always)
  static func word(at address: UnsafeRawPointer, _ doubt: inout Doubt) -> UInt64 {
    let high = half(UInt64(littleEndian: address.loadUnaligned(as: UInt64.self)), &doubt)
    return high << 32 | half(UInt64(littleEndian: address.loadUnaligned(fromByteOffset: 8, as: UInt64.self)), &doubt)
  }

  /// Eight digits in one register, the first digit in the lowest byte. `0`…`9` and `a`…`f` differ in bit 6, which says
  /// whether to add 9.
  @inline(__always)
  private static func half(_ text: UInt64, _ doubt: inout Doubt) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let letters = (text >> 6) & ones
    let values = (text & (0x0F &* ones)) &+ letters &* 9
    // Each value, written again as a digit, must equal the original byte, and exactly the letters must be above 9. No
    // other byte passes both checks, including upper case.
    let written = values &+ 0x30 &* ones &+ letters &* 0x27
    let areAboveNine = ((values &+ 0x06 &* ones) >> 4) & ones
    doubt |= written ^ text | areAboveNine ^ letters | values & (0xF0 &* ones)
    // Pairs of digits to bytes.
    let pairs = (values << 4 | values >> 8) & 0x00FF_00FF_00FF_00FF
    let words = (pairs | pairs >> 8) & 0x0000_FFFF_0000_FFFF
    return UInt64(UInt32(truncatingIfNeeded: words | words >> 16).byteSwapped)
  }

  /// Writes a big-endian number as 16 digits to `address`, eight digits in one register.
  @inline(__always)
  static func store(_ word: UInt64, to address: UnsafeMutableRawPointer) {
    address.storeBytes(of: digits(of: UInt32(truncatingIfNeeded: word >> 32)), as: UInt64.self)
    address.storeBytes(of: digits(of: UInt32(truncatingIfNeeded: word)), toByteOffset: 8, as: UInt64.self)
  }

  @inline(__always)
  private static func digits(of half: UInt32) -> UInt64 {
    // One nibble in each byte, the first digit in the lowest.
    var nibbles = UInt64(half.byteSwapped)
    nibbles = (nibbles | nibbles << 16) & 0x0000_FFFF_0000_FFFF
    nibbles = (nibbles | nibbles << 8) & 0x00FF_00FF_00FF_00FF
    nibbles = (nibbles >> 4 | nibbles << 8) & 0x0F0F_0F0F_0F0F_0F0F
    let ones: UInt64 = 0x0101_0101_0101_0101
    let isLetter = ((nibbles &+ 0x06 &* ones) >> 4) & ones
    return (nibbles &+ 0x30 &* ones &+ isLetter &* 0x27).littleEndian
  }

  /// Lower-case digits, two for each byte.
  public static func text(of bytes: some Collection<UInt8>) -> String {
    String(decoding: encode(bytes), as: UTF8.self)
  }

  /// Lower-case digits as ASCII, two for each byte.
  public static func encode(_ bytes: some Collection<UInt8>) -> [UInt8] {
    bytes.withContiguousStorageIfAvailable { encode($0) } ?? Array(bytes).withUnsafeBufferPointer { encode($0) }
  }

  // Iterating over a generic collection calls functions through a table for each byte, which would be most of the work.
  private static func encode(_ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: bytes.count * 2) { text, count in
      for (index, byte) in bytes.enumerated() {
        text[2 * index] = digit(byte >> 4)
        text[2 * index + 1] = digit(byte & 15)
      }
      count = bytes.count * 2
    }
  }

  private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }

  /// The bytes that an even number of lower-case digits encodes; nil for anything else.
  public static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
    text.withContiguousStorageIfAvailable { decode($0) } ?? Array(text).withUnsafeBufferPointer { decode($0) }
  }

  private static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
    guard text.count.isMultiple(of: 2) else { return nil }
    var doubt: UInt8 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: text.count / 2) { bytes, count in
      for index in 0..<(text.count / 2) {
        let (high, low) = (value(of: text[2 * index]), value(of: text[2 * index + 1]))
        doubt |= high | low
        bytes[index] = high << 4 | low & 15
      }
      count = text.count / 2
    }
    return doubt < 16 ? bytes : nil
  }

  /// The value of a digit; 0xFF for any other byte.
  private static func value(of digit: UInt8) -> UInt8 {
    switch digit {
    case 0x30...0x39: digit - 0x30
    case 0x61...0x66: digit - 0x57
    default: 0xFF
    }
  }
}
