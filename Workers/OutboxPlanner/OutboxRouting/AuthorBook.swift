public import Addresses
public import Cryptography
internal import DequeModule
internal import Nostr

// What is known of other people's relays. A value without I/O: the planner says who is wanted, reads their lists from
// the store, and asks indexers for what is missing.
//
//     wanted(people) ─▶ unread ── store.query ──▶ learn(list), wereRead(people)
//                       due ───── indexers ─────▶ wereAsked(people); the lists come by way of the store
//
// Sources, the most trusted first: the person's own lists (10002, 10050), until a newer one comes; what the person's
// name says (NIP-05), for an hour, and only for reading; hints of others, only for reading. A weaker source counts only
// while the stronger ones are missing.
//
// Lists are hostile input: of each, ``relayMaximum`` relays count, and only those that ``RelayDirectory`` may use.

/// The relays of people who are not our accounts.
public struct AuthorBook: Sendable {
  /// Where a person's relays are known from.
  public enum Source: String, Sendable, Hashable {
    /// The person's own list (kind 10002).
    case list
    /// The person's name (NIP-05).
    case name
    /// What others say: tags, codes, relays where the person's events were seen.
    case hint
  }

  /// What is known of one person.
  struct Known: Sendable {
    var listVersion: ListVersion?
    var writes: [ForeignRelayURL] = []
    var reads: [ForeignRelayURL] = []
    var messageVersion: ListVersion?
    var messages: [ForeignRelayURL] = []
    /// Relays that the person's name leads to, and until when they count, seconds since 1970.
    var named: (relays: [ForeignRelayURL], until: Int64)?
    var hints: [ForeignRelayURL] = []
    /// Whether the store has been asked for the person's lists.
    var isRead = false
    /// When indexers were last asked for them, seconds since 1970.
    var askedAt: Int64?
    /// Whether a relay that was asked has sent all lists of the person that it has.
    var isAnswered = false
    /// When the person's name was last looked up, seconds since 1970.
    var nameAskedAt: Int64?
  }

  private var known: [PublicKey: Known] = [:]
  /// People who are no longer wanted, in the order in which that happened, for ``idleMaximum``.
  private var idle: Deque<PublicKey> = []
  private(set) var wanted: Set<PublicKey> = []
  /// How many of the wanted people have no relay list (kind 10002) that is known.
  public private(set) var unlistedCount = 0
  private var unread: Set<PublicKey> = []
  private var namedRelays = NamedRelays()

  /// Relays that count of one list, for writing and for reading.
  public static let relayMaximum = 8
  /// Hints that count for one person, the first that came.
  public static let hintMaximum = 4
  /// People who are known although they are not wanted; when there is one more, the one known longest goes.
  public static let idleMaximum = 4_096
  /// Most people who are wanted; the relays of others are not looked for.
  public static let wantedMaximum = 32_768
  /// After how long indexers are asked again for a person, in seconds.
  public static let againSeconds: Int64 = 86_400
  /// How long what a name leads to counts, and after how long a name is looked up again, in seconds.
  public static let nameSeconds: Int64 = 3_600
  /// People in one request for lists.
  public static let batchCount = 500
  /// People in one query of the store, if a frame of the bus has room for their keys. Of more people the store would
  /// read everything that they wrote: its index takes 2,000 pairs of author and kind, and the lists have two kinds.
  public static let readCount = 1_000

  /// Empty.
  public init() {}

  // MARK: Who is wanted

  /// The relays of exactly these people are wanted.
  mutating func want(_ people: Set<PublicKey>) {
    guard people != wanted else { return }
    let before = wanted
    wanted = people.count <= Self.wantedMaximum ? people : Set(people.sorted().prefix(Self.wantedMaximum))
    for person in wanted.subtracting(before) where known[person]?.isRead != true { unread.insert(person) }
    for person in before.subtracting(wanted) where known[person] != nil { idle.append(person) }
    forgetIdle()
    countUnlisted()
  }

  private mutating func countUnlisted() { unlistedCount = wanted.count { known[$0]?.listVersion == nil } }

  private mutating func forgetIdle() {
    while idle.count > Self.idleMaximum, let person = idle.popFirst() {
      if !wanted.contains(person) { known[person] = nil }
    }
  }

  /// The store is to be asked once for these people too, who are not wanted for longer.
  public mutating func read(_ people: some Sequence<PublicKey>) {
    for person in people where known[person]?.isRead != true { unread.insert(person) }
  }

  /// Up to so many people for whom the store is to be asked.
  public func nextUnread(maximum: Int) -> [PublicKey] { Array(unread.sorted().prefix(maximum)) }

  /// Whether the store has been asked for all who are wanted.
  public var isRead: Bool { unread.isEmpty }

  /// Whether the store has been asked for these people.
  public func areRead(_ people: [PublicKey]) -> Bool { people.allSatisfy { known[$0]?.isRead == true } }

  /// The store has sent all its lists of these people, and each went to ``RelayDirectory/learn(_:)``.
  public mutating func wereRead(_ people: [PublicKey]) {
    for person in people {
      note(person) { $0.isRead = true }
      unread.remove(person)
    }
  }

  /// Up to ``batchCount`` wanted people for whom indexers are to be asked now: never, or a day ago.
  public func due(at wall: Int64) -> [PublicKey] {
    Array(due(wanted.filter { known[$0]?.isRead == true }, at: wall).sorted().prefix(Self.batchCount))
  }

  /// Those of these people for whom indexers were never asked, or a day ago.
  public func due(_ people: some Sequence<PublicKey>, at wall: Int64) -> [PublicKey] {
    people.filter { known[$0]?.askedAt.map { wall - $0 >= Self.againSeconds || $0 > wall } ?? true }
  }

  /// Indexers are asked for these people's lists.
  public mutating func wereAsked(_ people: [PublicKey], at wall: Int64) {
    for person in people { note(person) { $0.askedAt = wall } }
  }

  /// A relay has sent all lists of these people that it has.
  public mutating func wereAnswered(_ people: [PublicKey]) {
    for person in people { note(person) { $0.isAnswered = true } }
  }

  // MARK: Names

  /// Whether a person's name may lead to the person's relays: the person is wanted, and neither the store nor a relay
  /// has a list.
  func needsName(_ person: PublicKey) -> Bool {
    guard wanted.contains(person), let lists = known[person] else { return false }
    return lists.listVersion == nil && lists.isRead && lists.isAnswered
  }

  /// Up to ``batchCount`` of these people whose names are to be looked up, which was not done within an hour.
  func dueNames(_ people: some Sequence<PublicKey>, at wall: Int64) -> [PublicKey] {
    let due = people.filter { person in
      guard needsName(person) else { return false }
      return known[person]?.nameAskedAt.map { wall - $0 >= Self.nameSeconds || $0 > wall } ?? true
    }
    return Array(Set(due).sorted().prefix(Self.batchCount))
  }

  /// The names of these people are looked up.
  mutating func namesWereAsked(_ people: [PublicKey], at wall: Int64) {
    for person in people { note(person) { $0.nameAskedAt = wall } }
  }

  /// The relays that a person's name leads to and that may count, even if its hour is over.
  public func namedRelays(of person: PublicKey) -> [ForeignRelayURL] { known[person]?.named?.relays ?? [] }

  /// A relay that names lead to had something of a person, or it had nothing, or it could not be reached.
  mutating func namedRelay(_ relay: RelayURL, wasUseful: Bool, at wall: Int64) {
    namedRelays.note(relay, wasUseful: wasUseful, at: wall)
  }

  // MARK: Learning

  /// Takes over a list (10002 or 10050) from a verified event if it is the newest of its author.
  ///
  /// - Returns: whether it was.
  mutating func learn(_ event: Event) -> Bool {
    let version = ListVersion(event)
    let lists = known[event.pubkey] ?? Known()
    switch event.kind {
    case EventKind.relayList:
      // The kind was matched, and a wrong kind is the only error here.
      guard version.isNewer(than: lists.listVersion), let list = try? RelayList(event) else { return false }
      if lists.listVersion == nil, wanted.contains(event.pubkey) { unlistedCount -= 1 }
      note(event.pubkey) { lists in
        lists.listVersion = version
        lists.writes = list.writeRelays.map { ForeignRelayURL($0) }
        lists.reads = list.readRelays.map { ForeignRelayURL($0) }
      }
    case EventKind.directMessageRelays:
      guard version.isNewer(than: lists.messageVersion), let list = try? RelaySet(event) else { return false }
      note(event.pubkey) { lists in
        lists.messageVersion = version
        lists.messages = list.relays.map { ForeignRelayURL($0) }
      }
    default: return false
    }
    return true
  }

  /// A person's name leads to these relays (NIP-05), until a second since 1970; none: it no longer counts.
  mutating func named(_ person: PublicKey, _ relays: [ForeignRelayURL], until: Int64) {
    let counted = Array(relays.prefix(Self.relayMaximum))
    note(person) { $0.named = relays.isEmpty ? nil : (counted, until) }
    for relay in counted { namedRelays.named(relay.url) }
  }

  /// Others say that a person writes here.
  ///
  /// - Returns: whether that is new.
  mutating func hint(_ person: PublicKey, at relays: [ForeignRelayURL]) -> Bool {
    guard let lists = known[person] else {
      note(person) { $0.hints = Array(relays.prefix(Self.hintMaximum)) }
      return !relays.isEmpty
    }
    let new = relays.filter { !lists.hints.contains($0) }.prefix(Self.hintMaximum - lists.hints.count)
    note(person) { $0.hints += new }
    return !new.isEmpty
  }

  private mutating func note(_ person: PublicKey, _ change: (inout Known) -> Void) {
    let isIdle = known[person] == nil && !wanted.contains(person)
    change(&known[person, default: Known()])
    if isIdle {
      idle.append(person)
      forgetIdle()
    }
  }

  /// These people are our accounts, whose lists are kept elsewhere.
  mutating func forget(_ people: some Sequence<PublicKey>) {
    for person in people { known[person] = nil }
    countUnlisted()
  }

  // MARK: Queries

  /// Relays where a person's events are to be found, in the order of their source, and that source; nil when none is
  /// known.
  ///
  /// - Parameters:
  ///   - wall: seconds since 1970.
  ///   - isUsable: whether a relay counts: those that do not make room for those that do.
  func writes(
    of person: PublicKey, at wall: Int64, where isUsable: (RelayURL) -> Bool
  ) -> (source: Source, relays: [RelayURL])? {
    guard let lists = known[person] else { return nil }
    let named =
      lists.named.flatMap { wall < $0.until ? $0.relays : nil }?.filter { !namedRelays.isSunk($0.url, at: wall) } ?? []
    let sources: [(Source, [ForeignRelayURL])] = [(.list, lists.writes), (.name, named), (.hint, lists.hints)]
    for (source, relays) in sources {
      let used = Self.used(relays, isUsable)
      if !used.isEmpty { return (source, used) }
    }
    return nil
  }

  /// Relays where a person looks for mentions: those of kind 10002 for reading, or for writing if there are no such.
  /// Nil when no list is known.
  func reads(of person: PublicKey, where isUsable: (RelayURL) -> Bool) -> [RelayURL]? {
    guard let lists = known[person], lists.listVersion != nil else { return nil }
    return Self.used(lists.reads.isEmpty ? lists.writes : lists.reads, isUsable)
  }

  private static func used(_ relays: [ForeignRelayURL], _ isUsable: (RelayURL) -> Bool) -> [RelayURL] {
    Array(relays.map(\.url).filter(isUsable).prefix(relayMaximum))
  }

  /// Relays where a person receives private messages (kind 10050), in full; nil when no list is known.
  func messages(of person: PublicKey) -> [ForeignRelayURL]? {
    guard let lists = known[person], lists.messageVersion != nil else { return nil }
    return lists.messages
  }

  /// Whether any relay of a person is known, from whichever source, and whether it counts or not.
  func knowsRelays(of person: PublicKey) -> Bool {
    guard let lists = known[person] else { return false }
    return !lists.writes.isEmpty || !lists.reads.isEmpty || lists.named != nil || !lists.hints.isEmpty
  }

  /// How many people are known.
  public var count: Int { known.count }
  /// How many people are wanted.
  public var wantedCount: Int { wanted.count }
}
