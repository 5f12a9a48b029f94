extension TOMLReader {
  /// Reads the string that begins here.
  ///
  /// - Parameter severalLines: whether it may begin with three quotes.
  mutating func readString(severalLines: Bool = false) throws(TOMLFault) -> String {
    if severalLines {
      if looksAt("\"\"\"") { return try readLongString(quote: "\"") }
      if looksAt("'''") { return try readLongString(quote: "'") }
    }
    let start = position
    let isBasic = current == "\""
    position += 1
    var content: [UInt8] = []
    while true {
      switch current {
      case "\"" where isBasic, "'" where !isBasic:
        position += 1
        return String(decoding: content, as: UTF8.self)
      case "\\" where isBasic: content += try readEscape()
      case nil, "\r", "\n":
        throw fault("a string begins here, and its closing \(isBasic ? "\"" : "'") is missing on this line", at: start)
      default:
        content.append(source.bytes[position])
        position += 1
      }
    }
  }

  /// A string in three quotes; a line end directly after the opening quotes is not part of it.
  private mutating func readLongString(quote: Unicode.Scalar) throws(TOMLFault) -> String {
    let start = position
    position += 3
    _ = takeLineEnd()
    var content: [UInt8] = []
    while let current {
      switch current {
      case quote:
        let count = countQuotes(quote)
        position += count
        content += repeatElement(UInt8(ascii: quote), count: count < 3 ? count : count - 3)
        if count >= 3 { return String(decoding: content, as: UTF8.self) }
      case "\\" where quote == "\"":
        if !skipEscapedLineEnd() { content += try readEscape() }
      case "\r", "\n":
        _ = takeLineEnd()
        content.append(UInt8(ascii: "\n"))
      default:
        content.append(source.bytes[position])
        position += 1
      }
    }
    throw fault("a string begins here, and its closing \(quote)\(quote)\(quote) is missing", at: start)
  }

  /// How many quotes come next, at most five: the last three end the string, up to two before them belong to it.
  private func countQuotes(_ quote: Unicode.Scalar) -> Int {
    var count = 0
    while count < 5, letter(at: position + count) == quote { count += 1 }
    return count
  }

  /// Skips a backslash that ends a line, with the line end and all blanks and line ends after it.
  private mutating func skipEscapedLineEnd() -> Bool {
    let backslash = position
    position += 1
    skipBlanks()
    guard takeLineEnd() else {
      position = backslash
      return false
    }
    repeat { skipBlanks() } while takeLineEnd()
    return true
  }

  /// The bytes that an escape such as `\n` means; the backslash comes next.
  private mutating func readEscape() throws(TOMLFault) -> [UInt8] {
    let backslash = position
    position += 1
    let letter = current
    position += letter == nil ? 0 : 1
    switch letter {
    case "b": return [0x08]
    case "t": return [0x09]
    case "n": return [0x0A]
    case "f": return [0x0C]
    case "r": return [0x0D]
    case "\"": return [UInt8(ascii: "\"")]
    case "\\": return [UInt8(ascii: "\\")]
    case "u": return try readCodePoint(digitCount: 4, from: backslash)
    case "U": return try readCodePoint(digitCount: 8, from: backslash)
    default:
      let next = source.description(at: backslash + 1)
      throw fault("a backslash before \(next) has no meaning; write \\\\, or the text in '…'", at: backslash)
    }
  }

  private mutating func readCodePoint(digitCount: Int, from backslash: Int) throws(TOMLFault) -> [UInt8] {
    var number: UInt32 = 0
    for _ in 0..<digitCount {
      guard let letter = current, let digit = TOMLNumber.digit(UInt8(ascii: letter.isASCII ? letter : " "), radix: 16)
      else { throw unexpected("\(digitCount) hexadecimal digits after \(text(backslash..<backslash + 2))") }
      number = number << 4 | UInt32(digit)
      position += 1
    }
    guard let scalar = Unicode.Scalar(number) else {
      throw fault("\(text(backslash..<position)) is no character of Unicode", at: backslash)
    }
    return Array(UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
  }
}
