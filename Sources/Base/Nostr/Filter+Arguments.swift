// Filters among the arguments of a method, as bytes.
//
// A client may ask for ten thousand authors. As a tree of JSON values, made by one program and read by the next, such a
// filter takes a hundred times as long as its bytes do, and every request behind it waits for that. So filters, a list
// or a single one, are put between the other arguments as text, and read in place. If something there is unusual (a
// repeated field, `1e3`, an unknown field), this code leaves it to the reader of all the arguments, which can say what
// is wrong.

internal import JSON

extension Filter {
  /// The member that holds a list of filters, and the member of a method that takes one filter.
  private static let (listName, oneName) = ("filters", "filter")

  /// An object with filters inserted.
  ///
  /// - Parameters:
  ///   - filters: the filters to insert.
  ///   - json: an object without white space whose member `filters` is an empty list.
  public static func join(_ filters: [Filter], into json: [UInt8]) -> [UInt8] {
    var list: [UInt8] = [UInt8(ascii: "[")]
    for (index, filter) in filters.enumerated() {
      if index > 0 { list.append(UInt8(ascii: ",")) }
      list.append(contentsOf: filter.json)
    }
    list.append(UInt8(ascii: "]"))
    return put(list, in: listName, insteadOf: "[]", json)
  }

  /// An object with one filter inserted.
  ///
  /// - Parameters:
  ///   - filter: the filter to insert.
  ///   - json: an object without white space whose member `filter` is an empty object.
  public static func join(_ filter: Filter, into json: [UInt8]) -> [UInt8] {
    put(filter.json, in: oneName, insteadOf: "{}", json)
  }

  private static func put(_ value: [UInt8], in name: String, insteadOf empty: String, _ json: [UInt8]) -> [UInt8] {
    // Quotation marks inside of texts are escaped: a match can only be the member itself.
    let found = json.withUnsafeBytes { first(Array("\"\(name)\":\(empty)".utf8), in: $0) }
    guard let place = found else { preconditionFailure("there is no room for what is to stand in '\(name)'") }
    return Array(json[..<(place.upperBound - empty.utf8.count)]) + value + Array(json[place.upperBound...])
  }

  /// The filters of an object's member `filters`, and the object with an empty list in their place.
  ///
  /// - Returns: nil if the text is something else, the member is missing or not a list of filters, or
  ///   ``checkReferences()`` refuses a filter.
  public static func split(_ json: [UInt8]) -> (json: [UInt8], filters: [Filter])? {
    take(listName, leaving: "[]", json, by: list).map { ($0.json, $0.value) }
  }

  /// The filter of an object's member `filter`, and the object with an empty filter in its place.
  ///
  /// - Returns: nil in the cases of ``split(_:)``.
  public static func splitOne(_ json: [UInt8]) -> (json: [UInt8], filter: Filter)? {
    take(oneName, leaving: "{}", json, by: checked).map { ($0.json, $0.value) }
  }

  private static func take<Value>(
    _ name: String, leaving empty: String, _ json: [UInt8], by read: (inout JSONScanner) throws -> Value
  ) -> (json: [UInt8], value: Value)? {
    json.withUnsafeBytes { bytes in
      // `try?`: the reader of all the arguments finds out why it could not be read.
      guard let (value, place) = try? member(name, of: bytes, by: read) else { return nil }
      return (Array(json[..<place.lowerBound]) + Array(empty.utf8) + Array(json[place.upperBound...]), value)
    }
  }

  private static let unicodeEscape = Array(#"\u"#.utf8)

  /// Thrown for anything but an object with exactly one such member.
  private struct Unusual: Error {}

  private static func member<Value>(
    _ wanted: String, of bytes: UnsafeRawBufferPointer, by read: (inout JSONScanner) throws -> Value
  ) throws -> (value: Value, place: Range<Int>) {
    var scanner = JSONScanner(bytes)
    var found: (value: Value, place: Range<Int>)?
    try scanner.expect(UInt8(ascii: "{"))
    repeat {
      let name = try scanner.scanString()
      try scanner.expect(UInt8(ascii: ":"))
      if name.hasEscapes { throw Unusual() }
      guard bytes[name.content].elementsEqual(wanted.utf8) else {
        _ = try scanner.skipValue()  // Its value is read with the rest.
        continue
      }
      guard found == nil else { throw Unusual() }
      // The value begins after white space.
      _ = try scanner.peek()
      let start = scanner.position
      let value = try read(&scanner)
      found = (value, start..<scanner.position)
    } while try scanner.take(UInt8(ascii: ","))
    try scanner.expect(UInt8(ascii: "}"))
    try scanner.expectEnd()
    if scanner.hasSeenNonASCII, !bytes.isUTF8 { throw Unusual() }
    guard let found else { throw Unusual() }
    // The reader of the whole object refuses half of a surrogate pair.
    if first(unicodeEscape, in: UnsafeRawBufferPointer(rebasing: bytes[found.place])) != nil { throw Unusual() }
    return found
  }

  private static func list(_ scanner: inout JSONScanner) throws -> [Filter] {
    guard try scanner.peek() == UInt8(ascii: "[") else { throw Unusual() }
    try scanner.expect(UInt8(ascii: "["))
    var filters: [Filter] = []
    if try !scanner.take(UInt8(ascii: "]")) {
      repeat { filters.append(try checked(&scanner)) } while try scanner.take(UInt8(ascii: ","))
      try scanner.expect(UInt8(ascii: "]"))
    }
    return filters
  }

  private static func checked(_ scanner: inout JSONScanner) throws -> Filter {
    guard try scanner.peek() == UInt8(ascii: "{") else { throw Unusual() }
    let filter = try Filter(&scanner)
    try filter.checkReferences()
    return filter
  }

  /// The first occurrence of a piece. The standard library's search is a hundred times slower in half a megabyte.
  private static func first(_ piece: [UInt8], in text: UnsafeRawBufferPointer) -> Range<Int>? {
    var start = 0
    while start + piece.count <= text.count {
      if text[start] == piece[0], text[start..<start + piece.count].elementsEqual(piece) {
        return start..<start + piece.count
      }
      start += 1
    }
    return nil
  }
}
