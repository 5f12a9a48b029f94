public import Cryptography
public import LinkAddresses
public import Nostr

// What an account sends. Each kind has one builder; which dialect a contact's app reads is the caller's knowledge. A
// draft is checked by reading it, so nothing is sent that would be refused here.

/// A rumor to be sealed and wrapped, once for each recipient.
public struct LinkDraft: Hashable, Sendable {
  /// The rumor, of kind 44001.
  public let rumor: UnsignedEvent
  /// Who gets a wrap: sorted, each once, and the author among them for the copy to oneself.
  public let recipients: [PublicKey]

  private init(
    _ payload: LinkPayload, by author: PublicKey, at createdAt: Int64, tags: [[String]], to others: [PublicKey]
  ) throws(LinkFault) {
    let json = payload.json
    _ = try LinkPayload(json, as: payload.dialect)
    rumor = UnsignedEvent(
      pubkey: author, createdAt: createdAt, kind: LinkPayload.rumorKind, tags: tags, content: json)
    recipients = Set(others + [author]).sorted()
  }

  /// A random id as linkstr makes them, 32 digits in upper case.
  public static func randomID(using random: inout some RandomNumberGenerator) -> String {
    let bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    return Hexadecimal.text(of: bytes).uppercased()
  }

  // MARK: Between two keys (v1)

  /// A post.
  ///
  /// - Parameters:
  ///   - url: the link.
  ///   - note: what the author says of it; white space around it is dropped.
  ///   - peer: the recipient.
  ///   - author: the account.
  ///   - createdAt: seconds since 1970.
  ///   - random: for an id that no reader uses.
  public static func post(
    _ url: LinkURL, note: String?, to peer: PublicKey, by author: PublicKey, at createdAt: Int64,
    using random: inout some RandomNumberGenerator
  ) throws(LinkFault) -> LinkDraft {
    let payload = LinkPayload(
      .v1, conversationID: LinkConversation(of: author, with: peer).id, rootID: randomID(using: &random),
      timestamp: createdAt, .root(url: url, note: LinkPayload.trimmed(note)))
    return try LinkDraft(payload, by: author, at: createdAt, tags: [["p", "\(peer)"]], to: [peer])
  }

  /// A reply, which must have a text.
  ///
  /// - Parameters:
  ///   - text: the text; white space around it is dropped.
  ///   - root: the id of the post's rumor.
  ///   - peer: the recipient.
  ///   - author: the account.
  ///   - createdAt: seconds since 1970.
  public static func reply(
    _ text: String, to root: EventID, with peer: PublicKey, by author: PublicKey, at createdAt: Int64
  ) throws(LinkFault) -> LinkDraft {
    guard let text = LinkPayload.trimmed(text) else { throw .blank("note") }
    let payload = LinkPayload(
      .v1, conversationID: LinkConversation(of: author, with: peer).id, rootID: "\(root)", timestamp: createdAt,
      .reply(text: text))
    return try LinkDraft(
      payload, by: author, at: createdAt, tags: [["p", "\(peer)"], rootTag(root)], to: [peer])
  }

  // MARK: In sessions (v2)

  /// A session with its first members; the author is always one of them.
  ///
  /// - Parameters:
  ///   - session: its id, from ``randomID(using:)``.
  ///   - name: its name.
  ///   - members: its members.
  ///   - author: the account.
  ///   - createdAt: seconds since 1970.
  ///   - random: for an id that no reader uses.
  public static func creation(
    of session: String, name: String, members: [PublicKey], by author: PublicKey, at createdAt: Int64,
    using random: inout some RandomNumberGenerator
  ) throws(LinkFault) -> LinkDraft {
    let all = Set(members + [author]).sorted()
    return try inSession(
      session, .sessionCreate(name: LinkPayload.trimmed(name) ?? "", members: all), randomID(using: &random), all,
      author, createdAt)
  }

  /// All members of a session from now on; the author is always one of them.
  ///
  /// - Parameters:
  ///   - session: its id.
  ///   - members: the new members.
  ///   - formerMembers: those until now: who is removed gets a wrap too.
  ///   - author: the account, which has created the session.
  ///   - createdAt: seconds since 1970.
  ///   - random: for an id that no reader uses.
  public static func members(
    of session: String, _ members: [PublicKey], formerMembers: [PublicKey], by author: PublicKey, at createdAt: Int64,
    using random: inout some RandomNumberGenerator
  ) throws(LinkFault) -> LinkDraft {
    let all = Set(members + [author]).sorted()
    return try inSession(
      session, .sessionMembers(all), randomID(using: &random), all + formerMembers, author, createdAt)
  }

  /// A post in a session.
  ///
  /// - Parameters:
  ///   - url: the link.
  ///   - note: what the author says of it; white space around it is dropped.
  ///   - session: the session's id.
  ///   - members: its members.
  ///   - author: the account.
  ///   - createdAt: seconds since 1970.
  public static func post(
    _ url: LinkURL, note: String?, in session: String, of members: [PublicKey], by author: PublicKey,
    at createdAt: Int64
  ) throws(LinkFault) -> LinkDraft {
    try inSession(session, .root(url: url, note: LinkPayload.trimmed(note)), "", members, author, createdAt)
  }

  /// The deletion of the author's own post in a session.
  ///
  /// - Parameters:
  ///   - root: the id of the post's rumor.
  ///   - session: the session's id.
  ///   - members: its members.
  ///   - author: the account.
  ///   - createdAt: seconds since 1970.
  public static func deletion(
    of root: EventID, in session: String, of members: [PublicKey], by author: PublicKey, at createdAt: Int64
  ) throws(LinkFault) -> LinkDraft {
    try inSession(session, .rootDelete, "\(root)", members, author, createdAt, about: root)
  }

  /// A reaction to a post in a session.
  ///
  /// - Parameters:
  ///   - emoji: the reaction.
  ///   - isActive: false takes it back.
  ///   - root: the id of the post's rumor.
  ///   - session: the session's id.
  ///   - members: its members.
  ///   - author: the account.
  ///   - createdAt: seconds since 1970.
  public static func reaction(
    _ emoji: String, isActive: Bool, to root: EventID, in session: String, of members: [PublicKey],
    by author: PublicKey, at createdAt: Int64
  ) throws(LinkFault) -> LinkDraft {
    try inSession(
      session, .reaction(emoji: emoji, isActive: isActive), "\(root)", members, author, createdAt, about: root)
  }

  private static func inSession(
    _ session: String, _ body: LinkPayload.Body, _ rootID: String, _ members: [PublicKey], _ author: PublicKey,
    _ createdAt: Int64, about root: EventID? = nil
  ) throws(LinkFault) -> LinkDraft {
    let payload = LinkPayload(.v2, conversationID: session, rootID: rootID, timestamp: createdAt, body)
    return try LinkDraft(payload, by: author, at: createdAt, tags: root.map { [rootTag($0)] } ?? [], to: members)
  }

  private static func rootTag(_ root: EventID) -> [String] { ["e", "\(root)", "", "root"] }
}
