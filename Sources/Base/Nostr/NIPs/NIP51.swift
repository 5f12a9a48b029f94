public import Addresses
public import Cryptography

/// A list of relays for one purpose: where to send private messages (kind 10050, NIP-17), never to connect to (10006),
/// to search in (10007).
///
/// A stranger's list is hostile input. What is no relay is left out and counted, and the rest is bounded; whether a
/// relay may be dialled at all is the planner's to say. Encrypted items are not looked at.
public struct RelaySet: Hashable, Sendable {
  /// The kind.
  public let kind: UInt16
  /// Whose list it is.
  public let author: PublicKey
  /// When it was published: of two lists the newer one counts, whole.
  public let createdAt: Int64
  /// The relays, each once, in the order of the list, up to ``countMaximum``.
  public let relays: [RelayURL]
  /// Tags `relay` that were left out: no relay's address, there before, or too many.
  public let droppedCount: Int

  /// Most relays taken of one list. Lists of a hundred exist.
  public static let countMaximum = 200
  /// The kinds that are such lists.
  public static let kinds: Set<UInt16> = [
    EventKind.directMessageRelays, EventKind.blockedRelays, EventKind.searchRelays,
  ]

  /// Reads a list. A list without a relay is a list: its author wants none. Signatures are for the caller.
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

  /// The event that publishes such a list, to be signed.
  public static func template(
    _ relays: [RelayURL], kind: UInt16, by author: PublicKey, createdAt: Int64
  ) -> UnsignedEvent {
    precondition(kinds.contains(kind), "kind \(kind) is no list of relays")
    return UnsignedEvent(pubkey: author, createdAt: createdAt, kind: kind, tags: relays.map { ["relay", $0.text] })
  }
}
