public import Frames

// The methods of role `relay-connector`, `relay.*`.

/// `relay.request`: a REQ to one relay. Each part of the answer is one event, JSON in the very bytes the relay sent;
/// the terminal answer comes after the relay's EOSE.
public struct RelayRequest: MethodArguments {
  /// How it is asked.
  public static let example = #"{"relay":"ws://127.0.0.1:7777","filters":[{"kinds":[1]}],"limit":5}"#

  /// The relay; may be left out when the connector has exactly one.
  public var relay: String?
  /// NIP-01 filters, as JSON; absent: one filter that matches everything.
  public var filters: [JSONValue]?
  /// Most events wanted, from 0; the connector ends the subscription then.
  public var limit: Int?

  /// A request.
  public init(relay: String? = nil, filters: [JSONValue]? = nil, limit: Int? = nil) {
    self.relay = relay
    self.filters = filters
    self.limit = limit
  }

  /// A limit from 0.
  public static var ranges: [FieldRange<Self>] { [FieldRange("limit") { $0.limit.map(Int64.init) }] }
}

/// The terminal answer of `relay.request`.
public struct RelayRequestResult: Codable, Sendable {
  /// The relay that was asked.
  public var relay: String
  /// Events passed on.
  public var events: Int
  /// Whether the relay said EOSE; false when `limit` was reached first.
  public var isComplete: Bool

  /// A result.
  public init(relay: String, events: Int, isComplete: Bool) {
    self.relay = relay
    self.events = events
    self.isComplete = isComplete
  }
}

/// `relay.publish`: an EVENT to one relay, answered by its OK.
///
/// An event that the relay takes from authenticated authors only (`auth-required`) is sent again once `account` has
/// shown himself there (NIP-42).
public struct RelayPublish: MethodArguments {
  /// How it is asked.
  public static let example =
    #"{"relay":"ws://127.0.0.1:7777","event":{"id":"…","pubkey":"…","kind":1,"content":"hello","sig":"…"},"#
    + #""account":"…","isProtected":false,"isForeign":false}"#

  /// The relay; may be left out when the connector has exactly one.
  public var relay: String?
  /// The signed event, as JSON.
  public var event: RawJSON
  /// Who shows himself if the relay asks for it, 64 hexadecimal digits; nobody unless said.
  public var account: String?
  /// The event is sent only on a connection on which `account` has shown himself (NIP-70). Needs `account`.
  public var isProtected: Bool?
  /// The relay was named by other people, in a list or a hint: it is not dialled at a private address.
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

  /// Protected, and nobody to show himself.
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
  /// Whether the relay took it.
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

/// `relay.retry`: dial a relay now, if it is wanted; what was the matter before is forgotten, quarantine too. Answered
/// with a ``RelayStates/Relay``; `no-such-relay` when the connector does not have it.
public struct RelayRetry: MethodArguments {
  /// How it is asked.
  public static let example = #"{"relay":"wss://relay.example"}"#

  /// The relay.
  public var relay: String

  /// A wish to try.
  public init(relay: String) { self.relay = relay }
}

/// `relay.information`: what a relay says of itself (NIP-11). Fetched when it is not known yet, or an hour old; nothing
/// is fetched without being asked for.
public struct RelayInformationRequest: MethodArguments {
  /// How it is asked.
  public static let example = #"{"relay":"wss://relay.example","isForeign":false}"#

  /// The relay.
  public var relay: String
  /// The relay was named by other people, in a list or a hint: it is not asked at a private address.
  public var isForeign: Bool?

  /// A question.
  public init(relay: String, isForeign: Bool) {
    self.relay = relay
    self.isForeign = isForeign ? true : nil
  }
}

/// The answer of `relay.information`. Every text in it is the relay's own, and nothing of it is proven.
public struct RelayInformationResult: Codable, Sendable, Hashable {
  /// Canonical URL.
  public var relay: String
  /// When it was fetched, seconds since 1970.
  public var fetchedAt: Int64
  /// What was understood, under the names of NIP-11.
  public var document: JSONValue
  /// What was dropped because it is not what NIP-11 says, a sentence each: `supported_nips is not a list of numbers`.
  public var dropped: [String]

  /// An answer.
  public init(relay: String, fetchedAt: Int64, document: JSONValue, dropped: [String]) {
    self.relay = relay
    self.fetchedAt = fetchedAt
    self.document = document
    self.dropped = dropped
  }
}

extension RefusalCode {
  /// The relay's server answers, and has no information document.
  public static let noInformation: RefusalCode = "no-information"
}

/// The answer of `relay.list`, and the contents of the topic `relay.states`.
public struct RelayStates: Codable, Sendable, Hashable {
  /// One relay as its connector sees it. Counters begin with the process.
  public struct Relay: Codable, Sendable, Hashable {
    /// Canonical URL.
    public var relay: String
    /// How its connection is.
    public var state: RelayStateWord
    /// Why it is not connected, if it is not.
    public var reason: String?
    /// Whether `supervisor.conf` names it; else a caller has.
    public var isConfigured = false
    /// Whether observes are to be asked there without being told so.
    public var reads = false
    /// Whether events are to be published there without being told so.
    public var writes = false
    /// Seconds since 1970; while it is open.
    public var openSince: Int64?
    /// Milliseconds it was open, all connections together.
    public var openMilliseconds: UInt64 = 0
    /// Connections made.
    public var connections: UInt64 = 0
    /// Attempts that failed.
    public var failures: UInt64 = 0
    /// Messages received, and their bytes.
    public var messages: UInt64 = 0
    /// Bytes of those messages.
    public var bytes: UInt64 = 0
    /// Events received.
    public var events: UInt64 = 0
    /// Events that the relay took.
    public var accepted: UInt64 = 0
    /// Requests and events that it refused.
    public var refusals: UInt64 = 0
    /// Milliseconds from the last REQ to its EOSE, or EVENT to its OK.
    public var latencyMilliseconds: UInt64?
    /// Accounts that have shown themselves on this connection (NIP-42), 64 hexadecimal digits each.
    public var authenticated: [String] = []
    /// What it has said or done that its owner may want to know, one of a kind at most; absent where there is nothing,
    /// and in ``RelayReport`` and `relay.states`.
    public var remarks: [RelayRemark]?

    /// A relay of which nothing is known yet.
    public init(relay: String, state: RelayStateWord) {
      self.relay = relay
      self.state = state
    }
  }
  /// All relays of the connector.
  public var relays: [Relay]
  /// The states of these relays.
  public init(relays: [Relay]) { self.relays = relays }
}
