/// Small pieces of JSON, written without an encoder where a foreign value must be inserted unchanged.
enum JSONLine {
  /// A JSON string.
  static func string(_ text: some StringProtocol) -> [UInt8] {
    var result: [UInt8] = [UInt8(ascii: "\"")]
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""): result += Array("\\\"".utf8)
      case UInt8(ascii: "\\"): result += Array("\\\\".utf8)
      case 0x0A: result += Array("\\n".utf8)
      case 0x0D: result += Array("\\r".utf8)
      case 0x09: result += Array("\\t".utf8)
      case 0..<0x20:
        let digits = String(byte, radix: 16)
        result += Array("\\u".utf8) + Array(repeating: UInt8(ascii: "0"), count: 4 - digits.utf8.count)
        result += Array(digits.utf8)
      default: result.append(byte)
      }
    }
    return result + [UInt8(ascii: "\"")]
  }

  /// An object with these members; their values are JSON already.
  static func object(_ members: [(String, [UInt8])]) -> [UInt8] {
    var result: [UInt8] = [UInt8(ascii: "{")]
    for (index, (name, value)) in members.enumerated() {
      if index > 0 { result.append(UInt8(ascii: ",")) }
      result += string(name)
      result.append(UInt8(ascii: ":"))
      result += value
    }
    return result + [UInt8(ascii: "}")]
  }
}
