public import Frames

// `store.reconcile.*`: NIP-77 with what is stored. The store answers, as a relay does; whoever asks brings the messages
// of his client to it and the store's back.
//
//     store.reconcile.open    JSON: ReconcileOpen      a part, RAW: ReconcileMessage
//     store.reconcile.next    RAW: ReconcileMessage    RAW: ReconcileMessage
//     store.reconcile.close   JSON: ReconcileClose     nothing
//
// The request `store.reconcile.open` stays open as long as its session: so the session ends with its caller's
// connection, or when he cancels it, and he hears of it when the store ends it. Rejected: an answer at once and a
// number that is good until it is not, of whose end nobody could be told.

/// `store.reconcile.open`: the events that a filter matches now are to be reconciled with the caller's.
///
/// The one part of the answer is a ``ReconcileMessage``. The request then stays open until `store.reconcile.close` (its
/// answer is a ``ReconcileEnd``), until it is cancelled, or until the store refuses it: `idle`, `unavailable`.
///
/// Refused at once: `too-many` when the filter matches more than ``recordMaximum`` (NIP-77: `blocked`), `full` when too
/// many sessions, or records of all of them, are there already, `bad-payload` when the message cannot be read.
public struct ReconcileOpen: OneFilterArguments {
  /// How it is asked.
  public static let example =
    #"{"filter":{"kinds":[1]},"message":"6100000200","recipients":["#
    + #""82341f882b6eabcd2ba7f1ef90aad961cf074af15b9ef44a09f9d2a8fbfbe6a2"]}"#

  /// A NIP-01 filter. Its `limit`, if there is one, takes the newest.
  public var filter: JSONValue
  /// The first message, as hexadecimal digits.
  public var message: String
  /// Whose gift wraps may be reconciled: see ``RecipientList``.
  public var recipients: [String]?

  /// Most events of one session.
  public static let recordMaximum = 1_000_000
  /// Sessions of one caller, and of all.
  public static let callerMaximum = 64
  /// Sessions of all callers.
  public static let sessionMaximum = 128
  /// Without a message for so long a session ends.
  public static let idleMilliseconds: UInt64 = 60_000
  /// Bytes of a message to the store, before they are digits. Its own have 60,000 at most.
  public static let messageByteMaximum = 512 << 10

  /// A reconciliation.
  public init(filter: JSONValue, message: String, recipients: [String]? = nil) {
    self.filter = filter
    self.message = message
    self.recipients = recipients
  }

  /// Recipients that are too many, or no keys.
  public var objection: String? { RecipientList.objection(to: recipients) }
}

/// A message of a session, RAW: `i64 session` (little-endian), and then its bytes (NIP-77, without hexadecimal digits).
///
/// `store.reconcile.next` is refused as `no-such-session` when the caller has none of this number, and as `bad-payload`
/// when the message cannot be read; then the session goes on.
public struct ReconcileMessage: Sendable, Hashable {
  /// The session's number, from 1.
  public var session: Int64
  /// The message.
  public var bytes: [UInt8]

  /// Bytes before the message.
  public static let headerByteCount = 8

  /// A message.
  public init(session: Int64, bytes: [UInt8]) {
    self.session = session
    self.bytes = bytes
  }

  /// Reads a payload; nil when it has no number.
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

/// `store.reconcile.close`: the session is over. Refused as `no-such-session` when the caller has none of this number.
public struct ReconcileClose: MethodArguments {
  /// How it is asked.
  public static let example = #"{"session":1}"#

  /// The session's number.
  public var session: Int64

  /// The end of a session.
  public init(session: Int64) { self.session = session }
}

/// How a session went; the answer to a `store.reconcile.open` that was closed.
public struct ReconcileEnd: Codable, Sendable, Hashable {
  /// Events that were reconciled.
  public var records: Int

  /// A session of so many events.
  public init(records: Int) { self.records = records }
}

extension RefusalCode {
  /// The filter matches more events than one session may have.
  public static let tooMany: RefusalCode = "too-many"
  /// The caller has no session of this number.
  public static let noSuchSession: RefusalCode = "no-such-session"
  /// No message has come for too long.
  public static let idle: RefusalCode = "idle"
}
