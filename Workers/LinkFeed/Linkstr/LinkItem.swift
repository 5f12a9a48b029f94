public import Cryptography
public import LinkAddresses
public import Nostr

/// A link, a reply or an event of a session as one account has received or sent it.
///
/// The sender is the author of the seal. The id is the rumor's, the same in every copy: copies are recognised by it.
public struct LinkItem: Hashable, Sendable {
  /// What it is.
  public enum Body: Hashable, Sendable {
    /// A post (v1).
    case post(LinkConversation, url: LinkURL, note: String?)
    /// A reply to a post (v1). The post may come later.
    case reply(LinkConversation, to: EventID, text: String?)
    /// An event of a session (v2): ``LinkSessions`` decides about it.
    case session(String, LinkSessionEvent)
  }

  /// The id of the rumor.
  public let id: EventID
  /// The author of the seal.
  public let sender: PublicKey
  /// The rumor's time, in seconds since 1970. It is the sender's claim.
  public let createdAt: Int64
  /// Whether the account itself has sent it.
  public let isOwn: Bool
  /// What it is.
  public let body: Body

  /// Reads a rumor out of an account's gift wrap. A `Rumor` is always by the author of its seal.
  public init(_ rumor: Rumor, for account: PublicKey) throws(LinkFault) {
    try self.init(verified: rumor.event, id: rumor.id, for: account)
  }

  /// Reads a rumor that was verified when it came, and was kept since, or that the account has made itself.
  public init(verified event: UnsignedEvent, for account: PublicKey) throws(LinkFault) {
    try self.init(verified: event, id: event.id, for: account)
  }

  private init(verified event: UnsignedEvent, id: EventID, for account: PublicKey) throws(LinkFault) {
    guard event.kind == LinkPayload.rumorKind else { throw .otherKind(event.kind) }
    let recipients = Set(event.values(of: "p"))
    let payload = try LinkPayload(event.content, namesRecipient: !recipients.isEmpty)
    self.id = id
    sender = event.pubkey
    createdAt = event.createdAt
    isOwn = event.pubkey == account
    switch payload.dialect {
    case .v1:
      let peer = try Self.peer(of: event.pubkey, recipients, account)
      body = try Self.between(LinkConversation(of: account, with: peer), payload, event)
    case .v2: body = .session(payload.conversationID, try Self.event(payload, event, id))
    }
  }

  /// The thread it belongs to; nil for what changes a session or reacts.
  public var thread: LinkThread? {
    switch body {
    case .post(let conversation, _, _): LinkThread(conversationID: conversation.id, root: id)
    case .reply(let conversation, let root, _): LinkThread(conversationID: conversation.id, root: root)
    case .session(let session, .post): LinkThread(conversationID: session, root: id)
    case .session: nil
    }
  }

  /// The other key: the sender, or of an own copy the recipient.
  private static func peer(
    of sender: PublicKey, _ recipients: Set<String>, _ account: PublicKey
  ) throws(LinkFault) -> PublicKey {
    guard recipients.count <= 1 else { throw .severalRecipients }
    guard let recipient = recipients.first.flatMap({ PublicKey($0.lowercased()) }) else { throw .noRecipient }
    if sender == account { return recipient }
    guard recipient == account else { throw .otherRecipient }
    return sender
  }

  private static func between(
    _ conversation: LinkConversation, _ payload: LinkPayload, _ event: UnsignedEvent
  ) throws(LinkFault) -> Body {
    switch payload.body {
    case .root(let url, let note): .post(conversation, url: url, note: note)
    case .reply(let text): .reply(conversation, to: try root(of: payload, event), text: text)
    case .rootDelete, .sessionCreate, .sessionMembers, .reaction:
      preconditionFailure("the first dialect has posts and replies only")
    }
  }

  private static func event(
    _ payload: LinkPayload, _ event: UnsignedEvent, _ id: EventID
  ) throws(LinkFault) -> LinkSessionEvent {
    switch payload.body {
    case .root(let url, let note):
      guard payload.rootID.isEmpty || payload.rootID == "\(id)" else { throw .otherRoot }
      return .post(url: url, note: note)
    case .rootDelete: return .deletion(of: try root(of: payload, event))
    case .reaction(let emoji, let isActive):
      return .reaction(to: try root(of: payload, event), emoji: emoji, isActive: isActive)
    case .sessionCreate(let name, let members): return .creation(name: name, members: members)
    case .sessionMembers(let members): return .members(members)
    case .reply: preconditionFailure("the second dialect has no replies")
    }
  }

  /// The post in `root_id`. Tags `e` with the mark `root`, or with none, must name the same.
  private static func root(of payload: LinkPayload, _ event: UnsignedEvent) throws(LinkFault) -> EventID {
    guard let root = EventID(payload.rootID.lowercased()) else { throw .badRootID }
    for tag in event.tags where tag[0] == "e" && tag.count > 1 {
      let mark = tag.count > 3 ? tag[3] : ""
      if mark.isEmpty || mark == "root", tag[1].lowercased() != "\(root)" { throw .otherRoot }
    }
    return root
  }
}
