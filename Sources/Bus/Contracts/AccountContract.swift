public import Frames

// How one account's things are removed everywhere (`people.forget`): each worker that keeps something for accounts
// serves `account.forget`. The answer is sent when nothing of it is left in the worker's files, free pages included.
//
// What belongs to several accounts stays. Whose an event is only the caller and the store can say together: the caller
// knows the other accounts, the store whom they follow.

/// `account.forget`: removes everything that the worker keeps for one account alone. A repeated call removes what is
/// left, and answers with what this call has removed.
public struct AccountForget: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"account":"…, 64 hexadecimal digits","others":["…"],"keep":[{"authors":["…"]}]}"#

  /// The account, 64 hexadecimal digits.
  public var account: String
  /// The other accounts of persons, 64 hexadecimal digits each: what is also theirs stays. At most ``othersMaximum``.
  public var others: [String]
  /// NIP-01 filters: events that one of them matches stay. At most ``keepMaximum``.
  public var keep: [JSONValue]?

  /// The most other accounts: as many as the signer takes.
  public static let othersMaximum = 256
  /// The most filters.
  public static let keepMaximum = MirrorKeep.countMaximum

  /// An account to forget.
  public init(account: String, others: [String], keep: [JSONValue]? = nil) {
    self.account = account
    self.others = others
    self.keep = keep
  }

  /// Too many accounts or filters, or the account among the others.
  public var objection: String? {
    if others.count > Self.othersMaximum {
      return "'others' has \(others.count) keys; \(Self.othersMaximum) are taken at most"
    }
    if others.contains(account) { return "'others' has the account itself" }
    if let keep, keep.count > Self.keepMaximum {
      return "'keep' has \(keep.count) filters; \(Self.keepMaximum) are taken at most"
    }
    return nil
  }
}

/// The answer of `account.forget`.
public struct AccountForgotten: Codable, Sendable, Hashable, Payload {
  /// Things of one kind that were removed.
  public struct Part: Codable, Sendable, Hashable {
    /// What they are, in plain words for any number: `events that it wrote`.
    public var what: String
    /// How many were removed.
    public var count: Int

    /// Some things.
    public init(_ what: String, _ count: Int) { (self.what, self.count) = (what, count) }
  }
  /// What this call has removed; kinds of which nothing was there are left out.
  public var gone: [Part]
  /// What stays although it has to do with the account, and why, as a sentence; absent: nothing.
  public var remark: String?
  /// From a mirror: the filters of its configuration, for ``AccountForget/keep``.
  public var keep: [JSONValue]?

  /// What was removed; counts of 0 are left out.
  public init(_ gone: [Part], remark: String? = nil, keep: [JSONValue]? = nil) {
    self.gone = gone.filter { $0.count > 0 }
    self.remark = remark
    self.keep = keep
  }
}
