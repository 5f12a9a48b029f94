internal import FoundationEssentials
internal import JSON
internal import Synchronization

/// A JSON value that keeps its spelling, such as an event on its way to a relay: its digits, its escapes and the order
/// of its members stay. White space between its parts is removed.
///
/// ``JSONPayload`` reads and writes it so; any other coder uses the value. Reading searches the payload from its start
/// for each such member: the type is for one or two members of a payload, not for lists.
public struct RawJSON: Codable, Sendable, Hashable {
  /// The value's text.
  public let bytes: [UInt8]

  /// A value by its text. The caller knows that the text is JSON: it is not checked.
  public init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Reads the value at the decoder's place.
  public init(from decoder: any Decoder) throws {
    guard let payload = decoder.userInfo[Self.payloadKey] as? [UInt8],
      let bytes = Self.value(at: decoder.codingPath, in: payload)
    else {
      self.init(JSONPayload.encode(try JSONValue(from: decoder)))
      return
    }
    self.init(bytes)
  }

  /// Writes a mark that ``JSONPayload`` replaces by the text; with another encoder, the value itself.
  public func encode(to encoder: any Encoder) throws {
    guard let marks = encoder.userInfo[RawJSONMarks.key] as? RawJSONMarks else {
      return try JSONPayload.decode(JSONValue.self, from: bytes).encode(to: encoder)
    }
    var container = encoder.singleValueContainer()
    try container.encode(marks.mark(bytes))
  }

  // MARK: Reading

  /// The key of the payload in a decoder's user information.
  static let payloadKey = CodingUserInfoKey(rawValue: "payload").unsafelyUnwrapped

  private static func value(at path: [any CodingKey], in payload: [UInt8]) -> [UInt8]? {
    let found = payload.withUnsafeBytes { bytes -> (text: Range<Int>, isPlain: Bool)? in
      var scanner = JSONScanner(bytes, depthMaximum: JSONFlaw.depthMaximum)
      // `try?`: what is no JSON has been refused before.
      return (try? range(at: path[...], &scanner)).map { ($0, scanner.whiteSpaceByteCount == 0) }
    }
    guard let found else { return nil }
    let text = Array(payload[found.text])
    // `try?`: as above.
    if found.isPlain, (try? UTF8Span(validating: text.span)) != nil { return text }
    return try? JSONText(text).compact
  }

  private static func range(
    at path: ArraySlice<any CodingKey>, _ scanner: inout JSONScanner
  ) throws(JSONFault) -> Range<Int>? {
    guard let key = path.first else { return try scanner.skipValue() }
    var found: Range<Int>?
    switch try scanner.peek() {
    case UInt8(ascii: "{"):
      try scanner.readObject { name, scanner throws(JSONFault) in
        if found == nil, name.string(in: scanner.bytes) == key.stringValue {
          found = try range(at: path.dropFirst(), &scanner)
        } else {
          try scanner.skipValue()
        }
      }
    case UInt8(ascii: "["):
      var index = 0
      try scanner.readArray { scanner throws(JSONFault) in
        found = try index == key.intValue ? range(at: path.dropFirst(), &scanner) : (scanner.skipValue(), found).1
        index += 1
      }
    default: try scanner.skipValue()
    }
    return found
  }
}

/// The texts that an encoder has met, and what it writes in their places until it is done.
final class RawJSONMarks: Sendable {
  static let key = CodingUserInfoKey(rawValue: "marks").unsafelyUnwrapped

  private struct State {
    /// Drawn at the first text of a payload, so that no string in the payload can be a mark by chance or by intent.
    var secret = ""
    var texts: [[UInt8]] = []
  }
  private let state = Mutex(State())

  func mark(_ text: [UInt8]) -> String {
    state.withLock { state in
      if state.texts.isEmpty {
        state.secret = "\(UInt64.random(in: .min ... .max)) \(UInt64.random(in: .min ... .max)) "
      }
      state.texts.append(text)
      return state.secret + "\(state.texts.count - 1)"
    }
  }

  /// `json` with each text in the place of its mark.
  func replaced(in json: [UInt8]) -> [UInt8] {
    let state = state.withLock(\.self)
    return state.texts.enumerated().reduce(json) { json, text in
      let mark = Array("\"\(state.secret)\(text.offset)\"".utf8)
      guard let place = json.firstRange(of: mark) else {
        preconditionFailure("an encoder writes each mark once, as it is")
      }
      return json[..<place.lowerBound] + text.element + json[place.upperBound...]
    }
  }
}
