public import JSON
public import LinkAddresses
internal import Wording

/// Why a rumor of kind 44001 is dropped, or cannot be made. It reveals nothing of links and notes.
///
/// ``isFinal`` says whether the same rumor may be taken later.
public enum LinkFault: Error, Hashable, Sendable, CustomStringConvertible {
  // MARK: Its content

  /// The rumor is of another kind: it is for another program.
  case otherKind(UInt16)
  /// The content has more bytes than are read.
  case tooLarge(byteCount: Int)
  /// The content is not JSON.
  case notJSON(JSONFault)
  /// A member occurs twice: two programs would read two different posts.
  case repeatedMember(String)
  /// A member is missing.
  case missing(String)
  /// A member is not of its type.
  case wrongType(String, expected: String)
  /// A text has more bytes than are taken.
  case tooLong(String, byteCount: Int, maximum: Int)
  /// A text has nothing but white space.
  case blank(String)
  /// An id of a session with other characters than printable ASCII.
  case badSessionID
  /// A kind of content that the dialect does not have.
  case unknownKind(String)
  /// The link is not one.
  case badURL(LinkURLFault)
  /// A reply with a link.
  case replyWithURL
  /// No member at all.
  case noMembers
  /// More members than are taken.
  case tooManyMembers(Int)
  /// A member that is not a public key.
  case badMember

  // MARK: Its tags

  /// `root_id` is not the id of a rumor.
  case badRootID
  /// A tag names another post than the content, or a new post names another one.
  case otherRoot
  /// No tag names the recipient.
  case noRecipient
  /// Tags name several recipients.
  case severalRecipients
  /// It was written to another account.
  case otherRecipient

  // MARK: Authority

  /// Another key has created the session.
  case otherCreator
  /// The author of a session's members is not among them.
  case creatorNotMember
  /// A session is created without this account.
  case accountNotMember
  /// The sender has not created the session, and changes its members.
  case notCreator
  /// The sender deletes another author's post.
  case notAuthor

  // MARK: Limits

  /// There is no room for what strangers send.
  case tooManyFromStrangers
  /// There is no room in sessions.
  case sessionsFull

  /// Whether the rumor is never taken: the limits may have room later.
  public var isFinal: Bool { self != .tooManyFromStrangers && self != .sessionsFull }

  /// The end of a sentence: `its link cannot be used: it has a backslash`.
  public var description: String {
    switch self {
    case .otherKind(let kind): "it is of kind \(kind), and links are of kind \(LinkPayload.rumorKind)"
    case .tooLarge(let count): "its content has \(count) bytes, and at most \(LinkPayload.byteCountMaximum) are read"
    case .notJSON(let fault): "its content is not JSON: \(fault)"
    case .repeatedMember(let name): "its content has '\(name)' twice"
    case .missing(let name): "its content has no '\(name)'"
    case .wrongType(let name, let expected): "'\(name)' in its content is not \(expected)"
    case .tooLong(let name, let count, let maximum): "'\(name)' has \(count) bytes, and at most \(maximum) are taken"
    case .blank(let name): "'\(name)' is empty"
    case .badSessionID:
      "its session has an id that reads as a key, or has other characters than letters, digits and signs"
    case .unknownKind(let kind): "it is of the kind '\(VisibleText.make(kind.prefix(32)))', which is not known"
    case .badURL(let fault): "its link cannot be used: \(fault)"
    case .replyWithURL: "it is a reply with a link, and replies are text only"
    case .noMembers: "it names no members"
    case .tooManyMembers(let count):
      "it names \(count) members, and a session has at most \(LinkPayload.memberCountMaximum)"
    case .badMember: "one of its members is not a public key"
    case .badRootID: "it does not say which post it is about"
    case .otherRoot: "its tags and its content name different posts"
    case .noRecipient: "it does not say for whom it is"
    case .severalRecipients: "it names several recipients"
    case .otherRecipient: "it was written to another account"
    case .otherCreator: "another author has created this session"
    case .creatorNotMember: "its author is not among the members"
    case .accountNotMember: "this account is not among the members"
    case .notCreator: "only the author who created the session changes its members"
    case .notAuthor: "only its author deletes a post"
    case .tooManyFromStrangers: "too much from strangers waits already; it may be taken later"
    case .sessionsFull: "there is no room for more in sessions; it may be taken later"
    }
  }
}
