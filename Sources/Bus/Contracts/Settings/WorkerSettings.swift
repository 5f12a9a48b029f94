public import Frames

/// The settings of a worker: what `[worker.NAME]` of `supervisor.conf` says for its role, as JSON with names in camel
/// case and durations in milliseconds.
///
/// The defaults are those of `init()`, and are written nowhere else. roostd uses them for what the file leaves out and
/// for `--effective`, and a worker that was started by hand uses them too.
public protocol WorkerSettings: Codable, Hashable, Sendable {
  /// The defaults.
  init()
}

extension WorkerSettings {
  /// Reads settings; an absent member has its default.
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
    /// Immediately, and for as long as the connector runs.
    case always
    /// While a subscription or a request needs them.
    case onDemand = "on-demand"
  }

  /// Which key a relay sees that asks for authentication (NIP-42).
  public enum Authentication: String, Codable, CaseIterable, Sendable {
    /// The account of the request, event or subscription.
    case account
    /// A key that is made for this process and this relay: no account is shown.
    case throwAway = "throw-away"
    /// None: what the relay refuses for that stays refused.
    case never
  }

  /// The URLs of the group's relays.
  public var relays: [String] = []
  /// Whether it dials relays that a caller names and that belong to no group.
  public var ephemeral = false
  /// When the relays of the group are dialled.
  public var connect = Dialling.always
  /// Whether subscriptions of observations are opened at the relays of the group.
  public var reads = true
  /// Whether events are published to the relays of the group.
  public var writes = true
  /// Which key the relays see that ask for authentication.
  public var authenticate = Authentication.account
  /// How long a relay may leave a request without an answer.
  public var requestTimeoutMilliseconds: UInt64 = 30_000
  /// How long each step of connecting may take.
  public var connectTimeoutMilliseconds: UInt64 = 10_000
  /// The most pages of stored events that are asked for at a time at one relay, 1 to 16.
  public var pagesAtOnce = 8
  /// A file of certificate authorities that are trusted in addition to the system's; "" for none.
  public var caFile = ""
  /// A server of the user's own that is asked for people's names (NIP-05) instead of the servers of their domains; ""
  /// for none.
  public var nameServer = ""
  /// Where the local relays of this Roost listen, which are not dialled; set by roostd, not a key of the file.
  public var ownAddresses: [String] = []
  /// All enabled connectors, this one among them; set by roostd, not a key of the file.
  public var connectors: [ConfiguredConnector] = []

  /// The defaults.
  public init() {}
}

/// The settings of an `event-store`.
public struct StoreSettings: WorkerSettings {
  /// Which signatures are checked.
  public enum Verification: String, Codable, CaseIterable, Sendable {
    /// All signatures.
    case always
    /// A sample of the signatures from the relays of ``StoreSettings/sampleRelays``, and all others.
    case sample
  }

  /// Which signatures are checked.
  public var verification = Verification.always
  /// The URLs of relays for which a sample is enough.
  public var sampleRelays: [String] = []
  /// The percentage of their events that is checked at first, 1 to 100.
  public var sampleRate = 100
  /// The lowest percentage that is checked, 1 to 100.
  public var sampleFloor = 10
  /// Used bytes above which events are removed; 0 for no limit.
  public var sizeLimitBytes: Int64 = 0
  /// The maximum of bytes for all foreign events together.
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
  /// How the relays of other people are chosen that are open at a time.
  public enum Selection: String, Codable, CaseIterable, Sendable {
    /// Few relays: two for each person, eight in all.
    case greedy
    /// The relays that most people name, each asked for all of them.
    case direct
    /// The relays from which most is expected that no other brings, by what each has brought so far.
    case learned
  }

  /// Whether people are read, and told of what mentions them, at the relays that their own lists name.
  public var autopilot = true
  /// How the relays of other people are chosen.
  public var selection = Selection.direct
  /// The URLs of relays that are asked for other people's lists (kinds 10002 and 10050).
  public var indexers: [String] = []
  /// The keys of monitors whose word on relays is believed (NIP-66), 64 hexadecimal digits each.
  public var monitors: [String] = []
  /// Whether other people's lists may name private addresses: for test networks.
  public var allowsPrivateRelays = false
  /// How long until relays that have not accepted an event are given up: three days, a weekend without a network.
  public var publishExpiryMilliseconds: Int64 = 259_200_000
  /// Where the local relays of this Roost listen; set by roostd, not a key of the file.
  public var ownAddresses: [String] = []
  /// The configured connectors and their relays; set by roostd, not a key of the file.
  public var connectors: [ConfiguredConnector] = []
  /// The other Roosts of the same owner, with ``PeerPath``; set by roostd from the mirror's settings.
  public var peers: [String] = []
  /// Whether a signer is configured; set by roostd, not a key of the file.
  public var hasSigner = true

  /// The defaults.
  public init() {}
}

/// The settings of a `signer`.
public struct SignerSettings: WorkerSettings {
  /// The kinds that a role of the file's own may have signed: `role:kind` or `role:kind-kind`, optionally followed by
  /// `@account`.
  public var signKinds: [String] = []
  /// The account of each provider of jobs, by the provider's name; set by roostd, see ``WorkerAccounts``.
  public var workerAccounts: [String: String] = [:]

  /// The defaults.
  public init() {}
}

/// The settings of a `dvm-tracker`. Deadlines are those of the steps of NIP-90; amounts are in millisatoshi.
public struct TrackerSettings: WorkerSettings {
  /// Until a relay must have accepted the request.
  public var publishDeadlineMilliseconds: Int64 = 600_000
  /// Until a provider must have answered.
  public var answerDeadlineMilliseconds: Int64 = 120_000
  /// From a provider's start to the result.
  public var resultDeadlineMilliseconds: Int64 = 600_000
  /// Until the customer must have decided about a payment.
  public var decisionDeadlineMilliseconds: Int64 = 3_600_000
  /// From a payment to the result.
  public var deliveryDeadlineMilliseconds: Int64 = 600_000
  /// Until the job must have ended.
  public var totalDeadlineMilliseconds: Int64 = 604_800_000
  /// The maximum that may be approved in a day without a person.
  public var dayMaximum: Int64 = 1_000_000
  /// The maximum of that for one provider.
  public var providerMaximum: Int64 = 250_000
  /// Jobs under way; further jobs are refused.
  public var jobsMaximum = 10_000

  /// The defaults.
  public init() {}
}

/// The settings of a `local-relay`.
public struct LocalRelaySettings: WorkerSettings {
  /// Addresses to listen at; the defaults are where clients of Nostr look for a local relay.
  public var listen = ["127.0.0.1:4869", "[::1]:4869"]
  /// Further names of the relay, in addition to those of its machine.
  public var hosts: [String] = []
  /// The certificate chain, in PEM; "" for none.
  public var certificateFile = ""
  /// The certificate's key, in PEM; "" when it is in the same file.
  public var keyFile = ""
  /// Keys that are admitted where a client must authenticate, in addition to the accounts; npub or hexadecimal.
  public var guests: [String] = []
  /// Users of this machine that are trusted in addition to its own: `allow-uids` of roostd, which sends it.
  public var allowUids: [UInt32] = []
  /// Whether the network is queried for the requests of programs of the daemon's user and of authenticated accounts, in
  /// addition to the store, and without a wait for it.
  public var fetch = true
  /// Origins or public keys of clients for whose requests the network is queried, and whose EOSE waits for it.
  public var fetchClients: [String] = []
  /// Filters, as JSON, for which the network is queried.
  public var fetchFilters: [String] = []
  /// The name in NIP-11.
  public var name = "Roost"
  /// The description in NIP-11; "" for Roost's own.
  public var description = ""
  /// The contact in NIP-11; "" for none.
  public var contact = ""
  /// The address of a picture in NIP-11; "" for none.
  public var icon = ""
  /// The relay's own key in NIP-11 (`self`), npub or hexadecimal; "" for none.
  public var ownKey = ""
  /// The address of the software's page in NIP-11; "" for none.
  public var software = ""
  /// The version in NIP-11; "" for Roost's own.
  public var version = ""
  /// The maximum number of connections.
  public var connectionsMaximum = 10_000
  /// The maximum number of subscriptions of a client.
  public var subscriptionsMaximum = 256
  /// The maximum number of filters of a subscription.
  public var filtersMaximum = 32
  /// The maximum size of one message of a client, in bytes.
  public var messageBytes = 512 << 10
  /// The maximum number of events from a client in a second.
  public var eventsPerSecond = 20_000
  /// The maximum number of subscriptions that a client may open in a second.
  public var requestsPerSecond = 500
  /// How long a client may read nothing before it is disconnected.
  public var slowClientMilliseconds: UInt64 = 30_000

  /// The defaults.
  public init() {}
}

/// The settings of a `dvm-provider`, except its jobs.
public struct ProviderSettings: WorkerSettings {
  /// The account that answers; "" for the worker's own.
  public var account = ""
  /// `["accounts"]`, `["anyone"]`, or public keys.
  public var customers = ["accounts"]
  /// Whether it accepts requests that name no provider.
  public var openMarket = true
  /// Whether it queries relays for requests, and sends its answers there.
  public var network = false
  /// Whether it announces publicly what it serves (NIP-89).
  public var announce = false
  /// Its name in the announcement; "" for Roost.
  public var name = ""
  /// Its description in the announcement; "" for none.
  public var about = ""
  /// The age of the oldest request that it accepts.
  public var requestAgeMilliseconds: Int64 = 3_600_000
  /// How long it waits for a payment.
  public var paymentTimeMilliseconds: Int64 = 3_600_000
  /// Requests that it works on at a time.
  public var concurrent = 4
  /// The maximum number of waiting requests; further ones are refused.
  public var waitingMaximum = 1_000

  /// The defaults.
  public init() {}
}

/// The settings of a `backup`.
public struct BackupSettings: WorkerSettings {
  /// The directory for the backups; empty: none is made.
  public var backupDirectory = ""
  /// The time from one backup to the next.
  public var everyMilliseconds: Int64 = 86_400_000
  /// How many of its own backups it keeps.
  public var keep = 7
  /// A file whose first line is the passphrase that seals the backups; empty: they are not sealed.
  public var passphraseFile = ""
  /// A program that is started with the path of each new backup; empty: none.
  public var runAfter = ""

  /// The defaults.
  public init() {}
}

/// The settings of a `people`.
public struct PeopleSettings: WorkerSettings {
  /// The bytes that profiles in memory may take; further ones are read from the store again.
  public var profileBytes: Int64 = 16 << 20

  /// The defaults.
  public init() {}
}

/// The settings of a `mirror`.
public struct MirrorSettings: WorkerSettings {
  /// How far back it keeps what followed people write; 0 for nothing of theirs.
  public var keepFollowsMilliseconds: Int64 = 1_209_600_000
  /// Bytes that what names an account may have, over all accounts; 0: no bound.
  public var keepNamedBytes: Int64 = 4 << 30
  /// Bytes that gift wraps to the accounts may have; 0: no bound.
  public var keepWrapsBytes: Int64 = 2 << 30
  /// Bytes that what followed people write may have; 0: no bound.
  public var keepFollowsBytes: Int64 = 1 << 30
  /// What else is kept, by `[worker.mirror.keep.NAME]`; set by roostd.
  public var keep: [MirrorKeep] = []
  /// The URLs of relays that are asked, beside those of the accounts' lists, for what is public.
  public var archives: [String] = []
  /// How many relays are to have each event that an account wrote.
  public var copies = 3
  /// The URLs of relays that are sent copies when an account writes to fewer than ``copies`` relays.
  public var copyRelays: [String] = []
  /// How often the relays are compared with what an account wrote, and sent what they lack; 0: never.
  public var scrubMilliseconds: Int64 = 604_800_000
  /// The URLs of the local relays of other Roosts of the same owner, without a path.
  public var peers: [String] = []

  /// The defaults.
  public init() {}
}
