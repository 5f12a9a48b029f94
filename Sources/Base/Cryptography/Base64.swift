/// Base64 with padding (RFC 4648). Reading accepts only what writing produces: no white space, no missing padding, no
/// unused bits set in the last letter. Otherwise one message would have many spellings.
public enum Base64 {
  private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// The value of each byte as a letter; 0xFF for a byte that is no letter.
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 0xFF, count: 256)
    for (value, letter) in letters.enumerated() { values[Int(letter)] = UInt8(value) }
    return values
  }()

  /// `bytes` as text, four letters for each three bytes.
  public static func encode(_ bytes: UnsafeRawBufferPointer) -> String {
    String(unsafeUninitializedCapacity: (bytes.count + 2) / 3 * 4) { write(bytes, into: $0) }
  }

  /// The same as bytes, which can be wiped: for secrets.
  public static func letters(of bytes: [UInt8]) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: (bytes.count + 2) / 3 * 4) { text, count in
      count = bytes.withUnsafeBytes { write($0, into: text) }
    }
  }

  private static func write(_ bytes: UnsafeRawBufferPointer, into text: UnsafeMutableBufferPointer<UInt8>) -> Int {
    letters.withUnsafeBufferPointer { letters in
      var place = 0
      for start in stride(from: 0, to: bytes.count, by: 3) {
        let count = min(3, bytes.count - start)
        var group = UInt32(bytes[start]) << 16
        if count > 1 { group |= UInt32(bytes[start + 1]) << 8 }
        if count > 2 { group |= UInt32(bytes[start + 2]) }
        text[place] = letters[Int(group >> 18)]
        text[place + 1] = letters[Int(group >> 12 & 63)]
        text[place + 2] = count > 1 ? letters[Int(group >> 6 & 63)] : UInt8(ascii: "=")
        text[place + 3] = count > 2 ? letters[Int(group & 63)] : UInt8(ascii: "=")
        place += 4
      }
      return place
    }
  }

  /// The same for an array.
  public static func encode(_ bytes: [UInt8]) -> String { bytes.withUnsafeBytes { encode($0) } }

  /// The bytes that `text` encodes; nil if it is not what encoding produces.
  public static func decode(_ text: some StringProtocol) -> [UInt8]? {
    var text = String(text)
    return text.withUTF8 { decode($0) }
  }

  private static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
    guard text.count.isMultiple(of: 4) else { return nil }
    guard let last = text.last else { return [] }
    let paddingCount = last != UInt8(ascii: "=") ? 0 : text[text.count - 2] != UInt8(ascii: "=") ? 1 : 2
    let byteCount = text.count / 4 * 3 - paddingCount
    var isRight = true
    let bytes = [UInt8](unsafeUninitializedCapacity: byteCount + 3) { bytes, count in
      isRight = values.withUnsafeBufferPointer { values in
        decode(text, paddingCount: paddingCount, values, into: bytes)
      }
      count = byteCount
    }
    return isRight ? bytes : nil
  }

  /// Writes three bytes for each group of four letters; padding counts as zeros in the last group.
  private static func decode(
    _ text: UnsafeBufferPointer<UInt8>, paddingCount: Int, _ values: UnsafeBufferPointer<UInt8>,
    into bytes: UnsafeMutableBufferPointer<UInt8>
  ) -> Bool {
    let letterCount = text.count - paddingCount
    var doubt: UInt8 = 0
    var lastGroup: UInt32 = 0
    for start in stride(from: 0, to: text.count, by: 4) {
      var group: UInt32 = 0
      for place in start..<(start + 4) {
        let value = place < letterCount ? values[Int(text[place])] : 0
        doubt |= value
        group = group << 6 | UInt32(value & 63)
      }
      let byte = start / 4 * 3
      bytes[byte] = UInt8(truncatingIfNeeded: group >> 16)
      bytes[byte + 1] = UInt8(truncatingIfNeeded: group >> 8)
      bytes[byte + 2] = UInt8(truncatingIfNeeded: group)
      lastGroup = group
    }
    return doubt < 64 && lastGroup & (1 << UInt32(8 * paddingCount) - 1) == 0
  }
}
