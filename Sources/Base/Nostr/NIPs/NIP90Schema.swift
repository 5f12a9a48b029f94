// The descriptions of the kinds define what results look like, one page each, in the repository that NIP-90 refers to
// (data-vending-machines). If a page shows something that is not valid JSON, both its form and what programs write are
// accepted. A wrong form is no refusal here: the customer may know better.

internal import JSON

/// The forms of the results of some kinds of jobs, as their descriptions require. A kind without a description accepts
/// anything.
public enum JobSchema {
  /// The outcome of a check.
  public enum Verdict: Hashable, Sendable {
    /// It has the form.
    case holds
    /// It does not have the form; contains what was expected: `a list of tags e or a, as JSON`.
    case broken(expected: String)
    /// No form is defined for its kind, or it could not be checked.
    case unknown
  }

  private enum Form {
    case text, link, number, eventID, transaction, event, minedEvent
    case tags(Set<String>)

    var expected: String {
      switch self {
      case .text: "a text"
      case .link: "an address of http or https"
      case .number: "a number, or numbers by group as a JSON object"
      case .eventID: "the id of an event, 64 hexadecimal digits"
      case .transaction: "the id of a transaction, 64 hexadecimal digits"
      case .event: "an event or its id"
      case .minedEvent: "an event with its id, as JSON"
      case .tags(let names): "a list of tags \(names.sorted().joined(separator: " or ")), as JSON"
      }
    }
  }

  private static let forms: [UInt16: Form] = [
    6_000: .text, 6_001: .text, 6_002: .text, 6_050: .text, 6_500: .text,
    6_100: .link, 6_200: .link, 6_201: .link, 6_202: .link, 6_250: .link,
    6_300: .tags(["e", "a"]), 6_301: .tags(["p", "e", "a"]), 6_302: .tags(["e", "a"]), 6_303: .tags(["p"]),
    6_400: .number, 6_900: .eventID, 6_901: .transaction, 6_905: .event, 6_970: .minedEvent,
  ]

  /// Whether a form is defined for results of this kind.
  public static func knows(kind: UInt16) -> Bool { forms[kind] != nil }

  /// Checks a result.
  ///
  /// - Parameters:
  ///   - content: in clear.
  ///   - kind: that of the result, 6000 to 6999.
  public static func check(_ content: String, kind: UInt16) -> Verdict {
    guard let form = forms[kind] else { return .unknown }
    return has(content, form) ? .holds : .broken(expected: form.expected)
  }

  private static func has(_ content: String, _ form: Form) -> Bool {
    let text = trimmed(content)
    switch form {
    case .text: return !text.isEmpty
    case .link: return text.contains("https://") || text.contains("http://")
    case .number: return plainNumber(text.utf8) != nil || isObject(text)
    case .eventID: return EventID(text) != nil
    case .transaction: return EventID(text.lowercased()) != nil
    case .event: return EventID(text) != nil || isEvent(text)
    case .minedEvent: return isEvent(text)
    case .tags(let names):
      guard let tags = TagList.read(text) else { return false }
      return tags.allSatisfy { $0.count > 1 && names.contains($0[0]) && isReference($0) }
    }
  }

  private static func isReference(_ tag: [String]) -> Bool {
    TagReference(tagName: tag[0])?.accepts(tag[1]) ?? false
  }

  private static func trimmed(_ content: String) -> String {
    let scalars = content.unicodeScalars
    let isSpace: (Unicode.Scalar) -> Bool = { $0.properties.isWhitespace }
    guard let first = scalars.firstIndex(where: { !isSpace($0) }), let last = scalars.lastIndex(where: { !isSpace($0) })
    else { return "" }
    return String(scalars[first...last])
  }

  private static func isObject(_ text: String) -> Bool {
    guard text.utf8.first == UInt8(ascii: "{") else { return false }
    return Array(text.utf8).withUnsafeBytes { bytes -> Bool in
      var scanner = JSONScanner(bytes)
      do throws(JSONFault) {
        try scanner.skipValue()
        try scanner.expectEnd()
        return true
      } catch {
        return false
      }
    }
  }

  /// Whether a text is an event whose id, if it has one, is right.
  private static func isEvent(_ text: String) -> Bool {
    do throws(EventFault) {
      _ = try UnsignedEvent(json: Array(text.utf8))
      return true
    } catch {
      return false
    }
  }
}
