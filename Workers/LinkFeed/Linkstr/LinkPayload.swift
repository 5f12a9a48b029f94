public import Cryptography
internal import JSON
public import LinkAddresses

// The content of a rumor of kind 44001, a JSON object. The format has no version: there are two dialects, which the
// kind of the content tells apart, and for a `root` the tag `p` of the rumor.
//
//     v1, between two keys       root, reply                                                  a tag p
//     v2, sessions of several    root, root_delete, session_create, session_members, reaction      no p
//
//     conversation_id   text     v1: anything, it is computed again; v2: the id of the session
//     root_id           text     what a reply, reaction or deletion is about; v1 root: anything; v2 root: empty
//     kind              text
//     url               text     of a root; a reply has none
//     note              text     optional
//     timestamp         seconds  optional; the rumor's time counts
//     session_name, member_pubkeys, emoji, reaction_active     of their kinds
//
// Other members are ignored, `null` is a missing member, and the order is free. A member of a wrong type, or one that
// occurs twice, makes the whole content invalid: another program could read it as another post.

/// What a rumor of kind 44001 says, before its author and recipient are considered.
public struct LinkPayload: Hashable, Sendable {
  /// A form of the format.
  public enum Dialect: Hashable, Sendable, CaseIterable {
    /// Between two keys.
    case v1
    /// In sessions of several keys.
    case v2
  }

  /// What it is.
  public enum Body: Hashable, Sendable {
    /// A post. The note is trimmed, and nil if it is empty.
    case root(url: LinkURL, note: String?)
    /// A reply to a post; v1 only.
    case reply(text: String?)
    /// The deletion of a post.
    case rootDelete
    /// A session with its name and its members, sorted.
    case sessionCreate(name: String, members: [PublicKey])
    /// All members of a session from then on, sorted.
    case sessionMembers([PublicKey])
    /// A reaction that is on or off.
    case reaction(emoji: String, isActive: Bool)
  }

  /// The dialect.
  public let dialect: Dialect
  /// v2: the id of the session. v1: not to be trusted.
  public let conversationID: String
  /// The post that it is about; see the head of the file.
  public let rootID: String
  /// When it was written, as the content says; the rumor's own time counts.
  public let timestamp: Int64?
  /// What it is.
  public let body: Body

  /// The kind of the rumor.
  public static let rumorKind: UInt16 = 44_001
  /// The most bytes of a content. Ordinary text of this size, encrypted twice, stays below the 65,535 bytes that most
  /// clients take in each layer.
  public static let byteCountMaximum = 32_768
  /// The most bytes of a note.
  public static let noteByteCountMaximum = 16_384
  /// The most bytes of the name of a session.
  public static let nameByteCountMaximum = 256
  /// The most bytes of the emoji of a reaction: the longest in Unicode have fewer than 50.
  public static let emojiByteCountMaximum = 64
  /// The most bytes of `conversation_id` and `root_id`; both are 64 or less in practice.
  public static let idByteCountMaximum = 128
  /// The most members of a session: each gets a wrap of its own for each post.
  public static let memberCountMaximum = 256

  init(_ dialect: Dialect, conversationID: String, rootID: String, timestamp: Int64?, _ body: Body) {
    self.dialect = dialect
    self.conversationID = conversationID
    self.rootID = rootID
    self.timestamp = timestamp
    self.body = body
  }

  /// Reads a content in one dialect.
  public init(_ json: String, as dialect: Dialect) throws(LinkFault) {
    self = try Self.interpret(try LinkFields(json)) { _ in dialect }
  }

  /// Reads a content and tells its dialect.
  ///
  /// - Parameters:
  ///   - json: the content of the rumor.
  ///   - namesRecipient: whether the rumor has a tag `p`.
  public init(_ json: String, namesRecipient: Bool) throws(LinkFault) {
    self = try Self.interpret(try LinkFields(json)) { kind in
      switch kind {
      case "reply": .v1
      case "root": namesRecipient ? .v1 : .v2
      default: .v2
      }
    }
  }

  private static func interpret(
    _ fields: LinkFields, _ dialectOf: (String) -> Dialect
  ) throws(LinkFault) -> LinkPayload {
    guard let kind = fields.kind else { throw .missing("kind") }
    guard let conversationID = fields.conversationID else { throw .missing("conversation_id") }
    guard let rootID = fields.rootID else { throw .missing("root_id") }
    let dialect = dialectOf(kind)
    if dialect == .v2 {
      guard conversationID.contains(where: { !$0.isWhitespace }) else { throw .blank("conversation_id") }
      guard conversationID.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), !isTaken(conversationID) else {
        throw .badSessionID
      }
    }
    return LinkPayload(
      dialect, conversationID: conversationID, rootID: rootID, timestamp: fields.timestamp,
      try body(of: kind, dialect, fields))
  }

  /// Whether an id of a session reads as a key, or as the id of a conversation between keys, which anyone can compute:
  /// posts to these must not go to whom a stranger has chosen.
  private static func isTaken(_ id: String) -> Bool {
    let isHexadecimal = id.utf8.allSatisfy { $0 &- 0x30 < 10 || ($0 | 0x20) &- 0x61 < 6 }
    if id.utf8.count == 64, isHexadecimal { return true }
    return ["npub1", "nprofile1", "nostr:"].contains { id.lowercased().hasPrefix($0) }
  }

  private static func body(
    of kind: String, _ dialect: Dialect, _ fields: LinkFields
  ) throws(LinkFault) -> Body {
    switch (dialect, kind) {
    case (_, "root"):
      guard let text = fields.url else { throw .missing("url") }
      do throws(LinkURLFault) { return .root(url: try LinkURL(text), note: trimmed(fields.note)) } catch {
        throw .badURL(error)
      }
    case (.v1, "reply"):
      if fields.url != nil { throw .replyWithURL }
      return .reply(text: trimmed(fields.note))
    case (.v2, "root_delete"):
      try requireRoot(fields)
      return .rootDelete
    case (.v2, "session_create"):
      guard let name = fields.sessionName else { throw .missing("session_name") }
      guard let name = trimmed(name) else { throw .blank("session_name") }
      return .sessionCreate(name: name, members: try members(fields))
    case (.v2, "session_members"): return .sessionMembers(try members(fields))
    case (.v2, "reaction"):
      try requireRoot(fields)
      guard let emoji = fields.emoji else { throw .missing("emoji") }
      guard let emoji = trimmed(emoji) else { throw .blank("emoji") }
      guard let isActive = fields.isActive else { throw .missing("reaction_active") }
      return .reaction(emoji: emoji, isActive: isActive)
    default: throw .unknownKind(kind)
    }
  }

  private static func requireRoot(_ fields: LinkFields) throws(LinkFault) {
    if trimmed(fields.rootID) == nil { throw .blank("root_id") }
  }

  private static func members(_ fields: LinkFields) throws(LinkFault) -> [PublicKey] {
    guard let texts = fields.members else { throw .missing("member_pubkeys") }
    guard !texts.isEmpty else { throw .noMembers }
    var members: Set<PublicKey> = []
    for text in texts {
      guard let key = PublicKey(text.lowercased()) else { throw .badMember }
      members.insert(key)
    }
    return members.sorted()
  }

  /// Without white space around it; nil if nothing else is there.
  public static func trimmed(_ text: String?) -> String? {
    guard let text, let first = text.firstIndex(where: { !$0.isWhitespace }),
      let last = text.lastIndex(where: { !$0.isWhitespace })
    else { return nil }
    return String(text[first...last])
  }

  // MARK: Writing

  /// The content, without optional members that are missing.
  public var json: String {
    var members = [("conversation_id", Self.quoted(conversationID)), ("root_id", Self.quoted(rootID))]
    func add(_ name: String, _ value: String?) { if let value { members.append((name, value)) } }
    add("kind", Self.quoted(kind))
    switch body {
    case .root(let url, let note):
      add("url", Self.quoted(url.text))
      add("note", note.map(Self.quoted))
    case .reply(let text): add("note", text.map(Self.quoted))
    case .rootDelete: break
    case .sessionCreate(let name, let keys):
      add("session_name", Self.quoted(name))
      add("member_pubkeys", Self.list(keys))
    case .sessionMembers(let keys): add("member_pubkeys", Self.list(keys))
    case .reaction(let emoji, let isActive):
      add("emoji", Self.quoted(emoji))
      add("reaction_active", "\(isActive)")
    }
    add("timestamp", timestamp.map { "\($0)" })
    return "{" + members.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
  }

  private var kind: String {
    switch body {
    case .root: "root"
    case .reply: "reply"
    case .rootDelete: "root_delete"
    case .sessionCreate: "session_create"
    case .sessionMembers: "session_members"
    case .reaction: "reaction"
    }
  }

  static func quoted(_ text: String) -> String {
    var json: [UInt8] = []
    JSONString.append(text, to: &json)
    return String(decoding: json, as: UTF8.self)
  }

  private static func list(_ keys: [PublicKey]) -> String {
    "[" + keys.map { "\"\($0)\"" }.joined(separator: ",") + "]"
  }
}
