import Addresses
import Bus
import Clocks
import Contracts
import Cryptography
import EventLoop
import Frames
import LinuxSystem
import WorkerLedger
import Logging
import Nostr
import OutboxRouting
import PublishLedger
import PublishQueue
import Storage
import WorkerKit

// The publish queue's shell: its machine with the ledger, the event store, the connectors and the callers.
//
// The order of an acceptance is what makes it safe:
//
//   committed to the ledger ─▶ event store has it ─▶ that is committed ─▶ answered
//                                                 └▶ sent
//
// A death before the commit leaves nothing. After it the next process finds a publication that the store may not have:
// it gives it to the store again, which knows it by its id, and sends it. So whoever heard nothing asks again, and
// hears of the one publication; what the store refuses is taken out of the ledger again, and was accepted from nobody.
//
// The store answers when the event is on its disk. Whatever the ledger believes of that, what is under way at a start
// is offered to it once more: the store's file may be an earlier one, or a rescued one.
//
// Which event goes where next is the machine's to say (`PublishQueue`). Nothing is awaited between asking it and doing
// what it says.

/// Serves `plan.publish` and what is asked about publications.
@EventLoopActor
final class PublishService {
  let worker: Worker
  let ledger: PublishLedger
  let writer: PublishWriter
  let log = Logger(label: "publish")
  /// Nil when its file cannot be opened: then lists are published, and none is kept.
  private(set) var replacedLists: ReplacedLists?
  /// How that file is doing.
  private(set) lazy var replacedHealth = LedgerHealth("the file of replaced lists", log) { [unowned self] in
    replacedLists?.markDamaged()
  }
  /// Versions that are kept because of a publication that the event store has not taken yet, by its event.
  var keptVersions: [EventID: String] = [:]
  var queue = PublishQueue(seed: UInt64.random(in: .min ... .max))
  var settings = PlannerSettings()
  var bodies = PublishBodies()
  /// Says where events go.
  unowned let routes: any PublishRouting
  /// Those that are being accepted, or changed by a caller: one caller at a time for each event.
  var claims: [PublishClaim: [CheckedContinuation<Void, Never>]] = [:]
  /// In the ledger, without the relays that they had: these are lost, and found again.
  var unrouted: [LedgerRow] = []
  /// In the ledger, and not known to be in the event store.
  var unstored: [EventID: QueuedPublication] = [:]
  /// What the last process has left under way, and the store should have: by number, the first last.
  var leftStored: [(number: Int64, id: EventID)] = []
  /// Those to which relays were added that are not in the ledger.
  var unwrittenTargets: Set<EventID> = []
  var lastNumber: Int64
  var isDraining = false
  var followers: [EventID: [ChangeFollower<Publication>]] = [:]
  var followerCount = 0
  /// Publications by state, as written down.
  var counts: [Publication.State: Int]
  private var countedStates: [EventID: Publication.State] = [:]
  private var untold: Set<EventID> = []
  private var isTelling = false
  private let queueTimer = LoopTimer()
  private let sweepTimer = LoopTimer()
  let storeTimer = LoopTimer()

  /// The ledger's file in the worker's directory.
  nonisolated static let fileName = "publications.db"
  /// How long a connector has for one event at one relay, dialling included.
  static let sendMilliseconds: UInt32 = 60_000
  /// Lists told in `plan.status` that have lost more than half of their entries.
  static let shrunkMaximum = 8
  /// Between two attempts to open `replaced.db`.
  private static let openAgainMilliseconds: UInt64 = 60_000
  /// How often it is looked for publications that need not be kept any longer.
  static let sweepMilliseconds: UInt64 = 3_600_000

  /// Opens the ledger in `directory`; what is under way in it continues with ``begin()``.
  ///
  /// - Throws: `unavailable` when waiting may help.
  init(_ worker: Worker, directory: String, routes: any PublishRouting) throws(Refusal) {
    self.worker = worker
    self.routes = routes
    let contents: PublishLedgerContents
    let rescue: LedgerRescue?
    do throws(StorageFault) {
      (ledger, contents, rescue) = try PublishLedger.openOrRescue(
        path: directory + "/" + Self.fileName, now: WallClock.seconds)
    } catch {
      throw Refusal(error.mayPass ? .unavailable : .failed, error.description)
    }
    writer = PublishWriter(ledger, log)
    lastNumber = contents.lastNumber
    counts = contents.counts
    rescue?.tell("the ledger of publications", log)
    writer.current = { [unowned self] id in current(id) }
    writer.onWritten = { [unowned self] changes, isCommitted in written(changes, isCommitted) }
    openReplacedLists(directory)
    try settingsChanged()
    serve()
    for row in contents.underWay { restore(row) }
    leftStored = contents.underWay.reversed().filter(\.isStored).map { ($0.publication.number, $0.publication.id) }
  }

  private func serve() {
    worker.serve(PlanMethod.publish, publish)
    worker.serve(PlanMethod.publications, list)
    worker.serve(PlanMethod.follow, follow)
    worker.serve(PlanMethod.retry, tryAgain)
    worker.serve(PlanMethod.replaced, listReplaced)
    worker.serve(PlanMethod.cancel, cancel)
  }

  /// Opens the file of replaced lists, now or once its disk lets it be opened: the queue does not wait for it.
  private func openReplacedLists(_ directory: String) {
    do throws(Refusal) { try openReplacedListsNow(directory) } catch {
      worker.persist("opening replaced.db", ceilingMilliseconds: Self.openAgainMilliseconds, log) {
        [self] () async throws(Refusal) in
        try openReplacedListsNow(directory)
        return true
      }
    }
  }

  /// - Throws: `unavailable` when another attempt may succeed.
  private func openReplacedListsNow(_ directory: String) throws(Refusal) {
    do throws(StorageFault) {
      replacedLists = try ReplacedLists(directory: directory, now: WallClock.seconds)
      replacedLists?.rescue?.tell("the file of replaced lists", log)
    } catch {
      log.error("versions of lists are not kept", metadata: ["why": "\(error)"])
      if error.mayPass { throw Refusal(.unavailable, error.description) }
    }
  }

  // MARK: Life

  /// Sends what the last process has left. To be called when the relays are known.
  func begin() {
    routeAgain()
    storeAgain()
    offerLeft()
    sweep()
  }

  /// Takes over changed settings of `supervisor.conf`.
  func settingsChanged() throws(Refusal) { settings = try worker.settings(of: PlannerSettings.self) }

  /// A connector says that a relay is connected.
  func relayOpened(_ relay: RelayURL) { perform { $0.relayOpened(relay.text, at: $1) } }

  /// Connectors have come or gone.
  func connectorsChanged() { perform { $0.connectorsChanged(at: $1) } }

  /// The signer says that these accounts can be used.
  func accountsOpened(_ accounts: Set<PublicKey>) { perform { $0.accountsOpened(accounts, at: $1) } }

  /// The worker is to finish: nothing new is sent, and nobody is kept waiting.
  func drain() {
    isDraining = true
    perform { $0.closed(at: $1) }
    for follower in followers.values.joined() { follower.end(Self.draining) }
  }

  /// The last thing of all: what has changed is written, and the file is closed.
  func end() {
    writer.finish()
    do throws(StorageFault) {
      try replacedLists?.close()
      try ledger.close()
    } catch { log.error("cannot close", metadata: ["why": "\(error)"]) }
  }

  /// For `plan.status`.
  func report(to status: inout PlanStatus) {
    for (state, count) in counts where count > 0 { status.publications[state.rawValue] = count }
    status.inFlight = queue.inFlightCount
    let shrunk = replacedLists?.shrunk(at: WallClock.seconds).prefix(Self.shrunkMaximum).map(named) ?? []
    status.shrunkLists = shrunk.isEmpty ? nil : shrunk
    status.fault = writer.health.fault?.description
  }

  private func restore(_ row: LedgerRow) {
    guard !row.publication.targets.isEmpty else { return unrouted.append(row) }
    resume(row)
  }

  /// Goes on with a publication that an earlier process has left.
  func resume(_ row: LedgerRow) {
    adopt(row.publication.id, row.publication.state)
    if row.isStored {
      perform { $0.admitted(row.publication, at: $1) }
    } else {
      unstored[row.publication.id] = row.publication
    }
  }

  // MARK: The machine

  var moment: Moment { Moment(instant: EventLoop.process.now, time: WallClock.seconds) }

  /// Tells the machine something, and does what it wants.
  func perform(_ step: (inout PublishQueue, Moment) -> [PublishAction]) {
    for action in step(&queue, moment) {
      switch action {
      case .send(let key, let manner): send(key, manner)
      case .record(let id): writer.note(changed: id)
      case .tell(let id): tellFollowers(of: id)
      case .setTimer(let instant):
        queueTimer.set(at: instant) { [unowned self] in perform { $0.timerFired(at: $1) } }
      case .cancelTimer: queueTimer.cancel()
      }
    }
  }

  private func current(_ id: EventID) -> (change: LedgerBatch.Change, version: UInt64)? {
    guard let publication = queue[id], let version = queue.version(of: id) else { return nil }
    return (LedgerBatch.Change(publication, event: bodies[id]), version)
  }

  /// Followers hear of a change when it is written, or cannot be: what they have heard stays true after a death.
  private func written(_ changes: [EventID: UInt64], _ isCommitted: Bool) {
    for (id, version) in changes {
      if isCommitted {
        if let state = queue[id]?.state { count(id, state) }
        queue.recorded(id, version: version)
        if queue.isRecorded(id) { unwrittenTargets.remove(id) }
        if queue[id] == nil {
          bodies.drop(id)
          countedStates[id] = nil
        }
      }
      tellFollowers(of: id)
      tellEverybody(of: id)
    }
  }

  /// A publication is in the ledger with this state.
  func count(_ id: EventID, _ state: Publication.State) {
    if let old = countedStates.updateValue(state, forKey: id) { counts[old, default: 0] -= 1 }
    counts[state, default: 0] += 1
  }

  /// A publication came from the ledger, where it has this state.
  func adopt(_ id: EventID, _ state: Publication.State) { countedStates[id] = state }

  /// Somebody has brought a publication back, and did not change it.
  func putBack(_ id: EventID) {
    queue.putBack(id)
    if queue[id] == nil { countedStates[id] = nil }
  }

  /// A publication was taken out of the ledger.
  func uncount(_ id: EventID) {
    if let old = countedStates.removeValue(forKey: id) { counts[old, default: 0] -= 1 }
  }

  // MARK: Sending

  private func send(_ key: SendingKey, _ manner: SendingManner) {
    // Whoever asked for the publication does not wait for this: it must not use what is kept for those who do.
    Task.detached(executorPreference: EventLoop.process) { [self] in await attempt(key, manner) }
  }

  private func attempt(_ key: SendingKey, _ manner: SendingManner) async {
    let outcome = await outcome(of: key, manner)
    if case .taken = outcome {
    } else {
      log.debug("not taken", metadata: ["event": "\(key.id)", "relay": "\(key.relay)", "why": "\(outcome.words)"])
    }
    perform { $0.settled(key, outcome, at: $1) }
  }

  private func outcome(of key: SendingKey, _ manner: SendingManner) async -> SendOutcome {
    guard let publication = queue[key.id] else { return .refused("the event is forgotten") }
    // This worker wrote the event; the error says what is wrong with it.
    guard let relay = try? RelayURL(key.relay) else { return .refused("\(key.relay) is no address of a relay") }
    let isMessage = EventKind.giftWraps.contains(publication.kind)
    let purpose: DialBudget.Purpose = isMessage ? .directMessage : manner.isForeign ? .foreign : .publish
    let connector: String
    switch routes.publishBegins(at: relay, for: purpose) {
    case .failure(let reason): return .absent(reason.description)
    case .success(let name): connector = name
    }
    defer { routes.publishEnded(at: relay, for: purpose) }
    let body: [UInt8]?
    // A disk that cannot be read is no relay's refusal.
    do throws(Refusal) { body = try await self.body(of: publication) } catch { return .absent(error.message) }
    guard let event = body else { return .refused("the event is no longer in the ledger") }
    let wanted = RelayPublish(
      relay: key.relay, event: RawJSON(event), account: manner.account?.description,
      isProtected: manner.isProtected ? true : nil, isForeign: manner.isForeign)
    do throws(Refusal) {
      return SendOutcome(
        try await worker.bus.request(
          RelayMethod.publish, of: connector, wanted, ttlMilliseconds: Self.sendMilliseconds))
    } catch {
      return SendOutcome(error)
    }
  }

  // MARK: Telling

  private func tellFollowers(of id: EventID) {
    for follower in followers[id] ?? [] { follower.changed() }
  }

  /// Publishes `plan.published`, each publication as it is when its turn comes.
  func tellEverybody(of id: EventID) {
    untold.insert(id)
    guard !isTelling else { return }
    isTelling = true
    Task.detached(executorPreference: EventLoop.process) { [self] in await tellUntold() }
  }

  private func tellUntold() async {
    while let id = untold.popFirst() {
      do throws(Refusal) {
        guard let publication = try await publication(id) else { continue }
        try await worker.bus.publish(PlanTopic.published, publication)
      } catch {
        // Whoever missed it asks `plan.publications`.
        log.debug("not told", metadata: ["event": "\(id)", "why": "\(error.message)"])
      }
    }
    isTelling = false
  }

  // MARK: Forgetting

  private func sweep() {
    EventLoopActor.task { [self] in
      do throws(StorageFault) {
        while true {
          let gone = try await ledger.sweep(now: WallClock.seconds)
          for state in gone { counts[state, default: 0] -= 1 }
          guard gone.count == PublishLedger.sweepCount else { break }
        }
      } catch {
        log.warning("old publications are not removed", metadata: ["why": "\(error)"])
      }
      sweepTimer.set(afterMilliseconds: Self.sweepMilliseconds) { [unowned self] in sweep() }
    }
  }
}
