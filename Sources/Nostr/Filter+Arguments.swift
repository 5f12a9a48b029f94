// Filters among the arguments of a method, as bytes.
//
// A client may ask for ten thousand authors. As a tree of JSON values, made by one program and read by the next, such a
// filter takes a hundred times as long as its bytes do, and whoever waits behind it waits for that. So lists of filters
// are put between the other arguments as the text they are, and read where they stand; a method with one filter takes
// it like any other value. What is unusual there (a field twice, `1e3`, an unknown field) is left to whoever reads the
// arguments as a whole, and can say what is wrong with them.

extension Filter {
  /// The member that filters are put into and taken out of.
  private static let member = Array(#""filters":"#.utf8)
  private static let emptyMember = Array(#""filters":[]"#.utf8)

  /// An object with filters in it.
  ///
  /// - Parameters:
  ///   - filters: what is put there.
  ///   - json: an object without white space whose member `filters` is an empty list.
  public static func join(_ filters: [Filter], into json: [UInt8]) -> [UInt8] {
    // Quotation marks inside of texts are escaped: what looks like the member is it.
    let found = json.withUnsafeBytes { first(emptyMember, in: $0) }
    guard let place = found else { preconditionFailure("there is no room for filters") }
    var joined = Array(json[..<place.lowerBound])
    joined.append(contentsOf: member)
    joined.append(UInt8(ascii: "["))
    for (index, filter) in filters.enumerated() {
      if index > 0 { joined.append(UInt8(ascii: ",")) }
      joined.append(contentsOf: filter.json)
    }
    joined.append(UInt8(ascii: "]"))
    joined.append(contentsOf: json[place.upperBound...])
    return joined
  }

  /// The filters of an object's member `filters`, and the object with an empty list in their place.
  ///
  /// - Returns: nil when the text is another, there is no such member or one that is no list of filters, or a filter
  ///   is refused by ``checkReferences()``.
  public static func split(_ json: [UInt8]) -> (json: [UInt8], filters: [Filter])? {
    json.withUnsafeBytes { bytes in
      // `try?`: why it could not be read is found out by reading all of it.
      guard let (filters, place) = try? read(bytes) else { return nil }
      return (Array(json[..<place.lowerBound]) + Array("[]".utf8) + Array(json[place.upperBound...]), filters)
    }
  }

  private static let unicodeEscape = Array(#"\u"#.utf8)

  /// Thrown for what is no object with one list of filters.
  private struct Unusual: Error {}

  private static func read(_ bytes: UnsafeRawBufferPointer) throws -> (filters: [Filter], place: Range<Int>) {
    var scanner = JSONScanner(bytes)
    var found: (filters: [Filter], place: Range<Int>)?
    try scanner.expect(UInt8(ascii: "{"))
    repeat {
      let name = try scanner.scanString()
      try scanner.expect(UInt8(ascii: ":"))
      if name.hasEscapes { throw Unusual() }
      guard bytes[name.content].elementsEqual("filters".utf8) else {
        _ = try scanner.skipValue()  // What it is, is read with the rest.
        continue
      }
      guard found == nil else { throw Unusual() }
      found = try list(&scanner)
    } while try scanner.take(UInt8(ascii: ","))
    try scanner.expect(UInt8(ascii: "}"))
    try scanner.expectEnd()
    if scanner.hasSeenNonASCII, !bytes.isUTF8 { throw Unusual() }
    guard let found else { throw Unusual() }
    // Half of a surrogate pair is refused by whoever reads the whole.
    if first(unicodeEscape, in: UnsafeRawBufferPointer(rebasing: bytes[found.place])) != nil { throw Unusual() }
    return found
  }

  private static func list(_ scanner: inout JSONScanner) throws -> (filters: [Filter], place: Range<Int>) {
    guard try scanner.peek() == UInt8(ascii: "[") else { throw Unusual() }
    let start = scanner.position
    try scanner.expect(UInt8(ascii: "["))
    var filters: [Filter] = []
    if try !scanner.take(UInt8(ascii: "]")) {
      repeat {
        let filter = try Filter(&scanner)
        try filter.checkReferences()
        filters.append(filter)
      } while try scanner.take(UInt8(ascii: ","))
      try scanner.expect(UInt8(ascii: "]"))
    }
    return (filters, start..<scanner.position)
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
