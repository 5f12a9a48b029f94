public import Frames

// The methods of role `event-store`, `store.*`. Runs of events, in and out, are in IngestRecords.swift.
//
// Events travel as the bytes that were signed. So an answer with an event is put together around its bytes, and no type
// here contains one.

/// The answer of `store.ingest` and `store.import`, sent when all events that count as stored are committed.
///
/// The request is a run of ``IngestRecord``s, RAW. `store.ingest` uses the live lane, `store.import` the bulk lane.
public struct IngestResult: Codable, Sendable, Hashable {
  /// An event that was rejected.
  public struct Invalid: Codable, Sendable, Hashable {
    /// The index of the record in the run, from 0; records of other kinds count too.
    public var record: Int
    /// Why, as the end of a sentence.
    public var reason: String
    /// The relay that sent it, when the run names it.
    public var relay: String?
    /// The id that it claims; absent when it is no event.
    public var id: String?

    /// An event that was rejected.
    public init(record: Int, reason: String, relay: String? = nil, id: String? = nil) {
      self.record = record
      self.reason = reason
      self.relay = relay
      self.id = id
    }
  }

  /// The maximum number of events in ``invalid``. A caller that wants all of them named sends at most so many events in
  /// a run.
  public static let invalidMaximum = 256
  /// When reasons, relays and ids in ``invalid`` have so many bytes, no further event is added, so that the answer fits
  /// into the smallest frame. Without relays, ``invalidMaximum`` events fit.
  public static let invalidByteCountMaximum = 40 << 10

  /// The most relays in ``storedByRelay``.
  public static let storedRelayMaximum = 64

  /// Events stored now.
  public var stored = 0
  /// Events stored now, by the relay that sent them, where the run names it; at most ``storedRelayMaximum`` relays.
  /// Absent: none.
  public var storedByRelay: [String: Int]?
  /// Events already stored.
  public var duplicate = 0
  /// Events that were stored but damaged; this copy has replaced the damaged one. Absent: none.
  public var mended: Int?
  /// Events that a newer one has replaced.
  public var superseded = 0
  /// Events that their author has deleted.
  public var deleted = 0
  /// Events whose own `expiration` has passed.
  public var expired = 0
  /// Ephemeral events: passed on to observers, and not stored.
  public var ephemeral = 0
  /// Not events, or not signed by their author.
  public var invalidCount = 0
  /// The first of these, at most ``invalidMaximum``.
  public var invalid: [Invalid] = []
  /// The last seq of the store.
  public var seq: Int64 = 0

  /// All counts are 0.
  public init() {}
}

/// The answer of `store.publish`, whose request is the event itself, as JSON. The event is committed.
///
/// Refused: `invalid` (the reason is in the message), `superseded`, `deleted`, `expired-event`, `disk-full`.
public struct PublishResult: Codable, Sendable, Hashable {
  /// The event's id.
  public var id: String
  /// Its place in the order of commits; absent for an ephemeral one.
  public var seq: Int64?
  /// Whether it was not stored before.
  public var isNew: Bool
  /// Whether it was stored but damaged, and this copy has replaced it; absent: no.
  public var isMended: Bool?

  /// A result.
  public init(id: String, seq: Int64?, isNew: Bool, isMended: Bool = false) {
    self.isMended = isMended ? true : nil
    self.id = id
    self.seq = seq
    self.isNew = isNew
  }
}

/// `store.query` and `store.count`: the events that any of the filters matches, each event once, newest first, and
/// within one second the lowest id first. Each part of the answer to `store.query` is one event, or with `pages` an
/// ``EventPage``; the terminal answer of both is a ``StoreCount``.
///
/// The results of a filter with `search` (NIP-50) come first, the best match first, and its `limit` counts in that
/// order; then come the results of the other filters. Words may be in "quotes", and after a hyphen to exclude them;
/// `key:value` is ignored.
public struct StoreQuery: FilterArguments {
  /// An example of the arguments.
  public static let example =
    #"{"filters":[{"kinds":[1]}],"limit":20,"pages":false,"bytes":false,"recipients":["#
    + #""82341f882b6eabcd2ba7f1ef90aad961cf074af15b9ef44a09f9d2a8fbfbe6a2"]}"#

  /// NIP-01 filters; each may have its own `limit`.
  public var filters: [JSONValue]
  /// The maximum number of events of all filters together, from 0.
  public var limit: Int?
  /// Whether parts are pages; ignored by `store.count`, which has no parts.
  public var pages: Bool?
  /// For `store.count`: whether the answer also has the events' bytes and the time of the oldest; refused by
  /// `store.query`. Absent: false.
  public var bytes: Bool?
  /// The keys whose gift wraps the store may send and count: see ``RecipientList``.
  public var recipients: [String]?

  /// A query.
  public init(filters: [JSONValue], limit: Int? = nil, pages: Bool? = nil, recipients: [String]? = nil) {
    self.filters = filters
    self.limit = limit
    self.pages = pages
    self.recipients = recipients
  }

  /// The limit is at least 0.
  public static var ranges: [FieldRange<Self>] { [FieldRange("limit") { $0.limit.map(Int64.init) }] }

  /// Too many recipients, or one that is not a key.
  public var objection: String? { RecipientList.objection(to: recipients) }
}

/// `recipients` of `store.query`, `store.count` and `store.observe`: keys, 64 lower-case hexadecimal digits each. With
/// a list, even an empty one, a gift wrap (NIP-59, kinds 1059 and 21059) counts only if one of its `p` tags names one
/// of the keys. For limits, counts and live events the store behaves as if it had no other gift wraps. Absent: no
/// restriction.
public enum RecipientList {
  /// The maximum number of keys of a list.
  public static let countMaximum = 256

  static func objection(to keys: [String]?) -> String? {
    guard let keys else { return nil }
    guard keys.count <= countMaximum else {
      return "'recipients' has \(keys.count) keys; \(countMaximum) are taken at most"
    }
    let digits = Set("0123456789abcdef".utf8)
    let wrong = keys.firstIndex { $0.utf8.count != 64 || !$0.utf8.allSatisfy(digits.contains) }
    return wrong.map { "'recipients[\($0)]' is not 64 lower-case hexadecimal digits" }
  }
}

/// A number of events.
public struct StoreCount: Codable, Sendable, Hashable {
  /// The number of events.
  public var count: Int
  /// For `store.query`: whether all stored events that match were sent; false when a limit cut them off and there are
  /// more. Absent when the store would have to search further to know.
  public var isComplete: Bool?
  /// After a search: how many of the newest seqs were not searched, because their words are not indexed yet; absent
  /// when none.
  public var unsearched: Int64?
  /// For `store.count` with `bytes`: the bytes of these events, as JSON.
  public var bytes: Int64?
  /// For `store.count` with `bytes`: when the oldest of them was created, seconds since 1970; absent without any.
  public var oldest: Int64?

  /// A number of events.
  public init(count: Int, isComplete: Bool? = nil, unsearched: Int64? = nil) {
    self.count = count
    self.isComplete = isComplete
    self.unsearched = unsearched
  }
}

/// `store.seen`: which relays had an event.
public struct StoreSeen: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"id":"9f2c…, 64 hexadecimal digits"}"#

  /// The event's id, 64 hexadecimal digits.
  public var id: String

  /// The relays of an event.
  public init(id: String) { self.id = id }
}

/// The answer of `store.seen`; refused as `no-such-event` when the event is not stored.
public struct SeenResult: Codable, Sendable, Hashable {
  /// One relay that had it.
  public struct Relay: Codable, Sendable, Hashable {
    /// Its URL.
    public var relay: String
    /// When it first arrived from there, seconds since 1970.
    public var firstSeenAt: Int64

    /// A relay.
    public init(relay: String, firstSeenAt: Int64) {
      self.relay = relay
      self.firstSeenAt = firstSeenAt
    }
  }
  /// The event's id.
  public var id: String
  /// Its place in the order of commits.
  public var seq: Int64
  /// The relays, in the order in which they first sent it.
  public var relays: [Relay]

  /// The relays of an event.
  public init(id: String, seq: Int64, relays: [Relay]) {
    self.id = id
    self.seq = seq
    self.relays = relays
  }
}

/// The answer of `store.status`. Counters start at 0 with the process.
public struct StoreStatus: Codable, Sendable, Hashable {
  /// Events stored.
  public var events: Int64 = 0
  /// The last seq.
  public var seq: Int64 = 0
  /// The last rescue of a damaged database, as long as the damaged file is beside it.
  public var rescued: Rescue?
  /// Events that did not match their ids and were removed. Reported for a week; absent: none.
  public var damaged: Int64?
  /// Events that were committed but missing from the database at a start: lost to damage or a power failure, or because
  /// the file was removed or replaced. Reported for a week; absent when none is known.
  public var lost: SeqRange?
  /// Bytes of the database file and its log.
  public var bytes: Int64 = 0
  /// Used bytes of the database, which `size-limit` limits: the file keeps the room of removed events.
  public var usedBytes: Int64 = 0
  /// Bytes of the events that clients of the local relay sent and no account signed, as `foreign-limit` counts them;
  /// absent: none.
  public var foreignBytes: Int64?
  /// The limit; absent without one.
  public var limitBytes: Int64?
  /// Events removed to make room.
  public var evicted: UInt64 = 0
  /// True when the limit is reached and no event may be removed.
  public var isFull: Bool?
  /// The database file.
  public var path = ""
  /// Signatures checked.
  public var verified: UInt64 = 0
  /// Events that needed no check, because they were known.
  public var duplicates: UInt64 = 0
  /// Events refused as invalid.
  public var invalid: UInt64 = 0
  /// Transactions committed.
  public var transactions: UInt64 = 0
  /// Events waiting, by lane: local, live, bulk.
  public var waiting: [Int] = []
  /// Observations under way.
  public var observers = 0
  /// Events of sampled relays that were accepted without a check of their signatures.
  public var unchecked: UInt64 = 0
  /// The relays that sent the most forgeries, the worst first; at most ``relayMaximum``.
  public var relays: [Relay] = []
  /// Seqs whose words are not indexed yet (NIP-50). The store indexes them when it is idle, or for a search.
  public var unsearched: Int64 = 0
  /// Why nothing can be written at present; absent when it can.
  public var fault: String?

  /// The result of a rescue.
  public struct Rescue: Codable, Sendable, Hashable {
    /// When it happened, seconds since 1970.
    public var at: Int64
    /// Events in the new database.
    public var saved: Int
    /// Events lost; absent when the damaged file did not show how many it had.
    public var lost: Int?
    /// The damaged file. Once it is removed, the rescue is no longer reported.
    public var aside: String

    /// A rescue.
    public init(at: Int64, saved: Int, lost: Int?, aside: String) {
      self.at = at
      self.saved = saved
      self.lost = lost
      self.aside = aside
    }
  }

  /// A range of seqs, including both ends.
  public struct SeqRange: Codable, Sendable, Hashable {
    /// The first.
    public var first: Int64
    /// The last.
    public var last: Int64

    /// A range of seqs.
    public init(_ seqs: ClosedRange<Int64>) { (first, last) = (seqs.lowerBound, seqs.upperBound) }
  }

  /// A relay that sends forged events.
  public struct Relay: Codable, Sendable, Hashable {
    /// Its URL.
    public var relay: String
    /// Forged events: not what an author signed.
    public var forged: UInt64
    /// Signatures checked and found good.
    public var valid: UInt64
    /// Whether only a sample of its events was to be checked, and now all are, because of forgeries.
    public var isDistrusted: Bool

    /// A relay.
    public init(relay: String, forged: UInt64, valid: UInt64, isDistrusted: Bool) {
      self.relay = relay
      self.forged = forged
      self.valid = valid
      self.isDistrusted = isDistrusted
    }
  }

  /// The maximum number of relays in ``relays``.
  public static let relayMaximum = 8

  /// All counts are 0.
  public init() {}
}

extension RefusalCode {
  /// The store has no room on its disk. Nothing was lost, and a later retry makes sense.
  public static let diskFull: RefusalCode = "disk-full"
  /// The event to store is not valid.
  public static let invalidEvent: RefusalCode = "invalid"
  /// A newer event has replaced it (NIP-01).
  public static let superseded: RefusalCode = "superseded"
  /// Its author has deleted it (NIP-09, NIP-62).
  public static let deletedEvent: RefusalCode = "deleted"
  /// Its own expiration has passed (NIP-40).
  public static let expiredEvent: RefusalCode = "expired-event"
  /// The event is not stored.
  public static let noSuchEvent: RefusalCode = "no-such-event"
}
