public import Addresses
public import Contracts
public import Cryptography
public import Nostr

// Which relays there are, who has named them, and which worker dials them. A value without I/O: what is learned goes in
// by the mutating functions, who asks "where?" reads.
//
//     supervisor.conf ─▶ connectors ── relay.follow ──▶ ┐
//     roost relay add ─────────────── added, removed ─▶ │ RelayDirectory ─▶ route(event), route(filters), writes, reads
//     signer.accounts ─────────────── accounts ───────▶ │
//     kinds 10002, 10006, 10050 ───── learn ──────────▶ ┘
//
// Groups of `supervisor.conf` count as their connectors tell them, so the directory cannot be of another opinion than
// those who dial. What a connector has said stands while it is dead, or the relays of a group would be dialled by the
// one for all others as soon as theirs restarts. Of a connector that has not spoken, being held, stopped or stuck, the
// group counts as the configuration has it: events are planned for its relays and wait for it. Nothing is asked there
// meanwhile: whoever observes would wait for somebody who may be away for days.
//
// Whom it trusts: the configuration, the user's own hand, and the lists of our own accounts. What strangers publish
// about themselves (their 10050) names relays that are *foreign*: never used at private addresses.
//
// Bounds: accounts by the signer, relays of a connector by its configuration, added ones by ``addedMaximum``,
// strangers' lists by ``strangerMaximum``, of which the one told first goes.

/// The relays that are known.
public struct RelayDirectory: Sendable {
  /// What a connector has said of itself.
  struct Group: Sendable {
    var relays: [RelayURL: RelayStates.Relay] = [:]
    var dialsOthers = false

    /// What of it changes where something goes.
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
    /// Whether observes are asked there.
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
  /// By URL, as `supervisor.conf` has them: the worker, which may not have spoken.
  var configured: [RelayURL: String] = [:]
  var added: [RelayURL: Added] = [:]
  /// In the order of their names.
  public private(set) var accounts: [PlanAccount] = []
  /// Those of people: a worker's own is never meant where no account is named.
  public var personalAccounts: [PlanAccount] {
    accounts.filter { account in !Role.withAccount.contains { $0.name == account.name } }
  }
  var places: [PublicKey: Int] = [:]
  private var strangers: [PublicKey: (version: ListVersion, relays: [ForeignRelayURL])] = [:]
  private var strangerOrder: [PublicKey] = []
  private var expected: Set<String> = []
  private var own = OwnAddresses()
  /// Counts what changes where something goes; how connections are does not count.
  public private(set) var revision: UInt64 = 0
  private var hasAccounts = false
  private var looked: Set<PublicKey> = []

  /// Most relays added by hand.
  public static let addedMaximum = 256
  /// Strangers whose lists for direct messages are remembered; the one told first goes when there is one more.
  public static let strangerMaximum = 4_096
  /// Relays of anybody's list for direct messages that are used (NIP-17 wants one to three).
  public static let directMessageRelayMaximum = 3
  /// Relays of one account's own list that are used for writing, and for reading: lists of a hundred exist.
  public static let accountRelayMaximum = 16

  /// Nothing is known.
  public init() {}

  // MARK: What is learned

  /// The connectors there are, as the registry has them. Those that are gone are forgotten.
  public mutating func connectorsAre(_ names: Set<String>) {
    expected = names
    let gone = groups.keys.filter { !names.contains($0) }
    guard !gone.isEmpty else { return }
    for name in gone { groups[name] = nil }
    indexGroups()
    revision += 1
  }

  /// A connector has said how its relays are.
  ///
  /// - Parameters:
  ///   - name: the worker.
  ///   - relays: all of them, or those that have changed.
  ///   - isWhole: which of the two.
  ///   - dialsOthers: whether it dials relays that no group has (`ephemeral = true`); nil: as before.
  public mutating func connectorReported(
    _ name: String, _ relays: [RelayStates.Relay], isWhole: Bool, dialsOthers: Bool?
  ) {
    let before = groups[name]
    var group = before ?? Group()
    if isWhole { group = Group() }
    group.dialsOthers = dialsOthers ?? group.dialsOthers
    for relay in relays {
      // A connector of ours spells them canonically; another's mistake is not a relay.
      guard let url = RelayURL(canonical: relay.relay) else { continue }
      group.relays[url] = relay
    }
    groups[name] = group
    guard before?.standing != group.standing else { return }
    indexGroups()
    revision += 1
  }

  /// What `supervisor.conf` says of the connectors; those of which it says nothing count when they have spoken.
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
    // In the order of names, so that of two that claim a relay it is always the same.
    for (name, group) in groups.sorted(by: { $0.key < $1.key }) {
      for (url, relay) in group.relays where relay.isConfigured && configured[url] == nil { configured[url] = name }
    }
    for connector in silentConnectors {
      for text in connector.relays {
        // roostd has read them before.
        if let url = RelayURL(canonical: text), configured[url] == nil { configured[url] = connector.name }
      }
    }
  }

  /// The accounts that the signer has. Lists of those that stay are kept.
  public mutating func accountsAre(_ told: [(name: String, key: PublicKey)]) {
    var known: [PublicKey: PlanAccount] = [:]
    for account in accounts { known[account.key] = account }
    accounts = told.sorted { $0.name < $1.name }.map { name, key in
      known[key]?.renamed(name) ?? PlanAccount(name: name, key: key)
    }
    places = [:]
    for (place, account) in accounts.enumerated() { places[account.key] = places[account.key] ?? place }
    for key in places.keys { strangers[key] = nil }
    strangerOrder.removeAll { places[$0] != nil }
    looked.formIntersection(places.keys)
    hasAccounts = true
    revision += 1
  }

  /// The store was asked for the lists of these accounts, and all that it had was told by ``learn(_:)``.
  public mutating func lookedUp(_ keys: some Sequence<PublicKey>) {
    looked.formUnion(keys)
    revision += 1
  }

  /// An event that was verified: takes over a list of relays if it is the newest of its author.
  ///
  /// - Returns: whether anything has changed.
  public mutating func learn(_ event: Event) -> Bool {
    guard PlanAccount.kinds.contains(event.kind) else { return false }
    if let place = places[event.pubkey] {
      guard accounts[place].learn(event) else { return false }
      revision += 1
      return true
    }
    guard event.kind == EventKind.directMessageRelays else { return false }
    let version = ListVersion(event)
    guard version.isNewer(than: strangers[event.pubkey]?.version) else { return false }
    // It is of its kind, which is all that this asks for.
    guard let list = try? RelaySet(event) else { return false }
    if strangers.updateValue((version, list.relays.map { ForeignRelayURL($0) }), forKey: event.pubkey) == nil {
      strangerOrder.append(event.pubkey)
      if strangerOrder.count > Self.strangerMaximum { strangers[strangerOrder.removeFirst()] = nil }
    }
    revision += 1
    return true
  }

  /// Where this Roost's own relays listen: nobody is sent there.
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

  /// A relay that was added by hand is removed; whether there was one.
  public mutating func remove(_ url: RelayURL) -> Bool {
    guard added.removeValue(forKey: url) != nil else { return false }
    revision += 1
    return true
  }

  // MARK: What is known

  /// What is not known yet although it will be soon after a start, as a sentence; nil when all is. Whoever plans before
  /// may find no relay where there will be one.
  public var unsettled: String? {
    if let silent = expected.subtracting(groups.keys).min() { return "\(silent) has not said which relays it has" }
    if expected.isEmpty { return "no relay-connector is there" }
    if !hasAccounts { return "the signer has not said which accounts there are" }
    if let account = accounts.first(where: { !looked.contains($0.key) }) {
      return "the lists of \(account.name) have not been looked up"
    }
    return nil
  }

  /// What must be known before it can be said where an author's events go, and is not, as a sentence: whoever planned
  /// now might find no relay, or miss those of an account's own list. Nil when all is known.
  public func unknown(of author: PublicKey) -> String? {
    if !hasAccounts { return "the signer has not said which accounts there are" }
    guard let account = account(author), !looked.contains(author) else { return nil }
    return "the event store has not said what the lists of \(account.name) are"
  }

  /// One of our own accounts.
  public func account(_ key: PublicKey) -> PlanAccount? { places[key].map { accounts[$0] } }

  /// The relays where somebody receives private messages (kind 10050, NIP-17), at most ``directMessageRelayMaximum``;
  /// nil when no list is known, empty when the list names none. Those of anybody but our accounts are foreign.
  public func directMessageRelays(of person: PublicKey) -> [RelayURL]? {
    let relays = places[person].map { accounts[$0].messageList?.relays } ?? strangers[person]?.relays.map(\.url)
    return relays.map { Array($0.prefix(Self.directMessageRelayMaximum)) }
  }

  /// The worker that dials a relay: the one whose group has it, else the one for all others; nil when there is none, or
  /// it has not spoken.
  public func connector(of url: RelayURL) -> String? {
    if let name = configured[url] { return groups[name] == nil ? nil : name }
    return groups.filter(\.value.dialsOthers).keys.min()
  }

  /// Names of the connectors of `supervisor.conf`.
  public var configuredConnectors: Set<String> { Set(planned.keys) }

  /// Connectors of `supervisor.conf` that have not spoken, or have left, by name: held, stopped, stuck, or starting.
  public var silentConnectors: [ConfiguredConnector] {
    planned.values.filter { groups[$0.name] == nil }.sorted { $0.name < $1.name }
  }

  /// The worker that is to dial a relay, whether or not it has spoken; nil when there is none.
  public func dialler(of url: RelayURL) -> String? {
    configured[url] ?? connector(of: url) ?? silentConnectors.first(where: \.ephemeral)?.name
  }

  /// Why nobody dials a relay at present, as a sentence without a full stop.
  public func reasonForNobody(at url: RelayURL) -> String {
    dialler(of: url).map { "\($0), which dials it, is not there: it is held, stopped or starting" }
      ?? "no relay-connector is there that dials it"
  }

  /// Whether the URL says that it is this Roost's own relay: it is in no plan, whoever names it.
  public func isHome(_ url: RelayURL) -> Bool { own.includes(host: url.host, port: url.port) }

  /// Whether a group of `supervisor.conf` has it. All others count against ``DialBudget``.
  public func isConfigured(_ url: RelayURL) -> Bool { configured[url] != nil }

  /// How its connector last said that it is.
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
