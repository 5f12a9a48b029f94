/// Writes JSON in the order of the calls, so that the bytes of a push, which are counted and compared, are always the
/// same.
struct JSONWriter {
  private(set) var bytes: [UInt8] = []
  private var needsComma = false

  /// `{ … }`
  mutating func object(_ body: (inout JSONWriter) -> Void) {
    bytes.append(UInt8(ascii: "{"))
    needsComma = false
    body(&self)
    bytes.append(UInt8(ascii: "}"))
    needsComma = true
  }

  mutating func member(_ name: StaticString, _ value: String) {
    self.name(name)
    text(value)
  }

  mutating func member(_ name: StaticString, _ value: Int) {
    self.name(name)
    bytes.append(contentsOf: String(value).utf8)
  }

  /// An object as a member.
  mutating func member(_ name: StaticString, _ body: (inout JSONWriter) -> Void) {
    self.name(name)
    object(body)
  }

  /// Finished JSON as a member.
  mutating func member(_ name: StaticString, json: [UInt8]) {
    self.name(name)
    bytes.append(contentsOf: json)
  }

  /// The members of `json`, a complete object, added to this one.
  mutating func members(of json: [UInt8]) {
    guard json.count > 2 else { return }
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
    bytes.append(contentsOf: json.dropFirst().dropLast())
  }

  private mutating func name(_ name: StaticString) {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
    bytes.append(UInt8(ascii: "\""))
    name.withUTF8Buffer { bytes.append(contentsOf: $0) }
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
  }

  private mutating func text(_ value: String) {
    bytes.append(UInt8(ascii: "\""))
    var value = value
    value.withUTF8 { escape($0) }
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func escape(_ text: UnsafeBufferPointer<UInt8>) {
    let isPlain = text.allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    if isPlain { return bytes.append(contentsOf: text) }
    for byte in text {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case 0..<0x20:
        let digits = Array("0123456789abcdef".utf8)
        bytes.append(contentsOf: "\\u00".utf8)
        bytes.append(digits[Int(byte >> 4)])
        bytes.append(digits[Int(byte & 15)])
      default: bytes.append(byte)
      }
    }
  }
}
