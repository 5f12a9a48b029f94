public import Clocks

// The provider token that all pushes to APNs carry: a JWT of ours. Apple wants a new one at least every 60 minutes and
// at most every 20, counts over all connections of a key, and shuts a connection out that got too many. So:
//
// - one is used for 50 minutes;
// - none is made within 20 minutes of the last, whatever happens, a restart included: what was made is written down
//   before it is used, and the next process continues with it;
// - when a hundred pushes come back with `ExpiredProviderToken`, the first marks the token, and the others were sent
//   with the same one: its serial number says so;
// - `TooManyProviderTokenUpdates` makes none: it forbids one for 20 minutes;
// - where a token is refused and none may be made yet, the provider is at fault and somebody is told: wrong identifiers
//   in the settings look like this, and so does a clock that is wrong. `InvalidProviderToken` may pass without another
//   token, once a key is known everywhere at Apple: single probes go on with the same one, which Apple does not count.
//
// Ages are counted on the monotonic clock from what the wall clock said at the start of the process. A clock that was
// set back makes a token younger than it is, never the next one earlier.

/// The age of APNs' provider token, and when there is another.
public struct AppleCredential: Sendable {
  /// What the ledger keeps from one process to the next. The token is a credential for an hour: it belongs encrypted.
  public struct Kept: Codable, Hashable, Sendable {
    /// The key it was signed with; another key has tokens of its own.
    public var keyID: String
    /// The JWT.
    public var token: String
    /// Unix seconds when it was made: its `iat`.
    public var mintedAt: Int64
    /// Counts the tokens made with this key.
    public var serial: UInt64
    /// Unix seconds before which Apple takes no other; 0 for none.
    public var forbiddenUntil: Int64

    /// A token as it is written down.
    public init(keyID: String, token: String, mintedAt: Int64, serial: UInt64, forbiddenUntil: Int64 = 0) {
      self.keyID = keyID
      self.token = token
      self.mintedAt = mintedAt
      self.serial = serial
      self.forbiddenUntil = forbiddenUntil
    }
  }

  /// What a push needs.
  public enum Need: Hashable, Sendable {
    /// This token. The serial is to be told with a refusal.
    case token(String, serial: UInt64)
    /// A token has to be made now and written down; it is to be told how that ended, and until then nobody else is
    /// asked.
    case mint
    /// One is being made.
    case minting
    /// There is none that Apple takes, and none may be made before so many milliseconds.
    case wait(milliseconds: UInt64)
  }

  /// The age at which another is made.
  public static let renewalMilliseconds: UInt64 = 50 * 60_000
  /// The age beyond which Apple takes it no more.
  public static let lifetimeMilliseconds: UInt64 = 60 * 60_000
  /// The least time between two.
  public static let spacingMilliseconds: UInt64 = 20 * 60_000

  private let keyID: String
  /// What is to be written down; nil before the first token.
  public private(set) var kept: Kept?
  private var isRefused = false
  /// Whether it was called invalid: another is made as soon as one may be, and until then it is tried again.
  private var isDoubted = false
  /// Apple's last word against the token; nil while it is good, as far as is known.
  public private(set) var complaint: PushReason?
  private var isMinting = false
  private var anchor: Instant
  private var ageAtAnchor: UInt64 = 0
  private var forbiddenUntil: Instant?
  /// A token that was made and is being written down, and when it was made.
  private var draft: (kept: Kept, at: Instant)?
  /// Whether another was forbidden since it was to be made: that is written when it is known what stands before it.
  private var isForbiddenMeanwhile = false

  /// Goes on where the process before ended.
  ///
  /// - Parameters:
  ///   - keyID: the key that tokens are signed with.
  ///   - kept: what was written down, if anything.
  ///   - moment: now.
  public init(keyID: String, kept: Kept?, at moment: PushMoment) {
    self.keyID = keyID
    anchor = moment.instant
    guard let kept, kept.keyID == keyID else { return }
    self.kept = kept
    ageAtAnchor = Self.milliseconds(from: kept.mintedAt, to: moment.unixSeconds)
    // Of a clock that was set, no more is believed than is possible.
    let left = min(Self.milliseconds(from: moment.unixSeconds, to: kept.forbiddenUntil), Self.spacingMilliseconds)
    if left > 0 { forbiddenUntil = moment.instant.advanced(milliseconds: left) }
    // One that is due is not shown to a new connection, which would see two within a second.
    if left == 0, ageAtAnchor >= Self.renewalMilliseconds { isRefused = true }
  }

  /// From one wall-clock second to a later one; 0 when it is not later, and at most a day.
  private static func milliseconds(from earlier: Int64, to later: Int64) -> UInt64 {
    let (seconds, overflowed) = later.subtractingReportingOverflow(earlier)
    if later <= earlier { return 0 }
    return overflowed ? 86_400_000 : UInt64(min(seconds, 86_400)) * 1_000
  }

  /// Milliseconds since the token was made; nil without one.
  public func age(at instant: Instant) -> UInt64? {
    kept == nil ? nil : ageAtAnchor.addingReportingOverflow(instant.milliseconds(since: anchor)).partialValue
  }

  /// A push wants to be sent.
  public mutating func wanted(at instant: Instant) -> Need {
    let age = age(at: instant)
    let usable = kept.flatMap { kept in
      isRefused || (age ?? 0) >= Self.lifetimeMilliseconds ? nil : Need.token(kept.token, serial: kept.serial)
    }
    if isMinting { return isDoubted ? .minting : usable ?? .minting }
    if let usable, let age, age < Self.renewalMilliseconds, !isDoubted { return usable }
    let wait = wait(at: instant, age: age)
    guard wait == 0 else { return usable ?? .wait(milliseconds: wait) }
    isMinting = true
    return .mint
  }

  private func wait(at instant: Instant, age: UInt64?) -> UInt64 {
    let spacing = age.map { $0 >= Self.spacingMilliseconds ? 0 : Self.spacingMilliseconds - $0 } ?? 0
    return max(spacing, forbiddenUntil?.milliseconds(since: instant) ?? 0)
  }

  /// A token was made, with `iat` of this moment. It is not used before it is written down: ``written()``, or
  /// ``mintingFailed()``. Until then nothing else is to be written.
  ///
  /// - Returns: what is to be written down.
  public mutating func minted(_ token: String, at moment: PushMoment) -> Kept {
    let next = Kept(
      keyID: keyID, token: token, mintedAt: moment.unixSeconds, serial: (kept?.serial ?? 0) &+ 1)
    draft = (next, moment.instant)
    return next
  }

  /// The token that was made is written down, and used from now on; unless APNs has forbidden another since it was to
  /// be made. Then the one before it continues.
  ///
  /// - Returns: what is to be written down in its place; nil when there is nothing.
  public mutating func written() -> Kept? {
    guard let draft else { return nil }
    let forbidden = mintingFailed()
    if let forbidden { return forbidden }
    kept = draft.kept
    anchor = draft.at
    ageAtAnchor = 0
    isRefused = false
    isDoubted = false
    complaint = nil
    forbiddenUntil = nil
    return nil
  }

  /// None could be made, or written down.
  ///
  /// - Returns: what is to be written down now; nil when there is nothing.
  @discardableResult
  public mutating func mintingFailed() -> Kept? {
    defer { isForbiddenMeanwhile = false }
    isMinting = false
    draft = nil
    return isForbiddenMeanwhile ? kept : nil
  }

  /// APNs answered `ExpiredProviderToken` or `InvalidProviderToken` to a push that carried the token of this serial.
  ///
  /// - Returns: what that is for the push: one to be sent again with another token, or, where there is none yet, a
  ///   fault that holds the provider.
  @discardableResult
  public mutating func refused(
    serial: UInt64, _ reason: PushReason = "ExpiredProviderToken", at instant: Instant
  ) -> PushVerdict {
    guard serial == kept?.serial else { return .renewCredential(reason) }
    if reason == "InvalidProviderToken" { isDoubted = true } else { isRefused = true }
    complaint = reason
    return wait(at: instant, age: age(at: instant)) > 0 ? .providerFault(reason) : .renewCredential(reason)
  }

  /// APNs has looked at a push that carried the token of this serial: it takes the token.
  public mutating func accepted(serial: UInt64) {
    guard serial == kept?.serial, !isRefused else { return }
    isDoubted = false
    complaint = nil
  }

  /// APNs answered `TooManyProviderTokenUpdates`: no other token for a while.
  ///
  /// - Returns: what is to be written down; nil when there is nothing, or when a token is being written down: behind
  ///   that one it would stand over it.
  public mutating func updatedTooOften(at moment: PushMoment) -> Kept? {
    forbiddenUntil = moment.instant.advanced(milliseconds: Self.spacingMilliseconds)
    complaint = "TooManyProviderTokenUpdates"
    kept?.forbiddenUntil = moment.unixSeconds + Int64(Self.spacingMilliseconds / 1_000)
    if isMinting { isForbiddenMeanwhile = true }
    return isMinting ? nil : kept
  }
}
