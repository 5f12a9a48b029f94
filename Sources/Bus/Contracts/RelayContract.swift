public import Frames

// The methods of role `relay-connector`, `relay.*`.

/// `relay.request`: a REQ to one relay. Each part of the answer is one event, JSON in the exact bytes that the relay
/// sent; the terminal answer comes after the relay's EOSE. With `all`, the relay is asked page by page until it has no
/// more.
public struct RelayRequest: MethodArguments {
  /// An example of the arguments.
  public static let example =
    #"{"relay":"ws://127.0.0.1:7777","filters":[{"kinds":[1]}],"limit":5,"all":false,"#
    + #""isForeign":false}"#

  /// The relay; may be left out when the connector has exactly one.
  public var relay: String?
  /// NIP-01 filters, as JSON; absent: one filter that matches everything.
  public var filters: [JSONValue]?
  /// The maximum number of events, from 0; the connector closes the subscription after so many.
  public var limit: Int?
  /// Whether the relay is asked in pages for all that it has, back to each filter's `since`; the filters' own limits
  /// do not count then. Absent: one REQ, and the relay decides how much it sends.
  public var all: Bool?
  /// Whether only others name the relay: it is then not dialled at a private address. Absent: no.
  public var isForeign: Bool?

  /// A request.
  public init(
    relay: String? = nil, filters: [JSONValue]? = nil, limit: Int? = nil, all: Bool? = nil, isForeign: Bool? = nil
  ) {
    self.isForeign = isForeign
    self.all = all
    self.relay = relay
    self.filters = filters
    self.limit = limit
  }

  /// The limit is at least 0.
  public static var ranges: [FieldRange<Self>] { [FieldRange("limit") { $0.limit.map(Int64.init) }] }
}

/// The terminal answer of `relay.request`.
public struct RelayRequestResult: Codable, Sendable {
  /// The relay that answered.
  public var relay: String
  /// Events passed on.
  public var events: Int
  /// Whether the relay sent EOSE, with `all` whether everything came; false when `limit` was reached first.
  public var isComplete: Bool
  /// With `all`: how it ended.
  public var end: RequestReport.End?
  /// With `all`: why not everything came.
  public var reason: String?

  /// A result.
  public init(
    relay: String, events: Int, isComplete: Bool, end: RequestReport.End? = nil, reason: String? = nil
  ) {
    self.end = end
    self.reason = reason
    self.relay = relay
    self.events = events
    self.isComplete = isComplete
  }
}

/// `relay.count`: how many events a relay has of a filter, by its word (NIP-45). Nothing is fetched or stored. A relay
/// without NIP-45 refuses (`closed-by-relay`), or says nothing until the time is over.
public struct RelayCount: MethodArguments {
  /// An example of the arguments.
  public static let example =
    #"{"relay":"wss://relay.example","filter":{"authors":["…"]},"account":"…","isForeign":false}"#

  /// The relay; may be left out when the connector has exactly one.
  public var relay: String?
  /// A NIP-01 filter.
  public var filter: JSONValue
  /// The account that authenticates if the relay requires it, 64 hexadecimal digits; default: none.
  public var account: String?
  /// Whether only others name the relay: it is then not dialled at a private address. Absent: no.
  public var isForeign: Bool?

  /// The most counts of one connector at a time.
  public static let countMaximum = 64

  /// A count.
  public init(relay: String? = nil, filter: JSONValue, account: String? = nil, isForeign: Bool) {
    self.relay = relay
    self.filter = filter
    self.account = account
    self.isForeign = isForeign
  }
}

/// The answer of `relay.count`.
public struct RelayCounted: Codable, Sendable, Hashable {
  /// The relay that answered.
  public var relay: String
  /// Events, by its word.
  public var count: Int
  /// Whether the relay says that the count is not exact.
  public var isApproximate: Bool

  /// A count.
  public init(relay: String, count: Int, isApproximate: Bool) {
    self.relay = relay
    self.count = count
    self.isApproximate = isApproximate
  }
}

/// `relay.publish`: an EVENT to one relay, answered by its OK.
///
/// If the relay accepts the event from authenticated clients only (`auth-required`), the connector authenticates as
/// `account` (NIP-42) and sends it again.
public struct RelayPublish: MethodArguments {
  /// An example of the arguments.
  public static let example =
    #"{"relay":"ws://127.0.0.1:7777","event":{"id":"…","pubkey":"…","kind":1,"content":"hello","sig":"…"},"#
    + #""account":"…","isProtected":false,"isForeign":false}"#

  /// The relay; may be left out when the connector has exactly one.
  public var relay: String?
  /// The signed event, as JSON.
  public var event: RawJSON
  /// The account that authenticates if the relay requires it, 64 hexadecimal digits; default: none.
  public var account: String?
  /// Whether the event is sent only on a connection that is authenticated as `account` (NIP-70). Needs `account`.
  public var isProtected: Bool?
  /// Whether the relay was named by someone else, in a list or a hint; it is then not dialled at a private address.
  public var isForeign: Bool?

  /// An event to publish.
  public init(
    relay: String? = nil, event: RawJSON, account: String? = nil, isProtected: Bool? = nil, isForeign: Bool
  ) {
    self.relay = relay
    self.event = event
    self.account = account
    self.isProtected = isProtected
    self.isForeign = isForeign ? true : nil
  }

  /// Protected, but without an account that authenticates.
  public var objection: String? {
    isProtected == true && account == nil ? "'isProtected' needs 'account'" : nil
  }
}

/// The answer of `relay.publish`: the relay's OK.
public struct RelayPublishResult: Codable, Sendable {
  /// The relay that answered.
  public var relay: String
  /// The event's id.
  public var id: String
  /// Whether the relay accepted it.
  public var isAccepted: Bool
  /// The relay's words, with their standard prefix.
  public var message: String

  /// A result.
  public init(relay: String, id: String, isAccepted: Bool, message: String) {
    self.relay = relay
    self.id = id
    self.isAccepted = isAccepted
    self.message = message
  }
}

/// `relay.retry`: dials a relay now, if any caller needs it, and forgets its failures and its quarantine; with
/// `onlyBackOff` it only does not wait longer for the next attempt. Answered with
/// a ``RelayStates/Relay``; `no-such-relay` when the connector does not have the relay.
public struct RelayRetry: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"relay":"wss://relay.example","onlyBackOff":true}"#

  /// The relay.
  public var relay: String
  /// Whether only the back-off ends: a quarantine stays, and what was learned of the relay. Default: no.
  public var onlyBackOff: Bool?

  /// A request to retry.
  public init(relay: String, onlyBackOff: Bool? = nil) { (self.relay, self.onlyBackOff) = (relay, onlyBackOff) }
}

/// `relay.information`: what a relay says about itself (NIP-11), and which bounds the connector obeys there. The
/// document is fetched when it is unknown or an hour old.
public struct RelayInformationRequest: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"relay":"wss://relay.example","isForeign":false}"#

  /// The relay.
  public var relay: String
  /// Whether the relay was named by someone else, in a list or a hint; it is then not queried at a private address.
  public var isForeign: Bool?

  /// A request.
  public init(relay: String, isForeign: Bool) {
    self.relay = relay
    self.isForeign = isForeign ? true : nil
  }
}

/// The answer of `relay.information`. Every text in it is the relay's own, and none of it is proven.
public struct RelayInformationResult: Codable, Sendable, Hashable {
  /// Canonical URL.
  public var relay: String
  /// When it was fetched, seconds since 1970.
  public var fetchedAt: Int64
  /// What could be read, under the names of NIP-11.
  public var document: JSONValue
  /// What was dropped because it does not have the form of NIP-11, one sentence each:
  /// `supported_nips is not a list of numbers`.
  public var dropped: [String]
  /// The bounds in force.
  public var bounds: [Bound]?

  /// One bound that the connector obeys before it sends.
  public struct Bound: Codable, Sendable, Hashable {
    /// Where a bound comes from.
    public enum Source: String, Codable, Sendable, Hashable, CaseIterable {
      /// The relay has not published it, or something that no relay can mean.
      case assumed
      /// The relay's document.
      case said
      /// A refusal of the relay has lowered it.
      case learned
    }
    /// Its name in NIP-11: `max_subscriptions`.
    public var name: String
    /// Its value.
    public var value: Int
    /// Where it comes from.
    public var source: Source

    /// A bound.
    public init(name: String, value: Int, source: Source) {
      self.name = name
      self.value = value
      self.source = source
    }
  }

  /// An answer.
  public init(relay: String, fetchedAt: Int64, document: JSONValue, dropped: [String], bounds: [Bound]? = nil) {
    self.relay = relay
    self.fetchedAt = fetchedAt
    self.document = document
    self.dropped = dropped
    self.bounds = bounds
  }
}

extension RefusalCode {
  /// The relay's server answers, but has no information document.
  public static let noInformation: RefusalCode = "no-information"
}

/// The answer of `relay.list`, and the contents of the topic `relay.states`.
public struct RelayStates: Codable, Sendable, Hashable {
  /// One relay as its connector sees it. Counters start at 0 with its link to the relay.
  public struct Relay: Codable, Sendable, Hashable {
    /// Canonical URL.
    public var relay: String
    /// The state of its connection.
    public var state: RelayStateWord
    /// Why it is not connected; absent when it is.
    public var reason: String?
    /// Whether it waits only because the budget of relays outside the groups is used up; the connector then dials it by
    /// itself. Absent: no.
    public var waitsForBudget: Bool?
    /// Whether `supervisor.conf` names it; otherwise a caller named it.
    public var isConfigured = false
    /// Whether the planner opens subscriptions there by default.
    public var reads = false
    /// Whether the planner publishes events there by default.
    public var writes = false
    /// Since when the connection is open, seconds since 1970; absent when it is not.
    public var openSince: Int64?
    /// How long it was open, over all connections, in milliseconds.
    public var openMilliseconds: UInt64 = 0
    /// The number of connections that succeeded.
    public var connections: UInt64 = 0
    /// The number of attempts that failed.
    public var failures: UInt64 = 0
    /// The number of attempts that failed since the last connection. Absent: none.
    public var failuresInRow: UInt64?
    /// How long ago it was first dialled, in milliseconds. Absent: it was not.
    public var dialledMilliseconds: UInt64?
    /// Messages received.
    public var messages: UInt64 = 0
    /// Their bytes together.
    public var bytes: UInt64 = 0
    /// Events received.
    public var events: UInt64 = 0
    /// Events that the relay accepted.
    public var accepted: UInt64 = 0
    /// Requests and events that it refused.
    public var refusals: UInt64 = 0
    /// ``refusals`` by what they are about: `rate`, `blocked`, `authentication`, at most one entry for each word of the
    /// connector's table. Absent: none.
    public var refusalsByClass: [String: UInt64]?
    /// Events of it that the store has rejected: not signed by their author, or no events. Absent: none.
    public var invalidEvents: UInt64?
    /// Different ones of them that look like events: forgeries. Absent: none.
    public var forgedEvents: UInt64?
    /// Events of it that the store lacked. Absent: none.
    public var newEvents: UInt64?
    /// Authentications there that have ended (NIP-42). Absent: none.
    public var authentications: UInt64?
    /// Those of them that failed: the relay refused, or sent no challenge to sign. Absent: none.
    public var authenticationFailures: UInt64?
    /// Pages of stored events that it has sent. Absent: none.
    public var pages: UInt64?
    /// How often fetching the stored events of an interest ended, by ``RequestReport/End``: `drained`, `silent`.
    /// Absent: never.
    public var drains: [String: UInt64]?
    /// Milliseconds from the last REQ to its EOSE, or EVENT to its OK.
    public var latencyMilliseconds: UInt64?
    /// Milliseconds from dialling it to an open connection: a moving average, of which the last one is an eighth.
    public var connectMilliseconds: UInt64?
    /// Milliseconds from a REQ to its EOSE: such an average.
    public var storedMilliseconds: UInt64?
    /// The maximum number of subscriptions that are opened there: as the relay says (NIP-11), has taught by refusals,
    /// or as is assumed.
    public var subscriptionMaximum: Int?
    /// Subscriptions that are open.
    public var subscriptionCount: Int?
    /// Requests that wait for the connection or for a free subscription.
    public var queuedCount: Int?
    /// Whether the relay says that it takes events only from some authors, or only against payment (NIP-11).
    public var mayRefuseWrites: Bool?
    /// Accounts that have authenticated on this connection (NIP-42), 64 hexadecimal digits each.
    public var authenticated: [String] = []
    /// Which key it sees when it asks for authentication. Absent: the account of the work.
    public var authenticate: ConnectorSettings.Authentication?
    /// What the relay said or did that its user may want to know, at most one of each kind; absent when there is
    /// nothing, and in ``RelayReport`` and `relay.states`.
    public var remarks: [RelayRemark]?

    /// The share of the time since it was first dialled in which it was connected, 0 to 1; nil if it was not dialled.
    public var openShare: Double? {
      guard let dialledMilliseconds, dialledMilliseconds > 0 else { return nil }
      return min(1, Double(openMilliseconds) / Double(dialledMilliseconds))
    }

    /// A relay without any history.
    public init(relay: String, state: RelayStateWord) {
      self.relay = relay
      self.state = state
    }
  }
  /// What came of the dials of relays that no group has, since the connector's start.
  public struct Outside: Codable, Sendable, Hashable {
    /// Dials.
    public var dials: UInt64 = 0
    /// Dials and connections that have ended.
    public var ended: UInt64 = 0
    /// How long those lasted together, from the dial to the end, in milliseconds.
    public var milliseconds: UInt64 = 0
    /// Events of such relays that the store lacked.
    public var newEvents: UInt64 = 0

    /// Nothing yet.
    public init() {}
  }

  /// How long something took at the connector's relays, since its start.
  public struct Latency: Codable, Sendable, Hashable {
    /// How many took up to 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250 and 500 milliseconds, 1, 2.5, 5, 10 and 30 seconds, and
    /// longer; each is in one span only. Empty: none was measured.
    public var counts: [UInt64]
    /// How long they took together, in microseconds.
    public var sumMicroseconds: UInt64

    /// Latencies.
    public init(counts: [UInt64], sumMicroseconds: UInt64) {
      (self.counts, self.sumMicroseconds) = (counts, sumMicroseconds)
    }
  }
  /// What is measured of all relays of a connector together, those that it has left included.
  public struct Latencies: Codable, Sendable, Hashable {
    /// From dialling a relay to an open connection.
    public var connect: Latency
    /// From a REQ to its EOSE.
    public var stored: Latency
    /// From an EVENT to its OK.
    public var accepted: Latency

    /// Latencies.
    public init(connect: Latency, stored: Latency, accepted: Latency) {
      (self.connect, self.stored, self.accepted) = (connect, stored, accepted)
    }
  }

  /// All relays of the connector.
  public var relays: [Relay]
  /// What came of the dials of relays that no group has; absent when the connector dials none.
  public var outside: Outside?
  /// How long relays took to answer; absent in `relay.states`, and in answers of earlier versions.
  public var latencies: Latencies?
  /// The states of these relays.
  public init(relays: [Relay]) { self.relays = relays }
}
