internal import Cryptography
internal import Nostr
internal import PushDelivery

// The sender of a request with `Authorization: Nostr <base64 of an event>` (NIP-98).
//
// The event names the whole address, so the relay must know its own: the Host field of a request is only a claim of
// the sender or a proxy. There is one address, as the operator wrote it, and no list of alternatives.
//
// The event's id is the hash of what was signed, so one memory of requests serves both kinds of key.

/// Reads requests that Nostr keys have signed.
public struct NostrRequests: Hashable, Sendable {
  /// What precedes `/v1`, such as `https://push.example`; nil: such requests are refused.
  public let publicURL: String?

  /// - Parameters:
  ///   - publicURL: as the operator writes it, with or without a slash or the mount at its end; "" for none.
  ///   - mount: what follows it.
  public init(publicURL: String, mount: PushMount = PushMount()) {
    var url = publicURL
    while url.hasSuffix("/") { url.removeLast() }
    if !mount.prefix.isEmpty, url.hasSuffix(mount.prefix) { url.removeLast(mount.prefix.count) }
    self.publicURL = url.isEmpty ? nil : url
  }

  /// The value of `Authorization` if a request is signed by it; nil if it is signed otherwise, or not at all.
  ///
  /// - Throws: `invalid_signature` if it is signed in two ways.
  public static func header(in fields: [HeaderField]) throws(PushRefusal) -> String? {
    let headers = fields.filter { $0.isNamed("authorization") && $0.value.lowercased().hasPrefix("nostr") }
    guard let header = headers.first else { return nil }
    guard headers.count == 1, !fields.contains(where: { $0.isNamed("x-pubky-signature") }) else {
      throw PushRefusal(
        .invalidSignature, "the request is signed in two ways: send one Authorization, or X-Pubky-Signature")
    }
    return header.value
  }

  /// Checks that the request's key signed it.
  ///
  /// - Parameters:
  ///   - header: the value of `Authorization`.
  ///   - method: as received.
  ///   - target: the request's target as received: with the mount, and the query.
  ///   - route: its route.
  ///   - body: as received.
  ///   - now: Unix seconds.
  /// - Throws: `invalid_signature`, `expired_timestamp`.
  public func verified(
    header: String, method: String, target: String, route: PushRoute, body: [UInt8], now: Int64
  ) throws(PushRefusal) -> VerifiedRequest {
    guard route.takesNostrKeys else {
      throw PushRefusal(
        .invalidSignature, "waking others takes a Pubky key here: sign with X-Pubky-Pubkey, -Timestamp and -Signature")
    }
    guard let publicURL else {
      throw PushRefusal(
        .invalidSignature,
        "this relay takes no Nostr keys: its operator has not said by which address it is known (public-url)")
    }
    let url = publicURL + target
    let result = HTTPAuthorization.event(
      header: header, method: method, url: url, bodyHash: body.isEmpty ? nil : SHA256.hash(body), now: now)
    switch result {
    case .success(let event):
      return VerifiedRequest(
        owner: PushOwner(.nostr, event.pubkey.octets), timestamp: event.createdAt, digest: event.id.octets)
    case .failure(.wrongTime):
      throw PushRefusal(
        .expiredTimestamp,
        "\(HTTPAuthorizationFault.wrongTime) by this relay's clock: set the clock right and sign again",
        serverTime: now)
    case .failure(.wrongAddress):
      throw PushRefusal(.invalidSignature, "\(HTTPAuthorizationFault.wrongAddress): it is \(url)")
    case .failure(let fault): throw PushRefusal(.invalidSignature, "\(fault)")
    }
  }
}
