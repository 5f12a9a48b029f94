public import Cryptography

/// A request to delete events (kind 5, NIP-09).
///
/// It applies only to its author's own events, and to gift wraps for its author, which are signed by one-time keys
/// (NIP-59). Code that applies it calls ``covers(_:)`` for each event, and keeps the request, because the named events
/// may come again.
public struct DeletionRequest: Hashable, Sendable {
  /// The author of the request.
  public let author: PublicKey
  /// The time of the request; it applies to versions of an addressed event up to this second.
  public let createdAt: Int64
  /// Events named by `e`, each once. Their authors are not known here.
  public let ids: [EventID]
  /// Addresses named by `a` that belong to the author, each once.
  public let addresses: [EventAddress]
  /// The reason that the author gives.
  public let reason: String
  /// Tags `e` and `a` that were left out: neither id nor address, another author's address, or repeated.
  public let droppedCount: Int

  /// Reads a request. The caller verifies the signature.
  ///
  /// - Throws: `wrongKind`, or `missingTag` if nothing is named that could be deleted.
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

  /// Whether the event must be deleted: it is named, and it is the author's own, or a gift wrap for the author.
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
  /// The same for an event that owns its text.
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
