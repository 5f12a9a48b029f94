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

// The shell of the publish queue: connects its machine with the ledger, the event store, the connectors and the
// callers.
//
// The order of an acceptance is what makes it safe:
//
//   committed to the ledger ─▶ event store has it ─▶ that is committed ─▶ answered
//                                                 └▶ sent
//
// A crash before the commit leaves nothing. After the commit, the next process finds a publication that the store may
// not have: it offers the event to the store again, which recognises it by its id, and sends it. So a caller without an
// answer repeats its request, and finds the one publication. An event that the store refuses is removed from the
// ledger; its acceptance was never confirmed to a caller.
//
// The store answers when the event is on its disk. Whatever the ledger says, publications that have not ended are
// offered to the store again after a start: the store's file may be an older one, or a rescued one.
//
// The machine (`PublishQueue`) decides which event goes to which relay next. There is no await between its decision and
// the action.

/// Serves `plan.publish` and the queries about publications.
@EventLoopActor
final class PublishService {
  let worker: Worker
  let ledger: PublishLedger
  let writer: PublishWriter
  let log = Logger(label: "publish")
  /// Nil when its file cannot be opened: then lists are published, and no version is kept.
  private(set) var replacedLists: ReplacedLists?
  /// The health of that file.
  private(set) lazy var replacedHealth = LedgerHealth("the file of replaced lists", log) { [unowned self] in
    replacedLists?.markDamaged()
  }
  /// The versions kept because of a publication that the event store has not taken yet, by the publication's event.
  var keptVersions: [EventID: String] = [:]
  var queue = PublishQueue(seed: UInt64.random(in: .min ... .max))
  var settings = PlannerSettings()
  var bodies = PublishBodies()
  /// Decides the relays of events.
  unowned let planner: Planner
  /// Sends to relays what they lack.
  private lazy var copies = CopyService(worker, planner, self)
  /// Claims of callers that publish: one caller at a time for each event. Others wait here.
  var claims: [PublishClaim: [CheckedContinuation<Void, Never>]] = [:]
  /// Publications in the ledger that have lost their relays, and are routed again.
  var unrouted: [LedgerRow] = []
  /// Publications in the ledger that the event store may not have.
  var unstored: [EventID: QueuedPublication] = [:]
  /// Publications of the process before that have not ended and that the store should have, the first one last.
  var leftStored: [(number: Int64, id: EventID)] = []
  /// Publications with added relays that are not in the ledger yet.
  var unwrittenTargets: Set<EventID> = []
  /// Publications for which the relay lists of the people whom they name are being looked for.
  var joining: Set<EventID> = []
  /// The traces of the requests that publications under way come from, for logs; at most ``traceMaximum``, further ones
  /// are not noted.
  private var traces: [EventID: RequestTrace] = [:]
  var sentLists = SentRelayLists()
  /// Accounts that are being forgotten: what they wrote is not published.
  var forgetting: Set<PublicKey> = []
  var lastNumber: Int64
  var isDraining = false
  var followers: [EventID: [ChangeFollower<Publication>]] = [:]
  var followerCount = 0
  /// Publications by state, as the ledger has them.
  var counts: [Publication.State: Int]
  private var countedStates: [EventID: Publication.State] = [:]
  private var untold: Set<EventID> = []
  private var isTelling = false
  private let queueTimer = LoopTimer()
  private let sweepTimer = LoopTimer()
  let storeTimer = LoopTimer()

  /// The name of the ledger's file in the worker's directory.
  nonisolated static let fileName = "publications.db"
  /// How long a connector has for one event at one relay, dialling included.
  static let sendMilliseconds: UInt32 = 60_000
  /// The most publications whose traces are noted.
  private static let traceMaximum = 4_096
  /// Most lists in `plan.status` that have lost more than half of their entries.
  static let shrunkMaximum = 8
  /// Longest pause between two attempts to open `replaced.db`.
  private static let openAgainMilliseconds: UInt64 = 60_000
  /// How often ended publications that are too old or too many are removed.
  static let sweepMilliseconds: UInt64 = 3_600_000

  /// Opens the ledger in `directory`; ``begin()`` resumes the publications in it.
  ///
  /// - Throws: `unavailable` when a later attempt may succeed.
  init(_ worker: Worker, directory: String, planner: Planner) throws(Refusal) {
    self.worker = worker
    self.planner = planner
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
    RestoredMark.tell(in: directory, underWay: contents.underWay.count, log)
    for row in contents.underWay { restore(row) }
    leftStored = contents.underWay.reversed().filter(\.isStored).map { ($0.publication.number, $0.publication.id) }
  }

  private func serve() {
    worker.serve(PlanMethod.publish, publish)
    worker.serve(PlanMethod.publications, list)
    worker.serve(PlanMethod.follow, follow)
    worker.serve(PlanMethod.retry, tryAgain)
    worker.serve(PlanMethod.retryUnsent, retryUnsent)
    worker.serve(PlanMethod.replaced, listReplaced)
    worker.serve(PlanMethod.cancel, cancel)
    worker.serve(PlanMethod.copy, copies.copy)
    worker.serve(PlanMethod.exchange) { [unowned self] (_, wanted) throws(Refusal) in try await exchange(wanted) }
  }

  /// Opens the file of replaced lists, now or when the disk permits it; the queue does not wait for it.
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

  /// Resumes what the process before has left. Call it when the relays are known.
  func begin() {
    routeAgain()
    storeAgain()
    offerLeft()
    sweep()
  }

  /// Takes changed settings of `supervisor.conf`.
  func settingsChanged() throws(Refusal) { settings = try worker.settings(of: PlannerSettings.self) }

  /// A connector reports that a relay is connected.
  func relayOpened(_ relay: RelayURL) {
    perform { $0.relayOpened(relay.text, at: $1) }
    copies.perform { $0.relayOpened(relay.text, at: $1) }
  }

  /// Connectors have come or gone.
  func connectorsChanged() {
    perform { $0.connectorsChanged(at: $1) }
    copies.perform { $0.connectorsChanged(at: $1) }
  }

  /// The signer reports that these accounts are unlocked.
  func accountsOpened(_ accounts: Set<PublicKey>) {
    perform { $0.accountsOpened(accounts, at: $1) }
    copies.perform { $0.accountsOpened(accounts, at: $1) }
  }

  /// The worker drains: nothing new is sent, and all followers are answered.
  func drain() {
    isDraining = true
    perform { $0.closed(at: $1) }
    copies.drain()
    for follower in followers.values.joined() { follower.end(Self.draining) }
  }

  /// Called last: writes what has changed, and closes the files.
  func end() {
    writer.finish()
    do throws(StorageFault) {
      try replacedLists?.close()
      try ledger.close()
    } catch { log.error("cannot close", metadata: ["why": "\(error)"]) }
  }

  /// Adds the publish queue's part to `plan.status`.
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

  /// Resumes a publication of an earlier process.
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

  /// Gives the machine an input, and performs its actions.
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

  /// Followers are informed after a change is written, or cannot be: what they receive is still true after a crash.
  private func written(_ changes: [EventID: UInt64], _ isCommitted: Bool) {
    for (id, version) in changes {
      if isCommitted {
        if let state = queue[id]?.state { count(id, state) }
        queue.recorded(id, version: version)
        if queue.isRecorded(id) { unwrittenTargets.remove(id) }
        if queue[id] == nil {
          bodies.drop(id)
          countedStates[id] = nil
          traces[id] = nil
        }
      }
      tellFollowers(of: id)
      tellEverybody(of: id)
    }
  }

  /// The ledger has a publication in this state now.
  func count(_ id: EventID, _ state: Publication.State) {
    if let old = countedStates.updateValue(state, forKey: id) { counts[old, default: 0] -= 1 }
    counts[state, default: 0] += 1
  }

  /// A publication was loaded from the ledger, where it has this state.
  func adopt(_ id: EventID, _ state: Publication.State) { countedStates[id] = state }

  /// A caller no longer needs a publication that it loaded into memory.
  func putBack(_ id: EventID) {
    queue.putBack(id)
    if queue[id] == nil { countedStates[id] = nil }
  }

  /// A publication was taken out of the ledger.
  ///
  /// - Parameters:
  ///   - id: its event.
  ///   - state: its state there, for one that was not in memory.
  func uncount(_ id: EventID, _ state: Publication.State? = nil) {
    if let old = countedStates.removeValue(forKey: id) ?? state { counts[old, default: 0] -= 1 }
  }

  // MARK: Sending

  private func send(_ key: SendingKey, _ manner: SendingManner) {
    // A detached task: the caller of `plan.publish` does not wait for this attempt, which must not use what is reserved
    // for waiting callers.
    EventLoopActor.detachedTask { [self] in
      await BusTrace.with(trace(of: key.id)) { await attempt(key, manner) }
    }
  }

  private func trace(of id: EventID) -> RequestTrace? { traces[id] }

  /// A request is about a publication: what is sent of it from now on has its trace.
  func note(_ request: BusRequest, about id: EventID) {
    guard traces[id] != nil || traces.count < Self.traceMaximum else { return }
    traces[id] = RequestTrace(rawValue: request.trace)
  }

  private func attempt(_ key: SendingKey, _ manner: SendingManner) async {
    let outcome = await outcome(of: key, manner)
    if case .taken = outcome {
    } else {
      log.debug("not taken", metadata: ["event": "\(key.id)", "relay": "\(key.relay)", "why": "\(outcome.words)"])
    }
    perform { $0.settled(key, outcome, at: $1) }
    if case .taken = outcome { followWithRelayList(key, manner) }
  }

  private func outcome(of key: SendingKey, _ manner: SendingManner) async -> SendOutcome {
    guard let publication = queue[key.id] else { return .refused("the event is forgotten") }
    let body: [UInt8]?
    // A read error of the disk is no refusal of the relay.
    do throws(Refusal) { body = try await self.body(of: publication) } catch { return .absent(error.message) }
    guard let event = body else { return .refused("the event is no longer in the ledger") }
    // A relay that a stranger named is sent what it was named for, and asked nothing.
    guard ListEntries.kinds.contains(publication.kind), planner.accountName(publication.author) != nil,
      !manner.isForeign, let relay = try? RelayURL(key.relay)  // `try?`: this worker wrote it.
    else { return await sendOnce(event, to: key.relay, manner) }
    // A relay keeps one version: what another device wrote there while it could not be read here would be gone. What
    // is read goes to the store, and `people` brings it together with ours.
    var outcome = SendOutcome.refused("called off before it was sent")
    await planner.reading(publication.kind, of: publication.author, at: relay) {
      guard queue[key.id]?.targets.contains(where: { $0.relay == key.relay && $0.isOpen }) == true else { return }
      outcome = await sendOnce(event, to: key.relay, manner)
    }
    return outcome
  }

  /// Sends an event to a relay by the relay's connector.
  func sendOnce(_ event: [UInt8], to text: String, _ manner: SendingManner) async -> SendOutcome {
    // This worker wrote the URL; the error says what is wrong with it.
    guard let relay = try? RelayURL(text) else { return .refused("\(text) is no address of a relay") }
    let connector: String
    switch planner.dialler(of: relay) {
    case .failure(let reason): return .absent(reason.description)
    case .success(let name): connector = name
    }
    let wanted = RelayPublish(
      relay: text, event: RawJSON(event), account: manner.account?.description,
      isProtected: manner.isProtected ? true : nil, isForeign: manner.isForeign)
    do throws(Refusal) {
      return SendOutcome(
        try await worker.bus.request(
          RelayMethod.publish, of: connector, wanted, ttlMilliseconds: Self.sendMilliseconds))
    } catch {
      return SendOutcome(error)
    }
  }

  // MARK: plan.follow and plan.published

  func follow(_ request: BusRequest, _ wanted: PlanPublication) async throws(Refusal) -> Nothing? {
    let id = try Self.id(wanted.id)
    let relay = try wanted.relay.map { text throws(Refusal) in try Self.relays([text])[0].text }
    guard followerCount < ChangeFollower<Publication>.maximum else {
      throw Refusal(.full, "\(followerCount) publications are followed already", outcome: .notStarted)
    }
    guard !isDraining else { throw Self.draining }
    let follower = ChangeFollower<Publication>(request)
    followers[id, default: []].append(follower)
    followerCount += 1
    defer {
      followers[id]?.removeAll { $0 === follower }
      if followers[id]?.isEmpty == true { followers[id] = nil }
      followerCount -= 1
    }
    try await follower.run(until: \.state.isFinal) { () throws(Refusal) in
      guard let publication = try await self.publication(id) else { throw Self.unknown(id) }
      request.accept()
      return try Self.only(relay, of: publication)
    }
    return Nothing()
  }

  private static func only(_ relay: String?, of publication: Publication) throws(Refusal) -> Publication {
    guard let relay else { return publication }
    var told = publication
    told.targets = publication.targets.filter { $0.relay == relay }
    guard !told.targets.isEmpty else { throw noRelay(relay, publication.id) }
    told.state = Publication.State(of: told.targets.map(\.state))
    return told
  }

  private func tellFollowers(of id: EventID) {
    for follower in followers[id] ?? [] { follower.changed() }
  }

  /// Publishes `plan.published`: each publication in its state at that moment.
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
        // A subscriber that missed it can call `plan.publications`.
        log.debug("not told", metadata: ["event": "\(id)", "why": "\(error.message)"])
      }
    }
    isTelling = false
  }

  // MARK: Old publications

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
