internal import Contracts

/// Every key, table by table, in the order in which the shipped file and `effective` show them.
///
/// The structures that the keys are bound to have the defaults. The shipped `supervisor.conf` has the descriptions; a
/// test compares it with these lists.
enum Schema {
  /// The tables at the top of a file.
  static let tables = ["supervisor", "bus", "log", "worker", "role"]

  /// `[supervisor]`
  static let supervisor: [Setting<SupervisorSettings>] = [
    Setting("state-directory", \.stateDirectory, .path, .restartsSupervisor),
    Setting("run-directory", \.runDirectory, .path, .restartsSupervisor),
    Setting("log-directory", \.logDirectory, .optional(.path), .restartsSupervisor),
    Setting("socket", \.socket, .path, .restartsSupervisor),
    Setting("allow-uids", \.allowUids, .list(of: .uid, "uids")),
    Setting("program-directories", \.programDirectories, .list(of: .path, "paths", count: 1...64)),
    Setting("drain-deadline", \.drainDeadline, .duration(.milliseconds(100) ... .seconds(3_600))),
    Setting("spawn-rate", \.spawnRate, .integer(1...1_000)),
  ]

  /// `[bus]`. What WELCOME says to a peer is valid for its whole connection, so those three keys need a new supervisor.
  static let bus: [Setting<BusSettings>] = [
    Setting("frame-limit", \.frameLimit, .size(64 << 10...16 << 20), .restartsSupervisor),
    Setting("window-frames", \.windowFrames, .integer(1...65_536), .restartsSupervisor),
    Setting("window-bytes", \.windowBytes, .size(4_096...1 << 30), .restartsSupervisor),
    Setting("mailbox-frames", \.mailboxFrames, .integer(1...1_000_000)),
    Setting("mailbox-bytes", \.mailboxBytes, .size(4_096...4 << 30)),
    Setting("mailbox-pool", \.mailboxPool, .size(4_096...4 << 30)),
    Setting("outstanding-requests", \.outstandingRequests, .integer(1...1_000_000)),
    Setting("hello-deadline", \.helloDeadline, .duration(.milliseconds(100) ... .seconds(600))),
    Setting("partial-frame-deadline", \.partialFrameDeadline, .duration(.milliseconds(100) ... .seconds(3_600))),
    Setting("output-limit", \.outputLimit, .size(4_096...4 << 30)),
    Setting("deliveries-maximum", \.deliveriesMaximum, .integer(1...100)),
    Setting("request-ttl", \.requestTTL, .duration(.zero ... .seconds(86_400))),
    Setting("dead-letters-maximum", \.deadLettersMaximum, .integer(0...1_000_000)),
  ]

  /// `[log]`
  static let log: [Setting<LogSettings>] = [
    Setting("level", \.level, .choice(LogLevel.self)),
    Setting("levels", \.levels, .levels),
    Setting("rotate-bytes", \.rotateBytes, .size(64 << 10...4 << 30)),
    Setting("keep-files", \.keepFiles, .integer(0...1_000)),
    Setting("lines-per-second", \.linesPerSecond, .integer(1...1_000_000)),
    Setting("burst-lines", \.burstLines, .integer(1...1_000_000)),
    Setting("line-bytes-maximum", \.lineBytesMaximum, .size(256...1 << 20)),
  ]

  /// `[worker.NAME]`, for every role.
  static let worker: [Setting<WorkerConfiguration>] = [
    Setting("role", \.role, .name, .restartsWorker),
    Setting("program", \.program, .program, .restartsWorker),
    Setting("arguments", \.arguments, .list(of: .text("an argument"), "strings"), .restartsWorker),
    Setting("enabled", \.enabled, .flag),
    Setting("after", \.after, .list(of: .name, "workers' names")),
    Setting("restart", \.restart, .choice(RestartPolicy.self)),
    Setting("critical", \.critical, .flag),
    Setting("start-deadline", \.startDeadline, .duration(workerDeadlines)),
    Setting("drain-deadline", \.drainDeadline, .duration(workerDeadlines)),
    Setting("term-deadline", \.termDeadline, .duration(workerDeadlines)),
    Setting("stuck-after", \.stuckAfter, .duration(.seconds(1) ... .seconds(86_400))),
    Setting("backoff-base", \.backoffBase, .duration(.milliseconds(10) ... .seconds(3_600))),
    Setting("backoff-ceiling", \.backoffCeiling, .duration(.milliseconds(10) ... .seconds(86_400))),
    Setting("stable-after", \.stableAfter, .duration(.milliseconds(100) ... .seconds(86_400))),
    Setting("breaker-restarts", \.breakerRestarts, .integer(1...1_000)),
    Setting("breaker-window", \.breakerWindow, .duration(.seconds(1) ... .seconds(86_400))),
    Setting("environment", \.environment, .list(of: .variable, "names of variables"), .restartsWorker),
    Setting("sandbox", \.sandbox, .choice(SandboxMode.self), .restartsWorker),
  ]

  private static let workerDeadlines: ClosedRange<Duration> = .milliseconds(100) ... .seconds(3_600)

  /// `[worker.NAME.limits]`. The kernel's limits are set before a worker starts; roostd watches the last one.
  static let limits: [Setting<WorkerConfiguration>] = [
    Setting("open-files", \.limits.openFiles, .optional(.integer(16...1 << 20)), .restartsWorker),
    Setting("core-bytes", \.limits.coreBytes, .optional(.size(0...1 << 40)), .restartsWorker),
    Setting("file-bytes", \.limits.fileBytes, .optional(.size(0...1 << 50)), .restartsWorker),
    Setting("address-space-bytes", \.limits.addressSpaceBytes, .optional(.size(256 << 20...1 << 50)), .restartsWorker),
    Setting("memory-bytes", \.limits.memoryBytes, .optional(.size(16 << 20...1 << 50))),
  ]

  /// The further keys of `[worker.NAME]` for one role.
  static func settings(ofRole role: String) -> [Setting<WorkerConfiguration>] { byRole[role] ?? [] }

  /// The further keys of `[worker.NAME]` by role; roles without any are not listed.
  static let byRole: [String: [Setting<WorkerConfiguration>]] = [
    "relay-connector": [
      Setting("relays", entry: "relays", of: ConnectorSettings.self, .list(of: .relay, "relay URLs")),
      Setting("ephemeral", entry: "ephemeral", of: ConnectorSettings.self, .flag),
      Setting("connect", entry: "connect", of: ConnectorSettings.self, .choice(ConnectorSettings.Dialling.self)),
      Setting("reads", entry: "reads", of: ConnectorSettings.self, .flag),
      Setting("writes", entry: "writes", of: ConnectorSettings.self, .flag),
      Setting(
        "authenticate", entry: "authenticate", of: ConnectorSettings.self,
        .choice(ConnectorSettings.Authentication.self), .restartsWorker),
      Setting(
        "request-timeout", entry: "requestTimeoutMilliseconds", of: ConnectorSettings.self,
        .milliseconds(.milliseconds(100) ... .seconds(3_600))),
      Setting(
        "connect-timeout", entry: "connectTimeoutMilliseconds", of: ConnectorSettings.self,
        .milliseconds(.milliseconds(100) ... .seconds(600))),
      Setting("pages-at-once", entry: "pagesAtOnce", of: ConnectorSettings.self, .integer(1...16)),
      Setting("ca-file", entry: "caFile", of: ConnectorSettings.self, .optionalPath, .restartsWorker),
      Setting("name-server", entry: "nameServer", of: ConnectorSettings.self, .webServer),
    ],
    "backup": [
      Setting("directory", entry: "backupDirectory", of: BackupSettings.self, .optionalPath, .restartsWorker),
      Setting(
        "every", entry: "everyMilliseconds", of: BackupSettings.self,
        .milliseconds(.seconds(60) ... .seconds(3_650 * 86_400))),
      Setting("keep", entry: "keep", of: BackupSettings.self, .integer(1...10_000)),
      Setting("passphrase-file", entry: "passphraseFile", of: BackupSettings.self, .optionalPath, .restartsWorker),
      Setting("run-after", entry: "runAfter", of: BackupSettings.self, .optionalPath, .restartsWorker),
    ],
    "event-store": [
      Setting("verification", entry: "verification", of: StoreSettings.self, .choice(StoreSettings.Verification.self)),
      Setting("sample-relays", entry: "sampleRelays", of: StoreSettings.self, .list(of: .relay, "relay URLs")),
      Setting("sample-rate", entry: "sampleRate", of: StoreSettings.self, .integer(1...100)),
      Setting("sample-floor", entry: "sampleFloor", of: StoreSettings.self, .integer(1...100)),
      Setting("size-limit", entry: "sizeLimitBytes", of: StoreSettings.self, .size(0...1 << 50)),
      Setting("foreign-limit", entry: "foreignLimitBytes", of: StoreSettings.self, .size(1 << 20...1 << 50)),
      Setting("keep-authors", entry: "keepAuthors", of: StoreSettings.self, .list(of: .publicKey, "public keys")),
      Setting("recent-events", entry: "recentEventsBytes", of: StoreSettings.self, .size(0...1 << 30)),
    ],
    "outbox-planner": [
      Setting("autopilot", entry: "autopilot", of: PlannerSettings.self, .flag),
      Setting("selection", entry: "selection", of: PlannerSettings.self, .choice(PlannerSettings.Selection.self)),
      Setting("indexers", entry: "indexers", of: PlannerSettings.self, .list(of: .relay, "relay URLs", count: 0...8)),
      Setting(
        "monitors", entry: "monitors", of: PlannerSettings.self, .list(of: .publicKey, "public keys", count: 0...8)),
      Setting("allow-private-relays", entry: "allowsPrivateRelays", of: PlannerSettings.self, .flag),
      Setting(
        "publish-expiry", entry: "publishExpiryMilliseconds", of: PlannerSettings.self,
        .milliseconds(.seconds(1) ... .seconds(30 * 86_400))),
    ],
    "local-relay": localRelay,
    "dvm-provider": provider,
    "dvm-tracker": tracker,
    "people": [
      Setting("profile-memory", entry: "profileBytes", of: PeopleSettings.self, .size(1 << 20...1 << 30))
    ],
    "link-feed": [
      Setting("relays", entry: "relays", of: LinkFeedSettings.self, .list(of: .relay, "relay URLs", count: 0...16))
    ],
    "link-page": [
      Setting("listen", entry: "listen", of: LinkPageSettings.self, .listenAddress, .restartsWorker),
      Setting("notify", entry: "notify", of: LinkPageSettings.self, .command, .restartsWorker),
      Setting("extractor", entry: "extractor", of: LinkPageSettings.self, .command, .restartsWorker),
      Setting(
        "extractor-time", entry: "extractorMilliseconds", of: LinkPageSettings.self,
        .milliseconds(.seconds(1) ... .seconds(300)), .restartsWorker),
      Setting(
        "programs-read", entry: "read", of: LinkPageSettings.self, .list(of: .listedPath, "paths"), .restartsWorker),
      Setting(
        "programs-environment", entry: "environment", of: LinkPageSettings.self,
        .list(of: .assignment, "variables, NAME=VALUE"), .restartsWorker),
    ],
    "mirror": [
      Setting(
        "keep-follows", entry: "keepFollowsMilliseconds", of: MirrorSettings.self,
        .milliseconds(.zero ... .seconds(3_650 * 86_400))),
      Setting("keep-bytes-named", entry: "keepNamedBytes", of: MirrorSettings.self, .size(0...1 << 50)),
      Setting("keep-bytes-wraps", entry: "keepWrapsBytes", of: MirrorSettings.self, .size(0...1 << 50)),
      Setting("keep-bytes-follows", entry: "keepFollowsBytes", of: MirrorSettings.self, .size(0...1 << 50)),
      Setting("archives", entry: "archives", of: MirrorSettings.self, .list(of: .relay, "relay URLs", count: 0...16)),
      Setting("copies", entry: "copies", of: MirrorSettings.self, .integer(1...16)),
      Setting(
        "copy-relays", entry: "copyRelays", of: MirrorSettings.self, .list(of: .relay, "relay URLs", count: 0...16)),
      Setting(
        "scrub", entry: "scrubMilliseconds", of: MirrorSettings.self,
        .milliseconds(.zero ... .seconds(3_650 * 86_400))),
      Setting("peers", entry: "peers", of: MirrorSettings.self, .list(of: .peer, "URLs of Roosts", count: 0...8)),
    ],
    "push-relay": pushRelay,
    "signer": [
      Setting(
        "sign-kinds", entry: "signKinds", of: SignerSettings.self,
        .list(of: .signingRule, "rules, \"role:kind\"", count: 0...SigningRule.countMaximum))
    ],
  ]

  /// `[worker.NAME]` of a local relay.
  private static let localRelay: [Setting<WorkerConfiguration>] = [
    Setting(
      "listen", entry: "listen", of: LocalRelaySettings.self,
      .list(of: .listenAddress, "addresses with their ports", count: 1...64), .restartsWorker),
    Setting("hosts", entry: "hosts", of: LocalRelaySettings.self, .list(of: .hostName, "hosts' names")),
    Setting("certificate-file", entry: "certificateFile", of: LocalRelaySettings.self, .optionalPath, .restartsWorker),
    Setting("key-file", entry: "keyFile", of: LocalRelaySettings.self, .optionalPath, .restartsWorker),
    Setting("guests", entry: "guests", of: LocalRelaySettings.self, .list(of: .publicKey, "public keys")),
    Setting("fetch", entry: "fetch", of: LocalRelaySettings.self, .flag),
    Setting(
      "fetch-clients", entry: "fetchClients", of: LocalRelaySettings.self, .list(of: .client, "origins or public keys")),
    Setting(
      "fetch-filters", entry: "fetchFilters", of: LocalRelaySettings.self, .list(of: .filter, "filters, as JSON")),
    Setting("name", entry: "name", of: LocalRelaySettings.self, .text("a text")),
    Setting("description", entry: "description", of: LocalRelaySettings.self, .text("a text")),
    Setting("contact", entry: "contact", of: LocalRelaySettings.self, .text("a text")),
    Setting("icon", entry: "icon", of: LocalRelaySettings.self, .webAddress),
    Setting("self", entry: "ownKey", of: LocalRelaySettings.self, .optionalPublicKey),
    Setting("software", entry: "software", of: LocalRelaySettings.self, .webAddress),
    Setting("version", entry: "version", of: LocalRelaySettings.self, .text("a text")),
    Setting(
      "connections-maximum", entry: "connectionsMaximum", of: LocalRelaySettings.self, .integer(1...100_000),
      .restartsWorker),
    Setting("subscriptions-maximum", entry: "subscriptionsMaximum", of: LocalRelaySettings.self, .integer(1...10_000)),
    Setting("filters-maximum", entry: "filtersMaximum", of: LocalRelaySettings.self, .integer(1...64)),
    Setting(
      "message-bytes", entry: "messageBytes", of: LocalRelaySettings.self, .size(1 << 10...1 << 20), .restartsWorker),
    Setting("events-per-second", entry: "eventsPerSecond", of: LocalRelaySettings.self, .integer(1...1_000_000)),
    Setting("requests-per-second", entry: "requestsPerSecond", of: LocalRelaySettings.self, .integer(1...1_000_000)),
    Setting(
      "slow-client", entry: "slowClientMilliseconds", of: LocalRelaySettings.self,
      .milliseconds(.seconds(1) ... .seconds(3_600))),
  ]

  /// `[worker.NAME]` of a tracker of jobs.
  private static let tracker: [Setting<WorkerConfiguration>] = [
    phase("publish-deadline", "publishDeadlineMilliseconds"),
    phase("answer-deadline", "answerDeadlineMilliseconds"),
    phase("result-deadline", "resultDeadlineMilliseconds"),
    phase("decision-deadline", "decisionDeadlineMilliseconds"),
    phase("delivery-deadline", "deliveryDeadlineMilliseconds"),
    phase("total-deadline", "totalDeadlineMilliseconds"),
    Setting("day-maximum", entry: "dayMaximum", of: TrackerSettings.self, .integer(0...1 << 50)),
    Setting("provider-maximum", entry: "providerMaximum", of: TrackerSettings.self, .integer(0...1 << 50)),
    Setting("jobs-maximum", entry: "jobsMaximum", of: TrackerSettings.self, .integer(1...100_000)),
  ]

  private static func phase(_ name: String, _ entry: String) -> Setting<WorkerConfiguration> {
    Setting(
      name, entry: entry, of: TrackerSettings.self, .milliseconds(.seconds(1) ... .seconds(30 * 86_400)))
  }

  /// `[role.NAME]`
  static let role: [Setting<RoleConfiguration>] = [
    Setting("serves", \.serves, .list(of: .methods, "methods"), .restartsWorker),
    Setting("may-call", \.mayCall, .list(of: .methods, "methods")),
    Setting("callable-by", \.callableBy, .list(of: .name, "roles' names")),
  ]
}
