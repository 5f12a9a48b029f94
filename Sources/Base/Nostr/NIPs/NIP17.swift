public import Cryptography

// Private messages (NIP-17): rumors of the kinds 14, 15, 7 and 5 in gift wraps. The author and the keys in the tags `p`
// are the members of a chat; other members are another chat.

/// A private message, or what belongs to one (NIP-17).
public struct PrivateMessage: Hashable, Sendable {
  /// What it is.
  public enum Body: Hashable, Sendable {
    /// Kind 14: a text.
    case text(String)
    /// Kind 15: the address of an encrypted file.
    case file(String)
    /// Kind 7: a reaction to a message.
    case reaction(String, to: EventID)
    /// Kind 5: the author takes a message back.
    case deletion(of: EventID)
  }

  /// The kinds of rumors that are read.
  public static let kinds: [UInt16] = [
    EventKind.privateMessage, EventKind.privateFile, EventKind.reaction, EventKind.deletion,
  ]
  /// The most members of a chat.
  public static let memberMaximum = 100
  /// The longest text, in bytes.
  public static let textByteCountMaximum = 65_535

  /// Its author: that of the seal.
  public let author: PublicKey
  /// All members, the author among them, sorted.
  public let members: [PublicKey]
  /// What it is.
  public let body: Body
  /// The chat's title from then on.
  public let subject: String?
  /// The message that it answers.
  public let answered: EventID?

  /// Reads a rumor of an account's gift wrap.
  ///
  /// - Throws: what is wrong with it.
  public init(_ rumor: UnsignedEvent, for account: PublicKey) throws(PrivateMessageFault) {
    author = rumor.pubkey
    var keys: Set<PublicKey> = [rumor.pubkey, account]
    for text in rumor.values(of: "p") {
      guard let key = PublicKey(text.lowercased()) else { throw .badMember }
      keys.insert(key)
      guard keys.count <= Self.memberMaximum else { throw .tooManyMembers }
    }
    members = keys.sorted()
    guard rumor.content.utf8.count <= Self.textByteCountMaximum else { throw .tooLong }
    let title = rumor.firstValue(of: "subject")?.prefix(Self.subjectLengthMaximum) ?? ""
    subject = title.isEmpty ? nil : String(title)
    let about = rumor.firstValue(of: "e").flatMap { EventID($0.lowercased()) }
    switch rumor.kind {
    case EventKind.privateMessage: (body, answered) = (.text(rumor.content), about)
    case EventKind.privateFile: (body, answered) = (.file(rumor.content), about)
    case EventKind.reaction:
      guard let about else { throw .namesNoMessage }
      guard rumor.content.utf8.count <= Self.reactionByteCountMaximum else { throw .tooLong }
      (body, answered) = (.reaction(rumor.content.isEmpty ? "+" : rumor.content, to: about), nil)
    case EventKind.deletion:
      guard let about else { throw .namesNoMessage }
      (body, answered) = (.deletion(of: about), nil)
    default: throw .otherKind(rumor.kind)
    }
  }

  /// A message of kind 4 whose content is decrypted. Its two members are in clear: relays see them.
  public init(legacy event: UnsignedEvent, for account: PublicKey) throws(PrivateMessageFault) {
    guard event.kind == EventKind.encryptedDirectMessage else { throw .otherKind(event.kind) }
    guard let recipient = event.firstValue(of: "p").flatMap({ PublicKey($0.lowercased()) }) else { throw .badMember }
    author = event.pubkey
    members = Set([event.pubkey, recipient, account]).sorted()
    guard members.count <= 2 else { throw .tooManyMembers }
    guard event.content.utf8.count <= Self.textByteCountMaximum else { throw .tooLong }
    body = .text(event.content)
    subject = nil
    answered = event.firstValue(of: "e").flatMap { EventID($0.lowercased()) }
  }

  /// The rumor of a text.
  ///
  /// - Parameters:
  ///   - text: the text.
  ///   - others: the other members.
  ///   - subject: the chat's title from then on.
  ///   - answered: the message that it answers.
  ///   - author: the account.
  ///   - createdAt: seconds since 1970.
  public static func rumor(
    _ text: String, to others: [PublicKey], subject: String?, answering answered: EventID?, by author: PublicKey,
    at createdAt: Int64
  ) -> UnsignedEvent {
    var tags = others.map { ["p", "\($0)"] }
    if let answered { tags.append(["e", "\(answered)"]) }
    if let subject { tags.append(["subject", subject]) }
    return UnsignedEvent(
      pubkey: author, createdAt: createdAt, kind: EventKind.privateMessage, tags: tags, content: text)
  }

  /// The message that it says something about; nil: it is a message itself.
  public var about: EventID? {
    switch body {
    case .text, .file: nil
    case .reaction(_, let id), .deletion(let id): id
    }
  }

  private static let subjectLengthMaximum = 256
  private static let reactionByteCountMaximum = 64
}

/// Why a rumor is no private message that is shown. It reveals nothing of texts.
public enum PrivateMessageFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// The rumor is of another kind: it is for another program.
  case otherKind(UInt16)
  /// A tag `p` without a key.
  case badMember
  /// More members than are taken.
  case tooManyMembers
  /// A text that is too long.
  case tooLong
  /// A reaction or deletion that names no message.
  case namesNoMessage

  /// The end of a sentence.
  public var description: String {
    switch self {
    case .otherKind(let kind): "it is of kind \(kind), which is no private message"
    case .badMember: "one of its members is not a public key"
    case .tooManyMembers: "it names more than \(PrivateMessage.memberMaximum) members"
    case .tooLong: "its text has more than \(PrivateMessage.textByteCountMaximum) bytes"
    case .namesNoMessage: "it does not say which message it is about"
    }
  }
}
