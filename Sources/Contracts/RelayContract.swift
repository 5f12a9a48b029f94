public import Frames

// The methods of role `relay-connector`, `relay.*`.

/// `relay.request`: a REQ to one relay. Each part of the answer is one event, JSON in the very bytes the relay sent; the
/// terminal answer comes after the relay's EOSE.
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

  /// A limit below 0.
  public var objection: String? { negative("limit", limit.map(Int64.init)) }
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
public struct RelayPublish: MethodArguments {
  /// How it is asked.
  public static let example =
    #"{"relay":"ws://127.0.0.1:7777","event":{"id":"…","pubkey":"…","kind":1,"content":"hello","sig":"…"}}"#

  /// The relay; may be left out when the connector has exactly one.
  public var relay: String?
  /// The signed event, as JSON.
  public var event: JSONValue

  /// An event to publish.
  public init(relay: String? = nil, event: JSONValue) {
    self.relay = relay
    self.event = event
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

/// The answer of `relay.list`, and the contents of the topic `relay.states`.
public struct RelayStates: Codable, Sendable {
  /// One relay as its connector sees it.
  public struct Relay: Codable, Sendable {
    /// Canonical URL.
    public var relay: String
    /// `open`, `connecting`, `waiting`, `closing` or `idle`.
    public var state: String
    /// Why it is not connected, if it is not.
    public var reason: String?
    /// Events received.
    public var events: UInt64
    /// Bytes received.
    public var bytes: UInt64
    /// Connections made.
    public var connections: UInt64
    /// Milliseconds the last request took until its EOSE.
    public var latencyMilliseconds: UInt64?

    /// A relay.
    public init(
      relay: String, state: String, reason: String?, events: UInt64, bytes: UInt64, connections: UInt64,
      latencyMilliseconds: UInt64?
    ) {
      self.relay = relay
      self.state = state
      self.reason = reason
      self.events = events
      self.bytes = bytes
      self.connections = connections
      self.latencyMilliseconds = latencyMilliseconds
    }
  }
  /// All relays of the connector.
  public var relays: [Relay]
  /// The states of these relays.
  public init(relays: [Relay]) { self.relays = relays }
}
