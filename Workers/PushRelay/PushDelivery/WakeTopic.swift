/// The kind of Nostr event that a wake is for. A platform learns nothing else about the event.
public enum WakeTopic: String, Hashable, Sendable, CaseIterable {
  /// A private message: a gift wrap (NIP-59), or a message by NIP-04.
  case message
  /// A text that mentions the owner.
  case mention
  /// A reply to a text of the owner.
  case reply
  /// A receipt for a zap (NIP-57).
  case zap
  /// A reaction (NIP-25).
  case reaction
  /// A repost (NIP-18).
  case repost

  /// The topics that wake owners who have not chosen otherwise.
  public static let standard: Set<WakeTopic> = [.message, .mention, .reply, .zap]
}
