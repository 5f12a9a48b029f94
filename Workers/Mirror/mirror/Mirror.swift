import Addresses
import Bus
import Clocks
import Contracts
import Cryptography
import EventLoop
import Frames
import LinuxSystem
import Logging
import Mirroring
import Nostr
import NostrContracts
import WorkerKit

// The mirror decides what is fetched and how deep; the planner decides where, and the connectors how.
//
//     signer.accounts, store.observe (kind 3) ─▶ MirrorInterest.all ─▶ MirrorSchedule ─▶ plan.want
//                                                        └──────────▶ store.observe (new events)
//     own events are fetched ─▶ CopyKeeper ─▶ relay.compare, plan.copy
//
// Each source is a loop, so that any other worker may die at any time.

/// Serves `mirror.*`, and has what is missing fetched.
@EventLoopActor
final class Mirror {
  let worker: Worker
  let bus: BusConnection
  let log = Logger(label: "mirror")
  private(set) var schedule = MirrorSchedule()
  let copies: CopyKeeper
  let peers: PeerKeeper
  let bounds: BoundKeeper
  private var wishes: MirrorWishes
  /// All accounts, also those that are left.
  private(set) var accounts: [MirrorAccount] = []
  /// Those for which something is done.
  private var present: [MirrorAccount] { accounts.filter { !$0.isLeft } }
  /// Accounts that are forgotten, while the signer still has their keys.
  private var forgotten: Set<PublicKey> = []
  /// When the places of accounts were looked up last, seconds since 1970.
  var placesAt: [PublicKey: Int64] = [:]
  private var live: [LiveObserve.Plan: LiveObserve] = [:]
  private let timer = LoopTimer()
  private let accountTimer = LoopTimer()
  private var lists: BusAnswer?
  /// The fetches under way, by their interests' keys.
  private var fetches: [String: BusAnswer] = [:]

  /// How often the accounts are asked for, in case a change was missed.
  private static let accountMilliseconds: UInt64 = 30_000
  /// The longest time between two looks at what is due.
  private static let lookMilliseconds: UInt64 = 60_000
  /// The longest wait after a failure of another worker.
  static let retryMillisecondsMaximum: UInt64 = 10_000
  /// How long the planner may take to know a list that the store has.
  private static let inboxMilliseconds: UInt64 = 2_000
  /// How long one fetch may take, in seconds.
  private static let fetchSeconds = 3_600

  init(_ worker: Worker, directory: String) throws(Refusal) {
    self.worker = worker
    bus = worker.bus
    wishes = try Self.wishes(worker)
    copies = try CopyKeeper(worker, directory: directory)
    bounds = BoundKeeper(worker, copies.ledger, log)
    peers = PeerKeeper(worker, copies, bounds)
    copies.learnPublications = { [unowned self] account throws(Refusal) in
      try await peers.learnPublications(of: account)
    }
    peers.interests = { [unowned self] key in
      guard var account = present.first(where: { $0.key == key }) else { return [] }
      // A Roost of one's own may know that one receives messages.
      account.isInboxKnown = true
      // What belongs to no account is compared as the first one.
      let isFirst = key == present.first?.key
      return MirrorInterest.all(of: [account], wishes).filter { isFirst || $0.account != nil }
    }
    copies.isFetched = { [unowned self] key in
      schedule.all.contains { $0.interest.account == key && $0.interest.kind == .own && $0.last != nil }
    }
  }

  /// - Throws: `bad-request` for text that is no relay URL.
  static func relay(_ text: String) throws(Refusal) -> String {
    do throws(RelayURLFault) { return try RelayURL(text).text } catch {
      throw Refusal(.badRequest, "'relay': \(error)", outcome: .notStarted)
    }
  }

  private static func wishes(_ worker: Worker) throws(Refusal) -> MirrorWishes {
    let settings = try worker.settings(of: MirrorSettings.self)
    // `roostd` has checked these URLs.
    let archives = settings.archives.compactMap { try? RelayURL($0) }
    return MirrorWishes(settings, archives: archives)
  }

  /// Starts to serve and to fetch.
  func start() {
    worker.serve(AccountMethod.forget) { [unowned self] (_, wanted) throws(Refusal) in try await forget(wanted) }
    worker.serve(MirrorMethod.status) { [unowned self] (_, _) throws(Refusal) in try await status() }
    worker.onSettings = { [unowned self] _ in settingsChanged() }
    worker.onDrain = { [unowned self] in
      timer.cancel()
      accountTimer.cancel()
      for observe in live.values { observe.end() }
      bounds.drain()
      peers.drain()
      copies.drain()
    }
    worker.onEnd = { [copies] in copies.end() }
    peers.settingsAre(copies.settings)
    bus.onEvent = { [unowned self] in received($0) }
    bus.onRegistry = { [unowned self] _ in askAccounts() }
    worker.persist("signer.changes", ceilingMilliseconds: Self.retryMillisecondsMaximum, log) {
      [self] () async throws(Refusal) in
      try await bus.subscribe(SignerTopic.changes)
      return true
    }
    bounds.onChange = { [unowned self] in work() }
    bounds.watch { [unowned self] in live.values.reduce(0) { $0 &+ $1.count } }
    replan()
    askAccounts()
  }

  private func settingsChanged() {
    do throws(Refusal) {
      wishes = try Self.wishes(worker)
      try copies.settingsChanged()
      peers.settingsAre(copies.settings)
      replan()
    } catch {
      log.error("the new settings are not taken", metadata: ["why": "\(error.message)"])
    }
  }

  // MARK: Accounts

  private func received(_ event: BusEvent) {
    defer { event.acknowledge() }
    do throws(Refusal) {
      if let changes = try event.value(of: SignerTopic.changes) { accountsAre(changes.accounts) }
    } catch {
      log.error("the signer's accounts cannot be read", metadata: ["why": "\(error.message)"])
    }
  }

  private func askAccounts() {
    guard !worker.isDraining else { return }
    accountTimer.set(afterMilliseconds: Self.accountMilliseconds) { [unowned self] in askAccounts() }
    EventLoopActor.task { [self] in
      do throws(Refusal) {
        accountsAre(try await bus.request(SignerMethod.accounts, NoArguments(), ttlMilliseconds: 5_000).accounts)
      } catch {
        // What is known stays: the signer may return.
        log.debug("the accounts are not known", metadata: ["why": "\(error.message)"])
      }
    }
  }

  /// A worker's own account writes nothing that only relays have.
  private func accountsAre(_ told: [SignerAccount]) {
    let before = Dictionary(accounts.map { ($0.key, $0) }) { first, _ in first }
    let new = told.filter { !$0.isOfWorker }.compactMap { account -> MirrorAccount? in
      guard let key = PublicKey(account.publicKey) else { return nil }
      var mine = MirrorAccount(name: account.name, key: key)
      mine.follows = before[key]?.follows ?? []
      mine.isInboxKnown = before[key]?.isInboxKnown ?? false
      mine.places = before[key]?.places ?? MirrorPlaces()
      mine.isLeft = account.isLeft == true
      mine.isReadOnly = account.isReadOnly == true
      return mine
    }.sorted { $0.name < $1.name }
    // One that was forgotten is gone, or is brought back.
    forgotten.formIntersection(new.filter(\.isLeft).map(\.key))
    adopt(new.filter { !forgotten.contains($0.key) })
  }

  private func adopt(_ new: [MirrorAccount]) {
    guard new != accounts else { return }
    let areOthers = Set(new.map(\.key)) != Set(accounts.map(\.key))
    let arePresent = Set(new.filter { !$0.isLeft }.map(\.key)) != Set(present.map(\.key))
    accounts = new
    replan()
    copies.accountsAre(present.filter { !$0.isReadOnly }, kept: new.map(\.key))
    if areOthers { readLists() }
    if areOthers || arePresent { peers.accountsChanged() }
  }

  /// Removes what is written down of an account, which is left. From now on it counts as none.
  private func forget(_ wanted: AccountForget) async throws(Refusal) -> AccountForgotten {
    guard let key = PublicKey(wanted.account) else {
      throw Refusal(.badRequest, "'account' is no public key", outcome: .notStarted)
    }
    guard !present.contains(where: { $0.key == key }) else {
      throw Refusal(.badRequest, "the account is not left: its things would be fetched again", outcome: .notStarted)
    }
    forgotten.insert(key)
    adopt(accounts.filter { $0.key != key })
    for (name, fetch) in fetches where name.hasPrefix("\(key) ") {
      fetch.abandon(Refusal(.cancelled, "the account is forgotten"))
    }
    placesAt[key] = nil
    guard !peers.isComparing else {
      throw Refusal(
        .unavailable, "another Roost is being compared; that ends with the account of now", outcome: .notStarted,
        retryAfterMilliseconds: 500)
    }
    let count = try await copies.forget(key)
    return AccountForgotten(
      [AccountForgotten.Part("notes on what relays lack of its events", count)],
      keep: wishes.keeps.map { JSONValue(of: $0.filter) })
  }

  /// Other places are known of an account.
  func updatePlaces(of account: PublicKey, _ change: (inout MirrorPlaces) -> Void) {
    guard let place = accounts.firstIndex(where: { $0.key == account }) else { return }
    var places = accounts[place].places
    change(&places)
    guard places != accounts[place].places else { return }
    accounts[place].places = places
    replan()
  }

  /// Reads whom the accounts follow, and their lists of relays, now and when these change.
  private func readLists() {
    lists?.abandon(Refusal(.cancelled, "other accounts are read"))
    lists = nil
    let keys = accounts.map(\.key)
    guard !keys.isEmpty else { return }
    worker.persist("lists of accounts", ceilingMilliseconds: Self.retryMillisecondsMaximum, log) {
      [self] () async throws(Refusal) in
      guard keys == accounts.map(\.key) else { return true }
      let kinds = [EventKind.follows, EventKind.relayList, EventKind.directMessageRelays]
      var wanted = StoreObserve(filters: [JSONValue(of: Filter(authors: keys, kinds: kinds))])
      wanted.policy = .cacheOnly
      let answer = try await bus.ask(StoreMethod.observe, wanted)
      lists = answer.answer
      while let part = try await answer.nextPart(), keys == accounts.map(\.key) { learn(part) }
      return false
    }
  }

  private func learn(_ part: ObservedEvents) {
    // `try?`: the store has verified the event, and asked for these kinds.
    guard let found = try? JSONPayload.decode(ObservedEvent.self, from: part.bytes),
      let event = try? Event(json: found.event.bytes)
    else { return }
    if event.kind != EventKind.follows {
      EventLoopActor.task { [self] in
        await learnPlaces(event)
        if event.kind == EventKind.directMessageRelays { inboxIsKnown(of: event.pubkey) }
      }
      return
    }
    // `try?`: as above.
    guard let list = try? FollowList(event), let place = accounts.firstIndex(where: { $0.key == event.pubkey }) else {
      return
    }
    let follows = list.follows.map(\.pubkey)
    guard accounts[place].follows != follows else { return }
    accounts[place].follows = follows
    replan()
  }

  /// The list of relays for direct messages has come, or what the account wrote was fetched and has no such list. The
  /// planner, which decides by it, reads it from the store at the same time.
  private func inboxIsKnown(of account: PublicKey) {
    EventLoopActor.task { [self] in
      await EventLoopActor.sleep(milliseconds: Self.inboxMilliseconds)
      guard let place = accounts.firstIndex(where: { $0.key == account }), !accounts[place].isInboxKnown else { return }
      accounts[place].isInboxKnown = true
      replan()
    }
  }

  // MARK: Fetching

  private func replan() {
    let interests = MirrorInterest.all(of: present, wishes)
    schedule.adopt(interests, at: WallClock.seconds)
    let wanted = Set(interests.map(\.key))
    for (key, fetch) in fetches where !wanted.contains(key) {
      fetch.abandon(Refusal(.cancelled, "the account is removed or left, or follows fewer people"))
    }
    // What is kept of left accounts is no less than before.
    bounds.adopt(MirrorInterest.all(of: accounts, wishes), follows: accounts.flatMap(\.follows), wishes)
    let plans = LiveObserve.plans(interests)
    for (plan, observe) in live where !plans.contains(plan) {
      observe.end()
      live[plan] = nil
    }
    for plan in plans where live[plan] == nil { live[plan] = LiveObserve(worker, plan, bounds, log) }
    work()
  }

  /// Has fetched what is due.
  private func work() {
    guard !worker.isDraining else { return }
    while let interest = schedule.next(at: WallClock.seconds) { fetch(interest) }
    let wait = schedule.nextAt.map { UInt64(max(1, $0 - WallClock.seconds)) * 1_000 } ?? Self.lookMilliseconds
    timer.set(afterMilliseconds: min(wait, Self.lookMilliseconds)) { [unowned self] in work() }
  }

  private func fetch(_ interest: MirrorInterest) {
    EventLoopActor.task { [self] in
      let isKnown = await bounds.recall()
      await bounds.look(at: interest.kept)
      let mayFetch = isKnown && !bounds.stuck.contains(interest.kept)
      let result = mayFetch ? await fetched(interest) : nil
      schedule.ended(interest, result, at: WallClock.seconds)
      work()
      guard interest.kind == .own, let account = interest.account else { return }
      copies.look()
      guard result != nil else { return }
      await lookUpPlaces(of: account)
      inboxIsKnown(of: account)
    }
  }

  /// Has an interest fetched. Returns how that ended; nil: it was refused, or its answer was lost.
  private func fetched(_ interest: MirrorInterest) async -> FetchEnd? {
    let floor = bounds.bounds.floor(of: interest.kept)?.since
    var wanted = PlanWant(
      filters: interest.fetched(since: floor, at: WallClock.seconds).map { JSONValue(of: $0) }, depth: .all,
      urgency: .backfill)
    wanted.relays = interest.relays.isEmpty ? nil : interest.relays.prefix(StoreObserve.relayMaximum).map(\.text)
    wanted.foreignRelays =
      interest.foreign.isEmpty ? nil : interest.foreign.prefix(StoreObserve.relayMaximum).map(\.url.text)
    wanted.exclusiveRelays = interest.isExclusive ? true : nil
    wanted.seconds = Self.fetchSeconds
    let stops = bounds.stopCounts[interest.kept]
    do throws(Refusal) {
      let answer = try await bus.ask(PlanMethod.want, wanted)
      fetches[interest.key] = answer.answer
      defer { fetches[interest.key] = nil }
      // The account may have been removed before the planner had this.
      if !schedule.all.contains(where: { $0.interest.key == interest.key }) {
        answer.answer.abandon(Refusal(.cancelled, "the account is removed"))
      }
      while let item = try await answer.next() {
        bounds.touch(interest.kept)
        if case .end(let end) = item { return .ended(end) }
        guard bounds.stopCounts[interest.kept] == stops else {
          answer.abandon(Refusal(.cancelled, "the class is full"))
          return .full
        }
      }
    } catch {
      log.info(
        "not fetched",
        metadata: [
          "account": "\(interest.name)", "what": "\(interest.kind.rawValue)", "why": "\(error.message)",
        ])
    }
    return nil
  }
}
