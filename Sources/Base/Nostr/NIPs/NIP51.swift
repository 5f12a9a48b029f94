public import Addresses
public import Cryptography

/// A list of relays for one purpose: to receive private messages (kind 10050, NIP-17), never to connect to (10006), to
/// search in (10007).
///
/// A stranger's list is hostile input. Invalid relays are left out and counted, and the number of relays is limited;
/// the planner decides whether a relay may be dialled at all. Encrypted items are not read.
public struct RelaySet: Hashable, Sendable {
  /// The kind.
  public let kind: UInt16
  /// The owner of the list.
  public let author: PublicKey
  /// When it was published: of two lists only the newer one counts.
  public let createdAt: Int64
  /// The relays, each once, in the order of the list, up to ``countMaximum``.
  public let relays: [RelayURL]
  /// Tags `relay` that were left out: not a relay's address, repeated, or too many.
  public let droppedCount: Int

  /// The most relays read from one list. Lists of a hundred exist.
  public static let countMaximum = 200
  /// The kinds of these lists.
  public static let kinds: Set<UInt16> = [
    EventKind.directMessageRelays, EventKind.blockedRelays, EventKind.searchRelays,
  ]

  /// Reads a list. A list without relays is valid: its author wants none. The caller verifies the signature.
  public init(_ event: Event) throws(KindFault) {
    guard Self.kinds.contains(event.kind) else { throw .wrongKind(event.kind, expected: Self.kinds.sorted()) }
    kind = event.kind
    author = event.pubkey
    createdAt = event.createdAt
    var relays: [RelayURL] = []
    var seen: Set<RelayURL> = []
    let tags = event.tags.named("relay")
    for tag in tags where relays.count < Self.countMaximum && tag.count > 1 {
      if let relay = RelayURL(reading: tag[1]), seen.insert(relay).inserted { relays.append(relay) }
    }
    self.relays = relays
    droppedCount = tags.count - relays.count
  }

  /// The unsigned event that publishes such a list.
  public static func template(
    _ relays: [RelayURL], kind: UInt16, by author: PublicKey, createdAt: Int64
  ) -> UnsignedEvent {
    precondition(kinds.contains(kind), "kind \(kind) is no list of relays")
    return UnsignedEvent(pubkey: author, createdAt: createdAt, kind: kind, tags: relays.map { ["relay", $0.text] })
  }
}
