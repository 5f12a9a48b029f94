public import Clocks
internal import Frames

/// The access token that all pushes to FCM carry: Google grants it for an hour for a JWT that we sign. Only one request
/// for a token is under way at a time; it is sent 60 seconds before the old token ends, which is used meanwhile.
public struct GoogleCredential: Hashable, Sendable {
  /// What a push receives.
  public enum Need: Hashable, Sendable {
    /// This token. A refusal must be reported with this serial.
    case token(String, serial: UInt64)
    /// This token, and a new one must be requested now; the outcome must be reported.
    case tokenAndAsk(String, serial: UInt64)
    /// A token must be requested now; the outcome must be reported.
    case ask
    /// A token is being requested.
    case asking
    /// The last request failed: no new one before then.
    case wait(until: Instant)
  }

  /// How long before its end a token is replaced.
  public static let renewalSeconds: Int64 = 60
  /// The shortest time between two tokens. A token whose end is less than ``renewalSeconds`` away is used this long all
  /// the same, so that not every push requests a new one.
  public static let spacingSeconds: Int64 = 5
  /// The accepted range of `expires_in`: a token with a shorter life would be useless, and Google grants none for
  /// longer.
  public static let lifetimeSeconds: ClosedRange<Int64> = 10...3_600
  /// The assumed life when the answer does not name one.
  public static let lifetimeSecondsStandard: Int64 = 600
  /// The first window between failed requests, and the largest, in milliseconds.
  public static let failureWindowMilliseconds: ClosedRange<UInt64> = 1_000...60_000
  /// The shortest time between two tokens of which the first was refused, in milliseconds.
  public static let refusalSpacingMilliseconds: UInt64 = 30_000

  private var token: String?
  private var serial: UInt64 = 0
  private var granting = Instant(nanoseconds: 0)
  private var renewal = Instant(nanoseconds: 0)
  private var end = Instant(nanoseconds: 0)
  private var isRefused = false
  /// Whether a push succeeded with the present token.
  private var isAccepted = false
  /// Whether the present token replaces one that was refused.
  private var isReplacement = false
  private var isAsking = false
  private var failureCount = 0
  private var notBefore: Instant?

  /// No token yet.
  public init() {}

  /// A push needs a token.
  public mutating func wanted(at instant: Instant) -> Need {
    let usable = isRefused || instant >= end ? nil : token
    if let usable, instant < renewal { return .token(usable, serial: serial) }
    if isAsking { return usable.map { .token($0, serial: serial) } ?? .asking }
    if let notBefore, instant < notBefore {
      return usable.map { .token($0, serial: serial) } ?? .wait(until: notBefore)
    }
    isAsking = true
    return usable.map { .tokenAndAsk($0, serial: serial) } ?? .ask
  }

  /// A token was granted.
  public mutating func granted(_ token: String, expiresInSeconds: Int64?, at instant: Instant) {
    let range = Self.lifetimeSeconds
    let seconds = min(max(expiresInSeconds ?? Self.lifetimeSecondsStandard, range.lowerBound), range.upperBound)
    self.token = token
    serial &+= 1
    granting = instant
    end = instant.advanced(milliseconds: UInt64(seconds) * 1_000)
    renewal = instant.advanced(milliseconds: UInt64(max(seconds - Self.renewalSeconds, Self.spacingSeconds)) * 1_000)
    isReplacement = isRefused
    isRefused = false
    isAccepted = false
    isAsking = false
    failureCount = 0
    notBefore = nil
  }

  /// The request failed, or was refused.
  public mutating func failed(
    afterMilliseconds: UInt64? = nil, at instant: Instant, using generator: inout some RandomNumberGenerator
  ) {
    isAsking = false
    let window = Self.failureWindowMilliseconds
    let wait = BackOff.wait(
      base: window.lowerBound, ceiling: window.upperBound, failureCount: failureCount, using: &generator)
    failureCount += 1
    notBefore = instant.advanced(milliseconds: max(wait, afterMilliseconds ?? 0))
  }

  /// FCM accepted a push with the token of this serial.
  public mutating func accepted(serial: UInt64) {
    if serial == self.serial { isAccepted = true }
  }

  /// FCM answered 401 to a push with the token of this serial. A new token is requested immediately if FCM had accepted
  /// this one, because it was revoked, and if it did not itself replace a refused token. Otherwise a new token is
  /// requested at most once in ``refusalSpacingMilliseconds``, because Google's next token would probably be refused
  /// too.
  public mutating func refused(serial: UInt64) {
    guard serial == self.serial, !isRefused else { return }
    isRefused = true
    if isAccepted, !isReplacement { return }
    let earliest = granting.advanced(milliseconds: Self.refusalSpacingMilliseconds)
    notBefore = max(notBefore ?? earliest, earliest)
  }
}

/// The answer of Google's token endpoint (RFC 6749, 5.1 and 5.2).
public enum GoogleTokenAnswer: Hashable, Sendable {
  /// A token, and how long it lives if the answer says so.
  case granted(String, expiresInSeconds: Int64?)
  /// Our key or our claims are wrong: a person has to fix it.
  case refused(PushReason)
  /// A fault at Google, or an answer that cannot be read; with the time until a retry if the answer names one.
  case failed(afterMilliseconds: UInt64?, PushReason)

  /// The longest token that is accepted, in bytes.
  public static let tokenByteCountMaximum = 4_096

  /// Reads an answer.
  public init(_ answer: PushAnswer, unixMilliseconds: Int64) {
    let wait = answer.wait(unixMilliseconds: unixMilliseconds)
    let json = answer.json
    switch answer.status {
    case 200:
      guard let token = json?["access_token"]?.text, Self.isToken(token) else {
        self = .failed(afterMilliseconds: wait, "no-token-in-answer")
        return
      }
      self = .granted(token, expiresInSeconds: json?["expires_in"]?.wholeNumber)
    case 408, 429, 500...:
      self = .failed(afterMilliseconds: wait, PushReason(status: answer.status))
    default:
      self = .refused(
        json?["error"]?.text.map(PushReason.init(foreign:)) ?? PushReason(status: answer.status))
    }
  }

  /// A token becomes a header: visible ASCII only.
  private static func isToken(_ text: String) -> Bool {
    (1...tokenByteCountMaximum).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }
}
