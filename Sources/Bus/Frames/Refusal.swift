/// A stable word for the reason of a refusal or of a closed connection. Programs compare it; people read the message
/// beside it.
///
/// The set is open: a worker's own methods may use further words (`no-such-relay`), in lower case with hyphens.
public struct RefusalCode: RawRepresentable, Hashable, Sendable, Codable, ExpressibleByStringLiteral,
  CustomStringConvertible
{
  /// The word itself.
  public let rawValue: String
  /// Takes a word as it was received.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// Takes a word of the source code.
  public init(stringLiteral value: String) { rawValue = value }
  /// The word itself.
  public var description: String { rawValue }

  // Violations: the connection is closed.

  /// A length field out of bounds.
  public static let badLength: RefusalCode = "bad-length"
  /// A version byte that is not 1.
  public static let badVersion: RefusalCode = "bad-version"
  /// An unknown frame type, or one this peer may not send.
  public static let unknownType: RefusalCode = "unknown-type"
  /// A flag bit without a meaning.
  public static let unknownFlags: RefusalCode = "unknown-flags"
  /// A header field that a peer must leave at zero, such as `source`.
  public static let forgedSource: RefusalCode = "forged-source"
  /// A frame sent without enough credit.
  public static let noCredit: RefusalCode = "no-credit"
  /// An id that is not greater than the one before.
  public static let idNotIncreasing: RefusalCode = "id-not-increasing"
  /// A frame out of turn: before HELLO, a second HELLO, READY twice.
  public static let outOfTurn: RefusalCode = "out-of-turn"
  /// A payload that does not have the form that its type requires.
  public static let badPayload: RefusalCode = "bad-payload"
  /// No HELLO within the deadline, or a frame that stayed incomplete.
  public static let tooSlow: RefusalCode = "too-slow"
  /// The peer does not read what it requested.
  public static let notReading: RefusalCode = "not-reading"

  // Refused at the greeting.

  /// A token that was never issued, was used before, or has expired.
  public static let badToken: RefusalCode = "bad-token"
  /// A process of another user, or a descendant of a managed worker.
  public static let notPermitted: RefusalCode = "not-permitted"
  /// No free seat, or a limit of this kind is reached.
  public static let full: RefusalCode = "full"
  /// A running worker has the name.
  public static let nameTaken: RefusalCode = "name-taken"

  // Answers to requests.

  /// No such method, topic or role in the registry.
  public static let unknownMethod: RefusalCode = "unknown-method"
  /// The endpoint no longer exists.
  public static let gone: RefusalCode = "gone"
  /// The access table does not allow it.
  public static let denied: RefusalCode = "denied"
  /// No worker serves it now, and no restart is under way.
  public static let unavailable: RefusalCode = "unavailable"
  /// The time to live has ended.
  public static let expired: RefusalCode = "expired"
  /// The caller cancelled it.
  public static let cancelled: RefusalCode = "cancelled"
  /// The worker died while it handled the request.
  public static let workerDied: RefusalCode = "worker-died"
  /// Delivered three times, and the worker died each time: kept as a dead letter.
  public static let quarantined: RefusalCode = "quarantined"
  /// The arguments are not valid.
  public static let badRequest: RefusalCode = "bad-request"
  /// A fault in the worker; the message says which.
  public static let failed: RefusalCode = "failed"
}

/// Whether refused work was begun: it decides whether a retry is safe.
public enum Outcome: String, Codable, Sendable {
  /// Nothing happened; a retry is safe.
  case notStarted = "not-started"
  /// It may or may not have happened.
  case unknown
  /// It happened; only the answer was lost.
  case done
}

/// Which cause, for a code that has several, as a word for programs: no logic reads the message. A reader may receive
/// words that it does not know.
public struct RefusalReason: RawRepresentable, Hashable, Sendable, Codable, ExpressibleByStringLiteral {
  /// The word itself.
  public let rawValue: String
  /// Takes a word as it was received.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// Takes a word of the source code.
  public init(stringLiteral value: String) { rawValue = value }

  /// `unavailable`: supervisor.conf has no worker of the role. A worker that failed or was stopped is a different case.
  public static let notConfigured: RefusalReason = "not-configured"
  /// The connection ended before the answer: this side reports it, not a worker.
  public static let connectionEnded: RefusalReason = "connection-ended"
}

/// The payload of ERROR and FATAL, JSON:
/// `{"code":"expired","message":"…","outcome":"not-started","retryAfterMilliseconds":3000}`.
public struct Refusal: Error, Codable, Hashable, Sendable {
  /// The stable word.
  public var code: RefusalCode
  /// A sentence: what happened, where, and what to do.
  public var message: String
  /// Whether the work was begun. Absent in FATAL.
  public var outcome: Outcome?
  /// After how many milliseconds a retry makes sense, if that is known.
  public var retryAfterMilliseconds: UInt32?
  /// Which cause of the code it is; absent when the code has only one.
  public var reason: RefusalReason?

  /// A refusal; `outcome` says whether the work was begun.
  public init(
    _ code: RefusalCode, _ message: String, outcome: Outcome? = nil, retryAfterMilliseconds: UInt32? = nil,
    reason: RefusalReason? = nil
  ) {
    self.reason = reason
    self.code = code
    self.message = message
    self.outcome = outcome
    self.retryAfterMilliseconds = retryAfterMilliseconds
  }
}
