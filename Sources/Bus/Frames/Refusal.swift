/// A stable word for why work was refused or a connection cut. Programs compare it; people read the message beside it.
///
/// Open-ended: a worker's own methods may use further words (`no-such-relay`); they keep lower case and hyphens.
public struct RefusalCode: RawRepresentable, Hashable, Sendable, Codable, ExpressibleByStringLiteral,
  CustomStringConvertible
{
  /// The word itself.
  public let rawValue: String
  /// Takes a word as it came.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// Takes a word as it stands in the source.
  public init(stringLiteral value: String) { rawValue = value }
  /// The word itself.
  public var description: String { rawValue }

  // Violations: the connection is cut.

  /// A length field out of bounds.
  public static let badLength: RefusalCode = "bad-length"
  /// A version byte other than 1.
  public static let badVersion: RefusalCode = "bad-version"
  /// An unknown frame type, or one this peer may not send.
  public static let unknownType: RefusalCode = "unknown-type"
  /// A flag bit without a meaning.
  public static let unknownFlags: RefusalCode = "unknown-flags"
  /// A header field that a peer must leave at zero, such as `source`.
  public static let forgedSource: RefusalCode = "forged-source"
  /// A frame sent beyond the credit granted.
  public static let noCredit: RefusalCode = "no-credit"
  /// An id that is not greater than the last one.
  public static let idNotIncreasing: RefusalCode = "id-not-increasing"
  /// A frame out of turn: before HELLO, a second HELLO, READY twice.
  public static let outOfTurn: RefusalCode = "out-of-turn"
  /// A payload that is not what its type demands.
  public static let badPayload: RefusalCode = "bad-payload"
  /// No HELLO within the deadline, or a frame that stayed half-sent.
  public static let tooSlow: RefusalCode = "too-slow"
  /// The peer does not read what it asked for.
  public static let notReading: RefusalCode = "not-reading"

  // Refused at the door.

  /// A token that was never issued, was used, or has expired.
  public static let badToken: RefusalCode = "bad-token"
  /// Another user's process, or a descendant of a managed worker.
  public static let notPermitted: RefusalCode = "not-permitted"
  /// No seat, or a bound of this kind is reached.
  public static let full: RefusalCode = "full"
  /// The name is taken by a running worker.
  public static let nameTaken: RefusalCode = "name-taken"

  // Answers to requests.

  /// No such method, topic or role in the registry.
  public static let unknownMethod: RefusalCode = "unknown-method"
  /// The endpoint is not there any more.
  public static let gone: RefusalCode = "gone"
  /// The access table does not allow it.
  public static let denied: RefusalCode = "denied"
  /// Nobody serves it now, and no restart is under way.
  public static let unavailable: RefusalCode = "unavailable"
  /// The time to live ran out.
  public static let expired: RefusalCode = "expired"
  /// The caller gave up.
  public static let cancelled: RefusalCode = "cancelled"
  /// The worker died with the work in hand.
  public static let workerDied: RefusalCode = "worker-died"
  /// Delivered three times and the worker died each time: kept as a dead letter.
  public static let quarantined: RefusalCode = "quarantined"
  /// The arguments make no sense.
  public static let badRequest: RefusalCode = "bad-request"
  /// The world failed in the worker; the message says how.
  public static let failed: RefusalCode = "failed"
}

/// Whether refused work was begun: what makes "try again" a safe or an unsafe thing to do.
public enum Outcome: String, Codable, Sendable {
  /// Nothing happened; asking again is safe.
  case notStarted = "not-started"
  /// It may or may not have happened.
  case unknown
  /// It happened; only the answer was lost.
  case done
}

/// Why, of a code that has several causes, as a word for programs: no logic reads the message. There may be words that
/// a reader does not know.
public struct RefusalReason: RawRepresentable, Hashable, Sendable, Codable, ExpressibleByStringLiteral {
  /// The word itself.
  public let rawValue: String
  /// Takes a word as it came.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// Takes a word as it stands in the source.
  public init(stringLiteral value: String) { rawValue = value }

  /// `unavailable`: supervisor.conf has no worker of the role. One that has failed or was stopped is another matter.
  public static let notConfigured: RefusalReason = "not-configured"
  /// The connection ended before the answer: this side says so, and no worker.
  public static let connectionEnded: RefusalReason = "connection-ended"
}

/// The payload of ERROR and FATAL, JSON:
/// `{"code":"expired","message":"…","outcome":"not-started","retryAfterMilliseconds":3000}`.
public struct Refusal: Error, Codable, Hashable, Sendable {
  /// The stable word.
  public var code: RefusalCode
  /// A sentence: what happened, where, what to do.
  public var message: String
  /// Whether the work was begun. Absent in FATAL.
  public var outcome: Outcome?
  /// When asking again makes sense, if that is known.
  public var retryAfterMilliseconds: UInt32?
  /// Which cause of the code it is; absent where the code says all.
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
