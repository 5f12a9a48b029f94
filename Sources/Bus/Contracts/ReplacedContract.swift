public import Frames

/// `plan.replaced`: lists, profiles among them, of which a version was kept because the next one had lost entries of
/// it; the newest first. Parts are ``ReplacedList``s, the terminal answer a ``StoreCount``.
public struct PlanReplaced: MethodArguments {
  /// How it is asked.
  public static let example = #"{"id":"9f2c…, 64 hexadecimal digits","forget":false}"#

  /// Only this version, with its event: the event's id, 64 hexadecimal digits.
  public var id: String?
  /// Whether that version is kept no longer.
  public var forget: Bool?

  /// A question.
  public init(id: String? = nil, forget: Bool? = nil) {
    self.id = id
    self.forget = forget
  }

  /// Something to forget without a name.
  public var objection: String? { forget == true && id == nil ? "'forget' needs 'id'" : nil }
}

/// A version of a list that was kept.
public struct ReplacedList: Codable, Sendable, Hashable {
  /// The event's id.
  public var id: String
  /// Its kind.
  public var kind: UInt16
  /// Its author, 64 hexadecimal digits.
  public var author: String
  /// The author's account, if it is one.
  public var account: String?
  /// The identifier of a set (its tag `d`); empty for other lists.
  public var identifier: String
  /// When another version took its place, seconds since 1970.
  public var replacedAt: Int64
  /// Its entries.
  public var before: Int
  /// Entries of the version that counts now, as far as it was published here.
  public var after: Int
  /// The event, to who asks for this one.
  public var event: JSONValue?

  /// A version of a list.
  public init(
    id: String, kind: UInt16, author: String, identifier: String, replacedAt: Int64, before: Int, after: Int
  ) {
    self.id = id
    self.kind = kind
    self.author = author
    self.identifier = identifier
    self.replacedAt = replacedAt
    self.before = before
    self.after = after
  }

  /// Whether more than half of its entries are gone.
  public var isShrunk: Bool { after * 2 < before }
}

extension RefusalCode {
  /// The event would take entries from a list, or it is not known whether it would, and nobody has said that this is
  /// meant.
  public static let wouldReplace: RefusalCode = "would-replace"
}
