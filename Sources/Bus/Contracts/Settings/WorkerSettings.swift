public import Frames

/// The settings of a worker: what `[worker.NAME]` of `supervisor.conf` says for its role, as JSON with names in camel
/// case and durations in milliseconds.
///
/// The defaults are those of `init()`, and are written nowhere else: roostd takes them from here for what the file
/// leaves out, and for `--effective`, and a worker that was started by hand has them too.
public protocol WorkerSettings: Codable, Hashable, Sendable {
  /// The defaults.
  init()
}

extension WorkerSettings {
  /// Reads settings; a member that is absent has its default.
  ///
  /// - Throws: `bad-payload` for a member of another type.
  public init(reading given: JSONValue) throws(Refusal) {
    var members = try Self().members()
    if case .object(let present) = given { members.merge(present) { _, new in new } }
    self = try JSONPayload.decode(Self.self, from: JSONPayload.encode(JSONValue.object(members)))
  }

  /// The members by their names.
  public func members() throws(Refusal) -> [String: JSONValue] {
    guard case .object(let members) = try JSONPayload.decode(JSONValue.self, from: JSONPayload.encode(self)) else {
      preconditionFailure("settings are an object")
    }
    return members
  }
}

/// The settings of a `relay-connector`.
public struct ConnectorSettings: WorkerSettings {
  /// When the relays of the group are dialled.
  public enum Dialling: String, Codable, CaseIterable, Sendable {
    /// At once, and for as long as the connector runs.
    case always
    /// While a subscription or a request needs them.
    case onDemand = "on-demand"
  }

  /// The URLs of the group's relays.
  public var relays: [String] = []
  /// Whether it dials relays that a caller names and no group has.
  public var ephemeral = false
  /// When the relays of the group are dialled.
  public var connect = Dialling.always
  /// Whether the relays of the group are asked for what clients observe.
  public var reads = true
  /// Whether events are published to the relays of the group.
  public var writes = true
  /// How long a relay may say nothing about a request.
  public var requestTimeoutMilliseconds: UInt64 = 30_000
  /// How long each step of connecting may take.
  public var connectTimeoutMilliseconds: UInt64 = 10_000
  /// A file of authorities that are trusted beside the system's; "" for none.
  public var caFile = ""
  /// Where the local relays of this Roost listen, which are not dialled; from roostd, no key of the file.
  public var ownAddresses: [String] = []

  /// The defaults.
  public init() {}
}

/// The settings of an `event-store`.
public struct StoreSettings: WorkerSettings {
  /// Which signatures are checked.
  public enum Verification: String, Codable, CaseIterable, Sendable {
    /// Each.
    case always
    /// A sample of what the relays of ``StoreSettings/sampleRelays`` send, and each of all others.
    case sample
  }

  /// Which signatures are checked.
  public var verification = Verification.always
  /// The URLs of relays of which a sample is enough.
  public var sampleRelays: [String] = []
  /// Percent of their events that are checked to begin with, 1 to 100.
  public var sampleRate = 100
  /// Percent that are checked at least, 1 to 100.
  public var sampleFloor = 10
  /// Bytes in use above which events are removed; 0 for no limit.
  public var sizeLimitBytes: Int64 = 0
  /// Bytes that the events of strangers may have together.
  public var foreignLimitBytes: Int64 = 1 << 30
  /// Public keys of authors whose events are never removed; npub or hexadecimal.
  public var keepAuthors: [String] = []
  /// Bytes of recent events kept in memory.
  public var recentEventsBytes = 16 << 20

  /// The defaults.
  public init() {}
}

/// The settings of an `outbox-planner`.
public struct PlannerSettings: WorkerSettings {
  /// After how long relays that have not taken an event are given up: three days, a weekend without a network.
  public var publishExpiryMilliseconds: Int64 = 259_200_000
  /// Where the local relays of this Roost listen; from roostd, no key of the file.
  public var ownAddresses: [String] = []
  /// The connectors that are to run, and their relays; from roostd, no key of the file.
  public var connectors: [ConfiguredConnector] = []
  /// Whether a signer is to run; from roostd, no key of the file.
  public var hasSigner = true

  /// The defaults.
  public init() {}
}

/// The settings of a `signer`.
public struct SignerSettings: WorkerSettings {
  /// Which kinds a role of the file's own may have signed: `role:kind` or `role:kind-kind`, and `@account` behind it.
  public var signKinds: [String] = []
  /// As which account each provider of jobs acts, by its name; from roostd, see ``WorkerAccounts``.
  public var workerAccounts: [String: String] = [:]

  /// The defaults.
  public init() {}
}

/// The settings of a `dvm-tracker`. Deadlines are those of NIP-90's steps; amounts are millisatoshi.
public struct TrackerSettings: WorkerSettings {
  /// Until a relay must have taken the request.
  public var publishDeadlineMilliseconds: Int64 = 600_000
  /// Until a provider must have answered.
  public var answerDeadlineMilliseconds: Int64 = 120_000
  /// Until the result must be there once a provider has begun.
  public var resultDeadlineMilliseconds: Int64 = 600_000
  /// Until the customer must have decided about a bill.
  public var decisionDeadlineMilliseconds: Int64 = 3_600_000
  /// Until the result must be there once it was paid.
  public var deliveryDeadlineMilliseconds: Int64 = 600_000
  /// Until the job must have ended.
  public var totalDeadlineMilliseconds: Int64 = 604_800_000
  /// Most that may be approved without a person in a day.
  public var dayMaximum: Int64 = 1_000_000
  /// Most of that for one provider.
  public var providerMaximum: Int64 = 250_000
  /// Jobs under way; one more is refused.
  public var jobsMaximum = 10_000

  /// The defaults.
  public init() {}
}

/// The settings of a `local-relay`.
public struct LocalRelaySettings: WorkerSettings {
  /// Addresses to listen at, where Nostr's clients look for a local relay.
  public var listen = ["127.0.0.1:4869", "[::1]:4869"]
  /// Further names that clients may know it by, beside those of its own machine.
  public var hosts: [String] = []
  /// The certificate chain, in PEM; "" for none.
  public var certificateFile = ""
  /// The certificate's key, in PEM; "" when it is in the same file.
  public var keyFile = ""
  /// Keys that may come in where a client must authenticate, beside the accounts; npub or hexadecimal.
  public var guests: [String] = []
  /// Users of this machine that are no strangers, besides its own: `allow-uids` of roostd, which sends it.
  public var allowUids: [UInt32] = []
  /// Whether the network is asked for what any client asks for.
  public var fetch = false
  /// Origins or public keys of clients for which the network is asked.
  public var fetchClients: [String] = []
  /// Filters, as JSON, for which the network is asked.
  public var fetchFilters: [String] = []
  /// The description in NIP-11; "" for Roost's own.
  public var description = ""
  /// The contact in NIP-11; "" for none.
  public var contact = ""
  /// Most connections.
  public var connectionsMaximum = 10_000
  /// Most subscriptions of a client.
  public var subscriptionsMaximum = 256
  /// Most filters of a subscription.
  public var filtersMaximum = 32
  /// Bytes of one message of a client.
  public var messageBytes = 512 << 10
  /// Events that a client may send in a second.
  public var eventsPerSecond = 20_000
  /// Subscriptions that a client may ask for in a second.
  public var requestsPerSecond = 500
  /// How long a client may read nothing before it is disconnected.
  public var slowClientMilliseconds: UInt64 = 30_000

  /// The defaults.
  public init() {}
}

/// The settings of a `dvm-provider`, besides its jobs.
public struct ProviderSettings: WorkerSettings {
  /// The account that answers; "" for the worker's own.
  public var account = ""
  /// `["accounts"]`, `["anyone"]`, or public keys.
  public var customers = ["accounts"]
  /// Whether it takes requests that name no provider.
  public var openMarket = true
  /// Whether it asks relays for requests, and sends its answers there.
  public var network = false
  /// Whether it says in public what it serves (NIP-89).
  public var announce = false
  /// Its name there; "" for Roost.
  public var name = ""
  /// Its description there; "" for none.
  public var about = ""
  /// The age of the oldest request that it takes.
  public var requestAgeMilliseconds: Int64 = 3_600_000
  /// How long it waits for a payment.
  public var paymentTimeMilliseconds: Int64 = 3_600_000
  /// Requests that it works on at a time.
  public var concurrent = 4
  /// Requests that wait; one more is refused.
  public var waitingMaximum = 1_000

  /// The defaults.
  public init() {}
}
