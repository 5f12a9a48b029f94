public import Addresses
public import Cryptography

/// A request to vanish: to delete everything its author has published (kind 62, NIP-62).
public struct VanishRequest: Hashable, Sendable {
  /// The author of the request.
  public let author: PublicKey
  /// It applies to everything up to this second.
  public let createdAt: Int64
  /// The relays that the request is for.
  public let scope: Scope
  /// The reason, or a legal notice.
  public let reason: String

  /// The relays that a request is for.
  public enum Scope: Hashable, Sendable {
    /// All relays: `ALL_RELAYS`.
    case everywhere
    /// These, at least one.
    case relays(Set<RelayURL>)
  }

  /// The most relays read from one request.
  public static let relayCountMaximum = 1_000

  /// Reads a request. The caller verifies the signature.
  ///
  /// - Throws: `wrongKind`, or `missingTag` if no relay is named.
  public init(_ event: Event) throws(KindFault) {
    try KindFault.expect(EventKind.vanish, of: event.kind)
    author = event.pubkey
    createdAt = event.createdAt
    reason = event.content
    let values = event.values(of: "relay")
    if values.contains(where: { $0.hasSameBytes(as: "ALL_RELAYS") }) {
      scope = .everywhere
      return
    }
    let relays = Set(values.lazy.prefix(Self.relayCountMaximum).compactMap { RelayURL(reading: $0) })
    guard !relays.isEmpty else { throw .missingTag("relay") }
    scope = .relays(relays)
  }

  /// Whether the request is for a relay with these addresses.
  public func isAddressed(to relays: Set<RelayURL>) -> Bool {
    switch scope {
    case .everywhere: true
    case .relays(let asked): !asked.isDisjoint(with: relays)
    }
  }

  /// Whether a relay that the request is for deletes this event, and refuses it from now on: the author's own events,
  /// including requests to delete, and gift wraps for the author. The request itself and other requests to vanish stay.
  public func covers(_ event: IndexedEvent) -> Bool {
    guard event.createdAt <= createdAt, event.kind != EventKind.vanish else { return false }
    return event.pubkey == author || event.isGiftWrap(to: author)
  }
}
