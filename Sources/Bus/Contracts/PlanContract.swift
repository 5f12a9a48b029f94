public import Frames

// The methods of role `outbox-planner`, `plan.*`: what is published and where, what is asked and where.

/// `plan.publish`: an event is to reach its relays, whatever happens meanwhile. Answered with a ``Publication`` when it
/// is committed to the queue and stored; asking again with the same event gives the same outcome and sends nothing
/// twice.
///
/// Refused: as `store.publish` refuses; `no-relays` when there is none to send it to, with the reason (for a gift wrap:
/// its recipient has no list of relays for it, NIP-17); `unavailable` while nobody knows where it goes; `would-replace`
/// for a profile or list that lacks entries of its stored predecessor, or of which no relay could be asked yet whether
/// it has one; `disk-full`.
public struct PlanPublish: MethodArguments {
  /// How it is asked.
  public static let example =
    #"{"event":{"id":"…","pubkey":"…","created_at":1700000000,"kind":1,"tags":[],"content":"hello","sig":"…"},"#
    + #""relays":["wss://relay.example"],"foreignRelays":["wss://theirs.example"],"expiresAfter":259200,"#
    + #""replace":false}"#

  /// The signed event.
  public var event: RawJSON
  /// To these relays and no others, ``relayMaximum`` at most; planned unless said.
  public var relays: [String]?
  /// To these relays besides, as far as there is room: somebody else has named them, such as the customer of a job.
  /// They are never dialled at a private address, nor within the dial budget of what the user does himself. A gift wrap
  /// goes to none of them.
  public var foreignRelays: [String]?
  /// Seconds after which relays that have not taken it are given up; as configured unless said.
  public var expiresAfter: Int64?
  /// Whether it is meant that a profile or list (kinds 0 and 3, those of NIP-51) loses entries of its predecessor. That
  /// one is kept for `plan.replaced`. Not meant unless said.
  public var replace: Bool?

  /// Most relays of one event.
  public static let relayMaximum = 32

  /// An event to publish.
  public init(
    event: RawJSON, relays: [String]? = nil, foreignRelays: [String]? = nil, expiresAfter: Int64? = nil,
    replace: Bool? = nil
  ) {
    self.replace = replace
    self.event = event
    self.relays = relays
    self.foreignRelays = foreignRelays
    self.expiresAfter = expiresAfter
  }

  /// An empty list, too many relays, or no time.
  public var objection: String? {
    if relays?.isEmpty == true { return "'relays' is empty; leave it out to have them planned" }
    if let expiresAfter, expiresAfter < 1 { return "'expiresAfter' is \(expiresAfter); it is seconds, from 1" }
    return tooMany(relays) ?? tooMany(foreignRelays, "foreignRelays")
  }
}

/// How an event that was accepted for publishing is doing.
public struct Publication: Codable, Sendable, Hashable {
  /// All its relays together.
  public enum State: String, Codable, Sendable, Hashable, CaseIterable {
    /// Accepted; no relay has taken it yet (NDKSwift: `optimistic`).
    case optimistic
    /// Some relays have taken it, others not yet.
    case partial
    /// Every relay that was not given up has taken it, and at least one has.
    case confirmed
    /// No relay has taken it, and none is tried any more.
    case failed
    /// It was called off before any relay had taken it.
    case cancelled

    /// Whether nothing will change any more by itself.
    public var isFinal: Bool { self != .optimistic && self != .partial }
  }

  /// The event's id.
  public var id: String
  /// Its kind.
  public var kind: UInt16
  /// Its author, 64 hexadecimal digits.
  public var author: String
  /// All its relays together.
  public var state: State
  /// When it was accepted, seconds since 1970.
  public var acceptedAt: Int64
  /// When relays that have not taken it are given up, seconds since 1970.
  public var expiresAt: Int64
  /// Its relays, in the order of their URLs.
  public var targets: [PublicationTarget]
  /// What is worth knowing of it beside that, to who has it published: `it does nothing for note1…`. Absent: nothing.
  public var remarks: [String]?

  /// A publication.
  public init(
    id: String, kind: UInt16, author: String, state: State, acceptedAt: Int64, expiresAt: Int64,
    targets: [PublicationTarget]
  ) {
    self.id = id
    self.kind = kind
    self.author = author
    self.state = state
    self.acceptedAt = acceptedAt
    self.expiresAt = expiresAt
    self.targets = targets
  }
}

/// How one relay of a publication is doing.
public struct PublicationTarget: Codable, Sendable, Hashable {
  /// How far it is.
  public enum State: String, Codable, Sendable, Hashable, CaseIterable {
    /// To be sent, now or at `nextAttemptAt`.
    case pending
    /// Sent; the relay's OK has not come.
    case sent
    /// The relay has it. It is never sent there again.
    case confirmed
    /// Given up; `message` says why.
    case failed
    /// Called off.
    case cancelled
  }
  /// The relay.
  public var relay: String
  /// How far it is.
  public var state: State
  /// Why this relay: `alice's list`, `configured`, `dm-list of npub1…`, `named`.
  public var why: String
  /// The relay's words, or why it cannot be sent, at the last attempt.
  public var message: String?
  /// How often it was sent or tried.
  public var attempts: Int
  /// When it is tried again, seconds since 1970.
  public var nextAttemptAt: Int64?
  /// When the relay has taken it, seconds since 1970.
  public var confirmedAt: Int64?

  /// A relay of a publication.
  public init(
    relay: String, state: State, why: String, message: String? = nil, attempts: Int = 0, nextAttemptAt: Int64? = nil,
    confirmedAt: Int64? = nil
  ) {
    self.relay = relay
    self.state = state
    self.why = why
    self.message = message
    self.attempts = attempts
    self.nextAttemptAt = nextAttemptAt
    self.confirmedAt = confirmedAt
  }
}

/// `plan.publications`: what was accepted, the newest first. Parts are ``Publication``s, the terminal answer a
/// ``StoreCount``.
public struct PlanPublications: MethodArguments {
  /// How it is asked.
  public static let example = #"{"states":["optimistic","partial"],"ids":["…"],"limit":20}"#

  /// In one of these states; in any when absent.
  public var states: [Publication.State]?
  /// Only these events, 64 hexadecimal digits each.
  public var ids: [String]?
  /// Most publications wanted, from 0.
  public var limit: Int?

  /// A question.
  public init(states: [Publication.State]? = nil, ids: [String]? = nil, limit: Int? = nil) {
    self.states = states
    self.ids = ids
    self.limit = limit
  }

  /// A limit from 0.
  public static var ranges: [FieldRange<Self>] { [FieldRange("limit") { $0.limit.map(Int64.init) }] }
}

/// `plan.follow`, `plan.retry` and `plan.cancel`: one publication. Refused as `no-such-event` when it was never
/// accepted, or so long ago that it is forgotten.
///
/// `plan.follow`: a ``Publication`` at once and at each change, until its state is final or the caller cancels.
/// `plan.retry`: relays that failed or were called off are tried again, those that wait are tried now, never those that
/// have it; answered with a ``Publication``.
/// `plan.cancel`: relays that have not taken it are not tried any more; answered with a ``Publication``.
///
/// An event that the event store has not taken yet, being away, is shown as `optimistic`; called off, it is forgotten.
public struct PlanPublication: MethodArguments {
  /// How it is asked.
  public static let example = #"{"id":"9f2c…, 64 hexadecimal digits","relay":"wss://relay.example"}"#

  /// The event's id, 64 hexadecimal digits.
  public var id: String
  /// Only this relay of it.
  public var relay: String?

  /// A publication.
  public init(id: String, relay: String? = nil) {
    self.id = id
    self.relay = relay
  }
}

/// `plan.route`: where an event would be sent, or where filters would be asked, and why. Nothing is sent. Answered with
/// a ``Route``.
public struct PlanRoute: MethodArguments {
  /// How it is asked.
  public static let example = #"{"filters":[{"authors":["…"],"kinds":[1]}],"event":{"kind":1,"tags":[]}}"#

  /// Asked with these filters.
  public var filters: [JSONValue]?
  /// This event is published; signed or not: `kind`, `pubkey` and `tags` count.
  public var event: JSONValue?

  /// A question.
  public init(filters: [JSONValue]? = nil, event: JSONValue? = nil) {
    self.filters = filters
    self.event = event
  }

  /// Neither, or both.
  public var objection: String? {
    (filters == nil) == (event == nil) ? "exactly one of 'filters' and 'event' is wanted" : nil
  }
}

/// The answer of `plan.route`.
public struct Route: Codable, Sendable, Hashable {
  /// One relay of a route.
  public struct Stop: Codable, Sendable, Hashable {
    /// The relay.
    public var relay: String
    /// Why this one: each reason once.
    public var why: [String]
    /// For whom, 64 hexadecimal digits each: authors asked there, or people who are to find it there; empty: for all.
    public var people: [String]
    /// The worker that holds the connection; absent when none dials it.
    public var connector: String?
    /// How the connection is, as in `relay.list`.
    public var state: RelayStateWord?

    /// A relay of a route.
    public init(
      relay: String, why: [String], people: [String] = [], connector: String? = nil, state: RelayStateWord? = nil
    ) {
      self.relay = relay
      self.why = why
      self.people = people
      self.connector = connector
      self.state = state
    }
  }
  /// The relays.
  public var stops: [Stop]
  /// Relays that would have been meant and are not used, and why: blocked, private address, budget.
  public var skipped: [Stop]
  /// Why there is none, if so.
  public var problem: String?

  /// A route.
  public init(stops: [Stop], skipped: [Stop] = [], problem: String? = nil) {
    self.stops = stops
    self.skipped = skipped
    self.problem = problem
  }
}

/// `plan.relays`: the relays known, the answer of it a ``PlanRelayList``; `plan.relays.add` and `plan.relays.remove`
/// change those that were added by hand, and answer with the same. What `supervisor.conf` names is changed there.
public struct PlanRelay: MethodArguments {
  /// How it is asked.
  public static let example = #"{"relay":"wss://relay.example","reads":true,"writes":true}"#

  /// The relay.
  public var relay: String
  /// Whether observes are asked there; true unless said.
  public var reads: Bool?
  /// Whether events are published there; true unless said.
  public var writes: Bool?

  /// A relay.
  public init(relay: String, reads: Bool? = nil, writes: Bool? = nil) {
    self.relay = relay
    self.reads = reads
    self.writes = writes
  }
}

/// The answer of `plan.relays`.
public struct PlanRelayList: Codable, Sendable, Hashable {
  /// One relay.
  public struct Relay: Codable, Sendable, Hashable {
    /// Its canonical URL.
    public var relay: String
    /// Where it is from: `supervisor.conf [worker.NAME]`, `added`, `ACCOUNT's list`.
    public var sources: [String]
    /// Whether observes are asked there.
    public var reads: Bool
    /// Whether events are published there.
    public var writes: Bool
    /// The worker that holds the connection.
    public var connector: String?
    /// As in `relay.list`, when the connector has said so.
    public var state: RelayStates.Relay?

    /// A relay.
    public init(
      relay: String, sources: [String], reads: Bool, writes: Bool, connector: String? = nil,
      state: RelayStates.Relay? = nil
    ) {
      self.relay = relay
      self.sources = sources
      self.reads = reads
      self.writes = writes
      self.connector = connector
      self.state = state
    }
  }
  /// The relays, by URL.
  public var relays: [Relay]

  /// A list.
  public init(relays: [Relay]) { self.relays = relays }
}

/// `plan.progress`: how far the network is with what is observed, until the caller cancels. The arguments are those of
/// the `store.observe` it is about. Parts are ``ObserveProgress``, one at once and one at each change.
public struct ObserveProgress: Codable, Sendable, Hashable {
  /// A relay that is asked.
  public struct Relay: Codable, Sendable, Hashable {
    /// Its URL.
    public var relay: String
    /// As in ``RequestReport``.
    public var state: RequestReport.State
    /// Why it waits or has refused.
    public var reason: String?
    /// Events it has brought.
    public var events: UInt64

    /// A relay.
    public init(relay: String, state: RequestReport.State, reason: String?, events: UInt64) {
      self.relay = relay
      self.state = state
      self.reason = reason
      self.events = events
    }
  }
  /// Whether it is observed by anybody at present.
  public var isObserved: Bool
  /// Whether every relay has sent what it had stored, or is not expected to.
  public var isComplete: Bool
  /// The relays.
  public var relays: [Relay]

  /// Progress.
  public init(isObserved: Bool, isComplete: Bool, relays: [Relay]) {
    self.isObserved = isObserved
    self.isComplete = isComplete
    self.relays = relays
  }
}

/// The answer of `plan.status`.
public struct PlanStatus: Codable, Sendable, Hashable {
  /// Publications by state.
  public var publications: [String: Int] = [:]
  /// Sent to relays and not answered yet.
  public var inFlight = 0
  /// Observes that the network is asked for.
  public var observes = 0
  /// REQs wanted of relays.
  public var requests = 0
  /// Relays dialled that no group of `supervisor.conf` has.
  public var ephemeralRelays = 0
  /// Why nothing can be accepted at present, if so.
  public var fault: String?
  /// Connectors of `supervisor.conf` that say nothing, by name: held, stopped, or on their way. Absent: none.
  public var silentConnectors: [String]?
  /// Publications of which something waits for one of those. Absent: none.
  public var waitingForConnectors: Int?
  /// Publications that wait for a relay for longer than ``overdueSeconds``. Absent: none.
  public var overdue: Int?
  /// The relays those wait for, those of most publications first, ``overdueRelayMaximum`` at most. Absent: none.
  public var overdueRelays: [String]?
  /// Lists that have lost more than half of their entries within the last days, the newest first. Absent: none.
  public var shrunkLists: [ReplacedList]?

  /// After which a publication that a relay has not answered needs somebody: a relay that is merely restarted is back
  /// by then.
  public static let overdueSeconds: Int64 = 300
  /// Most relays that are named as the cause.
  public static let overdueRelayMaximum = 8

  /// Nothing yet.
  public init() {}
}

extension RefusalCode {
  /// There is no relay to send it to.
  public static let noRelays: RefusalCode = "no-relays"
}
