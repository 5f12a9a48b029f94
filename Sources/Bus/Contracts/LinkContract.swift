// Links and messages in gift wraps (NIP-59): what the worker `link-feed` keeps and sends for accounts.
//
//     conversation       all links between an account and one other key (linkstr), or a session with several members
//       └ post           a link, with a note
//           └ reply      a text
//     conversation       all messages between an account and the same other keys (NIP-17)
//       └ message        a text, a file, or a reaction to a message
//
// A conversation is named by its id or, while it has one other member, by that key.

/// `links.list` and `messages.list`: the conversations of an account, the newest first.
public struct LinksList: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"account":"alice","unread":true,"limit":100,"before":"1700000000-9f2c…"}"#

  /// The account.
  public var account: String?
  /// Only those with something that was not read.
  public var unread: Bool?
  /// The most conversations, 1 to ``limitMaximum``; default ``limitDefault``.
  public var limit: Int?
  /// Where the next page begins: the `place` of the last row of the page before.
  public var before: String?

  /// Rows unless it is said.
  public static let limitDefault = 100
  /// The most rows of one call.
  public static let limitMaximum = 1_000

  /// Conversations of an account.
  public init(account: String? = nil) { self.account = account }

  /// The limit has bounds.
  public static var ranges: [FieldRange<Self>] {
    [FieldRange("limit", from: 1, to: Int64(Self.limitMaximum)) { $0.limit.map(Int64.init) }]
  }
}

/// A conversation.
public struct LinkConversationRow: Codable, Sendable, Hashable, Payload {
  /// Its id: 64 hexadecimal digits, or the id of a session.
  public var id: String
  /// The other members, 64 hexadecimal digits each; empty for notes to oneself.
  public var members: [String]
  /// The name of a session, or the subject of messages.
  public var name: String?
  /// The name of the contact, where the only other member is one.
  public var contact: String?
  /// When its newest entry was written, seconds since 1970.
  public var lastAt: Int64
  /// How many posts or messages it has.
  public var posts: Int
  /// How many posts have something unread: the post itself, or replies. Of messages how many are unread.
  public var unread: Int
  /// Its place in the order of the rows.
  public var place: String
  /// Whether it is a session (v2 of linkstr); absent: it is not.
  public var isSession: Bool?

  /// A conversation.
  public init(id: String, members: [String], lastAt: Int64, posts: Int, unread: Int, place: String = "") {
    (self.id, self.members, self.lastAt, self.posts) = (id, members, lastAt, posts)
    (self.unread, self.place) = (unread, place)
  }
}

/// `links.show` and `messages.show`: the posts of a conversation, or the replies of a post, or messages; the newest
/// first. Nothing is marked as read by it (`links.read`).
public struct LinksShow: MethodArguments {
  /// An example of the arguments.
  public static let example =
    #"{"account":"alice","conversation":"npub1…","post":"…, 64 hexadecimal digits","limit":100,"before":"1700000000-17"}"#

  /// The account.
  public var account: String?
  /// The conversation: as `to` in ``LinksPost``.
  public var conversation: String?
  /// The post whose replies are wanted: its id, or the first digits of it, ``LinkRow/idDigitsMinimum`` or more. They
  /// come after the post itself, the oldest first.
  public var post: String?
  /// As in ``LinksList``.
  public var limit: Int?
  /// Where the next page begins: the `place` of the last row of the page before. The next page of a post has newer
  /// replies, and not the post again.
  public var before: String?

  /// A conversation, or a post.
  public init(account: String? = nil, conversation: String? = nil, post: String? = nil) {
    (self.account, self.conversation, self.post) = (account, conversation, post)
  }

  /// The limit has bounds.
  public static var ranges: [FieldRange<Self>] {
    [FieldRange("limit", from: 1, to: Int64(LinksList.limitMaximum)) { $0.limit.map(Int64.init) }]
  }

  /// Neither or both are named.
  public var objection: String? {
    (conversation == nil) == (post == nil) ? "exactly one of 'conversation' and 'post' is wanted" : nil
  }
}

/// A post, a reply or a message.
public struct LinkRow: Codable, Sendable, Hashable, Payload {
  /// What it is.
  public enum Sort: String, Codable, Sendable, Hashable, CaseIterable {
    /// A link.
    case post
    /// A text about a post.
    case reply
    /// A text (NIP-17, or kind 4).
    case message
    /// An encrypted file of a message: its address.
    case file
  }

  /// The id of the rumor.
  public var id: String
  /// The conversation.
  public var conversation: String
  /// What it is.
  public var sort: Sort
  /// Its author, 64 hexadecimal digits.
  public var author: String
  /// Whether the account itself has sent it.
  public var isOwn: Bool
  /// When it was written, by its author's clock, seconds since 1970.
  public var at: Int64
  /// Whether it was not read yet.
  public var isUnread: Bool
  /// The link of a post, the address of a file.
  public var url: String?
  /// `Video` or `Link`.
  public var label: String?
  /// The note of a post; the text of a reply or message.
  public var text: String?
  /// The post of a reply; the message that a message answers.
  public var about: String?
  /// Replies of a post.
  public var replies: Int?
  /// Unread replies of a post.
  public var unreadReplies: Int?
  /// The title of the conversation from this message on.
  public var subject: String?
  /// Reactions to it: the emoji, and who.
  public var reactions: [LinkReactionRow]?
  /// How far it is, of one's own.
  public var stage: SendingStage?
  /// Why a recipient does not have it, of one's own that is not `sent`: the words of relays or of the planner, with the
  /// recipients where there are several; at most ``problemByteCountMaximum`` bytes. Absent: nothing is known.
  public var problem: String?
  /// Its place in the order of the rows.
  public var place: String
  /// Whether it came as kind 4, which any relay could read the names of.
  public var isLegacy: Bool?

  /// The digits of an `id`.
  public static let idDigitCount = 64
  /// The fewest first digits of an `id` that name a post or a message.
  public static let idDigitsMinimum = 8
  /// The longest `problem`, in bytes.
  public static let problemByteCountMaximum = 1_024

  /// A row.
  public init(
    id: String, conversation: String, sort: Sort, author: String, isOwn: Bool, at: Int64, isUnread: Bool, place: String
  ) {
    (self.id, self.conversation, self.sort, self.author) = (id, conversation, sort, author)
    (self.isOwn, self.at, self.isUnread, self.place) = (isOwn, at, isUnread, place)
  }
}

/// A reaction.
public struct LinkReactionRow: Codable, Sendable, Hashable {
  /// The emoji.
  public var emoji: String
  /// Whose it is, 64 hexadecimal digits.
  public var author: String

  /// A reaction.
  public init(emoji: String, author: String) { (self.emoji, self.author) = (emoji, author) }
}

/// `links.read` and `messages.read`: marks the posts of a conversation as read, or the replies of a post, or messages.
public struct LinksRead: MethodArguments {
  /// An example of the arguments.
  public static let example =
    #"{"account":"alice","conversation":"npub1…","oldest":"1700000000-17","newest":"1700000000-90","#
    + #""post":"…, 64 hexadecimal digits"}"#

  /// The account.
  public var account: String?
  /// The conversation whose posts are read. Their replies stay unread.
  public var conversation: String?
  /// The `place` of the oldest row that was shown: older ones of the conversation stay unread.
  public var oldest: String?
  /// The `place` of the newest row that was shown: what came meanwhile stays unread.
  public var newest: String?
  /// The post that is read, with its replies: as in ``LinksShow``.
  public var post: String?

  /// What was read.
  public init(account: String? = nil, conversation: String? = nil, post: String? = nil) {
    (self.account, self.conversation, self.post) = (account, conversation, post)
  }

  /// Neither or both are named.
  public var objection: String? {
    (conversation == nil) == (post == nil) ? "exactly one of 'conversation' and 'post' is wanted" : nil
  }
}

// MARK: Contacts

/// `links.contacts`: the contacts of an account, by name.
public struct LinksContacts: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"account":"alice"}"#

  /// The account.
  public var account: String?

  /// The contacts of an account.
  public init(account: String? = nil) { self.account = account }
}

/// A contact: the name that an account gives to a key. It is kept on this machine only.
public struct LinkContact: Codable, Sendable, Hashable, Payload {
  /// Its key, 64 hexadecimal digits.
  public var publicKey: String
  /// What the account calls it.
  public var name: String
  /// Relays that gift wraps go to while this contact has no list of relays for them (kind 10050); empty: none.
  public var relays: [String]
  /// Whether links to it are written in sessions, the newer form of linkstr (v2), which has no replies; absent: no.
  public var sessions: Bool?

  /// The longest name, in bytes.
  public static let nameByteCountMaximum = 128
  /// The most contacts of one account.
  public static let countMaximum = 10_000
  /// The most relays of one contact.
  public static let relayMaximum = 5

  /// A contact.
  public init(publicKey: String, name: String, relays: [String] = []) {
    (self.publicKey, self.name, self.relays) = (publicKey, name, relays)
  }
}

/// `links.contact`: adds a contact, changes it, or removes it. What is left out stays as it is.
///
/// Refused: `name-taken` when another contact has this name; `full`.
public struct LinksContact: MethodArguments {
  /// An example of the arguments.
  public static let example =
    #"{"account":"alice","publicKey":"npub1…","name":"Bob","relays":["wss://relay.example"],"sessions":false,"#
    + #""remove":false}"#

  /// The account.
  public var account: String?
  /// The contact's key: `npub`, 64 hexadecimal digits, or its name.
  public var publicKey: String
  /// What the account calls it. A new contact needs it.
  public var name: String?
  /// Relays that the account agrees to for it, at most ``LinkContact/relayMaximum``: see ``LinkContact/relays``.
  public var relays: [String]?
  /// Whether links to it are written in sessions: see ``LinkContact/sessions``.
  public var sessions: Bool?
  /// Whether it is removed.
  public var remove: Bool?

  /// A change of a contact.
  public init(account: String? = nil, publicKey: String, name: String? = nil) {
    (self.account, self.publicKey, self.name) = (account, publicKey, name)
  }

  /// A name that is empty or too long, too many relays, or a removal with changes.
  public var objection: String? {
    if let name {
      if name.allSatisfy(\.isWhitespace) { return "'name' is empty" }
      if name.utf8.count > LinkContact.nameByteCountMaximum {
        return "'name' has \(name.utf8.count) bytes; \(LinkContact.nameByteCountMaximum) are taken at most"
      }
    }
    if let relays, relays.count > LinkContact.relayMaximum {
      return "'relays' has \(relays.count) relays; \(LinkContact.relayMaximum) are taken at most"
    }
    guard remove == true, name != nil || relays != nil || sessions != nil else { return nil }
    return "'remove' takes no 'name', no 'relays' and no 'sessions'"
  }
}

// MARK: Status and changes

/// The answer of `links.status`.
public struct LinksStatus: Codable, Sendable, Hashable, Payload {
  /// An account of whose wraps the worker takes care.
  public struct Account: Codable, Sendable, Hashable {
    /// Its name.
    public var name: String
    /// Its key, 64 hexadecimal digits.
    public var publicKey: String
    /// Whether its wraps can be opened now.
    public var isOpen: Bool
    /// Whether it uses links: then the relays of the settings are asked too.
    public var usesLinks: Bool
    /// Gift wraps that were opened, or refused.
    public var wraps: Int
    /// Those that were refused.
    public var refused: Int
    /// What is not with every recipient yet.
    public var unsent: Int

    /// An account.
    public init(
      name: String, publicKey: String, isOpen: Bool, usesLinks: Bool, wraps: Int, refused: Int, unsent: Int
    ) {
      (self.name, self.publicKey, self.isOpen, self.usesLinks) = (name, publicKey, isOpen, usesLinks)
      (self.wraps, self.refused, self.unsent) = (wraps, refused, unsent)
    }
  }

  /// Whether something can be sent now; absent while the planner does not answer.
  public var sending: SendingState?
  /// The accounts.
  public var accounts: [Account]
  /// Why nothing can be kept at present; absent when it can.
  public var fault: String?

  /// The status.
  public init(sending: SendingState? = nil, accounts: [Account], fault: String? = nil) {
    (self.sending, self.accounts, self.fault) = (sending, accounts, fault)
  }
}

/// An event of the topic `links.changes`.
public struct LinkChange: Codable, Sendable, Hashable, Payload {
  /// A notice for a person.
  public struct Notice: Codable, Sendable, Hashable {
    /// Its title: `Ann shared a post`.
    public var title: String
    /// Its body.
    public var body: String

    /// A notice.
    public init(title: String, body: String) { (self.title, self.body) = (title, body) }
  }

  /// The account, 64 hexadecimal digits.
  public var account: String
  /// The conversation that has changed; nil: contacts.
  public var conversation: String?
  /// What has come or has another stage; absent: something was read.
  public var id: String?
  /// Something came from another author: the notice for it, once, also over restarts.
  public var notice: Notice?

  /// A change.
  public init(account: String, conversation: String? = nil, id: String? = nil, notice: Notice? = nil) {
    (self.account, self.conversation, self.id, self.notice) = (account, conversation, id, notice)
  }
}

/// The settings of `link-feed`.
public struct LinkFeedSettings: WorkerSettings {
  /// The relays at which linkstr's client sends, asked for accounts that use links beside those of the account's own
  /// list (kind 10050): that client knows no such lists.
  public var relays: [String] = [
    "wss://relay.damus.io", "wss://relay.primal.net", "wss://nos.lol", "wss://nostr.satoshisfrens.win",
    "wss://relay.snort.social",
  ]

  /// The defaults.
  public init() {}
}
