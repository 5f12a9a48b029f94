public import Clocks

// The provider token that all pushes to APNs carry: a JWT that we sign. Apple wants a new token at least every 60
// minutes and at most every 20, counts tokens over all connections of a key, and locks out a connection that received
// too many. So:
//
// - a token is used for 50 minutes;
// - no token is made within 20 minutes of the last one, whatever happens, even after a restart: a token is written to
//   the ledger before it is used, and the next process continues with it;
// - when a hundred pushes return with `ExpiredProviderToken`, the first one marks the token as refused. The serial
//   number shows that the others were sent with the same token;
// - `TooManyProviderTokenUpdates` makes no new token: it forbids one for 20 minutes;
// - when a token is refused and no new one may be made yet, the provider has a fault and a person is notified: wrong
//   identifiers in the settings cause this, and so does a wrong clock. `InvalidProviderToken` may pass without a new
//   token, once all of Apple's servers know a new key: single probes continue with the same token, which Apple does not
//   count.
//
// Ages are counted on the monotonic clock, starting with the wall clock's time at the start of the process. A clock
// that was set back makes a token look younger than it is, but never makes the next one earlier.

/// The age of APNs' provider token, and when it is replaced.
public struct AppleCredential: Sendable {
  /// What the ledger keeps from one process to the next. The token is valid for an hour, so it must be encrypted.
  public struct Kept: Codable, Hashable, Sendable {
    /// The id of the key that signed it; another key has tokens of its own.
    public var keyID: String
    /// The JWT.
    public var token: String
    /// Unix seconds when it was made: its `iat`.
    public var mintedAt: Int64
    /// The number of tokens made with this key.
    public var serial: UInt64
    /// Until when Apple accepts no other token, in Unix seconds; 0 for no limit.
    public var forbiddenUntil: Int64

    /// A token for the ledger.
    public init(keyID: String, token: String, mintedAt: Int64, serial: UInt64, forbiddenUntil: Int64 = 0) {
      self.keyID = keyID
      self.token = token
      self.mintedAt = mintedAt
      self.serial = serial
      self.forbiddenUntil = forbiddenUntil
    }
  }

  /// What a push receives.
  public enum Need: Hashable, Sendable {
    /// This token. A refusal must be reported with this serial.
    case token(String, serial: UInt64)
    /// A token must be made and written now; the outcome must be reported, and until then no other push receives this
    /// answer.
    case mint
    /// A token is being made.
    case minting
    /// There is no token that Apple accepts, and no new one may be made before so many milliseconds.
    case wait(milliseconds: UInt64)
  }

  /// The age at which a new token is made.
  public static let renewalMilliseconds: UInt64 = 50 * 60_000
  /// The age from which Apple no longer accepts a token.
  public static let lifetimeMilliseconds: UInt64 = 60 * 60_000
  /// The shortest time between two tokens.
  public static let spacingMilliseconds: UInt64 = 20 * 60_000

  private let keyID: String
  /// The record for the ledger; nil before the first token.
  public private(set) var kept: Kept?
  private var isRefused = false
  /// Whether APNs called the token invalid: a new one is made as soon as allowed, and until then it is still used.
  private var isDoubted = false
  /// Apple's last complaint about the token; nil while none is known.
  public private(set) var complaint: PushReason?
  private var isMinting = false
  private var anchor: Instant
  private var ageAtAnchor: UInt64 = 0
  private var forbiddenUntil: Instant?
  /// A new token that is being written, and when it was made.
  private var draft: (kept: Kept, at: Instant)?
  /// Whether APNs forbade a new token while one was being made. This is written once the outcome of that write is
  /// known.
  private var isForbiddenMeanwhile = false

  /// Continues where the process before ended.
  ///
  /// - Parameters:
  ///   - keyID: the id of the key that signs tokens.
  ///   - kept: the record in the ledger, if any.
  ///   - moment: now.
  public init(keyID: String, kept: Kept?, at moment: PushMoment) {
    self.keyID = keyID
    anchor = moment.instant
    guard let kept, kept.keyID == keyID else { return }
    self.kept = kept
    ageAtAnchor = Self.milliseconds(from: kept.mintedAt, to: moment.unixSeconds)
    // The wall clock may have been set: not more than the possible maximum is believed.
    let left = min(Self.milliseconds(from: moment.unixSeconds, to: kept.forbiddenUntil), Self.spacingMilliseconds)
    if left > 0 { forbiddenUntil = moment.instant.advanced(milliseconds: left) }
    // A token that is due for renewal is not used: a new connection would receive two tokens within a second.
    if left == 0, ageAtAnchor >= Self.renewalMilliseconds { isRefused = true }
  }

  /// The time from one wall-clock second to a later one; 0 when it is not later, and at most a day.
  private static func milliseconds(from earlier: Int64, to later: Int64) -> UInt64 {
    let (seconds, overflowed) = later.subtractingReportingOverflow(earlier)
    if later <= earlier { return 0 }
    return overflowed ? 86_400_000 : UInt64(min(seconds, 86_400)) * 1_000
  }

  /// Milliseconds since the token was made; nil without one.
  public func age(at instant: Instant) -> UInt64? {
    kept == nil ? nil : ageAtAnchor.addingReportingOverflow(instant.milliseconds(since: anchor)).partialValue
  }

  /// A push needs a token.
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

  /// A token was made, with `iat` of this moment. It is not used before it is written: then call ``written()``, or
  /// ``mintingFailed()``. Until then nothing else may be written.
  ///
  /// - Returns: the record to write.
  public mutating func minted(_ token: String, at moment: PushMoment) -> Kept {
    let next = Kept(
      keyID: keyID, token: token, mintedAt: moment.unixSeconds, serial: (kept?.serial ?? 0) &+ 1)
    draft = (next, moment.instant)
    return next
  }

  /// The new token is written and is used from now on, unless APNs forbade a new token while it was being made. Then
  /// the token before it continues.
  ///
  /// - Returns: the record to write instead; nil when there is nothing to write.
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

  /// No token could be made or written.
  ///
  /// - Returns: the record to write now; nil when there is nothing to write.
  @discardableResult
  public mutating func mintingFailed() -> Kept? {
    defer { isForbiddenMeanwhile = false }
    isMinting = false
    draft = nil
    return isForbiddenMeanwhile ? kept : nil
  }

  /// APNs answered `ExpiredProviderToken` or `InvalidProviderToken` to a push with the token of this serial.
  ///
  /// - Returns: the verdict for the push: it is sent again with another token, or, while no new token may be made, it
  ///   is a fault that holds the provider.
  @discardableResult
  public mutating func refused(
    serial: UInt64, _ reason: PushReason = "ExpiredProviderToken", at instant: Instant
  ) -> PushVerdict {
    guard serial == kept?.serial else { return .renewCredential(reason) }
    if reason == "InvalidProviderToken" { isDoubted = true } else { isRefused = true }
    complaint = reason
    return wait(at: instant, age: age(at: instant)) > 0 ? .providerFault(reason) : .renewCredential(reason)
  }

  /// APNs accepted the token of this serial in a push.
  public mutating func accepted(serial: UInt64) {
    guard serial == kept?.serial, !isRefused else { return }
    isDoubted = false
    complaint = nil
  }

  /// APNs answered `TooManyProviderTokenUpdates`: no new token for a while.
  ///
  /// - Returns: the record to write; nil when there is nothing to write, or while a new token is being written, because
  ///   this record would overwrite it.
  public mutating func updatedTooOften(at moment: PushMoment) -> Kept? {
    forbiddenUntil = moment.instant.advanced(milliseconds: Self.spacingMilliseconds)
    complaint = "TooManyProviderTokenUpdates"
    kept?.forbiddenUntil = moment.unixSeconds + Int64(Self.spacingMilliseconds / 1_000)
    if isMinting { isForbiddenMeanwhile = true }
    return isMinting ? nil : kept
  }
}
