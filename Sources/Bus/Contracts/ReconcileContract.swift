public import Frames

// `store.reconcile.*`: NIP-77 with the stored events. With `open` the store takes the part of a relay; the caller
// passes messages between its client and the store.
//
//     store.reconcile.open    JSON: ReconcileOpen      a part, RAW: ReconcileMessage
//     store.reconcile.next    RAW: ReconcileMessage    RAW: ReconcileMessage
//     store.reconcile.close   JSON: ReconcileClose     nothing
//
// With `begin` the store takes the part of a client: see ReconcileBegin.
//
// The request `store.reconcile.open` stays open as long as its session. So the session ends with its caller's
// connection, or when the caller cancels the request, and the caller learns when the store ends it. Rejected: an
// immediate answer with a session number, because the store could not report the end of such a session.

/// `store.reconcile.open`: reconciles the events that a filter matches now with the caller's.
///
/// The one part of the answer is a ``ReconcileMessage``. The request then stays open until `store.reconcile.close` (its
/// answer is a ``ReconcileEnd``), until the caller cancels it, or until the store refuses it: `idle`, `unavailable`.
///
/// Refused immediately: `too-many` when the filter matches more than ``recordMaximum`` events (NIP-77: `blocked`),
/// `full` when there are already too many sessions, or too many records in all of them, `bad-payload` when the message
/// cannot be read.
public struct ReconcileOpen: OneFilterArguments {
  /// An example of the arguments.
  public static let example =
    #"{"filter":{"kinds":[1]},"message":"6100000200","recipients":["#
    + #""82341f882b6eabcd2ba7f1ef90aad961cf074af15b9ef44a09f9d2a8fbfbe6a2"]}"#

  /// A NIP-01 filter. With a `limit`, only the newest events that match.
  public var filter: JSONValue
  /// The first message, as hexadecimal digits.
  public var message: String
  /// The keys whose gift wraps may be reconciled: see ``RecipientList``.
  public var recipients: [String]?

  /// The maximum number of events of one session.
  public static let recordMaximum = 1_000_000
  /// The maximum number of sessions of one caller.
  public static let callerMaximum = 64
  /// The maximum number of sessions of all callers.
  public static let sessionMaximum = 128
  /// A session ends after so long without a message.
  public static let idleMilliseconds: UInt64 = 60_000
  /// The longest message to the store, in bytes before hexadecimal encoding. The store's own messages have at most
  /// 60,000.
  public static let messageByteMaximum = 512 << 10

  /// A reconciliation.
  public init(filter: JSONValue, message: String, recipients: [String]? = nil) {
    self.filter = filter
    self.message = message
    self.recipients = recipients
  }

  /// Too many recipients, or one that is not a key.
  public var objection: String? { RecipientList.objection(to: recipients) }
}

/// A message of a session, RAW: `i64 session` (little-endian), and then the message's bytes (NIP-77, without
/// hexadecimal digits).
///
/// `store.reconcile.next` is refused as `no-such-session` when the caller has no session of this number, and as
/// `bad-payload` when the message cannot be read; the session then continues.
public struct ReconcileMessage: Sendable, Hashable {
  /// The session's number, from 1.
  public var session: Int64
  /// The message.
  public var bytes: [UInt8]

  /// The size of the session number before the message, in bytes.
  public static let headerByteCount = 8

  /// A message.
  public init(session: Int64, bytes: [UInt8]) {
    self.session = session
    self.bytes = bytes
  }

  /// Reads a payload; nil when it is too short for a session number.
  public init?(payload: [UInt8]) {
    guard payload.count >= Self.headerByteCount else { return nil }
    session = Int64(bitPattern: LittleEndian.number(payload, 0, Self.headerByteCount))
    bytes = Array(payload[Self.headerByteCount...])
  }

  /// The payload.
  public var payload: [UInt8] {
    var payload: [UInt8] = []
    payload.reserveCapacity(Self.headerByteCount + bytes.count)
    LittleEndian.append(UInt64(bitPattern: session), Self.headerByteCount, to: &payload)
    return payload + bytes
  }
}

/// `store.reconcile.close`: ends the session. Refused as `no-such-session` when the caller has no session of this
/// number.
public struct ReconcileClose: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"session":1}"#

  /// The session's number.
  public var session: Int64

  /// The end of a session.
  public init(session: Int64) { self.session = session }
}

/// The result of a session; the answer to a `store.reconcile.open` that was closed.
public struct ReconcileEnd: Codable, Sendable, Hashable {
  /// Events that were reconciled.
  public var records: Int

  /// The result of a session.
  public init(records: Int) { self.records = records }
}

extension RefusalCode {
  /// The filter matches more events than one session may have.
  public static let tooMany: RefusalCode = "too-many"
  /// The caller has no session of this number.
  public static let noSuchSession: RefusalCode = "no-such-session"
  /// No message arrived for too long.
  public static let idle: RefusalCode = "idle"
}
