public import Frames

// The subscriptions that the planner wants at relays, and how each is doing.
//
//    outbox-planner ── relay.desire: snapshot, then differences ──▶ relay-connector ── REQ, CLOSE ──▶ relays
//                   ◀─ relay.follow: what became of each ─────────                  ── store.ingest ─▶ event-store
//
// The planner follows each connector. When that answer ends, because one of the two died or because the connector
// drains, the planner sends `relay.follow` again. The first part says which subscriptions the connector has, and the
// planner sends what is missing, or all of them. So requests go in one direction only, no state depends on earlier
// calls, and a connector that comes back gets its subscriptions again.

/// `relay.desire`: REQs that the connector holds open from now on. The connector makes its subscriptions agree with
/// them: it opens new ones, closes removed ones, and opens all of them again after each reconnection. Events go to the
/// store. Answered with a ``RelayDesireResult``.
///
/// Refused as `no-such-version` when `base` is not the version that the connector has; the planner then sends all of
/// them. Refused as a whole as `bad-request` when a filter or a URL is invalid, and as `no-such-relay` when the
/// connector does not dial one of the relays.
public struct RelayDesire: MethodArguments {
  /// An example of the arguments.
  public static let example =
    #"{"generation":1700000000,"version":2,"base":1,"changed":[{"key":"home","relay":"wss://relay.example","#
    + #""filters":[{"kinds":[1]}],"isLive":true}],"removed":[]}"#

  /// The generation of the planner.
  public var generation: Int64
  /// The number of this state; higher than that of the state before.
  public var version: Int64
  /// The version that these changes apply to; absent: `changed` is the complete state.
  public var base: Int64?
  /// New and changed subscriptions, each complete.
  public var changed: [DesiredSubscription]
  /// Keys of subscriptions that are no longer wanted.
  public var removed: [String]

  /// The maximum number of subscriptions that a connector keeps.
  public static let requestMaximum = 4_096
  /// The maximum number of relays outside the group in them.
  public static let otherRelayMaximum = 512

  /// A set of changes, or the complete state.
  public init(
    generation: Int64, version: Int64, base: Int64? = nil, changed: [DesiredSubscription] = [], removed: [String] = []
  ) {
    self.generation = generation
    self.version = version
    self.base = base
    self.changed = changed
    self.removed = removed
  }

  /// A key of the wrong length, a filter list of the wrong length, or a version that is not above its base.
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

/// What one relay is to send: new events, by a REQ that stays open, and stored ones, which are fetched in pages.
public struct DesiredSubscription: Codable, Sendable, Hashable {
  /// The planner's key for it, 1 to ``keyByteCountMaximum`` bytes, unique over all relays. Other filters under the same
  /// key are a new REQ.
  public var key: String
  /// The relay.
  public var relay: String
  /// NIP-01 filters.
  public var filters: [JSONValue]
  /// Whether it stays open after EOSE; otherwise it ends there.
  public var isLive: Bool
  /// The account that authenticates if the relay requires it (NIP-42), 64 hexadecimal digits. Absent: none.
  public var account: String?
  /// Whether the relay was named by someone else; it is then not dialled at a private address.
  public var isForeign: Bool?
  /// Which stored events are wanted. Absent: as each filter says, the newest of its `limit`, or all since its `since`;
  /// a filter without limit that names neither ids, authors nor tag values gets what the relay sends in one page.
  public var stored: StoredDepth?
  /// Whether the relay is asked for all of it again; otherwise only for what is not covered (``StoreCoverage``).
  public var isFresh: Bool?
  /// Whether the relay is dialled for it after everything else, if no group has it. Absent: no.
  public var isBackfill: Bool?
  /// The trace of a request that it is wanted for, for logs; absent: of none. A change of it alone is not sent.
  public var trace: String?

  /// Which stored events are wanted.
  public enum StoredDepth: String, Codable, Sendable, Hashable, CaseIterable {
    /// None.
    case none
    /// All since the filter's `since`, whatever its limit.
    case all
  }

  /// The longest key, in bytes.
  public static let keyByteCountMaximum = 64

  /// A wanted subscription.
  public init(
    key: String, relay: String, filters: [JSONValue], isLive: Bool, account: String? = nil, isForeign: Bool,
    stored: StoredDepth? = nil, isFresh: Bool = false
  ) {
    self.stored = stored
    self.isFresh = isFresh ? true : nil
    self.key = key
    self.relay = relay
    self.filters = filters
    self.isLive = isLive
    self.account = account
    self.isForeign = isForeign ? true : nil
  }
}

/// The answer of `relay.desire`: the connector has adopted the subscriptions.
public struct RelayDesireResult: Codable, Sendable, Hashable {
  /// The version that the connector has now.
  public var version: Int64

  /// An answer.
  public init(version: Int64) { self.version = version }
}

/// `relay.follow`: the state of the wanted subscriptions and of the relays, from now on until the caller cancels. Parts
/// are ``RelayReport``s, the first of which is complete. While the caller takes no parts, changes are merged.
public struct RelayReport: Codable, Sendable, Hashable {
  /// Whether the report is complete; otherwise it holds what changed since the part before.
  public var isWhole: Bool
  /// The planner's generation that the wanted subscriptions are from; absent before the first.
  public var generation: Int64?
  /// Their version.
  public var version: Int64?
  /// Whether it dials relays that belong to no group (`ephemeral = true`). Absent: unchanged, and in a complete report
  /// false.
  public var dialsOthers: Bool?
  /// Relays.
  public var relays: [RelayStates.Relay]
  /// States of the wanted subscriptions.
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

/// The state of one ``DesiredSubscription``.
public struct RequestReport: Codable, Sendable, Hashable {
  /// The state of a subscription.
  public enum State: String, Codable, Sendable, Hashable, CaseIterable {
    /// The relay is not connected, or has its maximum number of subscriptions.
    case waiting
    /// The REQ was sent, and stored events are being fetched.
    case asked
    /// No more stored events are fetched, and those that came are committed; `end` says whether they are all.
    case stored
    /// The relay refused it. The connector does not send it again on this connection; `reason` says why.
    case refused
  }
  /// Its key.
  public var key: String
  /// The relay.
  public var relay: String
  /// Its state.
  public var state: State
  /// Why it waits or was refused; with `asked`, why its EOSE is no longer expected.
  public var reason: String?
  /// With `refused`: whether the relay refused because of its own bounds or of the account, and not because of the
  /// filters. To ask for less, or in parts, does not help then.
  public var isAboutRelay: Bool?
  /// How fetching the stored events ended, the last time.
  public enum End: String, Codable, Sendable, Hashable, CaseIterable {
    /// All that was wanted is here.
    case drained
    /// The relay may have more than is asked for at once.
    case capped
    /// The relay sent nothing for too long.
    case silent
    /// The relay sent, without end, what was not asked for.
    case cut
    /// The relay refused.
    case refused
    /// It was no longer wanted.
    case cancelled
  }
  /// How fetching the stored events ended; absent before the first end.
  public var end: End?
  /// When the stored events were here, seconds since 1970; present with `stored`, and kept after a disconnection.
  public var storedAt: Int64?
  /// Events received since the planner wanted it.
  public var events: UInt64
  /// Pages of stored events that have ended.
  public var pages: UInt64?

  /// A report.
  public init(
    key: String, relay: String, state: State, reason: String? = nil, isAboutRelay: Bool? = nil,
    storedAt: Int64? = nil, events: UInt64 = 0, end: End? = nil, pages: UInt64? = nil
  ) {
    self.end = end
    self.pages = pages
    self.isAboutRelay = isAboutRelay
    self.key = key
    self.relay = relay
    self.state = state
    self.reason = reason
    self.storedAt = storedAt
    self.events = events
  }
}

extension RefusalCode {
  /// The changes apply to a version that the connector does not have.
  public static let noSuchVersion: RefusalCode = "no-such-version"
  /// The connector does not dial this relay.
  public static let noSuchRelay: RefusalCode = "no-such-relay"
}
