// What is wrong with a JSON text that a decoder accepts, or rejects without saying where.
//
// If an object has two members of the same name, a decoder takes one and reports nothing; another program takes the
// other. Half of a surrogate pair is valid grammar but no character: a decoder rejects the whole text.
// FoundationEssentials' decoder also accepts a comma after the last element, and texts in UTF-16. One pass here finds
// all of these, without a tree.

/// Something in a text that two programs would read differently.
public enum JSONFlaw: Hashable, Sendable, CustomStringConvertible {
  /// The text is not JSON by RFC 8259, or nested deeper than ``depthMaximum``.
  case notJSON(JSONFault)
  /// A member that occurs twice in its object; its place.
  case repeatedMember(String)
  /// A `\ud800` … `\udfff` that is not half of a pair; the value it is in, and its spelling.
  case loneSurrogate(String, escape: String)

  /// Deepest nesting of arrays and objects: the limit of FoundationEssentials' decoder.
  public static let depthMaximum = 512

  /// The first flaw of a text; nil if it has none.
  public static func first(in json: [UInt8]) -> JSONFlaw? {
    json.withUnsafeBytes { bytes in
      var scanner = JSONScanner(bytes, depthMaximum: depthMaximum)
      var search = JSONFlawSearch()
      do throws(JSONFault) {
        try search.readValue(&scanner)
        try scanner.expectEnd()
        return search.flaw
      } catch { return search.flaw ?? .notJSON(error) }
    }
  }

  /// A sentence, such as `not JSON: expected ':' at byte 17`.
  public var description: String {
    switch self {
    case .notJSON(let fault): "not JSON: \(fault)"
    case .repeatedMember(let place): "'\(place)' is there twice"
    case .loneSurrogate(let place, let escape):
      "\(place.isEmpty ? "the text" : "'\(place)'") has \(escape), which is half of a surrogate pair and no character"
    }
  }
}

/// One pass over a text, left to right.
private struct JSONFlawSearch {
  private enum Step {
    /// A member's name as bytes, since Swift treats some texts with different bytes as equal.
    case member([UInt8])
    case element(Int)
  }

  private var path: [Step] = []
  private(set) var flaw: JSONFlaw?

  /// How many characters of a name a place shows at most.
  private static let nameLengthMaximum = 64

  mutating func readValue(_ scanner: inout JSONScanner) throws(JSONFault) {
    switch try scanner.peek() {
    case UInt8(ascii: "{"):
      var names: Set<[UInt8]> = []
      try scanner.readObject { text, scanner throws(JSONFault) in
        checkSurrogates(text, in: scanner.bytes)
        let name = text.value(in: scanner.bytes)
        path.append(.member(name))
        if !names.insert(name).inserted { found(.repeatedMember(place)) }
        try readValue(&scanner)
        path.removeLast()
      }
    case UInt8(ascii: "["):
      var index = 0
      try scanner.readArray { scanner throws(JSONFault) in
        path.append(.element(index))
        try readValue(&scanner)
        path.removeLast()
        index += 1
      }
    case UInt8(ascii: "\""): checkSurrogates(try scanner.scanString(), in: scanner.bytes)
    default: try scanner.skipValue()
    }
  }

  private mutating func checkSurrogates(_ text: JSONString, in bytes: UnsafeRawBufferPointer) {
    guard text.hasEscapes else { return }
    do throws(JSONFault) { try text.checkSurrogates(in: bytes) } catch {
      let digits = String(decoding: bytes[error.byteOffset + 2..<error.byteOffset + 6], as: UTF8.self)
      found(.loneSurrogate(place, escape: #"\u"# + digits.lowercased()))
    }
  }

  private mutating func found(_ flaw: JSONFlaw) {
    if self.flaw == nil { self.flaw = flaw }
  }

  /// The present place of the search: `event.tags[0][1]`.
  private var place: String {
    path.reduce(into: "") { text, step in
      switch step {
      case .element(let index): text += "[\(index)]"
      case .member(let name):
        text += (text.isEmpty ? "" : ".") + String(decoding: name, as: UTF8.self).prefix(Self.nameLengthMaximum)
      }
    }
  }
}
