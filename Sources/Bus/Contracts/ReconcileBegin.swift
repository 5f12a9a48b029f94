public import Frames

// The asking side of NIP-77: the store compares its events with those of a relay, and a relay-connector carries the
// messages.
//
//     store.reconcile.begin      JSON: ReconcileBegin     a part, RAW: ReconcileMessage; at the end ReconcileFound
//     store.reconcile.received   RAW: ReconcileMessage    parts, RAW: DifferentEvents; at the end RAW: ReconcileMessage
//
// The request `store.reconcile.begin` stays open as long as its session, as `store.reconcile.open` does. It is answered
// when the difference is known and the events that both have are written as seen at the relay. A caller that gives up
// cancels it; then nothing is written.

/// `store.reconcile.begin`: compares the events that a filter matches now with those of a relay.
///
/// The one part of the answer is a ``ReconcileMessage``, the first message for the relay. The relay's answers go to
/// `store.reconcile.received`. The request stays open until the difference is known (its answer is a
/// ``ReconcileFound``), until the caller cancels it, or until the store refuses it: `idle`, `unavailable`.
///
/// Refused immediately: `too-many` when the filter matches more than ``ReconcileOpen/recordMaximum`` events, `full`
/// when there are already too many sessions, or too many records in all of them.
public struct ReconcileBegin: OneFilterArguments {
  /// An example of the arguments.
  public static let example =
    #"{"relay":"wss://relay.example","filter":{"kinds":[1],"since":1700000000,"until":1700086400},"#
    + #""messageByteMaximum":60000}"#

  /// The relay's URL.
  public var relay: String
  /// A NIP-01 filter; its `since` and `until` are the window of time.
  public var filter: JSONValue
  /// The most bytes of a message to the relay, before hexadecimal encoding: 4,096 to 60,000; by default 60,000.
  public var messageByteMaximum: Int?
  /// Whether `store.reconcile.received` also names the events that the relay lacks; default: no.
  public var namesAbsent: Bool?

  /// The maximum number of sessions of one caller.
  public static let callerMaximum = 16
  /// The maximum number of sessions of all callers.
  public static let sessionMaximum = 32
  /// The bounds of ``messageByteMaximum``.
  public static let messageByteRange = 4_096...60_000

  /// A number with bounds.
  public static var ranges: [FieldRange<Self>] {
    [
      FieldRange("messageByteMaximum", from: 4_096, to: 60_000) {
        $0.messageByteMaximum.map(Int64.init)
      }
    ]
  }

  /// A reconciliation with a relay.
  public init(relay: String, filter: JSONValue, messageByteMaximum: Int? = nil, namesAbsent: Bool? = nil) {
    self.relay = relay
    self.filter = filter
    self.messageByteMaximum = messageByteMaximum
    self.namesAbsent = namesAbsent
  }
}

/// The result of a session that the store began.
public struct ReconcileFound: Codable, Sendable, Hashable {
  /// Events of the store that were compared.
  public var records: Int
  /// How many of them the relay has too. Each is now recorded as seen at the relay.
  public var common: Int

  /// A result.
  public init(records: Int, common: Int) { (self.records, self.common) = (records, common) }
}

/// A part of `store.reconcile.received`, RAW: `u8 side`, then ids, 32 bytes each, of events that only one side has. An
/// id of an event that the store lacks may be named again by a later message, and a hostile relay may name ids that
/// exist nowhere. Events that the relay lacks are named only if ``ReconcileBegin/namesAbsent`` is set, each once.
///
/// The answer behind the parts is a ``ReconcileMessage`` with the next message for the relay. It has no bytes when the
/// difference is known: then the relay need not be asked further. Refused: `no-such-session` when the caller has no
/// session of this number, and `bad-payload` when the relay's message cannot be read, or the session has gone on for
/// too many messages; the session then continues, until the caller cancels it.
public struct DifferentEvents: Sendable, Hashable {
  /// Who lacks an event.
  public enum Side: UInt8, Sendable, Hashable, CaseIterable {
    /// The store lacks it, and the relay has it.
    case store
    /// The relay lacks it, and the store has it.
    case relay
  }

  /// Who lacks the events.
  public var lackingSide: Side
  /// The ids, one behind the other.
  public var bytes: [UInt8]

  /// The size of an id in bytes.
  public static let idByteCount = EventIDs.idByteCount
  /// The most ids of a part.
  public static let countMaximum = EventIDs.countMaximum

  /// A part.
  public init(lackingSide: Side, _ bytes: [UInt8]) { (self.lackingSide, self.bytes) = (lackingSide, bytes) }
}

/// Ids of events, RAW: 32 bytes each, one behind the other.
public struct EventIDs: Sendable, Hashable {
  /// The ids.
  public var bytes: [UInt8]

  /// The size of an id in bytes.
  public static let idByteCount = 32
  /// The most ids of one payload.
  public static let countMaximum = 2_000

  /// Ids.
  public init(_ bytes: [UInt8]) { self.bytes = bytes }
}
