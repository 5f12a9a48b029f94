/// A role on the bus: what a peer is for. Headers carry its number; 1–63 are Roost's own, 64–127 the roles that
/// `supervisor.conf` adds for a user's own workers.
public struct Role: Hashable, Sendable, CustomStringConvertible {
  /// The number in a header, 0 … 127.
  public let number: UInt16
  /// The name in HELLO and in `supervisor.conf`.
  public let name: String

  /// A role with its number.
  public init(number: UInt16, name: String) {
    precondition(number <= Role.numberMaximum, "a role's number is at most 127")
    self.number = number
    self.name = name
  }

  /// The name.
  public var description: String { name }

  /// Whether workers of a role process what strangers send, or run programs on it. Relays that such a worker names are
  /// foreign (`ForeignRelayURL`), because a stranger may have chosen them. A caller without a role counts as such a
  /// worker.
  public static func readsStrangers(_ number: UInt16?) -> Bool {
    guard let number else { return true }
    return [relayConnector, localRelay, dvmProvider, pushRelay, linkFeed, linkPage].contains { $0.number == number }
  }

  /// The highest role number.
  public static let numberMaximum: UInt16 = 127
  /// The first number for roles of `supervisor.conf`.
  public static let firstCustomNumber: UInt16 = 64

  /// The supervisor and hub itself.
  public static let supervisor = Role(number: 0, name: "supervisor")
  /// Applications, scripts and the `roost` command.
  public static let client = Role(number: 1, name: "client")
  /// Connects to relays.
  public static let relayConnector = Role(number: 2, name: "relay-connector")
  /// Verifies and keeps events.
  public static let eventStore = Role(number: 3, name: "event-store")
  /// Decides which relays are queried and which events go where.
  public static let outboxPlanner = Role(number: 4, name: "outbox-planner")
  /// Keeps the ledger of jobs.
  public static let dvmTracker = Role(number: 5, name: "dvm-tracker")
  /// Does jobs for customers.
  public static let dvmProvider = Role(number: 6, name: "dvm-provider")
  /// Wakes phones.
  public static let pushRelay = Role(number: 7, name: "push-relay")
  /// Holds keys.
  public static let signer = Role(number: 8, name: "signer")
  /// A relay on localhost.
  public static let localRelay = Role(number: 9, name: "local-relay")

  /// Has everything of one's own fetched.
  public static let mirror = Role(number: 10, name: "mirror")
  /// Makes backups.
  public static let backup = Role(number: 11, name: "backup")
  /// Edits lists, and knows the people of accounts.
  public static let people = Role(number: 12, name: "people")
  /// Keeps links and messages that come in gift wraps, and sends them.
  public static let linkFeed = Role(number: 13, name: "link-feed")
  /// Shows links to a person in a browser, and runs the programs for them.
  public static let linkPage = Role(number: 14, name: "link-page")
  /// Any worker: the server of the methods that workers of several roles serve. No worker has it as its own.
  public static let worker = Role(number: 63, name: "worker")

  /// Roles that sign with an account of their own, which has the role's name. The signer makes the account at the first
  /// request for it, or a user imports a key under that name.
  public static let withAccount: [Role] = [.dvmTracker, .dvmProvider]

  /// Roost's own roles.
  public static let builtIn: [Role] = [
    .supervisor, .client, .relayConnector, .eventStore, .outboxPlanner, .dvmTracker, .dvmProvider, .pushRelay, .signer,
    .localRelay, .mirror, .backup, .people, .linkFeed, .linkPage, .worker,
  ]

  /// Roles whose workers keep files, which belong into a backup.
  public static let withFiles: [Role] = [
    .eventStore, .outboxPlanner, .dvmTracker, .dvmProvider, .pushRelay, .signer, .localRelay, .mirror,
    .people, .linkFeed,
  ]

  /// Roles whose workers keep something for single accounts, and serve `account.forget`; in the order in which they are
  /// asked. The mirror is first, because it says which events are kept for no account; the store is last, because the
  /// others read from it. The signer and `people` do not belong to them: their parts are steps of
  /// `people.forget` itself.
  public static let withAccountData: [Role] = [
    .mirror, .dvmTracker, .dvmProvider, .pushRelay, .linkFeed, .outboxPlanner, .localRelay, .eventStore,
  ]
}

/// A set of roles, as 128 bits.
public struct RoleSet: Sendable, Hashable {
  private var low: UInt64 = 0
  private var high: UInt64 = 0

  /// A set of these roles.
  public init(_ roles: [Role] = []) { for role in roles { insert(role.number) } }

  /// Adds a role.
  public mutating func insert(_ number: UInt16) {
    if number < 64 { low |= 1 << UInt64(number) } else { high |= 1 << UInt64(number - 64) }
  }

  /// Whether the role is in the set.
  @inline(__always)
  public func contains(_ number: UInt16) -> Bool {
    number < 64 ? low & (1 << UInt64(number)) != 0 : high & (1 << UInt64(number & 63)) != 0
  }
}
