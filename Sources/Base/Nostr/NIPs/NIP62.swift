public import Addresses
public import Cryptography

/// A request to vanish: to delete everything its author has published (kind 62, NIP-62).
public struct VanishRequest: Hashable, Sendable {
  /// Who asks.
  public let author: PublicKey
  /// Everything up to this second is meant.
  public let createdAt: Int64
  /// Which relays are asked.
  public let scope: Scope
  /// The reason, or a legal notice.
  public let reason: String

  /// The relays that are asked.
  public enum Scope: Hashable, Sendable {
    /// All there are: `ALL_RELAYS`.
    case everywhere
    /// These, at least one.
    case relays(Set<RelayURL>)
  }

  /// Most relays taken of one request.
  public static let relayCountMaximum = 1_000

  /// Reads a request. Signatures are for the caller.
  ///
  /// - Throws: `wrongKind`, or `missingTag` when no relay is named.
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

  /// Whether a relay that answers to these addresses is asked.
  public func isAddressed(to relays: Set<RelayURL>) -> Bool {
    switch scope {
    case .everywhere: true
    case .relays(let asked): !asked.isDisjoint(with: relays)
    }
  }

  /// Whether a relay that is asked deletes this event, and refuses it from now on: the author's own, requests to delete
  /// included, and gift wraps to the author. The request itself stays, and other requests to vanish.
  public func covers(_ event: IndexedEvent) -> Bool {
    guard event.createdAt <= createdAt, event.kind != EventKind.vanish else { return false }
    return event.pubkey == author || event.isGiftWrap(to: author)
  }
}
