public import Cryptography
public import Nostr
public import PushDelivery

/// What the owner of a Nostr key wants to be woken for, and what not. His public mute list (NIP-51) counts beside it.
public struct WakeRules: Hashable, Sendable {
  /// What wakes.
  public var topics = WakeTopic.standard
  /// Whose events never wake.
  public var mutedPeople: Set<PublicKey> = []
  /// Conversations that never wake, by any event that an event names in a tag `e`.
  public var mutedThreads: Set<EventID> = []
  /// Hashtags that never wake, in lower case, without `#`.
  public var mutedHashtags: Set<String> = []
  /// Texts with any of these never wake; in lower case.
  public var mutedWords: Set<String> = []

  /// Most people.
  public static let peopleMaximum = 1_000
  /// Most conversations.
  public static let threadMaximum = 500
  /// Most hashtags, and most words.
  public static let wordMaximum = 200
  /// Most bytes of one of these, in lower case.
  public static let wordByteCountMaximum = 64

  /// The standard: messages, mentions, replies and zaps; nobody is muted.
  public init() {}
}
