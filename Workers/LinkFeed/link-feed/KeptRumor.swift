import Contracts
import Cryptography
import LinkLedger
import Linkstr
import Nostr

/// What a rumor is to an account.
struct KeptRumor {
  /// The two formats.
  enum Content {
    case link(LinkItem)
    case message(PrivateMessage)
  }

  let event: UnsignedEvent
  let id: EventID
  let content: Content
  /// Whether the account itself wrote it.
  let isOwn: Bool

  /// The tag that has the id of an event of kind 4, whose content is kept decrypted. Only this program writes it.
  private static let legacyTag = "roost-event"

  /// Reads a rumor that a gift wrap held, or that the account has made; nil: it is for another program, or breaks a
  /// rule.
  ///
  /// - Parameters:
  ///   - event: the rumor.
  ///   - account: the account.
  ///   - isKept: whether this program has kept it: only then it may be of kind 4.
  init?(_ event: UnsignedEvent, for account: PublicKey, isKept: Bool = false) {
    self.event = event
    isOwn = event.pubkey == account
    if isKept, event.kind == EventKind.encryptedDirectMessage {
      // `try?`: it was read before it was kept.
      guard let id = event.firstValue(of: Self.legacyTag).flatMap({ EventID($0) }),
        let message = try? PrivateMessage(legacy: event, for: account)
      else { return nil }
      (self.id, content) = (id, .message(message))
      return
    }
    id = event.id
    // `try?`: what breaks a rule is not shown; the outcome of its wrap is kept.
    if event.kind == LinkPayload.rumorKind {
      guard let item = try? LinkItem(verified: event, for: account) else { return nil }
      content = .link(item)
    } else {
      guard let message = try? PrivateMessage(event, for: account) else { return nil }
      content = .message(message)
    }
  }

  /// A message of kind 4 with its content decrypted.
  init?(legacy event: Event, text: String, for account: PublicKey) {
    let tags = event.tags.filter { $0[0] == "p" || $0[0] == "e" } + [[Self.legacyTag, "\(event.id)"]]
    self.init(
      UnsignedEvent(
        pubkey: event.pubkey, createdAt: event.createdAt, kind: event.kind, tags: tags, content: text), for: account,
      isKept: true)
  }

  /// Whether it is an event of a session (v2).
  var isOfSession: Bool { sort == .session || sort == .sessionPost }

  /// Whether it creates a session (v2).
  var isCreation: Bool {
    if case .link(let item) = content, case .session(_, .creation) = item.body { true } else { false }
  }

  /// It, if it is of messages.
  var message: PrivateMessage? {
    if case .message(let message) = content { message } else { nil }
  }

  /// What its row is.
  var sort: LinkLedger.Sort {
    switch content {
    case .link(let item):
      switch item.body {
      case .post: .post
      case .reply: .reply
      case .session(_, .post): .sessionPost
      case .session: .session
      }
    case .message(let message):
      switch message.body {
      case .text: event.kind == EventKind.encryptedDirectMessage ? .legacy : .message
      case .file: .file
      case .reaction: .reaction
      case .deletion: .deletion
      }
    }
  }

  /// The id of its conversation.
  var conversation: String {
    switch content {
    case .link(let item):
      switch item.body {
      case .post(let conversation, _, _), .reply(let conversation, _, _): conversation.id
      case .session(let id, _): id
      }
    case .message(let message): Self.conversation(of: message.members)
    }
  }

  /// The other members of its conversation.
  func members(besides account: PublicKey) -> [PublicKey] {
    switch content {
    case .link(let item):
      switch item.body {
      case .post(let conversation, _, _), .reply(let conversation, _, _):
        conversation.peer == account ? [] : [conversation.peer]
      case .session: []
      }
    case .message(let message): message.members.filter { $0 != account }
    }
  }

  /// The post or message that it is, or belongs to.
  var root: EventID {
    switch content {
    case .link(let item):
      if case .reply(_, let root, _) = item.body { root } else { id }
    case .message(let message): message.about ?? id
    }
  }

  /// The id of the messages between some keys, the account among them: SHA-256 of them in order, as 64 digits.
  static func conversation(of members: [PublicKey]) -> String {
    let text = "messages:" + members.map(\.description).joined(separator: ":")
    return "\(SHA256.hash(Array(text.utf8)))"
  }

  /// Its row.
  ///
  /// - Parameters:
  ///   - vault: the account's.
  ///   - isSeen: whether it can be seen: not a post of a session that waits for its creation.
  ///   - noticeAt: when its notice is due; 0: it has none.
  ///   - stage: how far it is, of one's own.
  func row(in vault: LinkVault, isSeen: Bool = true, noticeAt: Int64, stage: Int64 = 0) -> LinkLedger.Item {
    let isUnread = isSeen && !isOwn && (sort.isRoot || sort == .reply)
    let hash = vault.hash(ofItem: id)
    let conversationHash = vault.hash(ofConversation: conversation)
    let kept = KeptConversation(
      id: conversation, members: members(besides: vault.key).map(\.description), isSession: isOfSession ? true : nil)
    return LinkLedger.Item(
      id: hash, digits: sort.isRoot ? vault.hash(ofFirstDigits: "\(id)") : nil, conversation: conversationHash,
      thread: vault.hash(ofThread: root, in: conversation), sort: sort, at: event.createdAt, isOwn: isOwn,
      isUnread: isUnread, noticeAt: isUnread ? noticeAt : 0, stage: stage, sealed: vault.seal(rumor: event.json, hash),
      sealedConversation: vault.seal(kept, "conversation", conversationHash))
  }
}
