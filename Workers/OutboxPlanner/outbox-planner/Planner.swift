import Bus
import Clocks
import Contracts
import EventLoop
import Frames
import WorkerLedger
import LinuxSystem
import Logging
import OutboxRouting
import Storage
import WorkerKit

// The outbox-planner: who is read and written where. Decisions are in `OutboxRouting`; here they meet the bus.
//
//    store.observes, .list ──▶ ObserveMirror ─┐                     ┌─▶ relay.desire   to each connector
//    signer.accounts ────────▶ RelayDirectory ┼─▶ DesiredSubscriptions ───────┼─▶ store.fetched
//    store.observe (lists) ──▶       ▲        │       ▲             └─▶ plan.progress
//    plan.relays.add ────────────────┘        │       └── relay.follow of each connector
//
// Nothing here is remembered by calls: each source is a loop that begins again when its answer ends, and brings all
// there is. So the store, the signer or a connector may die at any time, and the planner too; what holds afterwards is
// what is true then.
//
// After a start, the first REQs wait until all sources have spoken, or for `settlingMilliseconds`: else every observe
// would be asked at half of its relays, as nobody, and a moment later once more.

/// Serves `plan.*`, and makes wishes of what is observed.
@EventLoopActor
final class Planner {
  let worker: Worker
  let bus: BusConnection
  let log = Logger(label: "plan")
  let added: AddedRelays
  var directory = RelayDirectory()
  var wishes: DesiredSubscriptions
  var budget = DialBudget()
  /// What is observed.
  let observes: ObserveSource
  /// Which accounts there are, and their lists.
  let accounts: AccountSource
  let lists: AccountListReader
  var connectors = ConnectorLinks()
  private let fetches: FetchReporter
  var followers = ProgressFollowers()
  private(set) var publishing: PublishService?
  var dials = PublishDials()
  let budgetTimer = LoopTimer()
  /// Counts the lists that relays were asked for.
  var listWishCount: UInt64 = 0
  /// Why the file of added relays is not written.
  var fault: StorageFault?
  private var storeEndpoint: UInt32?
  private let settleTimer = LoopTimer()
  private var hasBegunPublishing = false

  /// When the planner waits for its sources no longer.
  let earlyEnd: Instant
  private var plannedRevision: UInt64?
  private var statusText = ""
  private let packTimer = LoopTimer()
  private(set) var isDraining = false
  /// Raised when the directory or the progress of an interest may have changed, and when the drain begins.
  let hasChanged = Signal()

  /// How long the first REQs wait for sources that say nothing.
  static let settlingMilliseconds: UInt64 = 3_000
  /// Longest wait until what others could not do is asked of them again.
  static let retryMillisecondsMaximum: UInt64 = 10_000

  init(_ worker: Worker, directory path: String) throws(Refusal) {
    self.worker = worker
    bus = worker.bus
    earlyEnd = EventLoop.process.now.advanced(milliseconds: Self.settlingMilliseconds)
    observes = ObserveSource(worker, log)
    accounts = AccountSource(worker.bus, settled: earlyEnd, log)
    lists = AccountListReader(worker, log)
    fetches = FetchReporter(worker, log)
    do throws(StorageFault) {
      added = try AddedRelays(directory: path, now: WallClock.seconds)
      for relay in added.loaded where !directory.add(relay) { break }
      added.rescue?.tell("the file of added relays", log)
    } catch {
      throw Refusal(error.mayPass ? .unavailable : .failed, error.description)
    }
    // Above that of every life before, unless the clock was set back; then connectors are sent all, which does no harm.
    wishes = DesiredSubscriptions(generation: WallClock.milliseconds, frameLimit: worker.bus.welcome.frameLimit)
    try takeSettings()
    publishing = try PublishService(worker, directory: path, routes: self)
  }

  /// Begins to serve and to ask.
  func start() {
    serve()
    worker.onDrain = { [unowned self] in drain() }
    worker.onClockSet = { [unowned self] in
      wishes.clockSet(at: now, wall: WallClock.seconds)
      update()
    }
    worker.onSettings = { [unowned self] _ in settingsChanged() }
    worker.onEnd = { [added, publishing, log] in
      publishing?.end()
      do throws(StorageFault) { try added.close() } catch { log.error("cannot close", metadata: ["why": "\(error)"]) }
    }
    observes.onChange = { [unowned self] in observesChanged($0, removed: $1) }
    accounts.onAccounts = { [unowned self] in accountsAre($0) }
    lists.onPart = { [unowned self] in learn($0, $1) }
    bus.onEvent = { [unowned self] in received($0) }
    bus.onGap = { [unowned self] _, _ in observes.list() }
    bus.onRegistry = { [unowned self] in registryChanged($0) }
    subscribe()
    registryChanged(bus.registry)
    settleTimer.set(afterMilliseconds: Self.settlingMilliseconds) { [unowned self] in update() }
    update()
  }

  private func settingsChanged() {
    do throws(Refusal) {
      try takeSettings()
      try publishing?.settingsChanged()
    } catch {
      log.error("the new settings are not taken", metadata: ["why": "\(error.message)"])
    }
    update()
  }

  /// Where this Roost's own relays listen, and which connectors and signer there are to be, as roostd says; no keys of
  /// the file.
  private func takeSettings() throws(Refusal) {
    let settings = try worker.settings(of: PlannerSettings.self)
    directory.ownAddressesAre(OwnAddresses(settings.ownAddresses))
    directory.configurationIs(settings.connectors)
    accounts.hasSigner = settings.hasSigner
  }

  /// The present instant.
  var now: Instant { EventLoop.process.now }

  private func drain() {
    isDraining = true
    hasChanged.raise()
    packTimer.cancel()
    accounts.end()
    budgetTimer.cancel()
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

  // MARK: The heart

  /// Does what follows from what has changed. Called after everything.
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
    pack()
    for name in connectors.followed.sorted() { deliver(to: name) }
    fetches.tell(wishes.takeFetches())
    followers.changed(wishes.takeChanges())
    tellStatus()
    hasChanged.raise()
  }

  /// Whether sources have not spoken yet that are worth waiting for.
  var isEarly: Bool { directory.unsettled != nil && now < earlyEnd }

  private func pack() {
    if !isEarly { wishes.pack(at: now, wall: WallClock.seconds, budget: &budget) }
    guard let deadline = wishes.deadline else { return packTimer.cancel() }
    // While it is early the end of that time calls, or a source that speaks.
    if !isEarly { packTimer.set(at: deadline) { [unowned self] in update() } }
  }

  private func tellStatus() {
    let text =
      fault?.description ?? "\(Amount.count(wishes.observeCount, "observe")), "
      + "\(Amount.count(wishes.requestCount, "request")) at relays"
    guard text != statusText else { return }
    statusText = text
    bus.sendStatus(StatusReport(text: text))
  }

  /// Does something again and again until it says that it is over, waiting longer after each failure.
  func persist(_ what: String, _ attempt: @escaping @EventLoopActor () async throws(Refusal) -> Bool) {
    worker.persist(what, ceilingMilliseconds: Self.retryMillisecondsMaximum, log, attempt)
  }
}
