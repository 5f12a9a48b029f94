public import Frames

// The methods of role `outbox-planner`, `plan.*`: which events go to which relays, and which filters.

/// `plan.publish`: sends an event to its relays and keeps trying, also after restarts. Answered with a ``Publication``
/// when the event is committed to the publish queue and stored. A repeated call with the same event has the same result
/// and sends nothing twice.
///
/// Refused: as `store.publish` refuses; `no-relays` when there is no relay to send it to, with the reason (for a gift
/// wrap: its recipient has no relay list for it, NIP-17); `unavailable` while the planner does not know where it goes;
/// `would-replace` for a profile or list that lacks entries of its stored predecessor, or when no relay could be
/// queried yet for a predecessor; `disk-full`.
public struct PlanPublish: MethodArguments {
  /// An example of the arguments.
  public static let example =
    #"{"event":{"id":"…","pubkey":"…","created_at":1700000000,"kind":1,"tags":[],"content":"hello","sig":"…"},"#
    + #""relays":["wss://relay.example"],"foreignRelays":["wss://theirs.example"],"#
    + #""agreedRelays":["wss://agreed.example"],"expiresAfter":259200,"replace":false}"#

  /// The signed event.
  public var event: RawJSON
  /// Only these relays, at most ``relayMaximum``; the planner chooses when absent.
  public var relays: [String]?
  /// Additional relays that someone else named, such as the customer of a job, as long as there is room for them. They
  /// are never dialled at a private address, and do not use the dial budget of the user's own actions. A gift wrap goes
  /// to none of them.
  public var foreignRelays: [String]?
  /// Relays for a gift wrap whose recipient has no list of relays for it (kind 10050), because the account has agreed
  /// to them for this recipient. Only the role `link-feed` may name them. A list that appears counts instead of them.
  public var agreedRelays: [String]?
  /// After how many seconds the planner gives up relays that have not accepted the event; the configured value when
  /// absent.
  public var expiresAfter: Int64?
  /// Whether the user wants a profile or list (kinds 0 and 3, the lists of NIP-51) to lose entries of its predecessor.
  /// The predecessor is kept for `plan.replaced`. Default: no.
  public var replace: Bool?

  /// The maximum number of relays of one event.
  public static let relayMaximum = 32

  /// An event to publish.
  public init(
    event: RawJSON, relays: [String]? = nil, foreignRelays: [String]? = nil, agreedRelays: [String]? = nil,
    expiresAfter: Int64? = nil, replace: Bool? = nil
  ) {
    self.replace = replace
    self.agreedRelays = agreedRelays
    self.event = event
    self.relays = relays
    self.foreignRelays = foreignRelays
    self.expiresAfter = expiresAfter
  }

  /// An empty list, too many relays, or a time below 1.
  public var objection: String? {
    if relays?.isEmpty == true { return "'relays' is empty; leave it out to have them planned" }
    if let expiresAfter, expiresAfter < 1 { return "'expiresAfter' is \(expiresAfter); it is seconds, from 1" }
    return tooMany(relays) ?? tooMany(foreignRelays, "foreignRelays") ?? tooMany(agreedRelays, "agreedRelays")
  }
}

/// The state of an event that was accepted for publishing.
public struct Publication: Codable, Sendable, Hashable {
  /// The state over all its relays.
  public enum State: String, Codable, Sendable, Hashable, CaseIterable {
    /// Accepted; no relay has accepted it yet (NDKSwift: `optimistic`).
    case optimistic
    /// Some relays have accepted it, others not yet.
    case partial
    /// Every relay that was not given up has accepted it, and at least one has.
    case confirmed
    /// No relay has accepted it, and no further attempt is made.
    case failed
    /// It was cancelled before any relay had accepted it.
    case cancelled

    /// Whether the state is final and will not change.
    public var isFinal: Bool { self != .optimistic && self != .partial }
  }

  /// The event's id.
  public var id: String
  /// Its kind.
  public var kind: UInt16
  /// Its author, 64 hexadecimal digits.
  public var author: String
  /// The state over all its relays.
  public var state: State
  /// When it was accepted, seconds since 1970.
  public var acceptedAt: Int64
  /// When the planner gives up relays that have not accepted it, seconds since 1970.
  public var expiresAt: Int64
  /// Its relays, in the order of their URLs.
  public var targets: [PublicationTarget]
  /// Further remarks for the caller that publishes it: `it does nothing for note1…`. Absent: none.
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

/// The state of a publication at one relay.
public struct PublicationTarget: Codable, Sendable, Hashable {
  /// How far the event is at the relay.
  public enum State: String, Codable, Sendable, Hashable, CaseIterable {
    /// To be sent, now or at `nextAttemptAt`.
    case pending
    /// Sent; the relay's OK has not arrived.
    case sent
    /// The relay has it. The planner never sends it there again.
    case confirmed
    /// Given up; `message` says why.
    case failed
    /// Cancelled.
    case cancelled
  }
  /// The reason of a relay that the caller of `plan.publish` has named.
  public static let namedReason = "named"

  /// The relay.
  public var relay: String
  /// The state at this relay.
  public var state: State
  /// Why this relay was chosen: `alice's list`, `configured`, `dm-list of npub1…`, `named`.
  public var why: String
  /// The relay's words, or why the event could not be sent, at the last attempt.
  public var message: String?
  /// The number of attempts.
  public var attempts: Int
  /// The time of the next attempt, seconds since 1970.
  public var nextAttemptAt: Int64?
  /// When the relay accepted it, seconds since 1970.
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

/// `plan.publications`: accepted publications, the newest first. Parts are ``Publication``s, the terminal answer a
/// ``StoreCount``.
public struct PlanPublications: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"states":["optimistic","partial"],"ids":["…"],"limit":20,"olderThan":3600}"#

  /// Only publications in one of these states; all when absent.
  public var states: [Publication.State]?
  /// Only these events, 64 hexadecimal digits each.
  public var ids: [String]?
  /// The maximum number of publications, from 0.
  public var limit: Int?
  /// Only publications that still wait for a relay and were accepted at least so many seconds ago, the oldest first.
  public var olderThan: Int64?

  /// A request.
  public init(
    states: [Publication.State]? = nil, ids: [String]? = nil, limit: Int? = nil, olderThan: Int64? = nil
  ) {
    self.states = states
    self.ids = ids
    self.limit = limit
    self.olderThan = olderThan
  }

  /// The numbers are at least 0.
  public static var ranges: [FieldRange<Self>] {
    [FieldRange("limit") { $0.limit.map(Int64.init) }, FieldRange("olderThan", \.olderThan)]
  }
}

/// `plan.retry-unsent`: sends what waits for relays now, of all publications that were accepted at least so many
/// seconds ago and have not ended. Relays that have an event do not get it again. Answered when it is recorded.
public struct PlanRetryUnsent: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"olderThan":3600,"withFailed":false}"#

  /// The least age, in seconds; 0: all.
  public var olderThan: Int64
  /// Whether relays that were given up or cancelled are tried again too, of publications that have not ended. Default:
  /// no.
  public var withFailed: Bool?

  /// A request.
  public init(olderThan: Int64, withFailed: Bool? = nil) {
    self.olderThan = olderThan
    self.withFailed = withFailed
  }

  /// The age is at least 0.
  public static var ranges: [FieldRange<Self>] { [FieldRange("olderThan", \.olderThan)] }
}

/// The answer of `plan.retry-unsent`.
public struct RetriedPublications: Codable, Sendable, Hashable {
  /// Publications of that age that have not ended.
  public var publications: Int
  /// Relays that they still wait for, all publications together.
  public var relays: Int
  /// When the oldest of them was accepted, seconds since 1970; absent: there was nothing to try.
  public var oldestAt: Int64?

  /// What was tried again.
  public init(publications: Int, relays: Int, oldestAt: Int64? = nil) {
    (self.publications, self.relays, self.oldestAt) = (publications, relays, oldestAt)
  }
}

/// `plan.follow`, `plan.retry` and `plan.cancel`: one publication. Refused as `no-such-event` when it was never
/// accepted, or when the planner has forgotten it because it was accepted long ago.
///
/// `plan.follow`: a ``Publication`` immediately and at each change, until its state is final or the caller cancels.
/// `plan.retry`: sends again to relays that failed or were cancelled, and now to those that wait, but never to relays
/// that have the event; answered with a ``Publication``.
/// `plan.cancel`: stops the attempts at relays that have not accepted it; answered with a ``Publication``.
///
/// While the event store is away and has not taken an event yet, the event is shown as `optimistic`; if the caller
/// cancels it, the planner forgets it.
public struct PlanPublication: MethodArguments {
  /// An example of the arguments.
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

/// `plan.route`: where an event would be sent, or where filters would go, and why. Nothing is sent. Answered with a
/// ``Route``.
public struct PlanRoute: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"filters":[{"authors":["…"],"kinds":[1]}],"event":{"kind":1,"tags":[]}}"#

  /// The filters of a subscription.
  public var filters: [JSONValue]?
  /// The event to publish, signed or not; only `kind`, `pubkey` and `tags` count.
  public var event: JSONValue?

  /// A request.
  public init(filters: [JSONValue]? = nil, event: JSONValue? = nil) {
    self.filters = filters
    self.event = event
  }

  /// Neither or both are given.
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
    /// Why this relay was chosen: each reason once.
    public var why: [String]
    /// For which people, 64 hexadecimal digits each: authors whose events are queried there, or people who are to find
    /// the event there; empty: everyone. Of more than ``Route/peopleMaximum`` the first.
    public var people: [String]
    /// How many people that are; absent when `people` has all of them.
    public var peopleCount: Int?
    /// Why the relay is not connected: the dial budget, a failure.
    public var reason: String?
    /// The worker that holds the connection; absent when none dials the relay.
    public var connector: String?
    /// The state of the connection, as in `relay.list`.
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
  /// How the people whom filters name are covered.
  public struct Cover: Codable, Sendable, Hashable {
    /// How many people are asked for at 0, 1, 2, 3, and 4 or more of the relays that their lists name.
    public var counts: [Int]
    /// How many have no list that is known.
    public var unlistedCount: Int
    /// They, 64 hexadecimal digits each; at most ``Route/peopleMaximum``.
    public var unlisted: [String]
    /// How many have a list, and are asked for at none of its relays now: each is blocked, cannot be reached, or waits
    /// for its visit.
    public var missingCount: Int
    /// They, 64 hexadecimal digits each; at most ``Route/peopleMaximum``.
    public var missing: [String]

    /// A cover.
    public init(counts: [Int], unlisted: [String], missing: [String]) {
      self.counts = counts
      (unlistedCount, self.unlisted) = (unlisted.count, Array(unlisted.prefix(Route.peopleMaximum)))
      (missingCount, self.missing) = (missing.count, Array(missing.prefix(Route.peopleMaximum)))
    }
  }
  /// Most people that one list of a route names.
  public static let peopleMaximum = 100

  /// The relays.
  public var stops: [Stop]
  /// How the people whom the filters name are covered; absent for an event, and for filters that name no people.
  public var cover: Cover?
  /// Relays that would belong to the route but are not used, with the reason: blocked, private address, budget.
  public var skipped: [Stop]
  /// Why there is no relay; absent when there is one.
  public var problem: String?

  /// A route.
  public init(stops: [Stop], skipped: [Stop] = [], problem: String? = nil) {
    self.stops = stops
    self.skipped = skipped
    self.problem = problem
  }
}

/// `plan.relays`: the known relays, answered with a ``PlanRelayList``. `plan.relays.add` and `plan.relays.remove`
/// change the relays that were added by hand, and have the same answer. Relays of `supervisor.conf` are changed there.
public struct PlanRelay: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"relay":"wss://relay.example","reads":true,"writes":true}"#

  /// The relay.
  public var relay: String
  /// Whether subscriptions are opened there; default: true.
  public var reads: Bool?
  /// Whether events are published there; default: true.
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
    /// Where it comes from: `supervisor.conf [worker.NAME]`, `added`, `ACCOUNT's list`.
    public var sources: [String]
    /// Whether subscriptions are opened there.
    public var reads: Bool
    /// Whether events are published there.
    public var writes: Bool
    /// The worker that holds the connection.
    public var connector: String?
    /// As in `relay.list`, once the connector has reported it.
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
  /// The relays, ordered by URL.
  public var relays: [Relay]
  /// Where people's lists are looked for (`indexers` in `supervisor.conf`), whether or not they are among the relays.
  /// Absent in answers of earlier versions.
  public var indexers: [String]?

  /// A list.
  public init(relays: [Relay], indexers: [String]? = nil) { (self.relays, self.indexers) = (relays, indexers) }
}

/// `plan.progress`: how far the relays are with an observation, until the caller cancels. The arguments are those of
/// the `store.observe` that it is about. Parts are ``ObserveProgress``, one immediately and one at each change.
public struct ObserveProgress: Codable, Sendable, Hashable {
  /// A relay with a subscription for it.
  public struct Relay: Codable, Sendable, Hashable {
    /// Its URL.
    public var relay: String
    /// As in ``RequestReport``.
    public var state: RequestReport.State
    /// Why it waits or has refused.
    public var reason: String?
    /// Events received from it.
    public var events: UInt64

    /// A relay.
    public init(relay: String, state: RequestReport.State, reason: String?, events: UInt64) {
      self.relay = relay
      self.state = state
      self.reason = reason
      self.events = events
    }
  }
  /// Whether any caller observes it at present.
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
  /// Events in flight: sent to relays and not answered yet.
  public var inFlight = 0
  /// Observations for which the network is queried.
  public var observes = 0
  /// REQs that the planner wants at relays.
  public var requests = 0
  /// Dialled relays that belong to no group of `supervisor.conf`.
  public var ephemeralRelays = 0
  /// Why nothing can be accepted at present; absent when it can.
  public var fault: String?
  /// Whether events can be sent to relays now.
  public var sending: SendingState?
  /// Connectors of `supervisor.conf` that do not report, by name, because they are held, stopped or starting. Absent:
  /// none.
  public var silentConnectors: [String]?
  /// Publications that wait for such a connector. Absent: none.
  public var waitingForConnectors: Int?
  /// Publications that have waited for a relay longer than ``overdueSeconds``. Absent: none.
  public var overdue: Int?
  /// The relays that those publications wait for, the relay of most publications first, at most
  /// ``overdueRelayMaximum``. Absent: none.
  public var overdueRelays: [String]?
  /// Lists that lost more than half of their entries within the last days, the newest first. Absent: none.
  public var shrunkLists: [ReplacedList]?

  /// After so many seconds, a publication without an answer of a relay needs a person's attention; a relay that only
  /// restarts is back by then.
  public static let overdueSeconds: Int64 = 300
  /// The maximum number of relays in `overdueRelays`.
  public static let overdueRelayMaximum = 8

  /// All counts are 0.
  public init() {}
}

extension RefusalCode {
  /// There is no relay to send the event to.
  public static let noRelays: RefusalCode = "no-relays"
}
