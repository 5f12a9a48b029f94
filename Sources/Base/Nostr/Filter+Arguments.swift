// Filters among the arguments of a method, as bytes.
//
// A client may ask for ten thousand authors. As a tree of JSON values, made by one program and read by the next, such a
// filter takes a hundred times as long as its bytes do, and whoever waits behind it waits for that. So filters, a list
// of them or one, are put between the other arguments as the text they are, and read where they stand. What is unusual
// there (a field twice, `1e3`, an unknown field) is left to whoever reads the arguments as a whole, and can say what is
// wrong with them.

internal import JSON

extension Filter {
  /// The member that filters are put into and taken out of, and that of a method that takes one.
  private static let (listName, oneName) = ("filters", "filter")

  /// An object with filters in it.
  ///
  /// - Parameters:
  ///   - filters: what is put there.
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

  /// An object with one filter in it.
  ///
  /// - Parameters:
  ///   - filter: what is put there.
  ///   - json: an object without white space whose member `filter` is an empty object.
  public static func join(_ filter: Filter, into json: [UInt8]) -> [UInt8] {
    put(filter.json, in: oneName, insteadOf: "{}", json)
  }

  private static func put(_ value: [UInt8], in name: String, insteadOf empty: String, _ json: [UInt8]) -> [UInt8] {
    // Quotation marks inside of texts are escaped: what looks like the member is it.
    let found = json.withUnsafeBytes { first(Array("\"\(name)\":\(empty)".utf8), in: $0) }
    guard let place = found else { preconditionFailure("there is no room for what is to stand in '\(name)'") }
    return Array(json[..<(place.upperBound - empty.utf8.count)]) + value + Array(json[place.upperBound...])
  }

  /// The filters of an object's member `filters`, and the object with an empty list in their place.
  ///
  /// - Returns: nil when the text is another, there is no such member or one that is no list of filters, or a filter
  ///   is refused by ``checkReferences()``.
  public static func split(_ json: [UInt8]) -> (json: [UInt8], filters: [Filter])? {
    take(listName, leaving: "[]", json, by: list).map { ($0.json, $0.value) }
  }

  /// The filter of an object's member `filter`, and the object with an empty one in its place.
  ///
  /// - Returns: nil as of ``split(_:)``.
  public static func splitOne(_ json: [UInt8]) -> (json: [UInt8], filter: Filter)? {
    take(oneName, leaving: "{}", json, by: checked).map { ($0.json, $0.value) }
  }

  private static func take<Value>(
    _ name: String, leaving empty: String, _ json: [UInt8], by read: (inout JSONScanner) throws -> Value
  ) -> (json: [UInt8], value: Value)? {
    json.withUnsafeBytes { bytes in
      // `try?`: why it could not be read is found out by reading all of it.
      guard let (value, place) = try? member(name, of: bytes, by: read) else { return nil }
      return (Array(json[..<place.lowerBound]) + Array(empty.utf8) + Array(json[place.upperBound...]), value)
    }
  }

  private static let unicodeEscape = Array(#"\u"#.utf8)

  /// Thrown for what is no object with one such member.
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
        _ = try scanner.skipValue()  // What it is, is read with the rest.
        continue
      }
      guard found == nil else { throw Unusual() }
      // What stands there begins behind white space.
      _ = try scanner.peek()
      let start = scanner.position
      let value = try read(&scanner)
      found = (value, start..<scanner.position)
    } while try scanner.take(UInt8(ascii: ","))
    try scanner.expect(UInt8(ascii: "}"))
    try scanner.expectEnd()
    if scanner.hasSeenNonASCII, !bytes.isUTF8 { throw Unusual() }
    guard let found else { throw Unusual() }
    // Half of a surrogate pair is refused by whoever reads the whole.
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

  /// Where a piece stands first. The standard library's search is a hundred times slower in half a megabyte.
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
