import Addresses
import Bus
import Clocks
import Contracts
import Cryptography
import EventLoop
import Frames
import LinuxSystem
import Logging
import Nostr
import NostrContracts
import OutboxRouting
import PublishQueue
import WorkerKit

// plan.copy: what a relay lacks of one's own events. A queue of its own, by the same machine as the publish queue: what
// a relay has once accepted may be sent there again, and what is published goes first. Nothing of it is written down:
// the caller keeps what is lacking where.

/// Serves `plan.copy`.
@EventLoopActor
final class CopyService {
  private let worker: Worker
  private unowned let planner: Planner
  private unowned let publishing: PublishService
  private let log = Logger(label: "publish")
  private var queue = PublishQueue(limits: CopyService.limits, seed: UInt64.random(in: .min ... .max))
  private var bodies: [EventID: [UInt8]] = [:]
  /// The calls that wait for an outcome.
  private var waiting: [SendingKey: CheckedContinuation<CopyOutcomes.Outcome, Never>] = [:]
  private var lastNumber: Int64 = 0
  private var isDraining = false
  private let timer = LoopTimer()

  /// How long the store has for the events of one call.
  private static let storeMilliseconds: UInt32 = 10_000

  /// Few attempts: what is given up is sent again another day.
  private static let limits: PublishLimits = {
    var limits = PublishLimits()
    (limits.publicationMaximum, limits.inFlightMaximum) = (PlanCopy.eventMaximum, 64)
    (limits.failureMaximum, limits.unansweredMaximum) = (3, 3)
    (limits.rejectionMaximum, limits.authorizationMaximum) = (2, 1)
    return limits
  }()

  init(_ worker: Worker, _ planner: Planner, _ publishing: PublishService) {
    (self.worker, self.planner, self.publishing) = (worker, planner, publishing)
  }

  // MARK: plan.copy

  func copy(_ request: BusRequest, _ wanted: PlanCopy) async throws(Refusal) -> CopyOutcomes? {
    let relay = try PublishService.relays([wanted.relay])[0]
    if planner.directory.isHome(relay) {
      throw Refusal(.ownRelay, "\(relay) is not sent copies: \(OwnAddresses.reason)", outcome: .notStarted)
    }
    guard !isDraining else { throw PublishService.draining }
    guard waiting.count + wanted.ids.count <= PlanCopy.eventMaximum else {
      throw Refusal(
        .full, "\(waiting.count) copies are under way already", outcome: .notStarted, retryAfterMilliseconds: 5_000)
    }
    var ids: [EventID] = []
    for text in wanted.ids { ids.append(try PublishService.id(text)) }
    let account = try wanted.account.map { text throws(Refusal) in
      guard let account = PublicKey(text), planner.directory.personalAccounts.contains(where: { $0.key == account })
      else { throw Refusal(.badRequest, "'account' is no account of yours", outcome: .notStarted) }
      return account
    }
    request.accept()
    let events = try await stored(ids)
    await planner.settled()
    // Each waits for itself; all are in the queue before the first answer comes.
    let tasks = ids.map { id in
      EventLoopActor.task { [self] in await send(events[id], id, to: relay, account, request) }
    }
    request.onCancel = { [weak self] in self?.cancel(ids, at: relay) }
    var outcomes: [CopyOutcomes.Outcome] = []
    for task in tasks { outcomes.append(await task.value) }
    request.onCancel = nil
    return CopyOutcomes(outcomes: outcomes)
  }

  private func stored(_ ids: [EventID]) async throws(Refusal) -> [EventID: Event] {
    let answer = try await worker.bus.ask(
      StoreMethod.query, StoreQuery(filters: [JSONValue(of: Filter(ids: ids))]), ttlMilliseconds: Self.storeMilliseconds
    )
    var events: [EventID: Event] = [:]
    while let part = try await answer.nextPart() {
      // `try?`: the store has verified it; an event that cannot be read counts as missing.
      if let event = try? Event(json: part.bytes) { events[event.id] = event }
    }
    return events
  }

  /// Sends one event, and waits for its end.
  private func send(
    _ event: Event?, _ id: EventID, to relay: RelayURL, _ account: PublicKey?, _ request: BusRequest
  ) async -> CopyOutcomes.Outcome {
    func failed(_ why: String) -> CopyOutcomes.Outcome {
      CopyOutcomes.Outcome(id: "\(id)", state: .failed, message: why)
    }
    let key = SendingKey(id: id, relay: relay.text)
    guard let event else { return CopyOutcomes.Outcome(id: "\(id)", state: .gone) }
    guard !event.isExpired(at: WallClock.seconds) else { return failed("its time is over (NIP-40)") }
    guard waiting[key] == nil, !request.isCancelled, !isDraining else { return failed("it is under way already") }
    let target: QueuedTarget
    switch self.target(of: event, at: relay, account) {
    case .failure(let problem): return failed(problem.description)
    case .success(let known): target = known
    }
    bodies[id] = event.json
    return await withCheckedContinuation { continuation in
      waiting[key] = continuation
      let until = WallClock.seconds + PlanCopy.secondsMaximum
      if queue[id] == nil {
        lastNumber += 1
        let publication = QueuedPublication(
          number: lastNumber, id: id, author: event.pubkey, kind: event.kind, acceptedAt: WallClock.seconds,
          expiresAt: until, targets: [target])
        perform { $0.admitted(publication, at: $1) }
      } else if queue[id]?.targets.contains(where: { $0.relay == relay.text }) == true {
        perform { $0.retried(id, relay: relay.text, expiresAt: until, at: $1) }
      } else {
        perform { $0.targetsAdded([target], to: id, expiresAt: until, at: $1) }
      }
    }
  }

  /// How an event is sent to a relay, or why not: only another Roost of the same owner gets what others wrote.
  private func target(
    of event: Event, at relay: RelayURL, _ account: PublicKey?
  ) -> Result<QueuedTarget, NoRoute> {
    if planner.directory.isPeer(relay), let account {
      // A protected event of others is refused there: only its author may send it (NIP-70).
      let manner = SendingManner(account: account, isProtected: event.isProtected, isForeign: false)
      return .success(QueuedTarget(PublicationTarget(relay: relay.text, state: .pending, why: "peer"), manner: manner))
    }
    guard planner.directory.personalAccounts.contains(where: { $0.key == event.pubkey }) else {
      return .failure(NoRoute("it is not by an account of yours"))
    }
    return planner.directory.route(event, named: [relay]).flatMap { choices in
      choices.first.map { .success(QueuedTarget($0)) } ?? .failure(NoRoute("it does not go there"))
    }
  }

  private func cancel(_ ids: [EventID], at relay: RelayURL) {
    for id in ids where waiting[SendingKey(id: id, relay: relay.text)] != nil {
      perform { $0.cancelled(id, relay: relay.text, at: $1) }
    }
  }

  // MARK: What happens

  /// The worker drains: nothing new is sent, and all calls are answered.
  func drain() {
    isDraining = true
    perform { $0.closed(at: $1) }
    for (key, continuation) in waiting {
      let words = PublishService.draining.message
      continuation.resume(returning: CopyOutcomes.Outcome(id: "\(key.id)", state: .failed, message: words))
    }
    waiting = [:]
  }

  // MARK: The machine

  /// Gives the machine an input, and performs its actions.
  func perform(_ step: (inout PublishQueue, Moment) -> [PublishAction]) {
    for action in step(&queue, publishing.moment) {
      switch action {
      case .send(let key, let manner): send(key, manner)
      case .record(let id): settled(id)
      case .tell: break
      case .setTimer(let instant): timer.set(at: instant) { [unowned self] in perform { $0.timerFired(at: $1) } }
      case .cancelTimer: timer.cancel()
      }
    }
  }

  /// An event has changed: calls that wait for a relay that is settled are answered.
  private func settled(_ id: EventID) {
    for target in queue[id]?.targets ?? [] where !target.isOpen {
      let key = SendingKey(id: id, relay: target.relay)
      guard let continuation = waiting.removeValue(forKey: key) else { continue }
      var outcome = CopyOutcomes.Outcome(id: "\(id)", state: .failed, message: target.progress.message)
      if target.progress.state == .confirmed { outcome.state = .held }
      if refusedForGood.remove(key) != nil { outcome.state = .refused }
      continuation.resume(returning: outcome)
    }
    if let version = queue.version(of: id) { queue.recorded(id, version: version) }
    if queue[id] == nil { bodies[id] = nil }
  }

  /// Relays whose last word was that they never take the event, until the outcome is answered.
  private var refusedForGood: Set<SendingKey> = []

  private func send(_ key: SendingKey, _ manner: SendingManner) {
    EventLoopActor.task { [self] in
      let outcome = await outcome(of: key, manner)
      if outcome.isLastWord { refusedForGood.insert(key) }
      perform { $0.settled(key, outcome, at: $1) }
      if waiting[key] == nil { refusedForGood.remove(key) }
      if queue[key.id] == nil { bodies[key.id] = nil }
    }
  }

  private func outcome(of key: SendingKey, _ manner: SendingManner) async -> SendOutcome {
    guard let body = bodies[key.id] else { return .absent("its bytes are not here") }
    guard !publishing.queue.isBusy(at: key.relay) else { return .absent("what is published there goes first") }
    return await publishing.sendOnce(body, to: key.relay, manner)
  }
}
