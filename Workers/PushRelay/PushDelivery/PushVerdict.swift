// What an answer means for the token, for the wake and for the provider. Three cases are easily confused, and confusing
// them costs users their pushes: a token that is dead, a token that looks dead because our request is wrong (another
// environment, another project), and a provider that is in trouble. Tables: `AppleVerdicts`, `GoogleVerdicts`,
// `WebPushVerdicts`.

/// What to do after an attempt to push.
public enum PushVerdict: Hashable, Sendable {
  /// The platform has accepted it.
  case delivered
  /// The token is dead; with the time since when, in Unix milliseconds, if the answer says so. A device that registered
  /// later is kept: see ``isDead(_:)``.
  case tokenDead(sinceMilliseconds: Int64?)
  /// The token is refused, and our settings may be the cause: ``SuspectTokens`` decides.
  case tokenSuspect(PushReason)
  /// No push succeeds until a person fixes our side: keys, topic, project. Tokens are kept.
  case providerFault(PushReason)
  /// The credential is refused or too old; the push may succeed with another one.
  case renewCredential(PushReason)
  /// The provider is in trouble: retry later, after so many milliseconds if the answer says so.
  case retry(afterMilliseconds: UInt64?, PushReason)
  /// The request was not processed, and no side is at fault: send it again.
  case resend
  /// Too many pushes to this token: none to it for so long.
  case delayToken(afterMilliseconds: UInt64)
  /// Too many pushes, without saying for which token: none to this token for so long, and it counts against the
  /// provider.
  case throttled(afterMilliseconds: UInt64)
  /// The platform cannot read what we sent: our bug. The push is dropped and counted.
  case messageFault(PushReason)

  /// Whether this verdict means that a device's token is dead: it says so, and not for a time before the registration.
  public func isDead(_ device: PushDevice) -> Bool {
    guard case .tokenDead(let since) = self else { return false }
    guard let since else { return true }
    return since / 1_000 >= device.registeredAt
  }

  /// The verdict on a request without an answer.
  public init(_ fault: ConnectionFault) {
    self =
      switch fault {
      case .unreachable: .retry(afterMilliseconds: nil, "unreachable")
      case .insecure: .retry(afterMilliseconds: nil, "no-secure-connection")
      case .timedOut: .retry(afterMilliseconds: nil, "timed-out")
      case .broken: .retry(afterMilliseconds: nil, "connection-broken")
      case .notProcessed: .resend
      }
  }

  /// The verdict on an answer of this platform.
  public init(_ answer: PushAnswer, of platform: PushPlatform, unixMilliseconds: Int64) {
    self =
      switch platform {
      case .ios: AppleVerdicts.verdict(answer, unixMilliseconds: unixMilliseconds)
      case .android: GoogleVerdicts.verdict(answer, unixMilliseconds: unixMilliseconds)
      case .webPush: WebPushVerdicts.verdict(answer, unixMilliseconds: unixMilliseconds)
      }
  }
}

/// A platform's word for a fault, suitable for logs and as a label: 1 to 48 letters and `_`, or a word that Roost
/// defines. Any other text of a platform is not repeated, because it could contain a token.
public struct PushReason: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The word.
  public let description: String

  /// Whether no device's token can cause it: there was no connection, or the platform refuses the relay's own
  /// credential, or the relay has none.
  var isOurs: Bool { Self.ours.contains(description) }

  private static let ours: Set = [
    "unreachable", "no-secure-connection", "no-token-yet", "TooManyProviderTokenUpdates", "MissingProviderToken",
    "InvalidProviderToken", "ExpiredProviderToken", "UNAUTHENTICATED", "invalid_grant", "invalid_client",
    "unauthorized_client",
  ]

  /// A word that Roost defines.
  public init(stringLiteral value: StaticString) { description = value.description }

  /// A status without a word.
  public init(status: Int) { description = "status-\(min(max(status, 0), 999))" }

  /// A platform's word; `unknown` for a text that cannot be one.
  public init(foreign text: String) {
    let isWord =
      (1...48).contains(text.utf8.count)
      && text.utf8.allSatisfy {
        switch $0 {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"): true
        default: false
        }
      }
    description = isWord ? text : "unknown"
  }
}
