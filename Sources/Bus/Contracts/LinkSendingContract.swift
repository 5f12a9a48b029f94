public import Frames

// What `link-feed` sends; LinkContract.swift says what a conversation is.

/// How far something is that an account sends.
public enum SendingStage: String, Codable, Sendable, Hashable, CaseIterable {
  /// It is committed here; the publish queue does not have it yet.
  case kept
  /// The publish queue has it, and no relay of every recipient has it yet.
  case queued
  /// For each recipient at least one relay has it.
  case sent
  /// For no recipient a relay has it, and no further attempt is made.
  case failed
  /// For some recipients a relay has it; for the others no further attempt is made.
  case partly
}

/// `links.post`: sends a link. Answered when for each recipient a relay has it, or when the wait is over.
///
/// To a contact with ``LinkContact/sessions`` it goes into a session of exactly both: the last used one, or a new one.
///
/// Refused: `no-relays` when the recipient has no relays for gift wraps (kind 10050) and the account has agreed to none
/// for this contact; `not-sent` with `givesUp`, when the wait is over and no relay has it.
public struct LinksPost: MethodArguments {
  /// An example of the arguments.
  public static let example =
    #"{"account":"alice","to":"npub1…","url":"https://example.com/","note":"look","session":"tea","token":"5f0c…","#
    + #""waitMilliseconds":12000,"givesUp":false}"#

  /// The account that posts. May be left out while there is exactly one, or one is used.
  public var account: String?
  /// To whom: `npub`, 64 hexadecimal digits, the name of a contact, or the id of a conversation.
  public var to: String
  /// The link: http or https, at most 4,096 bytes.
  public var url: String
  /// What the author says of it.
  public var note: String?
  /// For a contact with ``LinkContact/sessions``: the name of the session, which is made if it is missing.
  /// Default: any session; a new one has the names of the account and of the contact, and the contact reads them.
  public var session: String?
  /// The caller's own name for this post, 1 to ``tokenByteCountMaximum`` bytes: a repeated call that sends the same
  /// under the same name sends nothing again.
  public var token: String?
  /// How long to wait for relays, 0 to ``waitMillisecondsMaximum``; default ``waitMillisecondsDefault``.
  public var waitMilliseconds: Int64?
  /// Whether it is called off when the wait is over. Otherwise the publish queue keeps trying.
  public var givesUp: Bool?

  /// The wait for relays, unless it is said (linkstr: 12 seconds).
  public static let waitMillisecondsDefault: Int64 = 12_000
  /// The longest wait.
  public static let waitMillisecondsMaximum: Int64 = 120_000
  /// The longest token, in bytes.
  public static let tokenByteCountMaximum = 64
  /// The most other members of a session that is posted to: each gets a gift wrap of its own.
  public static let memberMaximum = 100

  /// A link to send.
  public init(account: String? = nil, to: String, url: String, note: String? = nil) {
    (self.account, self.to, self.url, self.note) = (account, to, url, note)
  }

  /// The wait has bounds.
  public static var ranges: [FieldRange<Self>] {
    [FieldRange("waitMilliseconds", from: 0, to: Self.waitMillisecondsMaximum, \.waitMilliseconds)]
  }

  /// A token of the wrong length.
  public var objection: String? { Self.objection(toToken: token) }

  static func objection(toToken token: String?) -> String? {
    guard let token, !(1...tokenByteCountMaximum).contains(token.utf8.count) else { return nil }
    return "'token' has \(token.utf8.count) bytes; 1 to \(tokenByteCountMaximum) are taken"
  }
}

/// `links.reply`: sends a reply to a post. As ``LinksPost``.
public struct LinksReply: MethodArguments {
  /// An example of the arguments.
  public static let example =
    #"{"account":"alice","post":"…, 64 hexadecimal digits","text":"nice","token":"5f0c…","waitMilliseconds":12000,"#
    + #""givesUp":false}"#

  /// The account that replies.
  public var account: String?
  /// The post: as in ``LinksShow``.
  public var post: String
  /// The reply.
  public var text: String
  /// As in ``LinksPost``.
  public var token: String?
  /// As in ``LinksPost``.
  public var waitMilliseconds: Int64?
  /// As in ``LinksPost``.
  public var givesUp: Bool?

  /// A reply to send.
  public init(account: String? = nil, post: String, text: String) {
    (self.account, self.post, self.text) = (account, post, text)
  }

  /// The wait has bounds.
  public static var ranges: [FieldRange<Self>] {
    [FieldRange("waitMilliseconds", from: 0, to: LinksPost.waitMillisecondsMaximum, \.waitMilliseconds)]
  }

  /// A token of the wrong length.
  public var objection: String? { LinksPost.objection(toToken: token) }
}

/// `messages.send`: sends a private message (NIP-17, kind 14). As ``LinksPost``.
public struct MessagesSend: MethodArguments {
  /// An example of the arguments.
  public static let example =
    #"{"account":"alice","to":["npub1…"],"text":"hello","subject":"tea","replyTo":"…","legacy":false,"token":"5f0c…","#
    + #""waitMilliseconds":12000,"givesUp":false}"#

  /// The account that writes.
  public var account: String?
  /// To whom, 1 to ``recipientMaximum``: as in ``LinksPost``.
  public var to: [String]
  /// The text.
  public var text: String
  /// The title of the conversation from now on.
  public var subject: String?
  /// The message that it answers: its id, or the first digits of one that is here, ``LinkRow/idDigitsMinimum`` or more.
  public var replyTo: String?
  /// Whether it is sent as kind 4 (NIP-04), which shows who writes to whom: for recipients who read nothing else.
  public var legacy: Bool?
  /// As in ``LinksPost``.
  public var token: String?
  /// As in ``LinksPost``.
  public var waitMilliseconds: Int64?
  /// As in ``LinksPost``.
  public var givesUp: Bool?

  /// The most recipients.
  public static let recipientMaximum = 32
  /// The longest text, in bytes.
  public static let textByteCountMaximum = 32_768

  /// A message to send.
  public init(account: String? = nil, to: [String], text: String) {
    (self.account, self.to, self.text) = (account, to, text)
  }

  /// The wait has bounds.
  public static var ranges: [FieldRange<Self>] {
    [FieldRange("waitMilliseconds", from: 0, to: LinksPost.waitMillisecondsMaximum, \.waitMilliseconds)]
  }

  /// No recipient or too many, an empty or too long text, or several recipients of a kind 4.
  public var objection: String? {
    guard (1...Self.recipientMaximum).contains(to.count) else {
      return "'to' has \(to.count) recipients; 1 to \(Self.recipientMaximum) are taken"
    }
    guard (1...Self.textByteCountMaximum).contains(text.utf8.count) else {
      return "'text' has \(text.utf8.count) bytes; 1 to \(Self.textByteCountMaximum) are taken"
    }
    if legacy == true, to.count > 1 { return "a message of kind 4 has one recipient" }
    if legacy == true, subject != nil || replyTo != nil { return "a message of kind 4 has no subject and answers none" }
    return LinksPost.objection(toToken: token)
  }
}

/// The answer of `links.post`, `links.reply` and `messages.send`.
public struct SentLink: Codable, Sendable, Hashable, Payload {
  /// How far it is for one recipient.
  public struct Copy: Codable, Sendable, Hashable {
    /// The recipient, 64 hexadecimal digits; the account itself for the copy to oneself.
    public var recipient: String
    /// The id of the gift wrap.
    public var wrap: String
    /// How far it is.
    public var stage: SendingStage
    /// The relays that have it.
    public var relays: [String]
    /// Why it is not sent, in words of relays or of the planner.
    public var message: String?

    /// A copy.
    public init(recipient: String, wrap: String, stage: SendingStage, relays: [String] = [], message: String? = nil) {
      (self.recipient, self.wrap, self.stage, self.relays, self.message) = (recipient, wrap, stage, relays, message)
    }
  }

  /// The id of the rumor, 64 hexadecimal digits: what the post, reply or message is named by.
  public var id: String
  /// The conversation.
  public var conversation: String
  /// The name of the session that it is in; absent: it is in none.
  public var session: String?
  /// How far it is, over all recipients but the account itself.
  public var stage: SendingStage
  /// How far each copy is.
  public var copies: [Copy]
  /// Further remarks for the sender.
  public var remarks: [String]

  /// Something that was sent.
  public init(id: String, conversation: String, stage: SendingStage, copies: [Copy], remarks: [String] = []) {
    (self.id, self.conversation, self.stage, self.copies, self.remarks) = (id, conversation, stage, copies, remarks)
  }
}

extension RefusalCode {
  /// No relay has it when the wait was over, and it was called off.
  public static let notSent: RefusalCode = "not-sent"
  /// There is no such conversation.
  public static let noSuchConversation: RefusalCode = "no-such-conversation"
  /// There is no such post.
  public static let noSuchPost: RefusalCode = "no-such-post"
}
