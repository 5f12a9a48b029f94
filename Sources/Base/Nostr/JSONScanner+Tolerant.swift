// For JSON that people's programs have put together (profiles, answers of web servers): take what has the form that is
// wanted, pass over what has not. And for bytes in hexadecimal (NIP-77), which some write in upper case.

extension JSONScanner {
  /// Reads an object, giving each member's name to `body`, which must pass the value. A value that is no object is
  /// passed over.
  mutating func forEachMember(
    _ body: (String, inout JSONScanner) throws(JSONFault) -> Void
  ) throws(JSONFault) {
    guard try peek() == UInt8(ascii: "{") else {
      try skipValue()
      return
    }
    try expect(UInt8(ascii: "{"))
    if try take(UInt8(ascii: "}")) { return }
    repeat {
      let name = try scanString()
      try expect(UInt8(ascii: ":"))
      try body(name.string(in: bytes), &self)
    } while try take(UInt8(ascii: ","))
    try expect(UInt8(ascii: "}"))
  }

  /// Reads a string, or passes over what is none.
  mutating func stringOrSkip() throws(JSONFault) -> String? {
    guard try peek() == UInt8(ascii: "\"") else {
      try skipValue()
      return nil
    }
    return try scanString().string(in: bytes)
  }

  /// Reads the strings of an array, the first `countMaximum` of them, or passes over what is no array.
  mutating func stringsOrSkip(countMaximum: Int) throws(JSONFault) -> [String] {
    guard try peek() == UInt8(ascii: "[") else {
      try skipValue()
      return []
    }
    try expect(UInt8(ascii: "["))
    var strings: [String] = []
    if try take(UInt8(ascii: "]")) { return strings }
    repeat {
      if let text = try stringOrSkip(), strings.count < countMaximum { strings.append(text) }
    } while try take(UInt8(ascii: ","))
    try expect(UInt8(ascii: "]"))
    return strings
  }

  /// Reads a string of hexadecimal digits of either case, two for each byte.
  mutating func scanHexadecimal() throws(JSONFault) -> [UInt8] {
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
