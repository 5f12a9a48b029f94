internal import Cryptography
internal import Frames
public import Nostr

// Kind 5302 of the data vending machines (NIP-90): notes that contain these words. The words are inputs of type text,
// or a parameter `search`. `since` and `until` are days in the past; a number too large for that is read as seconds
// since 1970, which many programs write. `users` is a JSON list of `p` tags or of keys; a parameter may have several
// values.

/// What a request of kind 5302 asks for.
public struct ContentSearchQuestion: Sendable, Hashable {
  /// The filter that finds the notes.
  public let filter: Filter
  /// Most events in the answer.
  public let countMaximum: Int

  /// Events in the answer if the request gives no number.
  public static let standardCount = 20
  /// Most events in the answer, whatever number the request gives.
  public static let countBound = 500
  /// Kinds that are searched if the request gives none: notes and articles.
  public static let standardKinds: [UInt16] = [EventKind.textNote, EventKind.article]
  /// Numbers up to this one are days in the past.
  static let dayMaximum: Int64 = 36_500

  /// Reads a request, decrypted if it was encrypted.
  ///
  /// - Parameters:
  ///   - request: the request.
  ///   - now: seconds since 1970, from which days are counted back.
  public init(_ request: JobRequest, at now: Int64) throws(QuestionFault) {
    let terms = request.terms
    let words =
      terms.inputs.filter { $0.form == .text || $0.type.isEmpty || $0.form == nil }.map(\.data)
      + (terms.values(of: "search") ?? [])
    let search = words.joined(separator: " ").cut(toByteCount: Filter.searchByteCountMaximum)
    guard search.contains(where: { !$0.isWhitespace }) else {
      throw QuestionFault("words to search for are missing: an input of type text, or a parameter \"search\"")
    }
    countMaximum = try min(
      Self.number(terms, "max_results", 1...Int64(Int32.max)).map { Int($0) } ?? Self.standardCount, Self.countBound)
    var filter = Filter(kinds: try Self.kinds(terms), limit: countMaximum, search: search)
    filter.authors = try Self.users(terms)
    filter.since = try Self.time(terms, "since", now)
    filter.until = try Self.time(terms, "until", now)
    self.filter = filter
  }

  /// The answer as JSON: for each event an `e` tag, or an `a` tag if the event is addressable.
  public static func answer(_ events: [Event]) -> String {
    let tags = events.map { event -> JSONValue in
      guard let address = EventAddress(of: event), KindClass(event.kind) == .addressable else {
        return .array([.string("e"), .string(event.id.description)])
      }
      return .array([.string("a"), .string(address.description)])
    }
    return String(decoding: JSONPayload.encode(JSONValue.array(tags)), as: UTF8.self)
  }

  private static func number(
    _ terms: JobTerms, _ name: String, _ range: ClosedRange<Int64>
  ) throws(QuestionFault) -> Int64? {
    guard let text = terms.values(of: name)?.first, !text.isEmpty else { return nil }
    guard let number = Int64(text), range.contains(number) else {
      throw QuestionFault("the parameter \"\(name)\" is no number that it could be")
    }
    return number
  }

  private static func time(_ terms: JobTerms, _ name: String, _ now: Int64) throws(QuestionFault) -> Int64? {
    guard let number = try number(terms, name, 0...Int64.max) else { return nil }
    return number <= dayMaximum ? max(0, now - number * 86_400) : number
  }

  private static func kinds(_ terms: JobTerms) throws(QuestionFault) -> [UInt16] {
    let texts = (terms.values(of: "kinds") ?? terms.values(of: "kind") ?? [])
      .flatMap { $0.split { !$0.isNumber }.map(String.init) }
    guard !texts.isEmpty else { return standardKinds }
    let kinds = texts.compactMap { UInt16($0) }
    guard kinds.count == texts.count else {
      throw QuestionFault("the parameter \"kinds\" has a number that is no kind")
    }
    return kinds
  }

  private static func users(_ terms: JobTerms) throws(QuestionFault) -> [PublicKey]? {
    guard let values = terms.values(of: "users"), !values.isEmpty else { return nil }
    var texts: [String] = []
    for value in values where !value.isEmpty {
      guard value.hasPrefix("[") else {
        texts.append(value)
        continue
      }
      // `try?`: broken JSON and JSON that is not a list get the same error.
      guard let list = try? JSONPayload.decode([JSONValue].self, from: value.utf8) else {
        throw QuestionFault("the parameter \"users\" is neither a key nor a list of tags \"p\" as JSON")
      }
      for item in list { texts += key(item).map { [$0] } ?? [] }
    }
    // Empty values mean any author. A list without any key in it means no author: it must not become any author.
    guard !texts.isEmpty else { return values.allSatisfy { $0.isEmpty || $0 == "[]" } ? nil : [] }
    var keys: [PublicKey] = []
    for text in texts {
      do throws(EntityFault) { keys.append(try PublicKey(spelled: text)) } catch {
        throw QuestionFault("the parameter \"users\" has something that is no key")
      }
    }
    return keys
  }

  /// `"<key>"`, `["p","<key>"]` or `["<key>"]`.
  private static func key(_ item: JSONValue) -> String? {
    switch item {
    case .string(let text): text
    case .array(let tag):
      switch tag.first {
      case .string("p"): tag.count > 1 ? key(tag[1]) : nil
      case .some(let first): key(first)
      case nil: nil
      }
    default: nil
    }
  }
}
