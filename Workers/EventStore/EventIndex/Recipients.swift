public import Cryptography
public import Nostr

/// The only recipients whose gift wraps (NIP-59) may be returned, and optionally whose direct messages (NIP-04). A wrap
/// without a `p` tag for one of these keys counts as absent. All other events are unaffected.
///
/// The check is a part of matching a filter, and is done nowhere else. So a limit counts only events that may be
/// returned, a count reveals nothing about others, and live events obey it too.
public struct Recipients: Hashable, Sendable {
  /// The keys, as tags spell them.
  private let values: Set<TagValue>
  private let coversDirectMessages: Bool

  /// Wraps for these keys only; without keys, no wraps.
  ///
  /// - Parameters:
  ///   - keys: the recipients.
  ///   - coversDirectMessages: whether the same holds for direct messages.
  public init(_ keys: some Sequence<PublicKey>, coversDirectMessages: Bool = false) {
    self.init(named: keys.map { TagValue($0.description) }, coversDirectMessages: coversDirectMessages)
  }

  /// The same for keys as tags spell them.
  public init(named values: some Sequence<TagValue>, coversDirectMessages: Bool = false) {
    self.values = Set(values)
    self.coversDirectMessages = coversDirectMessages
  }

  /// Whether events of this kind are restricted.
  public func concern(_ kind: UInt16) -> Bool {
    kind == EventKind.giftWrap || kind == EventKind.ephemeralGiftWrap
      || coversDirectMessages && kind == EventKind.encryptedDirectMessage
  }

  /// Whether an event may be returned.
  public func allow(_ event: IndexedEvent) -> Bool {
    guard concern(event.kind) else { return true }
    return event.tags.contains { $0.letter.ascii == UInt8(ascii: "p") && values.contains($0.value) }
  }

  /// The keys in order, as text: the same for the same keys in any order.
  public var name: String {
    (coversDirectMessages ? "messages:" : "") + values.sorted().map(\.description).joined(separator: ",")
  }
}
