public import Clocks
internal import Frames

/// The access token that all pushes to FCM carry: Google gives it for an hour for a JWT of ours. One request
/// for one is under way at a time; it is asked for 60 seconds before the old one ends, which is used meanwhile.
public struct GoogleCredential: Hashable, Sendable {
  /// What a push needs.
  public enum Need: Hashable, Sendable {
    /// This token. The serial is to be told with a refusal.
    case token(String, serial: UInt64)
    /// This token, and another has to be asked for now; it is to be told how that ended.
    case tokenAndAsk(String, serial: UInt64)
    /// A token has to be asked for now; it is to be told how that ended.
    case ask
    /// One is being asked for.
    case asking
    /// The last request failed: not again before then.
    case wait(until: Instant)
  }

  /// How long before its end a token is replaced.
  public static let renewalSeconds: Int64 = 60
  /// The least time from one token to the next: one whose end is not ``renewalSeconds`` away is used this long all the
  /// same, and so is not asked for with every push.
  public static let spacingSeconds: Int64 = 5
  /// What is believed of `expires_in`: a token that ended sooner would be none, and Google gives none for longer.
  public static let lifetimeSeconds: ClosedRange<Int64> = 10...3_600
  /// What is believed when nothing is said.
  public static let lifetimeSecondsStandard: Int64 = 600
  /// First window between requests that fail, and the largest, in milliseconds.
  public static let failureWindowMilliseconds: ClosedRange<UInt64> = 1_000...60_000
  /// Least time between two tokens, the first of which was refused, in milliseconds.
  public static let refusalSpacingMilliseconds: UInt64 = 30_000

  private var token: String?
  private var serial: UInt64 = 0
  private var granting = Instant(nanoseconds: 0)
  private var renewal = Instant(nanoseconds: 0)
  private var end = Instant(nanoseconds: 0)
  private var isRefused = false
  /// Whether a push came through with the token at hand.
  private var isAccepted = false
  /// Whether the token at hand stands for one that was refused.
  private var isReplacement = false
  private var isAsking = false
  private var failureCount = 0
  private var notBefore: Instant?

  /// Without a token.
  public init() {}

  /// A push wants to be sent.
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

  /// A token came.
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

  /// FCM took a push that carried the token of this serial.
  public mutating func accepted(serial: UInt64) {
    if serial == self.serial { isAccepted = true }
  }

  /// FCM answered 401 to a push that carried the token of this serial. Another is asked for: at once for one that was
  /// good before and was revoked; else not more often than once in ``refusalSpacingMilliseconds``, since what Google
  /// has just given and does not take will not be better next time.
  public mutating func refused(serial: UInt64) {
    guard serial == self.serial, !isRefused else { return }
    isRefused = true
    if isAccepted, !isReplacement { return }
    let earliest = granting.advanced(milliseconds: Self.refusalSpacingMilliseconds)
    notBefore = max(notBefore ?? earliest, earliest)
  }
}

/// What Google's token endpoint answered (RFC 6749, 5.1 and 5.2).
public enum GoogleTokenAnswer: Hashable, Sendable {
  /// A token; for how long, if that is said.
  case granted(String, expiresInSeconds: Int64?)
  /// Our key or our claims are wrong: somebody has to mend it.
  case refused(PushReason)
  /// Trouble over there, or what came was no answer; when to ask again, if that is said.
  case failed(afterMilliseconds: UInt64?, PushReason)

  /// Longest token that is believed, in bytes.
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

  /// It becomes a header: visible ASCII, nothing else.
  private static func isToken(_ text: String) -> Bool {
    (1...tokenByteCountMaximum).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }
}
