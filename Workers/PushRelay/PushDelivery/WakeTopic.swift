/// What kind of Nostr event somebody is woken for. It is all that a platform learns of the event.
public enum WakeTopic: String, Hashable, Sendable, CaseIterable {
  /// A private message: a gift wrap (NIP-59), or a message by NIP-04.
  case message
  /// A text that names somebody.
  case mention
  /// A text that answers somebody's.
  case reply
  /// A receipt for a zap (NIP-57).
  case zap
  /// A reaction (NIP-25).
  case reaction
  /// A repost (NIP-18).
  case repost

  /// What owners are woken for who have not said otherwise.
  public static let standard: Set<WakeTopic> = [.message, .mention, .reply, .zap]
}
