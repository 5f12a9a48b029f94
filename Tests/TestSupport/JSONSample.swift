public import Frames

/// JSON as a page shows it: values one after the other, with `…` for what is left out; in `jsonc`, notes after `//`.
public enum JSONSample {
  /// The values, without what is left out: `{"a":…}` has null there, `[…]` and `{"a":1,…}` have nothing.
  ///
  /// - Throws: ``JSONSampleFault``, or the refusal of what is not JSON.
  public static func values(of text: String, hasNotes: Bool) throws -> [JSONValue] {
    try texts(of: text, hasNotes: hasNotes).map { try JSONPayload.decode(JSONValue.self, from: Array($0.utf8)) }
  }

  private static func texts(of text: String, hasNotes: Bool) throws -> [String] {
    var (found, value, depth) = ([String](), "", 0)
    var rest = Array(text)[...]
    while let character = rest.popFirst() {
      switch character {
      case "\"":
        guard depth > 0 else { throw JSONSampleFault(text: "outside of an object: \(String(rest.prefix(20)))") }
        value.append(character)
        while let next = rest.popFirst() {
          value.append(next)
          if next == "\\", let escaped = rest.popFirst() { value.append(escaped) }
          if next == "\"" { break }
        }
      case "/" where rest.first == "/" && hasNotes:
        while let next = rest.first, next != "\n" { rest.removeFirst() }
      case "…":
        switch value.last {
        case ":": value += "null"
        case ",": value.removeLast()
        case "{", "[": break
        default: throw JSONSampleFault(text: "'…' where nothing can be left out: \(value.suffix(20))")
        }
      case _ where character.isWhitespace:
        // Between values and inside them it means nothing; in a text it was taken above.
        if depth > 0, value.last.map({ $0.isLetter || $0.isNumber }) == true { value.append(" ") }
      default:
        if "{[".contains(character) { depth += 1 }
        guard depth > 0 else { throw JSONSampleFault(text: "beside JSON: \(character)\(String(rest.prefix(20)))") }
        value.append(character)
        if "}]".contains(character) { depth -= 1 }
        if depth == 0 {
          found.append(value)
          value = ""
        }
      }
    }
    if !value.isEmpty { throw JSONSampleFault(text: "a value without an end: \(value.prefix(40))") }
    return found
  }
}

/// What is wrong with a sample.
public struct JSONSampleFault: Error, CustomStringConvertible {
  let text: String
  /// Where it is, in words.
  public var description: String { text }
}
