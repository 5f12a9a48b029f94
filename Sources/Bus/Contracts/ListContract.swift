public import Frames

// Lists of accounts: profiles (kind 0), follow lists (3), and every list of which an account has one, or several under
// names (NIP-51). `kind` and `identifier` say which list; `identifier` is the value of its tag `d`, empty for lists of
// which an account has one.

/// `people.list`: the newest version of a list that is known here.
public struct PeopleList: MethodArguments {
  /// An example of the arguments.
  public static let example =
    #"{"account":"alice","kind":30000,"identifier":"friends","id":"9f2c…, 64 hexadecimal digits","isFresh":true}"#

  /// The account; may be left out as for the signer.
  public var account: String?
  /// The list's kind.
  public var kind: UInt16
  /// The list's name; default: empty.
  public var identifier: String?
  /// This version instead of the newest, 64 hexadecimal digits.
  public var id: String?
  /// Whether the relays that the account writes to are asked first; default: no.
  public var isFresh: Bool?

  /// A list.
  public init(account: String? = nil, kind: UInt16, identifier: String? = nil, id: String? = nil) {
    (self.account, self.kind, self.identifier, self.id) = (account, kind, identifier, id)
  }
}

/// A version of a list, with its entries.
public struct KnownList: Codable, Sendable, Hashable, Payload {
  /// The account's name.
  public var account: String
  /// The list's kind.
  public var kind: UInt16
  /// The list's name; empty for a list of which an account has one.
  public var identifier: String
  /// The event's id; absent: there is no such list.
  public var id: String?
  /// When it was made, seconds since 1970.
  public var createdAt: Int64?
  /// Its tags, all of them.
  public var tags: [[String]]
  /// Its content, as it is signed: the JSON of a profile, or the encrypted private entries.
  public var content: String
  /// The private entries; absent: without any, or when they cannot be read.
  public var privateTags: [[String]]?
  /// Why the private entries cannot be read.
  public var privateProblem: String?
  /// When the relays that the account writes to were asked last, and enough of them have answered; seconds since 1970.
  public var checkedAt: Int64?
  /// The relays that did not answer then.
  public var silentRelays: [String]?

  /// A version.
  public init(account: String, kind: UInt16, identifier: String, tags: [[String]] = [], content: String = "") {
    (self.account, self.kind, self.identifier) = (account, kind, identifier)
    (self.tags, self.content) = (tags, content)
  }
}

/// One difference of a list: one of `add`, `remove`, `set` and `unset`.
public struct EntryEdit: Codable, Sendable, Hashable {
  /// An entry that is to be in the list: a tag. An entry that is there already gets the tag's further elements, if it
  /// has any.
  public var add: [String]?
  /// An entry that is not to be in the list: the tag's name and its first value.
  public var remove: [String]?
  /// A field of a profile that gets a value.
  public var set: String?
  /// The value of `set`.
  public var value: JSONValue?
  /// A field that is not to be in the profile.
  public var unset: String?
  /// For `add`: whether only the account can read the entry; default: no. For `remove`: whether it goes from the
  /// private or from the public entries only; default: from both.
  public var isPrivate: Bool?

  /// An empty difference.
  public init() {}
}

/// `people.edit`: changes the newest version of a list. Answered when the changes and the signed version are committed
/// here; the publish queue gets it then, after any death too.
///
/// The newest version is proven: every relay that the account writes to has answered within five minutes, or cannot be
/// reached, and at least half of them have answered.
public struct PeopleEdit: MethodArguments {
  /// An example of the arguments.
  public static let example =
    #"{"account":"alice","kind":3,"identifier":"","changes":[{"add":["p","…"]},{"remove":["p","…"]},"#
    + #"{"set":"name","value":"Alice"},{"unset":"banner"}],"undo":"…","fromHere":false,"isMeant":false}"#

  /// The account; may be left out as for the signer.
  public var account: String?
  /// The list's kind.
  public var kind: UInt16
  /// The list's name; default: empty.
  public var identifier: String?
  /// The differences, made in this order; at most ``changeMaximum``.
  public var changes: [EntryEdit]
  /// Instead of changes: what this version of the list changed is taken back.
  public var undo: String?
  /// Whether the version that is here counts as the newest, without asking relays; default: no.
  public var fromHere: Bool?
  /// Whether the list may lose a quarter of its entries or more; default: no.
  public var isMeant: Bool?

  /// The most differences of one request.
  public static let changeMaximum = 4_096

  /// Changes of a list.
  public init(account: String? = nil, kind: UInt16, identifier: String? = nil, changes: [EntryEdit]) {
    (self.account, self.kind, self.identifier, self.changes) = (account, kind, identifier, changes)
  }

  /// Nothing to change, or too much.
  public var objection: String? {
    if changes.count > Self.changeMaximum {
      return "'changes' has \(changes.count) differences; \(Self.changeMaximum) are taken at most"
    }
    if undo != nil, !changes.isEmpty { return "'changes' and 'undo' are given; one of them is taken" }
    return undo == nil && changes.isEmpty ? "'changes' is empty" : nil
  }
}

/// The answer of `people.edit`.
public struct EditedList: Codable, Sendable, Hashable, Payload {
  /// The account's name.
  public var account: String
  /// The list's kind.
  public var kind: UInt16
  /// The list's name; empty for a list of which an account has one.
  public var identifier: String
  /// The version that counts now; absent: there is no such list.
  public var id: String?
  /// Whether that version is new. False: the list was so already, and nothing is published.
  public var isNew: Bool
  /// The number of entries before.
  public var before: Int
  /// The number of entries now.
  public var after: Int
  /// Relays that the account writes to and that could not be asked. Absent: none.
  public var silentRelays: [String]?

  /// A changed list.
  public init(
    account: String, kind: UInt16, identifier: String, id: String?, isNew: Bool, before: Int, after: Int,
    silentRelays: [String]? = nil
  ) {
    (self.account, self.kind, self.identifier, self.id, self.isNew) = (account, kind, identifier, id, isNew)
    (self.before, self.after, self.silentRelays) = (before, after, silentRelays)
  }
}

/// `people.versions`: the versions of a list that are kept here, the newest first.
public struct PeopleVersions: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"account":"alice","kind":3,"identifier":""}"#

  /// The account; may be left out as for the signer.
  public var account: String?
  /// The list's kind.
  public var kind: UInt16
  /// The list's name; default: empty.
  public var identifier: String?

  /// A list.
  public init(account: String? = nil, kind: UInt16, identifier: String? = nil) {
    (self.account, self.kind, self.identifier) = (account, kind, identifier)
  }
}

/// A version of a list that is kept.
public struct ListVersionRow: Codable, Sendable, Hashable, Payload {
  /// The event's id.
  public var id: String
  /// When it was made, seconds since 1970.
  public var createdAt: Int64
  /// Whether it was made here, and not by another device.
  public var isOurs: Bool
  /// The number of its entries.
  public var entries: Int
  /// Whether the publish queue does not have it yet.
  public var isWaiting: Bool
  /// What of ours another device's version lacks and is given up, in words. Absent: nothing.
  public var problem: String?

  /// A version.
  public init(id: String, createdAt: Int64, isOurs: Bool, entries: Int, isWaiting: Bool) {
    (self.id, self.createdAt, self.isOurs) = (id, createdAt, isOurs)
    (self.entries, self.isWaiting) = (entries, isWaiting)
  }
}

extension RefusalCode {
  /// It is not proven that the version that is known here is the newest: relays have not answered.
  public static let notFresh: RefusalCode = "not-fresh"
}
