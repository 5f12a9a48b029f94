public import Cryptography
public import LinkAddresses
public import Nostr

/// What a rumor says about a session (v2).
public enum LinkSessionEvent: Hashable, Sendable {
  /// The session exists, or its creator says so again: its name and all members.
  case creation(name: String, members: [PublicKey])
  /// All members from then on.
  case members([PublicKey])
  /// A post.
  case post(url: LinkURL, note: String?)
  /// The author's post is deleted.
  case deletion(of: EventID)
  /// A reaction, on or off.
  case reaction(to: EventID, emoji: String, isActive: Bool)
}

/// The name and members of a session from one moment on.
public struct LinkSnapshot: Hashable, Sendable {
  /// The rumor that says it.
  public let id: EventID
  /// Its author.
  public let author: PublicKey
  /// From when on, in seconds since 1970.
  public let createdAt: Int64
  /// The name; nil if only the members are named.
  public let name: String?
  /// The members, sorted.
  public let members: [PublicKey]

  /// Whether this one counts after another.
  func isAfter(_ other: LinkSnapshot) -> Bool { (createdAt, id) > (other.createdAt, other.id) }
}

/// A post in a session.
public struct LinkSessionPost: Hashable, Sendable {
  /// The rumor's id.
  public let id: EventID
  /// Its author.
  public let author: PublicKey
  /// Its time, in seconds since 1970.
  public let createdAt: Int64
  /// The link; nil if the post was deleted.
  public internal(set) var url: LinkURL?
  /// What the author says of it.
  public internal(set) var note: String?

  /// Whether its author has deleted it.
  public var isDeleted: Bool { url == nil }

  mutating func delete() { (url, note) = (nil, nil) }
}

/// The last word of one sender about one emoji at one post.
public struct LinkReaction: Hashable, Sendable {
  /// The rumor's id.
  public let id: EventID
  /// Its author.
  public let author: PublicKey
  /// Its time, in seconds since 1970.
  public let createdAt: Int64
  /// The emoji.
  public let emoji: String
  /// Whether it is on.
  public let isActive: Bool
}

/// What became of an event that was taken.
public enum LinkOutcome: Hashable, Sendable {
  /// It is part of the session. Keep its rumor. The posts, by time, that have become visible by it: new ones, or those
  /// that waited for it.
  case accepted(shown: [EventID])
  /// It may become part of the session by what comes later: the creation, or members. Keep its rumor.
  case waiting
  /// It changes nothing, now or later: a newer one is known, or the post was deleted. Its rumor need not be kept.
  case superseded
  /// This rumor was taken before.
  case duplicate
}
