public import Frames

// The methods of role `event-store`, `store.*`. Runs of events, in and out of them, are in IngestRecords.swift.
//
// Events travel as the bytes they were signed as. So where an event stands in an answer, the answer is put together
// around its bytes, and no type here holds one.

/// The answer of `store.ingest` and `store.import`, given when all that is counted as stored is committed.
///
/// The request is a run of ``IngestRecord``s, RAW. `store.ingest` goes over the live lane, `store.import` over the bulk
/// lane.
public struct IngestResult: Codable, Sendable, Hashable {
  /// An event that was not taken.
  public struct Invalid: Codable, Sendable, Hashable {
    /// Which record of the run it was, from 0; records of other kinds are counted too.
    public var record: Int
    /// Why, as a sentence's end.
    public var reason: String
    /// The relay it came from, when the run names it.
    public var relay: String?

    /// An event that was not taken.
    public init(record: Int, reason: String, relay: String? = nil) {
      self.record = record
      self.reason = reason
      self.relay = relay
    }
  }

  /// Most events of ``invalid``. Whoever wants all of them named sends no more events than that in a run.
  public static let invalidMaximum = 256
  /// Bytes of reasons and relays in ``invalid`` from which on none is added, so that it fits the smallest frame.
  /// Without relays, ``invalidMaximum`` of them fit.
  public static let invalidByteCountMaximum = 40 << 10

  /// Stored now.
  public var stored = 0
  /// There already.
  public var duplicate = 0
  /// There, and damaged: the copy has taken the place of what was stored. Absent: none.
  public var mended: Int?
  /// A newer one is in its place.
  public var superseded = 0
  /// Deleted by its author.
  public var deleted = 0
  /// Over by its own `expiration`.
  public var expired = 0
  /// Ephemeral: passed on to whoever listens, and not kept.
  public var ephemeral = 0
  /// Not events, or not signed by who they say.
  public var invalidCount = 0
  /// The first of those, ``invalidMaximum`` at most.
  public var invalid: [Invalid] = []
  /// The last seq of the store.
  public var seq: Int64 = 0

  /// Nothing yet.
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
  /// Whether it was not there before.
  public var isNew: Bool
  /// Whether it was there, and damaged, and is mended by this copy; absent: no.
  public var isMended: Bool?

  /// A result.
  public init(id: String, seq: Int64?, isNew: Bool, isMended: Bool = false) {
    self.isMended = isMended ? true : nil
    self.id = id
    self.seq = seq
    self.isNew = isNew
  }
}

/// `store.query` and `store.count`: what any of the filters matches, each event once, newest first, of one second the
/// lowest id first. Each part of the answer to `store.query` is one event, or with `pages` an ``EventPage``; the
/// terminal answer of both is ``StoreCount``.
///
/// What a filter with `search` finds (NIP-50) comes first, the best match first, and its `limit` counts from there;
/// then what other filters match. Words may stand in "quotes", and behind a hyphen to exclude them; `key:value` is
/// passed over.
public struct StoreQuery: FilterArguments {
  /// How it is asked.
  public static let example =
    #"{"filters":[{"kinds":[1]}],"limit":20,"pages":false,"recipients":["#
    + #""82341f882b6eabcd2ba7f1ef90aad961cf074af15b9ef44a09f9d2a8fbfbe6a2"]}"#

  /// NIP-01 filters; each may have its own `limit`.
  public var filters: [JSONValue]
  /// Most events wanted of all filters together, from 0.
  public var limit: Int?
  /// Whether parts are pages; `store.count` has none.
  public var pages: Bool?
  /// Whose gift wraps may be given and counted: see ``RecipientList``.
  public var recipients: [String]?

  /// A query.
  public init(filters: [JSONValue], limit: Int? = nil, pages: Bool? = nil, recipients: [String]? = nil) {
    self.filters = filters
    self.limit = limit
    self.pages = pages
    self.recipients = recipients
  }

  /// A limit from 0.
  public static var ranges: [FieldRange<Self>] { [FieldRange("limit") { $0.limit.map(Int64.init) }] }

  /// Too many recipients, or one that is no key.
  public var objection: String? { RecipientList.objection(to: recipients) }
}

/// `recipients` of `store.query`, `store.count` and `store.observe`: keys, 64 lower-case hexadecimal digits each. Where
/// the list stands, even an empty one, a gift wrap (NIP-59, kinds 1059 and 21059) counts only if a `p` tag of its names
/// one of them: it is as if no other were there, for limits, for counts, and for what comes live. Absent: no
/// restriction.
public enum RecipientList {
  /// Most keys of a list.
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

/// How many.
public struct StoreCount: Codable, Sendable, Hashable {
  /// Events.
  public var count: Int
  /// Of `store.query`: whether all that is stored and matches was sent; false when a limit cut it off and there is
  /// more. Absent when that is not known without looking further.
  public var isComplete: Bool?
  /// After a search: how many of the last seqs it has not looked at, because their words are not indexed yet; absent
  /// when none.
  public var unsearched: Int64?

  /// So many.
  public init(count: Int, isComplete: Bool? = nil, unsearched: Int64? = nil) {
    self.count = count
    self.isComplete = isComplete
    self.unsearched = unsearched
  }
}

/// `store.seen`: which relays had an event.
public struct StoreSeen: MethodArguments {
  /// How it is asked.
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
    /// When it first came from there, seconds since 1970.
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
  /// The relays, the first first.
  public var relays: [Relay]

  /// Where an event was seen.
  public init(id: String, seq: Int64, relays: [Relay]) {
    self.id = id
    self.seq = seq
    self.relays = relays
  }
}

/// The answer of `store.status`. Counters begin with the process.
public struct StoreStatus: Codable, Sendable, Hashable {
  /// Events stored.
  public var events: Int64 = 0
  /// The last seq.
  public var seq: Int64 = 0
  /// The last rescue of a damaged database, while the damaged file is beside it.
  public var rescued: Rescue?
  /// Events that were found not to be what their ids say, and were removed. Told for a week; absent: none.
  public var damaged: Int64?
  /// Events that were committed and that the database had not any more at a start: lost to damage or with the power, or
  /// the file was removed or replaced. Told for a week; absent when none is known.
  public var lost: SeqRange?
  /// Bytes of the database file and its log.
  public var bytes: Int64 = 0
  /// Bytes of the database in use, which is what `size-limit` is about: the file keeps room that events have left.
  public var usedBytes: Int64 = 0
  /// Bytes of the events that clients of the local relay handed in and no account signed, as `foreign-limit` counts
  /// them; absent: none.
  public var foreignBytes: Int64?
  /// The limit; absent without one.
  public var limitBytes: Int64?
  /// Events removed to make room.
  public var evicted: UInt64 = 0
  /// True when the limit is reached and nothing is left that may be removed.
  public var isFull: Bool?
  /// The database file.
  public var path = ""
  /// Signatures checked.
  public var verified: UInt64 = 0
  /// Events that needed no check, being known.
  public var duplicates: UInt64 = 0
  /// Events refused as invalid.
  public var invalid: UInt64 = 0
  /// Transactions committed.
  public var transactions: UInt64 = 0
  /// Events waiting, by lane: local, live, bulk.
  public var waiting: [Int] = []
  /// Observations under way.
  public var observers = 0
  /// Events of sampled relays that were taken without a look at their signatures.
  public var unchecked: UInt64 = 0
  /// The relays that sent most forgeries, the worst first; ``relayMaximum`` at most.
  public var relays: [Relay] = []
  /// Seqs whose words are not indexed yet (NIP-50): they are when there is nothing else to do, or when somebody
  /// searches.
  public var unsearched: Int64 = 0
  /// Why nothing can be written at present, if so.
  public var fault: String?

  /// What a rescue has come to.
  public struct Rescue: Codable, Sendable, Hashable {
    /// When, seconds since 1970.
    public var at: Int64
    /// Events in the new database.
    public var saved: Int
    /// Events lost; absent when the damaged file did not say how many it had.
    public var lost: Int?
    /// The damaged file. Without it no more is told of the rescue.
    public var aside: String

    /// A rescue.
    public init(at: Int64, saved: Int, lost: Int?, aside: String) {
      self.at = at
      self.saved = saved
      self.lost = lost
      self.aside = aside
    }
  }

  /// Seqs, both ends among them.
  public struct SeqRange: Codable, Sendable, Hashable {
    /// The first.
    public var first: Int64
    /// The last.
    public var last: Int64

    /// From one to another.
    public init(_ seqs: ClosedRange<Int64>) { (first, last) = (seqs.lowerBound, seqs.upperBound) }
  }

  /// A relay that sends what no author signed.
  public struct Relay: Codable, Sendable, Hashable {
    /// Its URL.
    public var relay: String
    /// Events that are not what an author signed.
    public var forged: UInt64
    /// Signatures checked and found good.
    public var valid: UInt64
    /// Whether a sample was to do for it, and does no more.
    public var isDistrusted: Bool

    /// A relay.
    public init(relay: String, forged: UInt64, valid: UInt64, isDistrusted: Bool) {
      self.relay = relay
      self.forged = forged
      self.valid = valid
      self.isDistrusted = isDistrusted
    }
  }

  /// Most relays of ``relays``.
  public static let relayMaximum = 8

  /// Nothing yet.
  public init() {}
}

extension RefusalCode {
  /// The store has no room on its disk: nothing was lost, and asking again later makes sense.
  public static let diskFull: RefusalCode = "disk-full"
  /// What was to be stored is no valid event.
  public static let invalidEvent: RefusalCode = "invalid"
  /// A newer event is in its place (NIP-01).
  public static let superseded: RefusalCode = "superseded"
  /// Its author has deleted it (NIP-09, NIP-62).
  public static let deletedEvent: RefusalCode = "deleted"
  /// Its own expiration has passed (NIP-40).
  public static let expiredEvent: RefusalCode = "expired-event"
  /// The event is not stored.
  public static let noSuchEvent: RefusalCode = "no-such-event"
}
