public import Contracts
public import Cryptography
internal import Nostr

/// The letters of a `people.find`, prepared for comparing.
public struct SoughtLetters: Sendable, Hashable {
  /// The words, folded.
  private let words: [UInt8]
  /// The beginning of an `npub` or of a key's digits, in lower case; empty for another text.
  private let keyText: String

  /// The fewest characters of a key that are searched for, after `npub1`: fewer match too many.
  static let keyCharacterMinimum = 2

  /// Prepares letters.
  public init(_ text: String) {
    let text = String(text.drop { $0.isWhitespace })
    words = SearchWords(text).utf8
    let lower = text.lowercased()
    let isKey = lower.hasPrefix("npub1") && lower.utf8.count >= 5 + Self.keyCharacterMinimum
    let areDigits = lower.utf8.count >= 8 && lower.utf8.allSatisfy { Self.isDigit($0) }
    keyText = isKey || areDigits ? lower : ""
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 || byte &- 0x61 < 6 }

  /// Whether nothing can match: there are only signs.
  public var isEmpty: Bool { words.isEmpty && keyText.isEmpty }

  /// Whether a store can be searched for them.
  public var hasWords: Bool { !words.isEmpty }

  /// How a person matches; nil: not at all.
  ///
  /// - Parameters:
  ///   - key: the person's key.
  ///   - names: the person's names.
  public func match(
    _ key: PublicKey, _ names: FoldedNames
  ) -> (field: FoundPerson.Field, way: FoundPerson.Way)? {
    if !keyText.isEmpty {
      let text = keyText.hasPrefix("npub1") ? key.npub : key.description
      if text == keyText { return (.key, .exact) }
      if text.hasPrefix(keyText) { return (.key, .beginning) }
    }
    return words.isEmpty ? nil : names.match(words)
  }
}

/// People who match, the most likely first, within a bound.
public struct RankedPeople: Sendable {
  /// One of them.
  public struct Match: Sendable, Hashable {
    /// The person.
    public let key: PublicKey
    /// What matched.
    public let field: FoundPerson.Field
    /// How it matched.
    public let way: FoundPerson.Way
    /// Whether an account follows the person.
    public let isFollowed: Bool
  }

  private var matches: [PublicKey: Match] = [:]

  /// No people.
  public init() {}

  /// A person matches; the better of two matches counts.
  public mutating func add(_ match: Match) {
    if let other = matches[match.key], !Self.isBetter(match, other) { return }
    matches[match.key] = match
  }

  /// The number of people.
  public var count: Int { matches.count }

  /// The most likely people.
  public func best(_ count: Int) -> [Match] { Array(matches.values.sorted(by: Self.isBetter).prefix(count)) }

  /// Those who are followed first; then by how they matched, by what, and by key, so that the order is always the same.
  private static func isBetter(_ left: Match, _ right: Match) -> Bool {
    if left.isFollowed != right.isFollowed { return left.isFollowed }
    // Words of another part of the profile say least, however they match.
    if (left.field == .profile) != (right.field == .profile) { return right.field == .profile }
    if left.way != right.way { return left.way.order < right.way.order }
    let fields = FoundPerson.Field.allCases
    let (first, second) = (fields.firstIndex(of: left.field) ?? 0, fields.firstIndex(of: right.field) ?? 0)
    return first == second ? left.key < right.key : first < second
  }
}

extension RankedPeople.Match {
  /// A match.
  public init(
    _ key: PublicKey, _ match: (field: FoundPerson.Field, way: FoundPerson.Way), isFollowed: Bool
  ) {
    self.init(key: key, field: match.field, way: match.way, isFollowed: isFollowed)
  }
}
