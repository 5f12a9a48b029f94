public import Clocks
public import Cryptography
public import Nostr

/// Names one request of the caller's, who chooses it and does not use it twice at a time.
public struct RequestKey: Hashable, Sendable {
  /// The caller's number.
  public let rawValue: UInt64
  /// A key of the caller's number.
  public init(_ rawValue: UInt64) { self.rawValue = rawValue }
}

/// Names one publish of the caller's, who chooses it and does not use it twice at a time.
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

/// What a relay says that has no answer, and that is told with a bound.
public enum RemarkKind: String, Sendable, Hashable {
  /// NOTICE: words for people.
  case notice = "NOTICE"
  /// AUTH: a challenge.
  case challenge = "AUTH"
}

/// What a request is for.
public enum RequestMode: Sendable, Hashable {
  /// The stored events only: over with EOSE, which must come before the deadline.
  case stored
  /// Stored events, then new ones until cancelled. The deadline bounds the wait for the connection only.
  case live
}

/// Whether failed work was begun.
public enum WorkOutcome: String, Sendable {
  /// Nothing was done, or what was done changed nothing: asking again is safe.
  case notStarted = "not-started"
  /// The relay may or may not have taken the event.
  case unknown
}

/// Why a request or a publish came to nothing.
public struct WorkFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// A stable word.
  public enum Code: String, Sendable {
    /// An attempt to connect failed, or was not over before the deadline.
    case relayUnreachable = "relay-unreachable"
    /// The connection ended with the work under way. Not `disconnected`: that is the caller's own end of the bus.
    case disconnected = "relay-disconnected"
    /// The relay sent CLOSED.
    case closedByRelay = "closed-by-relay"
    /// Connected, and no answer before the deadline.
    case timedOut = "timed-out"
    /// The relay wants to know who asks, and could not be told, or did not like the answer.
    case notAuthenticated = "not-authenticated"
    /// The same, and nobody has signed: the account is locked, or the signer away. That is this machine's own matter
    /// and may be over at any moment, so the signer is asked again by the next work.
    case notSigned = "not-signed"
    /// The relay takes protected events from anybody, so it gets none (NIP-70).
    case notProtected = "not-protected"
    /// The connection would be, or was, one with this house's own relay: it is of no use, and never will be.
    case ownRelay = "own-relay"
    /// A bound of ``SessionLimits`` is reached.
    case full
    /// The session was asked to close.
    case closing
  }

  /// The word.
  public let code: Code
  /// A sentence's end.
  public let message: String
  /// Whether it was begun. A REQ changes nothing: it is always safe to ask again.
  public let outcome: WorkOutcome
  /// The relay's own reason, with CLOSED.
  public let reason: RelayReason?
  /// How long the relay will not be dialled, with `relay-unreachable`.
  public let retryAfterMilliseconds: UInt64?

  init(
    _ code: Code, _ message: String, _ outcome: WorkOutcome = .notStarted, reason: RelayReason? = nil,
    retryAfterMilliseconds: UInt64? = nil
  ) {
    self.code = code
    self.message = message
    self.outcome = outcome
    self.reason = reason
    self.retryAfterMilliseconds = retryAfterMilliseconds
  }

  /// The sentence.
  public var description: String { "\(code.rawValue): \(message)" }
}

/// Why an attempt to connect failed, as far as it matters for the next one.
public struct ConnectFailure: Hashable, Sendable {
  /// What to tell whoever waits.
  public var message: String
  /// The name could not be looked up: most often a relay that is gone, or a machine that is offline.
  public var isNameFailure: Bool
  /// It has led to this house's own relay: the work fails with `own-relay`, and whoever dials should do so no more.
  public var isOwnRelay: Bool
  /// The server asked to be left alone for so long.
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

/// What the shell of a ``RelaySession`` is to do, in order.
public enum SessionAction: Hashable, Sendable {
  /// Connect; report `connected` or `connectFailed` with this number.
  case connect(attempt: UInt64)
  /// Whatever comes, or has come, of that attempt is to be dropped.
  case abandonConnect(attempt: UInt64)
  /// Close the connection; report `disconnected` when it has ended.
  case close(code: UInt16, reason: String)
  /// Send this text message.
  case send([UInt8])
  /// Hand on the event that stands in this range of the message just received.
  case deliver(RequestKey, event: Range<Int>)
  /// EOSE came. With `isOver` the request is done and its key free; otherwise live events follow.
  case endStoredEvents(RequestKey, completeness: RelayMessage.Completeness, isOver: Bool)
  /// The request is over; its key is free.
  case failRequest(RequestKey, WorkFailure)
  /// The relay's OK; the key is free.
  case answer(PublishKey, isAccepted: Bool, reason: RelayReason)
  /// The publish is over without an OK; its key is free.
  case failPublish(PublishKey, WorkFailure)
  /// The relay says something for people.
  case reportNotice(RelayReason)
  /// The same, to whoever has work at the relay that it may be about: NOTICE names none.
  case passNotice(WorkKey, RelayReason)
  /// Tell that so many messages of a kind were left out before the one that follows.
  case reportLeftOut(RemarkKind, UInt64)
  /// The relay wants a challenge signed (NIP-42).
  case reportChallenge(String)
  /// Have the challenge signed by this account; report `authenticationSigned` or `authenticationFailed`.
  case authenticate(PublicKey, challenge: String)
  /// Make an event that says nothing, ephemeral and protected, signed by a key made for it (NIP-70); report it with
  /// `probeMade`.
  case makeProbe
  /// Stop, or go on, reading from the relay.
  case pauseReading
  /// Go on reading.
  case resumeReading
  /// Call `timerFired` at this instant, and no longer at an earlier one.
  case setTimer(Instant)
  /// No `timerFired` is needed.
  case cancelTimer
}
