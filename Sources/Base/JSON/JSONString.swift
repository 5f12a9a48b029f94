/// A JSON string at its place in the text: between the quotes, escapes untouched.
@frozen
public struct JSONString: Hashable, Sendable {
  /// The bytes between the quotes, in offsets of the scanner's buffer.
  public let content: Range<Int>
  /// Whether there is a backslash in it. Without one, the bytes are the value.
  public let hasEscapes: Bool
  /// Whether the string is written as NIP-01 requires for the hash: the seven short escapes, other control characters
  /// as lower-case `\u00xx`, and nothing else escaped.
  public let isCanonical: Bool

  /// A string at this place.
  @inlinable
  public init(content: Range<Int>, hasEscapes: Bool, isCanonical: Bool) {
    self.content = content
    self.hasEscapes = hasEscapes
    self.isCanonical = isCanonical
  }

  /// How to treat a lone surrogate such as `\uD800`, which is valid JSON but not Unicode.
  public enum LoneSurrogates: Sendable {
    /// Replace it with U+FFFD: for texts that people read.
    case replaced
    /// Throw a fault: where a hash or a key depends on the value.
    case refused
  }

  /// Whether the value, unescaped, is exactly this ASCII text: `"\u0045OSE"` is `EOSE`.
  public func equals(_ text: StaticString, in bytes: UnsafeRawBufferPointer) -> Bool {
    if hasEscapes { return string(in: bytes) == "\(text)" }
    guard content.count == text.utf8CodeUnitCount else { return false }
    for index in 0..<content.count where bytes[content.lowerBound + index] != text.utf8Start[index] { return false }
    return true
  }

  /// The value as text. Invalid UTF-8 and lone surrogates become U+FFFD.
  public func string(in bytes: UnsafeRawBufferPointer) -> String {
    hasEscapes
      ? String(decoding: value(in: bytes), as: UTF8.self) : String(decoding: bytes[content], as: UTF8.self)
  }

  /// The value's bytes. Lone surrogates become U+FFFD; invalid UTF-8 stays.
  func value(in bytes: UnsafeRawBufferPointer) -> [UInt8] {
    guard hasEscapes else { return Array(bytes[content]) }
    var value: [UInt8] = []
    value.reserveCapacity(content.count)
    do {
      try unescape(in: bytes, into: &value, loneSurrogates: .replaced)
    } catch {
      preconditionFailure("the scanner lets no other escape through: \(error)")
    }
    return value
  }

  /// Appends the value's UTF-8 bytes.
  ///
  /// - Throws: `loneSurrogate` if those are refused; `badEscape` for a range that no scanner has checked.
  public func unescape(
    in bytes: UnsafeRawBufferPointer, into value: inout [UInt8], loneSurrogates: LoneSurrogates
  ) throws(JSONFault) {
    var position = content.lowerBound
    while position < content.upperBound {
      let byte = bytes[position]
      guard byte == UInt8(ascii: "\\") else {
        value.append(byte)
        position += 1
        continue
      }
      guard position + 1 < content.upperBound else { throw JSONFault(.badEscape, at: position) }
      if bytes[position + 1] != UInt8(ascii: "u") {
        guard let meant = Self.shortEscape(bytes[position + 1]) else { throw JSONFault(.badEscape, at: position) }
        value.append(meant)
        position += 2
        continue
      }
      let (scalar, next) = try unicodeEscape(in: bytes, at: position, loneSurrogates)
      value.append(contentsOf: Array(String(scalar).utf8))
      position = next
    }
  }

  /// Makes sure that every `\uD800`…`\uDFFF` is half of a pair.
  public func checkSurrogates(in bytes: UnsafeRawBufferPointer) throws(JSONFault) {
    var position = content.lowerBound
    while position < content.upperBound {
      guard bytes[position] == UInt8(ascii: "\\") else {
        position += 1
        continue
      }
      guard position + 1 < content.upperBound, bytes[position + 1] == UInt8(ascii: "u") else {
        position += 2
        continue
      }
      position = try unicodeEscape(in: bytes, at: position, .refused).next
    }
  }

  private static func shortEscape(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): byte
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "f"): 0x0C
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "r"): 0x0D
    case UInt8(ascii: "t"): 0x09
    default: nil
    }
  }

  private func unicodeEscape(
    in bytes: UnsafeRawBufferPointer, at position: Int, _ loneSurrogates: LoneSurrogates
  ) throws(JSONFault) -> (scalar: Unicode.Scalar, next: Int) {
    guard let unit = codeUnit(in: bytes, at: position) else { throw JSONFault(.badEscape, at: position) }
    if let scalar = Unicode.Scalar(UInt32(unit)) { return (scalar, position + 6) }
    if unit < 0xDC00, let low = codeUnit(in: bytes, at: position + 6), low & 0xFC00 == 0xDC00,
      let scalar = Unicode.Scalar(0x10000 + (UInt32(unit) & 0x3FF) << 10 + UInt32(low) & 0x3FF)
    {
      return (scalar, position + 12)
    }
    if loneSurrogates == .refused { throw JSONFault(.loneSurrogate, at: position) }
    return ("\u{FFFD}", position + 6)
  }

  /// The UTF-16 unit of a `\uXXXX` at `position`; nil if there is no such escape.
  private func codeUnit(in bytes: UnsafeRawBufferPointer, at position: Int) -> UInt16? {
    guard position + 6 <= content.upperBound, bytes[position] == UInt8(ascii: "\\"),
      bytes[position + 1] == UInt8(ascii: "u")
    else { return nil }
    var unit: UInt16 = 0
    for index in 2..<6 {
      guard let digit = hexadecimalValue(bytes[position + index]) else { return nil }
      unit = unit << 4 | UInt16(digit)
    }
    return unit
  }
}

extension JSONString {
  /// Appends `text` to `json` as a JSON string with quotes, escaped as NIP-01 requires: the seven short escapes, other
  /// control characters as `\u00xx`, everything else verbatim.
  public static func append(_ text: String, to json: inout [UInt8]) {
    var text = text
    text.withUTF8 { append($0, to: &json) }
  }

  /// The same for text given as UTF-8 bytes.
  public static func append(utf8 text: [UInt8], to json: inout [UInt8]) {
    text.withUnsafeBufferPointer { append($0, to: &json) }
  }

  private static func append(_ text: UnsafeBufferPointer<UInt8>, to json: inout [UInt8]) {
    json.append(UInt8(ascii: "\""))
    var escapes: UInt8 = 0
    for byte in text {
      escapes |= (byte < 0x20 ? 1 : 0) | (byte == UInt8(ascii: "\"") ? 1 : 0) | (byte == UInt8(ascii: "\\") ? 1 : 0)
    }
    // Nearly all texts need no escape, and are copied at once.
    if escapes == 0 { json.append(contentsOf: text) } else { for byte in text { append(byte, to: &json) } }
    json.append(UInt8(ascii: "\""))
  }

  private static func append(_ byte: UInt8, to json: inout [UInt8]) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): append(short: byte, to: &json)
    case 0x08: append(short: UInt8(ascii: "b"), to: &json)
    case 0x09: append(short: UInt8(ascii: "t"), to: &json)
    case 0x0A: append(short: UInt8(ascii: "n"), to: &json)
    case 0x0C: append(short: UInt8(ascii: "f"), to: &json)
    case 0x0D: append(short: UInt8(ascii: "r"), to: &json)
    case 0..<0x20:
      json.append(contentsOf: Array("\\u00".utf8) + Array(byte < 0x10 ? "0".utf8 : "1".utf8))
      json.append(byte & 15 < 10 ? 0x30 + (byte & 15) : 0x57 + (byte & 15))
    default: json.append(byte)
    }
  }

  private static func append(short letter: UInt8, to json: inout [UInt8]) {
    json.append(UInt8(ascii: "\\"))
    json.append(letter)
  }
}
