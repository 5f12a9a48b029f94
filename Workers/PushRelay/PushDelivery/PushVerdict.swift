// What an answer means for the token, for the wake and for the provider. Three things are easily confused and cost
// users their pushes: a token that is dead, a token that looks dead because we ask the wrong way (another environment,
// another project), and a provider that is in trouble. Tables: `AppleVerdicts`, `GoogleVerdicts`, `WebPushVerdicts`.

/// What to do after an attempt to push.
public enum PushVerdict: Hashable, Sendable {
  /// The platform has taken it.
  case delivered
  /// The token is none any more; since when, in Unix milliseconds, if that is said. A device that registered later is
  /// kept: see ``isDead(_:)``.
  case tokenDead(sinceMilliseconds: Int64?)
  /// The token is refused, and it may be ours to blame: ``SuspectTokens`` decides.
  case tokenSuspect(PushReason)
  /// Nothing goes through until somebody mends our side: keys, topic, project. Tokens are kept.
  case providerFault(PushReason)
  /// The credential is refused or too old; with another one it may go.
  case renewCredential(PushReason)
  /// The provider is in trouble: the same again later, not before so many milliseconds where it says how long.
  case retry(afterMilliseconds: UInt64?, PushReason)
  /// The request was not looked at, and nobody is to blame: the same again.
  case resend
  /// Too much for this one token: nothing to it for so long.
  case delayToken(afterMilliseconds: UInt64)
  /// Too much, and it is not said for whom: nothing to this token for so long, and it counts against the provider.
  case throttled(afterMilliseconds: UInt64)
  /// The platform cannot understand what we sent: our bug. The push is dropped and counted.
  case messageFault(PushReason)

  /// Whether a device's token is dead by this verdict: it says so, and since a time not before the registration.
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

/// A platform's word for what is wrong, fit for logs and as a label: 1 to 48 letters and `_`, or a word of ours. What a
/// platform says otherwise is not repeated; it could hold a token.
public struct PushReason: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The word.
  public let description: String

  /// Whether it cannot be brought about by a device's token: there was no connection to anybody, or the platform is not
  /// content with what this relay shows of itself, or the relay has nothing to show.
  var isOurs: Bool { Self.ours.contains(description) }

  private static let ours: Set = [
    "unreachable", "no-secure-connection", "no-token-yet", "TooManyProviderTokenUpdates", "MissingProviderToken",
    "InvalidProviderToken", "ExpiredProviderToken", "UNAUTHENTICATED", "invalid_grant", "invalid_client",
    "unauthorized_client",
  ]

  /// A word of ours.
  public init(stringLiteral value: StaticString) { description = value.description }

  /// A status that came without a word.
  public init(status: Int) { description = "status-\(min(max(status, 0), 999))" }

  /// A platform's word; `unknown` for what can be none.
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
