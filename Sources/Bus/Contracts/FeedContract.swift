public import Frames

// `people.feed` and `people.inbox`: what those whom an account follows write, and what others write to it.
//
//    caller ─ people.feed ─▶ people ─ store.observe (cache-only) ─▶ event-store     events and lists, in order of seq
//                              └───── store.observe (with network) ─▶ planner      which relays are asked for whom
//
// Parts begin with a ``FeedState``, then stored events, newest first, then ``StoredEnd``, then events in the order of
// their seq. With `afterSeq` all events come in the order of their seq. A caller whose answer ends as `unknown` asks
// again with the seq of the last part that it has handled, and misses nothing.

/// `people.feed`: what the people write whom an account follows, or those of a set: stored events at once, newest
/// first, then new ones, until the caller cancels.
public struct PeopleFeed: MethodArguments {
  /// An example of the arguments.
  public static let example =
    #"{"account":"alice","set":"friends","kinds":[1,6],"limit":50,"afterSeq":0,"policy":"cache-with-network","#
    + #""pages":false}"#

  /// Whose feed it is: a name, or a key as 64 hexadecimal digits or `npub`, which need not be an account's. May be left
  /// out while there is exactly one account.
  public var account: String?
  /// The set of people (kind 30000) that takes the place of the follow list: its address, `naddr`, or the identifier of
  /// one of the account's own.
  public var set: String?
  /// The kinds; default: ``defaultKinds``. At most ``kindMaximum``.
  public var kinds: [UInt16]?
  /// How many stored events, 0 to ``limitMaximum``; default ``limitDefault``. Has no effect with `afterSeq`.
  public var limit: Int?
  /// The last seq that the caller has handled.
  public var afterSeq: Int64?
  /// Whether relays are asked: `cache-with-network`, the default, or `cache-only`.
  public var policy: ObservePolicy?
  /// Whether events come in pages, as ``EventPage``.
  public var pages: Bool?

  /// What a feed shows unless it is said: texts, reposts, pictures, videos, highlights and articles. Comments (1111)
  /// are not among them: they belong below what they are about, which a reader of the feed may never have seen.
  public static let defaultKinds: [UInt16] = [1, 6, 16, 20, 21, 22, 9_802, 30_023]
  /// The most kinds.
  public static let kindMaximum = 32
  /// Stored events unless it is said.
  public static let limitDefault = 50
  /// The most stored events.
  public static let limitMaximum = 500
  /// The most feeds and inboxes of one caller.
  public static let callerMaximum = 16
  /// The most feeds and inboxes of all callers.
  public static let countMaximum = 256

  /// The feed of an account.
  public init(account: String? = nil, set: String? = nil, kinds: [UInt16]? = nil) {
    (self.account, self.set, self.kinds) = (account, set, kinds)
  }

  /// The numbers are at least 0.
  public static var ranges: [FieldRange<Self>] {
    [FieldRange("afterSeq", \.afterSeq), FieldRange("limit") { $0.limit.map(Int64.init) }]
  }

  /// Too many kinds or none, too high a limit, or a policy of another sort.
  public var objection: String? {
    if let kinds, !(1...Self.kindMaximum).contains(kinds.count) {
      return "'kinds' has \(kinds.count) kinds; 1 to \(Self.kindMaximum) are taken"
    }
    return wrongLimit(limit) ?? wrongPolicy(policy)
  }
}

/// `people.inbox`: what others write to an account: answers, mentions, quotes, reactions, reposts and zaps. Stored ones
/// at once, newest first, then new ones, until the caller cancels.
public struct PeopleInbox: MethodArguments {
  /// An example of the arguments.
  public static let example =
    #"{"account":"alice","only":["reply","zap"],"limit":50,"afterSeq":0,"policy":"cache-with-network"}"#

  /// Whose inbox it is: as in ``PeopleFeed``.
  public var account: String?
  /// What is wanted; absent: everything.
  public var only: [InboxItem.Sort]?
  /// How many stored items: as in ``PeopleFeed``.
  public var limit: Int?
  /// The last seq that the caller has handled.
  public var afterSeq: Int64?
  /// Whether relays are asked: as in ``PeopleFeed``.
  public var policy: ObservePolicy?

  /// The inbox of an account.
  public init(account: String? = nil) { self.account = account }

  /// The numbers are at least 0.
  public static var ranges: [FieldRange<Self>] {
    [FieldRange("afterSeq", \.afterSeq), FieldRange("limit") { $0.limit.map(Int64.init) }]
  }

  /// Too high a limit, nothing that is wanted, or a policy of another sort.
  public var objection: String? {
    if only?.isEmpty == true { return "'only' is empty" }
    return wrongLimit(limit) ?? wrongPolicy(policy)
  }
}

private func wrongLimit(_ limit: Int?) -> String? {
  guard let limit, limit > PeopleFeed.limitMaximum else { return nil }
  return "'limit' is \(limit); \(PeopleFeed.limitMaximum) is the most"
}

private func wrongPolicy(_ policy: ObservePolicy?) -> String? {
  policy == .networkOnly ? "'policy' is 'network-only'; there are cache-with-network and cache-only" : nil
}

/// What a feed or an inbox goes by. Comes first, and again whenever it changes.
public struct FeedState: Codable, Sendable, Hashable {
  /// What is known of the encrypted entries of a list.
  public enum PrivateEntries: String, Codable, Sendable, Hashable, CaseIterable {
    /// The list has none, or there is no list here.
    case none
    /// They are known, and count.
    case read
    /// The account is locked: they count from its unlocking on. Those of an earlier version that were read still count.
    case locked
    /// Only their owner can read them, and the owner is not an account here.
    case foreign
    /// They cannot be decrypted, or are not a list of tags.
    case unreadable
  }
  /// Always true: it distinguishes this part from an event.
  public var isFeedState = true
  /// Whose feed or inbox it is, 64 hexadecimal digits.
  public var account: String
  /// Whether the list of people is here; false: it was never fetched, or its author has not published any. Absent for
  /// an inbox.
  public var isListKnown: Bool?
  /// How many people are in the list; absent for an inbox.
  public var people: Int?
  /// The encrypted entries of the set; absent for a follow list, which has none, and for an inbox.
  public var privatePeople: PrivateEntries?
  /// The encrypted entries of the list of mutes (kind 10000).
  public var privateMutes: PrivateEntries

  /// A state.
  public init(account: String, privateMutes: PrivateEntries) {
    (self.account, self.privateMutes) = (account, privateMutes)
  }
}

/// Something that another person wrote to an account.
public struct InboxItem: Codable, Sendable, Hashable {
  /// What it is.
  public enum Sort: String, Codable, Sendable, Hashable, CaseIterable {
    /// An answer to something that the account wrote (NIP-10, NIP-22).
    case reply
    /// A text that names the account, or an answer to another one in a conversation with it.
    case mention
    /// A text that quotes something that the account wrote (NIP-18).
    case quote
    /// A reaction (NIP-25).
    case reaction
    /// A repost (NIP-18).
    case repost
    /// A zap (NIP-57): its request is signed and fits the receipt and the invoice. Whether the receipt is by the
    /// wallet of the account is not known.
    case zap
  }
  /// Its place in the order of commits.
  public var seq: Int64
  /// What it is.
  public var sort: Sort
  /// The author, 64 hexadecimal digits; of a zap the payer.
  public var author: String
  /// The event that it is about, 64 hexadecimal digits, or an address `kind:key:d`; absent for a mention that answers
  /// nothing, and for a zap to the account itself.
  public var about: String?
  /// What a reaction says, `+`, `-` or an emoji; what the payer of a zap says.
  public var text: String?
  /// Of a zap: the amount of its invoice, in thousandths of a satoshi.
  public var amountMillisatoshis: Int64?
  /// Of a zap: the key that claims that it was paid, 64 hexadecimal digits.
  public var wallet: String?
  /// The event, in its own bytes.
  public var event: RawJSON

  /// An item.
  public init(seq: Int64, sort: Sort, author: String, about: String?, event: RawJSON) {
    (self.seq, self.sort, self.author, self.about, self.event) = (seq, sort, author, about, event)
  }
}

/// A part of `people.feed`: `{"seq":n,"event":{…}}`, or with `pages` an ``EventPage``, RAW; ``StoredEnd`` once, and
/// ``FeedState``.
public struct FeedEvents: BytePayload, Hashable {
  /// An event, a page, the end of the stored events, or a state.
  public static var form: PayloadForm {
    .either([.json(ObservedEvent.self), EventPage.form, .json(StoredEnd.self), .json(FeedState.self)])
  }
  /// The part.
  public var bytes: [UInt8]
  /// Whether it is a page.
  public var isRaw: Bool

  /// A part.
  public init(_ bytes: [UInt8], isRaw: Bool) { (self.bytes, self.isRaw) = (bytes, isRaw) }
}

/// A part of `people.inbox`: an ``InboxItem``; ``StoredEnd`` once, and ``FeedState``.
public struct InboxItems: BytePayload, Hashable {
  /// An item, the end of the stored items, or a state.
  public static var form: PayloadForm {
    .either([.json(InboxItem.self), .json(StoredEnd.self), .json(FeedState.self)])
  }
  /// The part.
  public var bytes: [UInt8]
  /// Always false.
  public var isRaw: Bool

  /// A part.
  public init(_ bytes: [UInt8], isRaw: Bool = false) { (self.bytes, self.isRaw) = (bytes, isRaw) }
}
