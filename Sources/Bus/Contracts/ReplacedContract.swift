public import Frames

/// `plan.replaced`: versions of lists, including profiles, that were kept because the next version had lost entries;
/// the newest first. Parts are ``ReplacedList``s, the terminal answer a ``StoreCount``.
public struct PlanReplaced: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"id":"9f2c…, 64 hexadecimal digits","forget":false}"#

  /// Only this version, and with its event: the event's id, 64 hexadecimal digits.
  public var id: String?
  /// Whether the planner forgets that version.
  public var forget: Bool?

  /// A request.
  public init(id: String? = nil, forget: Bool? = nil) {
    self.id = id
    self.forget = forget
  }

  /// `forget` without an id.
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
  /// The author's account, if this Roost has it.
  public var account: String?
  /// The identifier of a set (its tag `d`); empty for other lists.
  public var identifier: String
  /// When the next version replaced it, seconds since 1970.
  public var replacedAt: Int64
  /// The number of its entries.
  public var before: Int
  /// The number of entries of the version that counts now, if that was published here.
  public var after: Int
  /// The event; only when the request named this version.
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
  /// The event would remove entries from a list, or it is not known whether it would, and the caller has not confirmed
  /// that it wants this.
  public static let wouldReplace: RefusalCode = "would-replace"
}
