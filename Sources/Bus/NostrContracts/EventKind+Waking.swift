public import Nostr

extension EventKind {
  /// Kinds that can wake a phone: the store lets a push relay observe them, and the push relay judges them.
  public static let wakingKinds: Set<UInt16> = [
    EventKind.textNote, EventKind.encryptedDirectMessage, EventKind.repost, EventKind.reaction, 11,
    EventKind.genericRepost, 20, 21, 22, EventKind.giftWrap, 1_068, EventKind.comment, 1_222, 1_244, 9_802,
    EventKind.zapReceipt,
  ]
}
