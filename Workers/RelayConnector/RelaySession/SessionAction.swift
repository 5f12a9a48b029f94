public import Clocks
public import Cryptography
public import Nostr

/// The name of one request. The caller chooses it; two requests under way must not have the same one.
public struct RequestKey: Hashable, Sendable {
  /// The caller's number.
  public let rawValue: UInt64
  /// A key of the caller's number.
  public init(_ rawValue: UInt64) { self.rawValue = rawValue }
}

/// The name of one publish. The caller chooses it; two publishes under way must not have the same one.
public struct PublishKey: Hashable, Sendable {
  /// The caller's number.
  public let rawValue: UInt64
  /// A key of the caller's number.
  public init(_ rawValue: UInt64) { self.rawValue = rawValue }
}

/// Names a request or a publish.
public enum WorkKey: Hashable, Sendable {
  /// A request.
  case request(RequestKey)
  /// A publish.
  case publish(PublishKey)
}

/// What a relay may send at any time without an answer; the reports of it are bounded.
public enum RemarkKind: String, Sendable, Hashable {
  /// NOTICE: words for people.
  case notice = "NOTICE"
  /// AUTH: a challenge.
  case challenge = "AUTH"
}

/// What a request is for.
public enum RequestMode: Sendable, Hashable {
  /// The stored events only. It ends with EOSE, which must come before the deadline.
  case stored
  /// Stored events, then new ones until cancelled. The deadline bounds the wait for the connection only.
  case live
}

/// Whether failed work was begun.
public enum WorkOutcome: String, Sendable {
  /// Nothing was done, or nothing that changed the relay: a retry is safe.
  case notStarted = "not-started"
  /// The relay may or may not have taken the event.
  case unknown
}

/// Why a request or a publish failed.
public struct WorkFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// A stable word.
  public enum Code: String, Sendable {
    /// An attempt to connect failed, or was not over before the deadline.
    case relayUnreachable = "relay-unreachable"
    /// The connection ended with the work under way. `disconnected` is another code: the caller's bus ended.
    case disconnected = "relay-disconnected"
    /// The relay sent CLOSED.
    case closedByRelay = "closed-by-relay"
    /// Connected, and no answer before the deadline.
    case timedOut = "timed-out"
    /// The relay asked for an authentication, and it was not possible or the relay did not accept it.
    case notAuthenticated = "not-authenticated"
    /// The relay asked for an authentication, and nothing was signed: the account is locked, or the signer is away.
    /// That is a matter of this machine and may end at any moment, so the next work asks the signer again.
    case notSigned = "not-signed"
    /// The relay takes protected events from any client, so it gets none (NIP-70).
    case notProtected = "not-protected"
    /// The event needs its author's authentication (NIP-70), and ``RelaySession/shownKey`` shows no account.
    case notShown = "not-shown"
    /// The connection would lead, or led, to this Roost's own relay. It is useless, and will stay so.
    case ownRelay = "own-relay"
    /// A limit of ``SessionLimits`` is reached.
    case full
    /// The relay had no free subscription for too long.
    case noSlot = "no-slot"
    /// The message is larger than the relay takes.
    case tooLarge = "too-large"
    /// The relay answered a reconciliation with a NOTICE that it does not know the message (NIP-77).
    case noReconciliation = "no-reconciliation"
    /// The event is beyond a bound that the relay publishes (NIP-11).
    case outOfBounds = "out-of-bounds"
    /// The caller is closing the session.
    case closing
  }

  /// The word.
  public let code: Code
  /// What happened, as the end of a sentence.
  public let message: String
  /// Whether the work was begun. A REQ changes nothing, so a retry is always safe.
  public let outcome: WorkOutcome
  /// The relay's own reason, with CLOSED or NEG-ERR.
  public let reason: RelayReason?
  /// The most records that the relay compares, if its NEG-ERR says so (NIP-77).
  public let recordCountMaximum: Int?
  /// How long the session will not dial the relay, with `relay-unreachable`.
  public let retryAfterMilliseconds: UInt64?

  init(
    _ code: Code, _ message: String, _ outcome: WorkOutcome = .notStarted, reason: RelayReason? = nil,
    recordCountMaximum: Int? = nil, retryAfterMilliseconds: UInt64? = nil
  ) {
    self.code = code
    self.message = message
    self.outcome = outcome
    self.reason = reason
    self.recordCountMaximum = recordCountMaximum
    self.retryAfterMilliseconds = retryAfterMilliseconds
  }

  /// The sentence.
  public var description: String { "\(code.rawValue): \(message)" }
}

/// Why an attempt to connect failed: what matters for the next attempt.
public struct ConnectFailure: Hashable, Sendable {
  /// The reason, for the failures of the waiting work.
  public var message: String
  /// The name was not resolved: most often the relay is gone, or the machine is offline.
  public var isNameFailure: Bool
  /// The address is that of this Roost's own relay: the work fails with `own-relay`, and the caller should not dial it
  /// again.
  public var isOwnRelay: Bool
  /// The server asked for no attempt within this time.
  public var retryAfterMilliseconds: UInt64?

  /// A failure.
  public init(
    message: String, isNameFailure: Bool = false, isOwnRelay: Bool = false, retryAfterMilliseconds: UInt64? = nil
  ) {
    self.message = message
    self.isNameFailure = isNameFailure
    self.isOwnRelay = isOwnRelay
    self.retryAfterMilliseconds = retryAfterMilliseconds
  }
}

/// What the shell of a ``RelaySession`` does, in order.
public enum SessionAction: Hashable, Sendable {
  /// Connect; report `connected` or `connectFailed` with this number.
  case connect(attempt: UInt64)
  /// Drop that attempt, with everything that has come or will come of it.
  case abandonConnect(attempt: UInt64)
  /// Close the connection; report `disconnected` when it has ended.
  case close(code: UInt16, reason: String)
  /// Ping the relay, and end the connection if nothing comes within this time.
  case checkConnection(withinMilliseconds: UInt64)
  /// Send this text message.
  case send([UInt8])
  /// The REQ of this request goes out now, for the first time or again: from here the relay owes its answer.
  case requestSent(RequestKey)
  /// Deliver the event in this range of the message just received.
  case deliver(RequestKey, event: Range<Int>)
  /// EOSE came. With `isOver` the request is done and its key free; otherwise live events follow.
  case endStoredEvents(RequestKey, completeness: RelayMessage.Completeness, isOver: Bool)
  /// The relay's next message of a reconciliation came: its bytes.
  case passReconciliation(RequestKey, message: [UInt8])
  /// The request is over; its key is free.
  case failRequest(RequestKey, WorkFailure)
  /// The relay's OK; the key is free.
  case answer(PublishKey, isAccepted: Bool, reason: RelayReason)
  /// The publish is over without an OK; its key is free.
  case failPublish(PublishKey, WorkFailure)
  /// Report a NOTICE of the relay.
  case reportNotice(RelayReason)
  /// Pass the NOTICE to work under way at the relay. It may be about that work: a NOTICE names none.
  case passNotice(WorkKey, RelayReason)
  /// Report that so many messages of a kind were left out before the next one.
  case reportLeftOut(RemarkKind, UInt64)
  /// Report that ``RelaySession/policy`` has changed.
  case reportPolicy
  /// Report the challenge that the relay sent (NIP-42).
  case reportChallenge(String)
  /// Have the signer sign the challenge for this account; report `authenticationSigned` or `authenticationFailed`.
  case authenticate(PublicKey, challenge: String)
  /// Make an empty event, ephemeral and protected, signed by a key made for it (NIP-70); report it with `probeMade`.
  case makeProbe
  /// Stop reading from the relay.
  case pauseReading
  /// Read from the relay again.
  case resumeReading
  /// Call `timerFired` at this instant; it replaces any earlier one.
  case setTimer(Instant)
  /// No `timerFired` is needed.
  case cancelTimer
}
