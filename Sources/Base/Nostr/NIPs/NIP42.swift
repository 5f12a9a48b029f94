public import Addresses
public import Cryptography

/// The event with which a client authenticates to a relay (kind 22242, NIP-42).
public enum RelayAuthentication {
  /// How far the event's time may be from the relay's clock, in seconds.
  public static let toleranceSeconds: Int64 = 600
  /// Longest challenge that is signed, in bytes: a relay must not get any text it likes signed.
  public static let challengeByteCountMaximum = 512

  /// The unsigned event that answers a challenge.
  ///
  /// - Parameters:
  ///   - author: the key that authenticates.
  ///   - createdAt: seconds since 1970.
  ///   - relay: the relay of this connection, never the address a relay gives for itself: the signature would then be
  ///     valid for another relay.
  ///   - challenge: exactly as the relay sent it.
  /// - Throws: `challengeTooLong`.
  public static func template(
    for relay: RelayURL, challenge: String, by author: PublicKey, createdAt: Int64
  ) throws(RelayAuthenticationFault) -> UnsignedEvent {
    guard challenge.utf8.count <= challengeByteCountMaximum else {
      throw .challengeTooLong(byteCount: challenge.utf8.count)
    }
    return UnsignedEvent(
      pubkey: author, createdAt: createdAt, kind: EventKind.relayAuthentication,
      tags: [["relay", relay.text], ["challenge", challenge]])
  }

  /// Checks an event that a client sent, as a relay does.
  ///
  /// - Parameters:
  ///   - event: the client's event.
  ///   - relays: the addresses of the relay. The address in the event is made canonical before it is compared, so that
  ///     a trailing slash makes no difference.
  ///   - challenge: the last one sent on this connection.
  ///   - now: the relay's clock, seconds since 1970.
  /// - Returns: the authenticated key.
  public static func check(
    _ event: Event, relays: Set<RelayURL>, challenge: String, now: Int64
  ) throws(RelayAuthenticationFault) -> PublicKey {
    guard event.kind == EventKind.relayAuthentication else { throw .wrongKind(event.kind) }
    let distance = event.createdAt.subtractingReportingOverflow(now)
    guard !distance.overflow, distance.partialValue.magnitude <= toleranceSeconds else { throw .wrongTime }
    guard let given = event.firstValue(of: "challenge"), given.hasSameBytes(as: challenge) else {
      throw .wrongChallenge
    }
    guard let relay = event.firstValue(of: "relay").flatMap({ RelayURL(reading: $0) }), relays.contains(relay) else {
      throw .wrongRelay
    }
    do throws(EventFault) { try event.verify() } catch { throw .notValid(error) }
    return event.pubkey
  }
}

/// Why an authentication is refused.
public enum RelayAuthenticationFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// The relay's challenge is longer than ``RelayAuthentication/challengeByteCountMaximum``.
  case challengeTooLong(byteCount: Int)
  /// Not kind 22242.
  case wrongKind(UInt16)
  /// The time is further from now than ``RelayAuthentication/toleranceSeconds``.
  case wrongTime
  /// Another challenge than the last one that was sent, or no challenge.
  case wrongChallenge
  /// Another relay, or no relay.
  case wrongRelay
  /// The id or the signature is wrong.
  case notValid(EventFault)

  /// The end of a sentence, for an OK's reason after `invalid:`.
  public var description: String {
    switch self {
    case .challengeTooLong(let count):
      "the challenge has \(count) bytes, and at most \(RelayAuthentication.challengeByteCountMaximum) are signed"
    case .wrongKind(let kind): "the event is of kind \(kind), not 22242"
    case .wrongTime: "the event's time is more than \(RelayAuthentication.toleranceSeconds / 60) minutes from now"
    case .wrongChallenge: "the challenge is not the one that was sent"
    case .wrongRelay: "the event is for another relay"
    case .notValid(let fault): "\(fault)"
    }
  }
}
