import Addresses
import Bus
import Contracts
import Cryptography
import DataKeys
import EventLoop
import Frames
import LinuxSystem
import ListEditing
import Logging
import Nostr
import NostrContracts
import PeopleLedger
import PersonAccounts
import Storage
import WorkerKit
import WorkerLedger

// Keeps the histories of lists.
//
//     store.observe ─▶ learn ─▶ ledger ─▶ decide ─▶ sign ─▶ ledger ─▶ plan.publish
//     people.edit ─▶ fresh? ─────────────────┘
//
// What concerns one list is done one after the other (`turn`). A history is changed in memory only together with the
// ledger: when that cannot be written, it is as before.

/// Reads, changes and merges the lists of accounts.
@EventLoopActor
final class ListKeeper {
  typealias ListKey = PeopleLedger.ListKey

  /// A version that came, and from where, if the store says so.
  private struct Version {
    var event: Event
    var relay: String?
  }

  let worker: Worker
  let bus: BusConnection
  let ledger: PeopleLedger
  let accounts: AccountBook
  let dataKeys: DataKeys
  let log: Logger
  private(set) lazy var health = LedgerHealth("the ledger of lists", log) { [ledger] in ledger.markDamaged() }
  private var histories: [ListKey: ListHistory] = [:]
  /// Lists with something under way.
  private var busy: Set<ListKey> = []
  private let freed = Signal()
  /// Versions whose private parts can be read only when their account is unlocked.
  private var deferred: [ListKey: [Version]] = [:]
  /// Accounts whose deferred versions are looked at again soon, because another worker was away.
  private var retrying: Set<PublicKey> = []
  /// Versions that came and are not learned yet.
  private var waiting: [Version] = []
  private var isLearning = false
  /// The accounts and kinds that are observed.
  private var observed: (accounts: Set<PublicKey>, kinds: Set<UInt16>) = ([], [])
  private var answer: BusAnswer?
  /// Further kinds, of lists that were changed here.
  private var kinds = Set(ListEntries.kinds)
  /// The accounts that were open when they were looked at last.
  private var open: Set<PublicKey> = []
  let freshness: FreshnessAsker
  private(set) lazy var publisher = ListPublisher(worker, ledger, health, log)

  /// How long another worker has for an answer.
  static let answerMilliseconds: UInt32 = 20_000
  /// How long other relays have to send a version of another device too, which says what that device can have seen.
  private static let gatherMilliseconds: UInt64 = 300
  /// The most versions of a list that wait for their account to be unlocked; then the oldest is left out.
  private static let deferredMaximum = 64
  /// The most versions that wait to be learned.
  private static let waitingMaximum = 4_096
  /// The last versions made here whose confirmations are asked for.
  private static let confirmedCount = 16

  init(_ worker: Worker, _ ledger: PeopleLedger, _ accounts: AccountBook, _ dataKeys: DataKeys, _ log: Logger) {
    (self.worker, self.ledger, self.accounts, self.dataKeys, self.log) = (worker, ledger, accounts, dataKeys, log)
    bus = worker.bus
    freshness = FreshnessAsker(worker)
  }

  func start() {
    worker.serve(PeopleMethod.list, list)
    worker.serve(PeopleMethod.edit, edit)
    worker.serve(PeopleMethod.versions, versions)
    accounts.onChange.append { [unowned self] in accountsChanged() }
    worker.persist("plan.published", ceilingMilliseconds: People.retryMillisecondsMaximum, log) {
      [self] () async throws(Refusal) in
      try await bus.subscribe(PlanTopic.published)
      try await bus.subscribe(RelayTopic.states)
      return true
    }
    publisher.start()
  }

  /// The states of relays have changed.
  func connected(_ states: RelayStates) {
    var times: [RelayURL: Int64] = [:]
    for relay in states.relays where relay.state == .open {
      // `try?`: connectors give canonical URLs.
      if let url = try? RelayURL(relay.relay), let since = relay.openSince { times[url] = since }
    }
    freshness.connected(times)
  }

  func drain() { answer?.abandon(Refusal(.cancelled, "the worker ends")) }

  // MARK: Accounts

  private func accountsChanged() {
    let present = Set(accounts.accounts.keys)
    // What was decrypted is not kept for a locked account.
    histories = histories.filter {
      accounts.isOpen($0.key.account) || !Self.hasPrivateParts($0.key) && present.contains($0.key.account)
    }
    deferred = deferred.filter { present.contains($0.key.account) }
    let new = present.filter { accounts.isOpen($0) && !open.contains($0) }
    open = present.filter { accounts.isOpen($0) }
    observe()
    guard !new.isEmpty else { return }
    EventLoopActor.task { [self] in await opened(new) }
  }

  /// What waited for these accounts is done.
  private func opened(_ opened: Set<PublicKey>) async {
    let waiting = deferred.filter { opened.contains($0.key.account) }
    for key in waiting.keys { deferred[key] = nil }
    for version in waiting.values.joined() { await learn(version) }
    // `try?`: what writes the ledger logs its faults.
    for key in (try? await ledger.lists(of: Array(opened))) ?? [] {
      // `try?`: told in the log; what is pending stays so.
      try? await turn(key) { () async throws(Refusal) in try await decide(key) }
    }
  }

  /// Does again what a worker that was away has kept from being done.
  private func retry(_ account: PublicKey) {
    guard retrying.insert(account).inserted else { return }
    EventLoopActor.task { [self] in
      await EventLoopActor.sleep(milliseconds: People.retryMillisecondsMaximum)
      retrying.remove(account)
      if accounts.isOpen(account), !worker.isDraining { await opened([account]) }
    }
  }

  /// The account is forgotten: nothing of it stays in memory.
  func forget(_ account: PublicKey) {
    histories = histories.filter { $0.key.account != account }
    deferred = deferred.filter { $0.key.account != account }
    waiting.removeAll { $0.event.pubkey == account }
  }

  /// Reads the lists of the accounts from the store, now and at each change.
  private func observe() {
    let wanted = (accounts: Set(accounts.accounts.keys), kinds: kinds)
    guard wanted != observed else { return }
    observed = wanted
    answer?.abandon(Refusal(.cancelled, "other lists are read"))
    answer = nil
    guard !wanted.accounts.isEmpty else { return }
    worker.persist("store.observe of lists", ceilingMilliseconds: People.retryMillisecondsMaximum, log) {
      [self] () async throws(Refusal) in
      guard wanted == observed else { return true }
      var asked = StoreObserve(filters: [
        JSONValue(of: Filter(authors: Array(wanted.accounts), kinds: wanted.kinds.sorted()))
      ])
      asked.policy = .cacheOnly
      // What another device wrote may come after a newer version of ours.
      asked.superseded = true
      let answer = try await bus.ask(StoreMethod.observe, asked)
      self.answer = answer.answer
      while let part = try await answer.nextPart(), wanted == observed {
        if let version = Self.version(part) { arrived(version) }
      }
      return false
    }
  }

  /// A version waits until what came before is learned. Parts are taken as they arrive: those that are not taken keep
  /// the parts of all other answers away, also of those that learning waits for.
  private func arrived(_ version: Version) {
    if waiting.count >= Self.waitingMaximum {
      waiting.removeFirst()
      log.warning("more versions of lists come than can be learned; the oldest is left out")
    }
    waiting.append(version)
    guard !isLearning else { return }
    isLearning = true
    // Detached: it is no part of the request that the first version came with.
    EventLoopActor.detachedTask { [self] in
      while !waiting.isEmpty {
        let batch = waiting
        waiting = []
        for version in batch { await learn(version) }
      }
      isLearning = false
    }
  }

  private static func version(_ part: ObservedEvents) -> Version? {
    // `try?`: parts without an event are marks. The store keeps only what it can read.
    guard let found = try? JSONPayload.decode(ObservedEvent.self, from: part.bytes),
      let event = try? Event(json: found.event.bytes)
    else { return nil }
    // Of what it does not keep the store verifies only a sample.
    if found.seq == nil { do throws(EventFault) { try event.verify() } catch { return nil } }
    return Version(event: event, relay: found.relay)
  }

  /// The list of a version.
  static func key(of event: Event) -> ListKey {
    let identifier = KindClass(event.kind) == .addressable ? event.firstValue(of: "d") ?? "" : ""
    return ListKey(account: event.pubkey, kind: event.kind, identifier: identifier)
  }

  // MARK: Turns

  /// Does something with a list, while nothing else is done with it.
  func turn<Value>(
    _ key: ListKey, _ body: () async throws(Refusal) -> Value
  ) async throws(Refusal) -> Value {
    await freed.wait { !busy.contains(key) }
    busy.insert(key)
    defer {
      if accounts.accounts[key.account] == nil || !accounts.isOpen(key.account) && Self.hasPrivateParts(key) {
        histories[key] = nil
      }
      busy.remove(key)
      freed.raise()
    }
    return try await body()
  }

  private static func hasPrivateParts(_ key: ListKey) -> Bool { ListChange.haveHiddenPart(kind: key.kind) }

  /// The history of a list, from the ledger if need be.
  func history(_ key: ListKey) async throws(Refusal) -> ListHistory {
    if let known = histories[key] { return try await salted(known, key) }
    let stored = try await reading { () throws(StorageFault) in try await ledger.stored(key) }
    var history = ListHistory(kind: key.kind, author: key.account, identifier: key.identifier)
    if let stored {
      var contents: [EventID: ListContents] = [:]
      for (id, event) in stored.events { contents[id] = try await self.contents(event) }
      if let known = ListHistory(
        kind: key.kind, author: key.account, identifier: key.identifier, memo: stored.memo, records: stored.records,
        contents: { contents[$0] })
      {
        history = known
      } else {
        log.warning(
          "what is kept of a list does not fit together, and is begun again", metadata: ["kind": "\(key.kind)"])
      }
    }
    history = try await salted(history, key)
    histories[key] = history
    return history
  }

  /// With the salt for private entries. A locked account has none, and none of its private parts is read.
  private func salted(_ history: ListHistory, _ key: ListKey) async throws(Refusal) -> ListHistory {
    guard history.privateSalt == nil, history.memo.hasPrivateSalt == true, Self.hasPrivateParts(key),
      accounts.isOpen(key.account)
    else { return history }
    var salted = history
    salted.privateSalt = try await dataKeys.key(of: key.account)
      .hash("\(key.kind) \(key.identifier)".utf8, for: "salt of private entries")
    return salted
  }

  /// Writes what has changed, then has it in memory.
  func keep(
    _ history: ListHistory, _ keepings: [ListKeeping], of key: ListKey, event: Event? = nil, waits: Bool = false
  ) async throws(Refusal) {
    func all(_ part: KeyPath<ListKeeping, Set<EventID>>) -> Set<EventID> {
      keepings.reduce(into: []) { $0.formUnion($1[keyPath: part]) }
    }
    guard keepings.contains(where: { !$0.isEmpty }) || histories[key]?.memo != history.memo else {
      histories[key] = history
      return
    }
    // What is under way when an account is left, or forgotten, is not written.
    guard accounts.accounts[key.account] != nil else {
      throw Refusal(.noSuchAccount, "the account is left, or gone", outcome: .notStarted)
    }
    let changed = all(\.changed)
    let change = PeopleLedger.Change(
      memo: history.memo, records: history.records.filter { changed.contains($0.id) }, event: event, waits: waits,
      forgotten: all(\.forgotten), dropped: all(\.dropped))
    do throws(StorageFault) {
      try await ledger.write(change, of: key)
      health.written()
    } catch {
      health.notWritten(error)
      throw health.refusal(error)
    }
    histories[key] = history
  }

  func reading<Value>(_ body: () async throws(StorageFault) -> Value) async throws(Refusal) -> Value {
    do throws(StorageFault) { return try await body() } catch { throw health.refusal(error) }
  }

  // MARK: Versions

  /// A version came: it is remembered, and merged if another device has made it.
  private func learn(_ version: Version) async {
    let key = Self.key(of: version.event)
    guard accounts.accounts[key.account] != nil else { return }
    if !accounts.isOpen(key.account), ![.none, .unknown].contains(ListContents(version.event).form) {
      wait(version, key)
      return
    }
    do throws(Refusal) {
      let history = try await turn(key) { () async throws(Refusal) in
        _ = try await remember(version.event, key, from: version.relay)
        return try await self.history(key)
      }
      guard history.isUndecided else { return }
      if history.isPressing { return await decideSoon(key, afterMilliseconds: 0) }
      EventLoopActor.task { [self] in await decideSoon(key, afterMilliseconds: Self.gatherMilliseconds) }
    } catch {
      log.warning(
        "a version of a list is not kept",
        metadata: ["kind": "\(key.kind)", "account": "\(key.account)", "why": "\(error.message)"])
      guard ![.noSuchAccount, .badRequest, .failed].contains(error.code) else { return }
      wait(version, key)
      retry(key.account)
    }
  }

  /// A version is learned when its account is unlocked, or when the worker is back that is needed for it.
  private func wait(_ version: Version, _ key: ListKey) {
    deferred[key, default: []].append(version)
    if deferred[key]?.count ?? 0 > Self.deferredMaximum { deferred[key]?.removeFirst() }
  }

  private func decideSoon(_ key: ListKey, afterMilliseconds milliseconds: UInt64) async {
    if milliseconds > 0 { await EventLoopActor.sleep(milliseconds: milliseconds) }
    do throws(Refusal) {
      try await turn(key) { () async throws(Refusal) in try await decide(key) }
    } catch {
      log.warning(
        "a list that another device has written is not merged yet",
        metadata: ["kind": "\(key.kind)", "account": "\(key.account)", "why": "\(error.message)"])
      if ![.noSuchAccount, .badRequest, .failed].contains(error.code) { retry(key.account) }
    }
  }

  /// - Returns: whether it is to be decided about.
  func remember(_ event: Event, _ key: ListKey, from relay: String? = nil) async throws(Refusal) -> Bool {
    var history = try await history(key)
    let isKnown = history.isKnown(event.id)
    let hidden = isKnown ? nil : try await contents(event).hiddenText
    let keeping = history.received(event, hiddenText: hidden, from: relay, at: WallClock.seconds)
    try await keep(history, [keeping], of: key, event: isKnown ? nil : event)
    return history.isUndecided
  }

  /// Decides about versions of other devices, and makes the next version if one is needed.
  private func decide(_ key: ListKey) async throws(Refusal) {
    guard accounts.isOpen(key.account), try await history(key).isUndecided else { return }
    let history = try await learnPlaces(key)
    guard history.isUndecided else { return }
    let step: ListStep
    do throws(ListFault) { step = try history.next() } catch {
      throw Refusal(.failed, error.description, outcome: .notStarted)
    }
    _ = try await take(step, key)
  }

  /// Learns which relays have the versions that the decision is about. Nothing is decided while that cannot be said:
  /// what a device has seen is known by it.
  func learnPlaces(_ key: ListKey) async throws(Refusal) -> ListHistory {
    var history = try await history(key)
    var changed: [ListKeeping] = []
    let now = WallClock.seconds
    let ours = history.records.filter(\.isOurs).suffix(Self.confirmedCount).map { "\($0.id)" }
    if !ours.isEmpty {
      for publication in try await publications(ours) {
        guard let id = EventID(publication.id) else { continue }
        for target in publication.targets where target.state == .confirmed {
          changed.append(history.confirmed(id, by: target.relay, at: target.confirmedAt ?? now))
        }
      }
    }
    for text in history.memo.pending {
      guard let id = EventID(text) else { continue }
      do throws(Refusal) {
        let seen = try await bus.request(
          StoreMethod.seen, StoreSeen(id: text), ttlMilliseconds: Self.answerMilliseconds)
        for place in seen.relays { changed.append(history.confirmed(id, by: place.relay, at: place.firstSeenAt)) }
      } catch {
        // The store does not keep what came after a newer version.
        guard error.code == .noSuchEvent else { throw error }
      }
    }
    try await keep(history, changed, of: key)
    return history
  }

  private func publications(_ ids: [String]) async throws(Refusal) -> [Publication] {
    let answer = try await bus.ask(
      PlanMethod.publications, PlanPublications(ids: ids, limit: ids.count),
      ttlMilliseconds: Self.answerMilliseconds)
    var found: [Publication] = []
    while let publication = try await answer.nextPart() { found.append(publication) }
    return found
  }

  /// A publication has changed: what relays confirm is remembered.
  func published(_ publication: Publication) {
    guard let author = PublicKey(publication.author), let id = EventID(publication.id),
      accounts.accounts[author] != nil,
      let key = histories.first(where: { $0.key.account == author && $0.value.isKnown(id) })?.key
    else { return }
    EventLoopActor.task { [self] in
      // `try?`: it is asked for again when it matters.
      try? await turn(key) { () async throws(Refusal) in
        var history = try await history(key)
        var changed: [ListKeeping] = []
        for target in publication.targets where target.state == .confirmed {
          let at = target.confirmedAt ?? WallClock.seconds
          changed.append(history.confirmed(id, by: target.relay, at: at))
        }
        try await keep(history, changed, of: key)
      }
    }
  }

  // MARK: The next version

  /// Makes the next version: dated, encrypted, signed, in the ledger; then it is published.
  ///
  /// - Returns: the new version; nil if none was needed.
  func take(_ step: ListStep, _ key: ListKey) async throws(Refusal) -> Event? {
    var history = try await history(key)
    tell(step, key)
    guard let contents = step.contents else {
      let keeping = history.settled(step)
      try await keep(history, [keeping], of: key)
      return nil
    }
    let createdAt = try await time(after: step.newestCreatedAt)
    let encrypted = contents.mustEncrypt ? try await encrypted(contents.hiddenText ?? "[]", key.account) : nil
    let template = contents.template(by: key.account, createdAt: createdAt, encrypted: encrypted)
    let event = try await signed(template)
    let keeping = history.wrote(event, step)
    try await keep(history, [keeping], of: key, event: event, waits: true)
    if kinds.insert(key.kind).inserted { observe() }
    publisher.wake()
    return event
  }

  private func tell(_ step: ListStep, _ key: ListKey) {
    guard let sentence = step.merge?.sentence else { return }
    log.notice("\(sentence)", metadata: ["kind": "\(key.kind)", "account": "\(key.account)"])
  }

  /// When the next version is dated; waits for the second after the newest one.
  private func time(after newest: Int64?) async throws(Refusal) -> Int64 {
    while true {
      let next: ListClock.Next
      do throws(ListFault) {
        next = try ListClock.next(after: newest, nowMilliseconds: WallClock.milliseconds)
      } catch { throw Refusal(.badRequest, error.description, outcome: .notStarted) }
      switch next {
      case .at(let time): return time
      case .wait(let milliseconds): await EventLoopActor.sleep(milliseconds: UInt64(max(1, milliseconds)))
      }
    }
  }
}
