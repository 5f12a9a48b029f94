public import Cryptography
public import Nostr

/// The only ones to whom gift wraps may be given (NIP-59), and direct messages (NIP-04) as well if it is said so: one
/// whose `p` tags name none of these keys counts as not there. Everything else is as if there were no such list.
///
/// It is asked where a filter is matched and nowhere behind that: then a limit counts only what may be given, a count
/// tells of nothing else, and what comes live obeys as well.
public struct Recipients: Hashable, Sendable {
  /// Keys in the form in which a tag names them.
  private let values: Set<TagValue>
  private let coversDirectMessages: Bool

  /// Wraps for these keys only; without any, no wrap.
  ///
  /// - Parameters:
  ///   - keys: for whom wraps count.
  ///   - coversDirectMessages: whether the same holds for direct messages.
  public init(_ keys: some Sequence<PublicKey>, coversDirectMessages: Bool = false) {
    self.init(named: keys.map { TagValue($0.description) }, coversDirectMessages: coversDirectMessages)
  }

  /// The same for keys as tags name them.
  public init(named values: some Sequence<TagValue>, coversDirectMessages: Bool = false) {
    self.values = Set(values)
    self.coversDirectMessages = coversDirectMessages
  }

  /// Whether it matters for events of this kind.
  public func concern(_ kind: UInt16) -> Bool {
    kind == EventKind.giftWrap || kind == EventKind.ephemeralGiftWrap
      || coversDirectMessages && kind == EventKind.encryptedDirectMessage
  }

  /// Whether an event may be given.
  public func allow(_ event: IndexedEvent) -> Bool {
    guard concern(event.kind) else { return true }
    return event.tags.contains { $0.letter.ascii == UInt8(ascii: "p") && values.contains($0.value) }
  }

  /// The keys in order, as text: the same for the same list, in whatever order it was given.
  public var name: String {
    (coversDirectMessages ? "messages:" : "") + values.sorted().map(\.description).joined(separator: ",")
  }
}
