public import Cryptography
public import Nostr

/// All that two keys write to each other (v1).
public struct LinkConversation: Hashable, Sendable {
  /// Its id: SHA-256 of both keys in lower-case hexadecimal, sorted and joined by `:`, as 64 digits.
  public let id: String
  /// The other key; the account itself for notes to oneself.
  public let peer: PublicKey

  /// The conversation of an account with a peer.
  public init(of account: PublicKey, with peer: PublicKey) {
    id = Self.id(of: "\(account)", and: "\(peer)")
    self.peer = peer
  }

  static func id(of one: String, and other: String) -> String {
    let keys = [one.lowercased(), other.lowercased()].sorted()
    return "\(SHA256.hash(Array(keys.joined(separator: ":").utf8)))"
  }
}

/// A post and its replies. A reply is shown under a post only if both have the same thread: the conversation is part of
/// it, so a stranger who knows the id of a post cannot reply in another's conversation.
public struct LinkThread: Hashable, Sendable {
  /// The id of the conversation (v1) or of the session (v2).
  public let conversationID: String
  /// The post.
  public let root: EventID

  /// A thread.
  public init(conversationID: String, root: EventID) {
    self.conversationID = conversationID
    self.root = root
  }
}

/// How an account's links are found at relays.
public enum LinkWraps {
  /// The filter for an account's gift wraps. Own posts come as copies to oneself: the author of a wrap is a key that
  /// was used once, so no filter finds wraps by their author.
  public static func filter(for account: PublicKey) -> Filter {
    guard let letter = TagLetter("p") else { preconditionFailure("p is a letter") }
    return Filter(kinds: [GiftWrap.kind], tags: [letter: [TagValue("\(account)")]])
  }
}
