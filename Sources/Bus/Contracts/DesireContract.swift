public import Frames

// What the planner wants of relays, and what becomes of it.
//
//    outbox-planner ── relay.desire: snapshot, then differences ──▶ relay-connector ── REQ, CLOSE ──▶ relays
//                   ◀─ relay.follow: what became of each ─────────                  ── store.ingest ─▶ event-store
//
// The planner follows each connector. Whenever that answer ends, because one of the two has died or the connector
// drains, the planner follows anew; the first part says which wishes the connector has, and the planner sends what is
// missing, or all of them. So there is one direction of requests, nothing is remembered by calls, and a connector that
// comes back has its subscriptions again.

/// `relay.desire`: REQs that are to stand from now on. The connector makes reality agree with them: it opens what is
/// new, closes what is gone, and opens them again after each reconnection. Events go to the store. Answered with a
/// ``RelayDesireResult``.
///
/// Refused as `no-such-version` when `base` is not what the connector has: send all of it. As `bad-request`, and as a
/// whole, when a filter or a URL is none; as `no-such-relay` when it does not dial one of the relays.
public struct RelayDesire: MethodArguments {
  /// How it is asked.
  public static let example =
    #"{"generation":1700000000,"version":2,"base":1,"changed":[{"key":"home","relay":"wss://relay.example","#
    + #""filters":[{"kinds":[1]}],"isLive":true}],"removed":[]}"#

  /// The planner's life.
  public var generation: Int64
  /// The number of this state, above the one before.
  public var version: Int64
  /// The state these are changes of; absent: `changed` is all that is wanted.
  public var base: Int64?
  /// New ones, and those that are other than before, whole.
  public var changed: [DesiredSubscription]
  /// Keys of what is not wanted any more.
  public var removed: [String]

  /// Most wishes that a connector keeps.
  public static let requestMaximum = 4_096

  /// Wishes.
  public init(
    generation: Int64, version: Int64, base: Int64? = nil, changed: [DesiredSubscription] = [], removed: [String] = []
  ) {
    self.generation = generation
    self.version = version
    self.base = base
    self.changed = changed
    self.removed = removed
  }

  /// A key of the wrong length, a filter list of the wrong length, or numbers that go backwards.
  public var objection: String? {
    if let wrong = changed.first(where: { !(1...DesiredSubscription.keyByteCountMaximum).contains($0.key.utf8.count) })
    {
      return "the key '\(wrong.key)' has \(wrong.key.utf8.count) bytes; "
        + "1 to \(DesiredSubscription.keyByteCountMaximum) are taken"
    }
    if let wrong = changed.first(where: { !(1...StoreObserve.filterMaximum).contains($0.filters.count) }) {
      return "'\(wrong.key)' has \(wrong.filters.count) filters; 1 to \(StoreObserve.filterMaximum) are taken"
    }
    if let base, base >= version { return "'version' \(version) is not above 'base' \(base)" }
    return nil
  }
}

/// One REQ that is to stand at one relay.
public struct DesiredSubscription: Codable, Sendable, Hashable {
  /// The planner's name for it, 1 to ``keyByteCountMaximum`` bytes, one of all relays. Other filters under the same key
  /// are a new REQ.
  public var key: String
  /// The relay.
  public var relay: String
  /// NIP-01 filters.
  public var filters: [JSONValue]
  /// Whether it stands after EOSE; else it is over then.
  public var isLive: Bool
  /// Who shows himself if the relay asks for it (NIP-42), 64 hexadecimal digits; nobody when absent.
  public var account: String?
  /// The relay was named by other people: it is not dialled at a private address.
  public var isForeign: Bool?

  /// Longest key.
  public static let keyByteCountMaximum = 64

  /// A wish.
  public init(
    key: String, relay: String, filters: [JSONValue], isLive: Bool, account: String? = nil, isForeign: Bool
  ) {
    self.key = key
    self.relay = relay
    self.filters = filters
    self.isLive = isLive
    self.account = account
    self.isForeign = isForeign ? true : nil
  }
}

/// The answer of `relay.desire`: the wishes are taken.
public struct RelayDesireResult: Codable, Sendable, Hashable {
  /// What the connector has now.
  public var version: Int64

  /// An answer.
  public init(version: Int64) { self.version = version }
}

/// `relay.follow`: what becomes of the wishes, and how the relays are, from now on until the caller cancels. Parts are
/// ``RelayReport``s, the first of which is whole. Changes gather while the caller takes none.
public struct RelayReport: Codable, Sendable, Hashable {
  /// All there is; else what has changed since the part before.
  public var isWhole: Bool
  /// The generation of the wishes that the connector has; absent before the first.
  public var generation: Int64?
  /// Their version.
  public var version: Int64?
  /// Whether it dials relays that no group has (`ephemeral = true`); absent: as before, and in a whole part not.
  public var dialsOthers: Bool?
  /// Relays.
  public var relays: [RelayStates.Relay]
  /// What became of the wishes.
  public var requests: [RequestReport]

  /// A report.
  public init(
    isWhole: Bool, generation: Int64? = nil, version: Int64? = nil, dialsOthers: Bool? = nil,
    relays: [RelayStates.Relay] = [], requests: [RequestReport] = []
  ) {
    self.isWhole = isWhole
    self.generation = generation
    self.version = version
    self.dialsOthers = dialsOthers
    self.relays = relays
    self.requests = requests
  }
}

/// What became of one ``DesiredSubscription``.
public struct RequestReport: Codable, Sendable, Hashable {
  /// How far it is.
  public enum State: String, Codable, Sendable, Hashable, CaseIterable {
    /// The relay is not connected, or has as many subscriptions as it takes.
    case waiting
    /// Sent, and no EOSE yet.
    case asked
    /// EOSE came, and all events before it are committed.
    case stored
    /// The relay has refused it and is not asked again on this connection; `reason` says why.
    case refused
  }
  /// Its key.
  public var key: String
  /// The relay.
  public var relay: String
  /// How far it is.
  public var state: State
  /// Why it waits or was refused; of one that is asked, why its EOSE is not waited for any more.
  public var reason: String?
  /// When EOSE came, seconds since 1970; with `stored`, and kept after a disconnection.
  public var storedAt: Int64?
  /// Events it has brought since it was wished.
  public var events: UInt64

  /// A report.
  public init(
    key: String, relay: String, state: State, reason: String? = nil, storedAt: Int64? = nil, events: UInt64 = 0
  ) {
    self.key = key
    self.relay = relay
    self.state = state
    self.reason = reason
    self.storedAt = storedAt
    self.events = events
  }
}

extension RefusalCode {
  /// The wishes are changes of a version that the connector does not have.
  public static let noSuchVersion: RefusalCode = "no-such-version"
  /// The connector does not dial this relay.
  public static let noSuchRelay: RefusalCode = "no-such-relay"
}
