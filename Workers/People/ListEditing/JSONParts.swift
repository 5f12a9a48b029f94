internal import JSON

// JSON is edited at its places in the text. Everything outside of them stays byte for byte: white space, order,
// escapes, members that occur twice, values of forms that no reader here knows.

/// The members of an object or the elements of an array, each with its place in the text.
struct JSONParts {
  struct Item {
    /// A member's name, or an element's tag; nil for an element that is no tag of texts.
    var texts: [String]?
    /// The whole item.
    let range: Range<Int>
    /// For a member, its value.
    let value: Range<Int>
  }

  enum Edit {
    case keep
    /// The item, or a member's value, becomes this.
    case replace([UInt8])
    case remove
  }

  let bytes: [UInt8]
  private(set) var items: [Item] = []
  /// The place after the opening bracket.
  private var bodyStart = 0

  /// The members of an object.
  init(object text: String) throws(JSONFault) {
    try self.init(text) { scanner, items throws(JSONFault) in
      try scanner.readObject { name, scanner throws(JSONFault) in
        let value = try scanner.skipValue()
        items.append(
          Item(
            texts: [name.string(in: scanner.bytes)], range: name.content.lowerBound - 1..<value.upperBound, value: value
          ))
      }
    }
  }

  /// The tags of an array.
  init(tags text: String) throws(JSONFault) {
    try self.init(text) { scanner, items throws(JSONFault) in
      try scanner.readArray { scanner throws(JSONFault) in
        _ = try scanner.peek()
        let start = scanner.position
        var texts: [String]? = []
        try scanner.readArray { scanner throws(JSONFault) in
          if let text = try scanner.stringOrSkip() { texts?.append(text) } else { texts = nil }
        }
        let range = start..<scanner.position
        items.append(Item(texts: texts?.isEmpty == true ? nil : texts, range: range, value: range))
      }
    }
  }

  private init(
    _ text: String, _ read: (inout JSONScanner, inout [Item]) throws(JSONFault) -> Void
  ) throws(JSONFault) {
    bytes = Array(text.utf8)
    let found = bytes.withUnsafeBytes { bytes -> Result<(Int, [Item]), JSONFault> in
      do throws(JSONFault) {
        var scanner = JSONScanner(bytes)
        var items: [Item] = []
        _ = try scanner.peek()
        let start = scanner.position + 1
        try read(&scanner, &items)
        try scanner.expectEnd()
        return .success((start, items))
      } catch { return .failure(error) }
    }
    (bodyStart, items) = try found.get()
  }

  /// An item's value as it is written.
  func text(of item: Item) -> String { String(decoding: bytes[item.value], as: UTF8.self) }

  /// The text with its items edited, and others appended.
  func rewritten(_ edits: [Edit], appending: [[UInt8]]) -> String {
    let comma = UInt8(ascii: ",")
    var result = Array(bytes[..<bodyStart])
    result.reserveCapacity(bytes.count + appending.reduce(0) { $0 + $1.count + 1 })
    let firstGap = bytes[bodyStart..<(items.first?.range.lowerBound ?? bodyStart)]
    var hasItem = false
    for (index, item) in items.enumerated() {
      if case .remove = edits[index] { continue }
      let gapStart = index > 0 ? items[index - 1].range.upperBound : bodyStart
      result += hasItem ? bytes[gapStart..<item.range.lowerBound] : firstGap
      hasItem = true
      switch edits[index] {
      case .replace(let value): result += bytes[item.range.lowerBound..<item.value.lowerBound] + value
      case .keep, .remove: result += bytes[item.range]
      }
    }
    if !hasItem { result += firstGap }
    for item in appending {
      if hasItem { result.append(comma) }
      result += item
      hasItem = true
    }
    result += bytes[(items.last?.range.upperBound ?? bodyStart)...]
    return String(decoding: result, as: UTF8.self)
  }

  /// A tag as JSON.
  static func json(_ tag: [String]) -> [UInt8] {
    var json: [UInt8] = [UInt8(ascii: "[")]
    for (index, text) in tag.enumerated() {
      if index > 0 { json.append(UInt8(ascii: ",")) }
      JSONString.append(text, to: &json)
    }
    json.append(UInt8(ascii: "]"))
    return json
  }
}
