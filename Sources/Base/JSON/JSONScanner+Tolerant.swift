// For JSON that people's programs have assembled (profiles, answers of web servers): values of the wanted form are
// taken, others are skipped. Also for bytes in hexadecimal (NIP-77), which some programs write in upper case.

extension JSONScanner {
  /// Reads an object, and gives each member's name to `body`, which must pass the value. A value that is not an object
  /// is skipped.
  public mutating func forEachMember(
    _ body: (String, inout JSONScanner) throws(JSONFault) -> Void
  ) throws(JSONFault) {
    guard try peek() == UInt8(ascii: "{") else {
      try skipValue()
      return
    }
    try readObject { name, scanner throws(JSONFault) in try body(name.string(in: scanner.bytes), &scanner) }
  }

  /// Reads a string; any other value is skipped.
  public mutating func stringOrSkip() throws(JSONFault) -> String? {
    guard try peek() == UInt8(ascii: "\"") else {
      try skipValue()
      return nil
    }
    return try scanString().string(in: bytes)
  }

  /// Reads the strings of an array, the first `countMaximum` of them; any other value is skipped.
  public mutating func stringsOrSkip(countMaximum: Int) throws(JSONFault) -> [String] {
    guard try peek() == UInt8(ascii: "[") else {
      try skipValue()
      return []
    }
    var strings: [String] = []
    try readArray { scanner throws(JSONFault) in
      if let text = try scanner.stringOrSkip(), strings.count < countMaximum { strings.append(text) }
    }
    return strings
  }

  /// Reads a string of hexadecimal digits of either case, two for each byte.
  public mutating func scanHexadecimal() throws(JSONFault) -> [UInt8] {
    let text = try scanString()
    let fault = JSONFault(.expected("bytes in hexadecimal"), at: text.content.lowerBound)
    guard !text.hasEscapes, text.content.count.isMultiple(of: 2) else { throw fault }
    var value: [UInt8] = []
    value.reserveCapacity(text.content.count / 2)
    for position in stride(from: text.content.lowerBound, to: text.content.upperBound, by: 2) {
      guard let high = hexadecimalValue(bytes[position]), let low = hexadecimalValue(bytes[position + 1]) else {
        throw fault
      }
      value.append(high << 4 | low)
    }
    return value
  }
}
