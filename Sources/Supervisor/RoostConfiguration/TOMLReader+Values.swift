extension TOMLReader {
  /// Reads the value that begins here; returns its index.
  ///
  /// - Parameter keyOffset: where its key begins; nil for an array's element.
  mutating func readValue(keyOffset: Int? = nil, depth: Int) throws(TOMLFault) -> Int {
    let start = position
    try checkDepth(depth, at: start)
    // The node is appended before its contents, so that a table can be filled in place.
    let number = document.nodes.count
    document.nodes.append(
      TOMLDocument.Node(kind: .array, keyOffset: keyOffset ?? start, valueOffset: start, depth: depth))
    switch current {
    case "\"", "'": document.nodes[number].kind = .string(try readString(severalLines: true))
    case "[": try readArray(into: number)
    case "{": try readInlineTable(into: number)
    default: document.nodes[number].kind = try readBareValue()
    }
    return number
  }

  /// `[1, 2]`: on any number of lines, with comments, and with an optional comma after the last element.
  private mutating func readArray(into number: Int) throws(TOMLFault) {
    let start = position
    position += 1
    skipSpace()
    while !take("]") {
      guard current != nil else { throw fault("an array begins here, and its ']' is missing", at: start) }
      if current == "," || current == "}" { throw unexpected("a value or the ']' of the array" + begun(start)) }
      let element = try readValue(depth: document.nodes[number].depth + 1)
      document.nodes[number].elements.append(element)
      skipSpace()
      if take(",") {
        skipSpace()
      } else if current != "]" {
        guard current != nil else { throw fault("an array begins here, and its ']' is missing", at: start) }
        throw unexpected("',' or the ']' of the array" + begun(start))
      }
    }
  }

  /// `{ a = 1, b.c = 2 }`: on one line, and without a comma after the last pair.
  private mutating func readInlineTable(into number: Int) throws(TOMLFault) {
    let start = position
    document.nodes[number].kind = .table(.inline)
    position += 1
    skipBlanks()
    if take("}") { return }
    while true {
      try checkInlineEnd(start)
      if current == "}" { throw unexpected("a key after the ','") }
      try readPair(into: number)
      skipBlanks()
      if take("}") { return }
      try checkInlineEnd(start)
      guard take(",") else { throw unexpected("',' or the '}' of the inline table") }
      skipBlanks()
    }
  }

  private func checkInlineEnd(_ start: Int) throws(TOMLFault) {
    switch current {
    case nil, "\r", "\n", "#":
      throw fault("an inline table begins here, and its '}' is missing on this line", at: start)
    default: return
    }
  }

  /// The part of a complaint that names the line of an open bracket, if the mistake shows on a later line.
  private func begun(_ start: Int) -> String {
    let line = source.line(at: start)
    return line == source.line(at: position) ? "" : " begun on line \(line)"
  }

  // MARK: Values without quotes or brackets

  /// A boolean, a number or a date: text that ends at a blank, a separator, a comment or the end of the line.
  private mutating func readBareValue() throws(TOMLFault) -> TOMLDocument.Kind {
    let start = position
    skipBareValue()
    guard position > start else { throw unexpected("a value") }
    if TOMLDate.isDate(source.bytes[start..<position]), current == " ", letter(at: position + 1).map(isDigit) == true {
      // A blank may separate a date from its time.
      position += 1
      skipBareValue()
    }
    switch text(start..<position) {
    case "true": return .boolean(true)
    case "false": return .boolean(false)
    case "inf", "+inf": return .number(.infinity)
    case "-inf": return .number(-.infinity)
    case "nan", "+nan", "-nan": return .number(.nan)
    case let text:
      do throws(TOMLNumber.Complaint) {
        if TOMLDate.isMeant(by: source.bytes[start..<position]) {
          try TOMLDate.check(source.bytes[start..<position])
          return .date
        }
        return try TOMLNumber.value(of: source.bytes[start..<position])
      } catch {
        throw fault(refusal(of: text, at: start, error), at: start)
      }
    }
  }

  private mutating func skipBareValue() {
    while let current {
      switch current {
      case " ", "\t", "\r", "\n", ",", "]", "}", "#": return
      default: position += 1
      }
    }
  }

  private func isDigit(_ letter: Unicode.Scalar) -> Bool { ("0"..."9").contains(letter) }

  private func refusal(of text: String, at start: Int, _ complaint: TOMLNumber.Complaint) -> String {
    let maximum = TOMLReader.shownLetterMaximum
    let shown = "'\(text.prefix(maximum))\(text.count > maximum ? "…" : "")'"
    if let reason = complaint.reason { return "\(shown): \(reason)" }
    switch source.bytes[start] {
    case UInt8(ascii: "="), UInt8(ascii: ":"), UInt8(ascii: "`"), 0x80...:
      return "expected a value, saw \(source.description(at: start))"
    default: return "\(shown) is not a value; text needs quotes"
    }
  }

  /// How much of a value without quotes a complaint shows.
  private static let shownLetterMaximum = 40
}
