public import Cryptography
public import Nostr
public import PushDelivery

/// What the owner of a Nostr key wants to be woken for. The owner's public mute list (NIP-51) applies too.
public struct WakeRules: Hashable, Sendable {
  /// The topics that wake.
  public var topics = WakeTopic.standard
  /// Authors whose events never wake.
  public var mutedPeople: Set<PublicKey> = []
  /// Threads that never wake, by any of their events: an event is muted if a tag `e` or `E` of it names one of these.
  public var mutedThreads: Set<EventID> = []
  /// Hashtags that never wake, in lower case, without `#`.
  public var mutedHashtags: Set<String> = []
  /// Texts that contain any of these never wake; in lower case.
  public var mutedWords: Set<String> = []

  /// Most people.
  public static let peopleMaximum = 1_000
  /// Most threads.
  public static let threadMaximum = 500
  /// Most hashtags, and most words.
  public static let wordMaximum = 200
  /// Most bytes of a hashtag or word, in lower case.
  public static let wordByteCountMaximum = 64

  /// The defaults: messages, mentions, replies and zaps wake; nothing is muted.
  public init() {}
}
