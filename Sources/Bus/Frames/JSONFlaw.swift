// What is wrong with a JSON text although it is JSON.
//
// A decoder takes one of two members of the same name and says nothing; another program takes the other one. And half
// of a surrogate pair is grammar and no character: a decoder calls the whole text broken. Both are looked for here,
// with the place, in one pass over the bytes without a tree; whether the text is JSON at all is the decoder's to say.

/// Something in a JSON text that two programs would read differently.
public enum JSONFlaw: Hashable, Sendable, CustomStringConvertible {
  /// A member that stands twice in its object; where.
  case repeatedMember(String)
  /// A `\ud800` … `\udfff` that is not half of a pair; in which value, and how it stands there.
  case loneSurrogate(String, escape: String)

  /// Deepest nesting that is followed; what is deeper is not looked at.
  public static let depthMaximum = 512

  /// The first flaw of a text; nil when there is none. Of a text that is no JSON it says nothing that counts.
  public static func first(in json: [UInt8]) -> JSONFlaw? {
    var search = JSONFlawSearch(json)
    return search.run()
  }

  /// A sentence: `'event.kind' stands there twice`.
  public var description: String {
    switch self {
    case .repeatedMember(let place): "'\(place)' stands there twice"
    case .loneSurrogate(let place, let escape):
      "\(place.isEmpty ? "the text" : "'\(place)'") has \(escape), which is half of a surrogate pair and no character"
    }
  }
}

/// One pass over a text, left to right.
private struct JSONFlawSearch {
  private struct Level {
    let isObject: Bool
    /// Of an object: whether a name comes next.
    var expectsName: Bool
    /// Of an object: the names so far, byte by byte, since texts are compared otherwise.
    var names: Set<[UInt8]> = []
    /// Of an object: the name of the member that is being read.
    var name: [UInt8] = []
    /// Of a list: which of its values is being read.
    var index = 0
  }

  private let json: [UInt8]
  private var position = 0
  private var levels: [Level] = []

  /// Most letters of a name that a place repeats.
  private static let nameLengthMaximum = 64

  init(_ json: [UInt8]) { self.json = json }

  mutating func run() -> JSONFlaw? {
    while position < json.count {
      switch json[position] {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        guard levels.count < JSONFlaw.depthMaximum else { return nil }
        let isObject = json[position] == UInt8(ascii: "{")
        levels.append(Level(isObject: isObject, expectsName: isObject))
      case UInt8(ascii: "}"), UInt8(ascii: "]"): _ = levels.popLast()
      case UInt8(ascii: ","): next()
      case UInt8(ascii: "\""):
        guard let text = passString() else { return nil }
        if let flaw = text.hasEscapes ? loneSurrogate(text.content) : nil { return flaw }
        if levels.last?.expectsName == true, let flaw = begin(name(text)) { return flaw }
        continue
      default: break
      }
      position += 1
    }
    return nil
  }

  private mutating func next() {
    guard let last = levels.indices.last else { return }
    levels[last].index += 1
    levels[last].expectsName = levels[last].isObject
  }

  /// Passes a string; nil when it does not end.
  private mutating func passString() -> (content: Range<Int>, hasEscapes: Bool)? {
    let start = position + 1
    var hasEscapes = false
    position = start
    while position < json.count {
      let byte = json[position]
      position += 1
      if byte == UInt8(ascii: "\"") { return (start..<position - 1, hasEscapes) }
      guard byte == UInt8(ascii: "\\") else { continue }
      hasEscapes = true
      position += 1
    }
    return nil
  }

  /// A member's name without escapes: `"\u0069d"` is `id`.
  private func name(_ text: (content: Range<Int>, hasEscapes: Bool)) -> [UInt8] {
    let bytes = Array(json[text.content])
    guard text.hasEscapes else { return bytes }
    let quoted = [UInt8(ascii: "\"")] + bytes + [UInt8(ascii: "\"")]
    // What is no string is told by whoever decodes the whole.
    return (try? JSONPayload.decode(String.self, from: quoted)).map { Array($0.utf8) } ?? bytes
  }

  /// A member begins.
  private mutating func begin(_ name: [UInt8]) -> JSONFlaw? {
    guard let last = levels.indices.last else { return nil }
    levels[last].expectsName = false
    levels[last].name = name
    return levels[last].names.insert(name).inserted ? nil : .repeatedMember(place)
  }

  /// Where the search is: `event.tags[0][1]`.
  private var place: String {
    var text = ""
    for level in levels {
      if !level.isObject {
        text += "[\(level.index)]"
      } else if !level.expectsName {
        text += text.isEmpty ? "" : "."
        text += String(decoding: level.name, as: UTF8.self).prefix(Self.nameLengthMaximum)
      }
    }
    return text
  }

  // MARK: Surrogates

  private func loneSurrogate(_ content: Range<Int>) -> JSONFlaw? {
    var index = content.lowerBound
    while index < content.upperBound {
      guard json[index] == UInt8(ascii: "\\") else {
        index += 1
        continue
      }
      guard let unit = codeUnit(index, content) else {
        index += 2
        continue
      }
      index += 6
      guard (0xD800...0xDFFF).contains(unit) else { continue }
      if unit < 0xDC00, let low = codeUnit(index, content), (0xDC00...0xDFFF).contains(low) {
        index += 6
        continue
      }
      return .loneSurrogate(place, escape: "\\u" + String(unit, radix: 16))
    }
    return nil
  }

  /// The number of a `\uXXXX` that stands at `index`; nil when none does.
  private func codeUnit(_ index: Int, _ content: Range<Int>) -> UInt16? {
    guard index + 6 <= content.upperBound, json[index] == UInt8(ascii: "\\"), json[index + 1] == UInt8(ascii: "u")
    else { return nil }
    return UInt16(String(decoding: json[index + 2..<index + 6], as: UTF8.self), radix: 16)
  }
}
