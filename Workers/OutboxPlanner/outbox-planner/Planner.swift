import Addresses
import Bus
import Clocks
import Contracts
import Cryptography
import EventLoop
import Frames
import WorkerLedger
import LinuxSystem
import Logging
import Nostr
import OutboxRouting
import Storage
import WorkerKit

// The outbox-planner: decides which relays are asked for what is observed, and where events are sent. The decisions are
// in `OutboxRouting`; this class connects them with the bus.
//
//    store.observes, .list ──▶ ObserveMirror ─┐                            ┌─▶ relay.desire   to each connector
//    signer.accounts ────────▶ RelayDirectory ┼─▶ DesiredSubscriptions ────┼─▶ store.fetched
//    store.observe (lists) ──▶       ▲        │            ▲               └─▶ plan.progress
//    plan.relays.add ────────────────┘        │            └── relay.follow of each connector
//
// Each source of this state is a loop: when its answer ends, the planner asks again and receives everything. So the
// store, the signer, a connector or the planner itself may die at any time, and soon the state is right again.
//
// After a start, the first REQs wait until all sources have answered, for `settlingMilliseconds` at most. Otherwise
// each observe would first go to some of its relays, without an account, and a moment later to all of them again.

/// Serves `plan.*`, and turns observes into interests.
@EventLoopActor
final class Planner {
  let worker: Worker
  let bus: BusConnection
  let log = Logger(label: "plan")
  let added: AddedRelays
  var directory = RelayDirectory(seed: WallClock.milliseconds)
  var wishes: DesiredSubscriptions
  /// What is observed, as the store reports it.
  let observes: ObserveSource
  /// The accounts, and their lists.
  let accounts: AccountSource
  let lists: AccountListReader
  /// The lists of other people.
  let authors: AuthorListReader
  /// What monitors say of relays.
  let monitors: MonitorReader
  /// Where single events are, as other events say.
  let references: ReferenceReader
  /// Requests for lists that relays have not answered yet, by the name of the interest.
  var lookUps: [String: LookUp] = [:]
  /// What was learned about relays, on disk; nil while the file cannot be opened.
  let beliefs: BeliefFile?
  var learning = Learning()
  var connectors = ConnectorLinks()
  private let fetches: FetchReporter
  var followers = ProgressFollowers()
  private(set) var publishing: PublishService?
  /// The number of lists that were requested from relays so far: it distinguishes the interests for them.
  var listWishCount: UInt64 = 0
  /// Relays that have not said which lists they have, until when they are not waited for.
  var unreadUntil: [RelayURL: Instant] = [:]
  /// The calls of `plan.want` that are under way, by their interests.
  var wants: [String: WishTally] = [:]
  /// The traces of the requests that interests are for, by the interests' keys; as many as there are interests.
  var traces: [String: RequestTrace] = [:]
  /// Lists of blocked relays whose private entries the signer has not opened yet, by account.
  var sealedLists: [PublicKey: Event] = [:]
  /// The account that is meant where none is named.
  var usedAccount: PublicKey?
  /// Why the file of added relays cannot be written.
  var fault: StorageFault?
  private var storeEndpoint: UInt32?
  private let settleTimer = LoopTimer()
  private var hasBegunPublishing = false

  /// When the planner stops waiting for sources that have not answered since its start.
  let earlyEnd: Instant
  private var plannedRevision: UInt64?
  private var statusText = ""
  private let packTimer = LoopTimer()
  /// When relays are chosen again, after a change that matters for it.
  private var selectAt: Instant?
  /// How long REQs wait for the store's lists; nil when it has sent them.
  private var readUntil: Instant?
  let lookUpTimer = LoopTimer()
  /// Whether lists of some people may have to be requested.
  var isLookUpDue = false
  /// Whether some people's names may have to be looked up, and whether that is under way.
  var (areNamesDue, areNamesAsked) = (false, false)
  private(set) var isDraining = false
  /// Raised when the directory or the progress of an interest may have changed, and when the drain begins.
  let hasChanged = Signal()

  /// How long the first REQs wait, at most, for sources that do not answer.
  static let settlingMilliseconds: UInt64 = 3_000
  /// How long REQs wait for the store to send the lists of the people whom they name.
  static let readMilliseconds: UInt64 = 1_000
  /// Bytes of a frame that are kept for each person of a query of the store: a key has 67 in JSON.
  private static let authorByteCount = 100
  /// Longest back-off after a failure of another worker.
  static let retryMillisecondsMaximum: UInt64 = 10_000

  init(_ worker: Worker, directory path: String) throws(Refusal) {
    self.worker = worker
    bus = worker.bus
    earlyEnd = EventLoop.process.now.advanced(milliseconds: Self.settlingMilliseconds)
    observes = ObserveSource(worker, log)
    accounts = AccountSource(worker.bus, settled: earlyEnd, log)
    lists = AccountListReader(worker, log)
    authors = AuthorListReader(worker, log)
    references = ReferenceReader(worker, log)
    monitors = MonitorReader(worker, log)
    fetches = FetchReporter(worker, log)
    do throws(StorageFault) {
      added = try AddedRelays(directory: path, now: WallClock.seconds)
      for relay in added.loaded where !directory.add(relay) { break }
      added.rescue?.tell("the file of added relays", log)
    } catch {
      throw Refusal(error.mayPass ? .unavailable : .failed, error.description)
    }
    do throws(StorageFault) {
      let file = try BeliefFile(directory: path, now: WallClock.seconds)
      file.rescue?.tell("the file of what was learned about relays", log)
      directory.recall(file.loaded)
      beliefs = file
    } catch {
      // Relays are chosen by what is learned from now on.
      log.error("what was learned about relays cannot be read", metadata: ["why": "\(error.description)"])
      beliefs = nil
    }
    // The wall clock makes a generation above that of every process before. If the clock was set back, connectors
    // receive all subscriptions again, which does no harm.
    wishes = DesiredSubscriptions(generation: WallClock.milliseconds, frameLimit: worker.bus.welcome.frameLimit)
    try takeSettings()
    publishing = try PublishService(worker, directory: path, planner: self)
  }

  /// Starts to serve and to request.
  func start() {
    serve()
    worker.onDrain = { [unowned self] in drain() }
    worker.onClockSet = { [unowned self] in
      wishes.clockSet(at: now, wall: WallClock.seconds)
      update()
    }
    worker.onSettings = { [unowned self] _ in settingsChanged() }
    worker.onEnd = { [added, beliefs, publishing, log] in
      publishing?.end()
      do throws(StorageFault) {
        try beliefs?.close()
        try added.close()
      } catch { log.error("cannot close", metadata: ["why": "\(error)"]) }
    }
    observes.onChange = { [unowned self] in observesChanged($0, removed: $1) }
    accounts.onAccounts = { [unowned self] in accountsAre($0) }
    lists.onPart = { [unowned self] in learn($0, $1) }
    let readMaximum = min(AuthorBook.readCount, bus.welcome.frameLimit / Self.authorByteCount)
    authors.next = { [unowned self] in isDraining ? [] : directory.book.nextUnread(maximum: readMaximum) }
    authors.onList = { [unowned self] in if directory.learn($0) { update() } }
    authors.onRead = { [unowned self] in wereRead($0) }
    monitors.onEvent = { [unowned self] in directory.learnMonitored($0) }
    references.next = { [unowned self] in isDraining ? [] : directory.events.nextUnread }
    references.onEvent = { [unowned self] in directory.events.learn($0, seenAt: $1) }
    references.onRead = { [unowned self] in eventsWereRead($0) }
    bus.onEvent = { [unowned self] in received($0) }
    bus.onGap = { [unowned self] _, _ in observes.list() }
    bus.onRegistry = { [unowned self] in registryChanged($0) }
    subscribe()
    registryChanged(bus.registry)
    readMonitors()
    settleTimer.set(afterMilliseconds: Self.settlingMilliseconds) { [unowned self] in update() }
    update()
  }

  private func settingsChanged() {
    do throws(Refusal) {
      try takeSettings()
      try publishing?.settingsChanged()
      readMonitors()
    } catch {
      log.error("the new settings are not taken", metadata: ["why": "\(error.message)"])
    }
    update()
  }

  /// Has the monitors of the settings asked for, and reads what comes of it.
  private func readMonitors() {
    guard monitors.monitors != directory.monitors else { return }
    let wish = Interest(
      own: "monitors", [MonitorReader.filter(directory.monitors, at: WallClock.seconds)], named: directory.indexers)
    end(wish.key)
    if !directory.monitors.isEmpty { begin(wish) }
    monitors.read(directory.monitors)
  }

  /// Takes the addresses of this Roost's own relays, and the configured connectors and signer. `roostd` adds these;
  /// they are not keys of the file.
  private func takeSettings() throws(Refusal) {
    let settings = try worker.settings(of: PlannerSettings.self)
    directory.settingsAre(settings)
    accounts.hasSigner = settings.hasSigner
  }

  /// The present instant.
  var now: Instant { EventLoop.process.now }

  private func drain() {
    isDraining = true
    hasChanged.raise()
    packTimer.cancel()
    lookUpTimer.cancel()
    arrivalTimer.cancel()
    continueLearning()
    accounts.end()
    publishing?.drain()
    followers.end(Refusal(.unavailable, "the planner is finishing", outcome: .done))
  }

  // MARK: The registry

  private func registryChanged(_ registry: Registry) {
    guard !isDraining else { return }
    let names = Set(registry.members.filter { $0.role == Role.relayConnector.name }.map(\.name))
    directory.connectorsAre(names)
    wishes.connectorsAre(names)
    for name in names.subtracting(connectors.followed) { follow(name) }
    let store = registry.members.first { $0.role == Role.eventStore.name && $0.isReady }?.endpoint
    if let store, store != storeEndpoint { observes.list() }
    storeEndpoint = store
    accounts.ask()
    update()
  }

  // MARK: Update

  /// Does everything that follows from a change: each handler that changes the state calls it last.
  func update() {
    guard !isDraining else { return }
    if plannedRevision != directory.revision {
      plannedRevision = directory.revision
      wishes.replan(in: directory, at: now, wall: WallClock.seconds)
      publishing?.connectorsChanged()
    }
    if !isEarly { wishes.settled() }
    if !hasBegunPublishing, !isEarly {
      hasBegunPublishing = true
      publishing?.begin()
    }
    directory.noteWanted()
    authors.read()
    if directory.autopilot { references.read() }
    noteWants()
    for relay in directory.visits where wishes.isFetched(at: relay) {
      directory.visitEnded(relay, at: WallClock.seconds)
    }
    lookUpLists()
    lookUpNames()
    continueLearning()
    pack()
    for name in connectors.followed.sorted() { deliver(to: name) }
    fetches.tell(wishes.takeFetches())
    // A wish is also complete once nothing else will be chosen for it.
    followers.changed(wishes.takeChanges().union(wants.keys))
    tellStatus()
    hasChanged.raise()
  }

  /// Whether the planner still waits for sources that have not answered.
  var isEarly: Bool { directory.unsettled != nil && now < earlyEnd }

  private func pack() {
    if directory.isSelectionDue {
      selectAt = selectAt ?? now.advanced(milliseconds: DesiredSubscriptions.gatherMilliseconds)
    }
    readUntil = directory.book.isRead ? nil : readUntil ?? now.advanced(milliseconds: Self.readMilliseconds)
    if !isEarly, let deadline = packDeadline, now >= deadline {
      if let selectAt, now >= selectAt, !isAwaitingLists(since: selectAt) {
        self.selectAt = nil
        let changed = directory.selectRelays(at: WallClock.seconds)
        wishes.replan(changed, in: directory, at: now, wall: WallClock.seconds)
      }
      wishes.pack(at: now, wall: WallClock.seconds)
    }
    guard let deadline = packDeadline else { return packTimer.cancel() }
    // While the planner waits for its sources, `settleTimer` and each answer of a source call `update`.
    if !isEarly { packTimer.set(at: deadline) { [unowned self] in update() } }
  }

  /// When relays are chosen and REQs are packed next: once the changes have gathered, and the store has been asked for
  /// the lists of the people who are wanted.
  private var packDeadline: Instant? {
    // A choice that awaits lists is made when they are here, or when its time is over.
    let choice = selectAt.map {
      isAwaitingLists(since: $0) ? $0.advanced(milliseconds: Self.listsMillisecondsMaximum) : $0
    }
    guard let first = [wishes.deadline, choice].compactMap({ $0 }).min() else { return nil }
    return readUntil.map { max($0, first) } ?? first
  }

  /// Whether relays are not chosen yet because the lists of many of the people are being requested. Their own relays,
  /// which need no choice, are asked meanwhile.
  private func isAwaitingLists(since instant: Instant) -> Bool {
    (!lookUps.isEmpty || now < arrivalEnd) && now < instant.advanced(milliseconds: Self.listsMillisecondsMaximum)
      && directory.book.unlistedCount * 5 > directory.book.wantedCount
  }

  let arrivalTimer = LoopTimer()
  /// When lists that relays have sent have come by way of the store.
  var arrivalEnd = Instant(nanoseconds: 0)
  /// How long that takes.
  static let arrivalMilliseconds: UInt64 = 300
  /// How long the choice of relays waits for lists that are being requested.
  static let listsMillisecondsMaximum: UInt64 = 2_000

  private func tellStatus() {
    let text =
      fault?.description ?? "\(Amount.count(wishes.observeCount, "observe")), "
      + "\(Amount.count(wishes.requestCount, "request")) at relays"
    guard text != statusText else { return }
    statusText = text
    bus.sendStatus(StatusReport(text: text))
  }

  /// Repeats an attempt until it returns true, with a back-off after each failure.
  func persist(_ what: String, _ attempt: @escaping @EventLoopActor () async throws(Refusal) -> Bool) {
    worker.persist(what, ceilingMilliseconds: Self.retryMillisecondsMaximum, log, attempt)
  }
}
