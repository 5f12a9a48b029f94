public import Addresses
public import Contracts
public import Cryptography
public import Nostr
internal import RelaySelection

// The known relays, the sources that name them, and the workers that dial them. A value without I/O: mutating functions
// take in what the planner learns; the other functions answer queries.
//
//     supervisor.conf ─▶ connectors ── relay.follow ──▶ ┐
//     roost relay add ─────────────── added, removed ─▶ │ RelayDirectory ─▶ route(event), route(filters), writes, reads
//     signer.accounts ─────────────── accounts ───────▶ │
//     kinds 10002, 10006, 10050 ───── learn ──────────▶ ┘
//
// The groups of `supervisor.conf` count as their connectors report them, so the directory and the connectors always
// agree. A connector's report stays valid while the connector is dead; otherwise the connector for all other relays
// would dial the group's relays during each restart. For a connector that has not reported (held, stopped or stuck) the
// group counts as configured: events are planned for its relays, and wait for it. Filters are not sent there meanwhile:
// an observer would wait for a connector that may be away for days.
//
// It trusts the configuration, the user's additions, and the lists of our own accounts. Relays that other authors name
// for themselves (their 10050) are *foreign*: never used at private addresses.
//
// Bounds: accounts are bounded by the signer, relays of a connector by its configuration, added relays by
// ``addedMaximum``, and other people's lists by ``AuthorBook``.

/// The known relays.
public struct RelayDirectory: Sendable {
  /// What a connector has reported.
  struct Group: Sendable {
    var relays: [RelayURL: RelayStates.Relay] = [:]
    var dialsOthers = false

    /// The parts that affect routes.
    var standing: [String: [Bool]] {
      var standing = ["": [dialsOthers]]
      for (url, relay) in relays where relay.isConfigured { standing[url.text] = [relay.reads, relay.writes] }
      return standing
    }
  }
  /// A relay added by hand.
  public struct Added: Hashable, Sendable {
    /// The relay.
    public let url: RelayURL
    /// Whether filters are sent there.
    public var reads: Bool
    /// Whether events are published there.
    public var writes: Bool

    /// A relay added by hand.
    public init(_ url: RelayURL, reads: Bool = true, writes: Bool = true) {
      self.url = url
      self.reads = reads
      self.writes = writes
    }
  }

  var groups: [String: Group] = [:]
  /// What `supervisor.conf` says of each connector, by its name.
  var planned: [String: ConfiguredConnector] = [:]
  /// The worker of each configured relay, by URL; it may not have reported yet.
  var configured: [RelayURL: String] = [:]
  var added: [RelayURL: Added] = [:]
  /// Sorted by name.
  public private(set) var accounts: [PlanAccount] = []
  /// The accounts of people. A worker's account is never the default when no account is named.
  public var personalAccounts: [PlanAccount] {
    accounts.filter { account in !Role.withAccount.contains { $0.name == account.name } }
  }
  var places: [PublicKey: Int] = [:]
  /// The lists of people who are not our accounts.
  public var book = AuthorBook()
  /// Where events may be found that are wanted by their ids.
  public var events = EventPlaces()
  var reading = ReadingPlan()
  /// The revision of the last choice of relays for reading.
  var selectedRevision: UInt64?
  /// When that was, seconds since 1970.
  var selectedAt: Int64 = 0
  /// Whether people are read where their own lists say; false: at the user's own relays only.
  public private(set) var autopilot = true
  /// Whether others may name private addresses: a setting for test networks.
  public private(set) var allowsPrivate = false
  /// The accounts of which only the public key is here. Anyone's may be: so their relays are foreign.
  public private(set) var readOnly: Set<PublicKey> = []
  /// Relays that are asked for other people's lists. No account authenticates there.
  public private(set) var indexers: [RelayURL] = []
  /// The monitors whose word on relays is believed (NIP-66).
  public private(set) var monitors: [PublicKey] = []
  private var expected: Set<String> = []
  private var own = OwnAddresses()
  private var peers: Set<RelayURL> = []
  /// Counts the changes that affect routes; the state of a connection does not.
  public private(set) var revision: UInt64 = 0
  private var hasAccounts = false
  private var looked: Set<PublicKey> = []

  /// Most relays added by hand.
  public static let addedMaximum = 256
  /// Relays used of one list for direct messages (NIP-17 wants one to three).
  public static let directMessageRelayMaximum = 3
  /// Relays used of an account's own list for writing, and for reading: lists of a hundred exist.
  public static let accountRelayMaximum = 16

  /// Empty. The same seed draws the same relays to visit.
  public init(seed: Int64 = 0) { reading.learned = LearnedRelays(seed: UInt64(bitPattern: seed)) }

  // MARK: Input

  /// The connectors in the registry. Others are forgotten.
  public mutating func connectorsAre(_ names: Set<String>) {
    expected = names
    let gone = groups.keys.filter { !names.contains($0) }
    guard !gone.isEmpty else { return }
    for name in gone { groups[name] = nil }
    indexGroups()
    revision += 1
  }

  /// A connector has reported its relays.
  ///
  /// - Parameters:
  ///   - name: the worker.
  ///   - relays: all of them, or those that have changed.
  ///   - isWhole: whether `relays` is all of them.
  ///   - dialsOthers: whether it dials relays that no group has (`ephemeral = true`); nil: unchanged.
  public mutating func connectorReported(
    _ name: String, _ relays: [RelayStates.Relay], isWhole: Bool, dialsOthers: Bool?
  ) {
    let before = groups[name]
    var group = before ?? Group()
    if isWhole { group = Group() }
    group.dialsOthers = dialsOthers ?? group.dialsOthers
    for relay in relays {
      // Our connectors report canonical URLs; anything else is ignored.
      guard let url = RelayURL(canonical: relay.relay) else { continue }
      group.relays[url] = relay
    }
    groups[name] = group
    guard before?.standing != group.standing else { return }
    indexGroups()
    revision += 1
  }

  /// What `supervisor.conf` says of the connectors. A connector that is missing here counts once it reports.
  public mutating func configurationIs(_ connectors: [ConfiguredConnector]) {
    var told: [String: ConfiguredConnector] = [:]
    for connector in connectors { told[connector.name] = connector }
    guard planned != told else { return }
    planned = told
    indexGroups()
    revision += 1
  }

  private mutating func indexGroups() {
    configured = [:]
    // Sorted by name, so that the same one of two connectors that claim a relay always wins.
    for (name, group) in groups.sorted(by: { $0.key < $1.key }) {
      for (url, relay) in group.relays where relay.isConfigured && configured[url] == nil { configured[url] = name }
    }
    for connector in silentConnectors {
      for text in connector.relays {
        // `roostd` has checked these URLs.
        if let url = RelayURL(canonical: text), configured[url] == nil { configured[url] = connector.name }
      }
    }
  }

  /// The signer's accounts. The lists of accounts that stay are kept.
  ///
  /// - Parameters:
  ///   - told: the accounts.
  ///   - readOnly: those of which only the public key is here: what they name is taken for what others name.
  public mutating func accountsAre(_ told: [(name: String, key: PublicKey)], readOnly: Set<PublicKey> = []) {
    self.readOnly = readOnly
    var known: [PublicKey: PlanAccount] = [:]
    for account in accounts { known[account.key] = account }
    accounts = told.sorted { $0.name < $1.name }.map { name, key in
      known[key]?.renamed(name) ?? PlanAccount(name: name, key: key)
    }
    places = [:]
    for (place, account) in accounts.enumerated() { places[account.key] = places[account.key] ?? place }
    book.forget(places.keys)
    reading.accountsChanged()
    looked.formIntersection(places.keys)
    hasAccounts = true
    revision += 1
  }

  /// The store has sent all its lists of these accounts, and each went to ``learn(_:)``.
  public mutating func lookedUp(_ keys: some Sequence<PublicKey>) {
    looked.formUnion(keys)
    revision += 1
  }

  /// Takes over a list from a verified event if it is the newest of its author.
  ///
  /// - Returns: whether anything has changed.
  public mutating func learn(_ event: Event) -> Bool {
    guard PlanAccount.kinds.contains(event.kind) else { return false }
    if let place = places[event.pubkey] {
      guard accounts[place].learn(event) else { return false }
      // Whom an account follows leads nowhere by itself.
      if event.kind != EventKind.follows { revision += 1 }
      return true
    }
    guard book.learn(event) else { return false }
    reading.changed()
    return true
  }

  /// The signer has opened the private entries of an account's list of blocked relays (kind 10006, NIP-51).
  public mutating func learnBlocked(_ relays: [RelayURL], by account: PublicKey, of list: EventID) {
    guard let place = places[account], accounts[place].learnBlocked(relays, of: list) else { return }
    revision += 1
  }

  /// The planner's settings: how people are read, which addresses are this Roost's own, which connectors there are.
  public mutating func settingsAre(_ settings: PlannerSettings) {
    ownAddressesAre(OwnAddresses(settings.ownAddresses))
    // `roostd` has checked these URLs.
    peers = Set(settings.peers.compactMap { RelayURL(canonical: $0) })
    configurationIs(settings.connectors)
    // `roostd` has checked these URLs.
    let indexers = settings.indexers.compactMap { RelayURL(canonical: $0) }.filter { !isHome($0) }
    let mode = SelectionMode(rawValue: settings.selection.rawValue) ?? .direct
    let monitors = settings.monitors.compactMap { PublicKey($0) }
    if monitors != self.monitors { (self.monitors, reading.learned.monitored) = (monitors, [:]) }
    guard
      autopilot != settings.autopilot || allowsPrivate != settings.allowsPrivateRelays || self.indexers != indexers
        || reading.mode != mode
    else { return }
    (autopilot, allowsPrivate) = (settings.autopilot, settings.allowsPrivateRelays)
    (self.indexers, reading.mode) = (indexers, mode)
    revision += 1
  }

  /// The addresses of this Roost's own relays: no route leads there.
  public mutating func ownAddressesAre(_ addresses: OwnAddresses) {
    guard own != addresses else { return }
    own = addresses
    revision += 1
  }

  /// A relay was added by hand, or changed.
  ///
  /// - Returns: false when there are ``addedMaximum`` already.
  public mutating func add(_ relay: Added) -> Bool {
    guard added[relay.url] != nil || added.count < Self.addedMaximum else { return false }
    added[relay.url] = relay
    revision += 1
    return true
  }

  /// Removes a relay that was added by hand.
  ///
  /// - Returns: whether it was there.
  public mutating func remove(_ url: RelayURL) -> Bool {
    guard added.removeValue(forKey: url) != nil else { return false }
    revision += 1
    return true
  }

  // MARK: Queries

  /// What is not known yet shortly after a start, as a sentence; nil when all is known. A plan made before that may
  /// lack relays.
  public var unsettled: String? {
    if let silent = expected.subtracting(groups.keys).min() { return "\(silent) has not said which relays it has" }
    if expected.isEmpty { return "no relay-connector is there" }
    if !hasAccounts { return "the signer has not said which accounts there are" }
    if let account = accounts.first(where: { !looked.contains($0.key) }) {
      return "the lists of \(account.name) have not been looked up"
    }
    return nil
  }

  /// What is missing for the route of an author's events, as a sentence; nil when all is known. A plan made before that
  /// may find no relay, or lack those of the account's own list.
  public func unknown(of author: PublicKey) -> String? {
    if !hasAccounts { return "the signer has not said which accounts there are" }
    guard let account = account(author), !looked.contains(author) else { return nil }
    return "the event store has not said what the lists of \(account.name) are"
  }

  /// One of our own accounts.
  public func account(_ key: PublicKey) -> PlanAccount? { places[key].map { accounts[$0] } }

  /// The newest relay list (kind 10002) of one of our accounts; nil when none is known, and for a worker's account.
  public func personalRelayList(of author: PublicKey) -> EventID? {
    personalAccounts.first { $0.key == author }?.versions[EventKind.relayList]?.id
  }

  /// The relays where a person receives private messages (kind 10050, NIP-17), at most ``directMessageRelayMaximum``;
  /// nil when no list is known, empty when the list has no relays. Those of people who are not our accounts are
  /// foreign.
  public func directMessageRelays(of person: PublicKey) -> [RelayURL]? {
    let relays = places[person].map { accounts[$0].messageList?.relays } ?? book.messages(of: person)?.map(\.url)
    return relays.map { Array($0.prefix(Self.directMessageRelayMaximum)) }
  }

  /// The worker that dials a relay: the connector whose group has it, else the one for all other relays. Nil when no
  /// connector does, or when it has not reported.
  public func connector(of url: RelayURL) -> String? {
    if let name = configured[url] { return groups[name] == nil ? nil : name }
    return groups.filter(\.value.dialsOthers).keys.min()
  }

  /// Names of the connectors in `supervisor.conf`.
  public var configuredConnectors: Set<String> { Set(planned.keys) }

  /// Connectors of `supervisor.conf` that have not reported, or have left, by name: held, stopped, stuck, or starting.
  public var silentConnectors: [ConfiguredConnector] {
    planned.values.filter { groups[$0.name] == nil }.sorted { $0.name < $1.name }
  }

  /// The worker that is to dial a relay, even if it has not reported; nil when no connector is configured for it.
  public func dialler(of url: RelayURL) -> String? {
    configured[url] ?? connector(of: url) ?? silentConnectors.first(where: \.ephemeral)?.name
  }

  /// Why no worker dials a relay at present, as a sentence without a full stop.
  public func reasonForNobody(at url: RelayURL) -> String {
    dialler(of: url).map { "\($0), which dials it, is not there: it is held, stopped or starting" }
      ?? "no relay-connector is there that dials it"
  }

  /// Whether the URL is that of another Roost of the same owner. No route includes it: the mirror keeps it whole.
  public func isPeer(_ url: RelayURL) -> Bool { peers.contains(url) }

  /// Whether the URL is this Roost's own relay, which no route includes.
  public func isHome(_ url: RelayURL) -> Bool { own.includes(host: url.host, port: url.port) }

  /// Whether a group of `supervisor.conf` has it.
  public func isConfigured(_ url: RelayURL) -> Bool { configured[url] != nil }

  /// Relays outside the groups that are connected now, or being connected.
  public var outsideCount: Int {
    groups.values.reduce(0) { count, group in
      count
        + group.relays.count { url, relay in
          !isConfigured(url) && [.connecting, .open, .closing].contains(relay.state)
        }
    }
  }

  /// The state of the relay in its connector's last report.
  public func state(of url: RelayURL) -> RelayStates.Relay? {
    connector(of: url).flatMap { groups[$0]?.relays[url] }
  }

  /// Names of the connectors that have reported.
  public var connectors: [String] { groups.keys.sorted() }

  /// Relays added by hand, by URL.
  public var addedRelays: [Added] { added.values.sorted { $0.url.text < $1.url.text } }
}

extension RelayURL {
  /// Reads what one of our own programs has written; nil for anything else.
  init?(canonical text: String) {
    do throws(RelayURLFault) { try self.init(text) } catch { return nil }
  }
}
