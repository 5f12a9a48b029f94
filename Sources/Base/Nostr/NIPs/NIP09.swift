public import Cryptography

/// A request to delete events (kind 5, NIP-09).
///
/// Only its author's own events are meant, and gift wraps to its author, whose signers are nobody's (NIP-59). Whoever
/// applies it asks ``covers(_:)`` for each event, and keeps the request: what it names may come again.
public struct DeletionRequest: Hashable, Sendable {
  /// Who asks.
  public let author: PublicKey
  /// When; versions of an addressed event up to this second are meant.
  public let createdAt: Int64
  /// Events named by `e`, each once. Whose they are is not known here.
  public let ids: [EventID]
  /// Addresses named by `a` that are the author's own, each once.
  public let addresses: [EventAddress]
  /// The reason, as the author gives it.
  public let reason: String
  /// Tags `e` and `a` that were left out: neither id nor address, somebody else's address, or there before.
  public let droppedCount: Int

  /// Reads a request. Signatures are for the caller.
  ///
  /// - Throws: `wrongKind`, or `missingTag` when nothing is named that could be deleted.
  public init(_ event: Event) throws(KindFault) {
    try KindFault.expect(EventKind.deletion, of: event.kind)
    var ids: [EventID] = []
    var addresses: [EventAddress] = []
    var seenIDs: Set<EventID> = []
    var seenAddresses: Set<EventAddress> = []
    for value in event.values(of: "e") {
      if let id = EventID(value), seenIDs.insert(id).inserted { ids.append(id) }
    }
    for value in event.values(of: "a") {
      guard let address = EventAddress(value), address.pubkey == event.pubkey, seenAddresses.insert(address).inserted
      else { continue }
      addresses.append(address)
    }
    guard !ids.isEmpty || !addresses.isEmpty else { throw .missingTag("e") }
    let named = event.tags.named("e").count + event.tags.named("a").count
    author = event.pubkey
    createdAt = event.createdAt
    reason = event.content
    droppedCount = named - ids.count - addresses.count
    self.ids = ids
    self.addresses = addresses
  }

  /// Whether the event is to be deleted: it is the author's own, or a gift wrap to the author, and it is named.
  /// Requests to delete and to vanish cannot be deleted (NIP-09, NIP-62).
  public func covers(_ event: IndexedEvent) -> Bool {
    guard event.kind != EventKind.deletion, event.kind != EventKind.vanish else { return false }
    guard event.pubkey == author else { return event.isGiftWrap(to: author) && ids.contains(event.id) }
    if ids.contains(event.id) { return true }
    guard event.createdAt <= createdAt, let address = EventAddress(of: event) else { return false }
    return addresses.contains(address)
  }
}

extension IndexedEvent {
  /// The same of an event that owns its text.
  public init(_ event: Event) {
    let tags = event.tags.lazy.compactMap { tag -> Tag? in
      guard tag.count > 1, let letter = TagLetter(tag[0]) else { return nil }
      return Tag(letter, TagValue(tag[1]))
    }
    self.init(
      id: event.id, pubkey: event.pubkey, createdAt: event.createdAt, kind: event.kind,
      tags: Array(tags.prefix(Self.tagCountMaximum)))
  }

  /// Whether it is a gift wrap whose `p` is this key (NIP-59).
  func isGiftWrap(to key: PublicKey) -> Bool {
    guard kind == EventKind.giftWrap || kind == EventKind.ephemeralGiftWrap else { return false }
    let value = TagValue(key.description)
    return tags.contains { $0.letter.ascii == UInt8(ascii: "p") && $0.value == value }
  }
}
