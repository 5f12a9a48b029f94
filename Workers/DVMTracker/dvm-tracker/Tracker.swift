import Bus
import Contracts
import EventLoop
import Frames
import JobLedger
import JobTracking
import WorkerLedger
import LinuxSystem
import Logging
import Nostr
import Storage
import WorkerKit

// The dvm-tracker: jobs that others do. `JobTracking` decides; this program connects it to the bus and the disk.
//
//    job.submit, .approve, … ─▶ JobTable ─ write ─▶ JobLedger ─ written ─▶ JobTable ─ perform ─▶ signer, store, planner
//    event-store, by seq ─────▶    ▲                                                              │
//                                  └──────────────────────────────────────────────────────────────┘
//
// The state of jobs is in the machine alone. A task that cannot be done now (the signer is locked, the planner is away)
// the machine asks for again. A task that is done twice because a process died in between does the same thing: an event
// of the same id, an answer that is known. So any of the workers may die at any time, and this one too.

/// Serves `job.*`.
@EventLoopActor
final class Tracker {
  let worker: Worker
  let bus: BusConnection
  let log = Logger(label: "jobs")
  let ledger: LedgerAccess
  let signer: SignerRequests
  let accounts: CustomerAccounts
  let store: StoreQueries
  let requests: RequestMaker
  let answers: AnswerReader
  let publications: PublicationPoll
  let zaps = ZapWaits()
  let rail: any PaymentRail = PersonalRail()
  var jobs: JobTable
  var followers = JobFollowers()
  /// Jobs that have ended, by state.
  private(set) var endedCounts: [Job.State: Int]
  /// Why the last request of a job under way is not at its relays: no fact, and found out again.
  private(set) var obstacles: [JobID: String] = [:]

  private let interests: InterestObserver
  private let timer = LoopTimer()
  private var statusText = ""

  /// Longest wait until another attempt at what other workers could not do.
  static let retryMillisecondsMaximum: UInt64 = 5_000

  /// Opens the ledger in `directory`.
  ///
  /// - Throws: `unavailable` when waiting may help.
  init(_ worker: Worker, directory: String) throws(Refusal) {
    self.worker = worker
    bus = worker.bus
    signer = SignerRequests(worker.bus)
    accounts = CustomerAccounts(signer, log)
    store = StoreQueries(bus: bus, log: log)
    requests = RequestMaker(signer, store)
    publications = PublicationPoll(worker, log)
    interests = InterestObserver(worker, log)
    let contents: JobLedgerContents
    (ledger, contents) = try LedgerAccess.open(worker, directory, log)
    jobs = JobTable(limits: try worker.settings(of: TrackerSettings.self).limits)
    endedCounts = contents.counts
    // Answers that came before the file was damaged are read again from the beginning.
    answers = AnswerReader(worker, log, cursor: contents.cursor ?? (contents.open.isEmpty ? nil : 0))
    take(contents)
  }

  private func take(_ contents: JobLedgerContents) {
    for job in contents.kept { jobs.kept(job.id, key: job.key, requests: job.requests) }
    for (job, proof) in contents.proofs { jobs.restored(proof, of: job) }
    for job in contents.open { jobs.restored(job.order, job.facts) }
    for payment in contents.payments { jobs.restored(payment.intent, of: payment.job, at: payment.at) }
    for (provider, history) in contents.histories { jobs.restored(provider, history) }
    jobs.restored(cursor: contents.cursor ?? 0)
  }

  // MARK: Life

  /// Begins to serve and to ask.
  func start() {
    serve()
    worker.onDrain = { [unowned self] in drain() }
    worker.onSettings = { [unowned self] _ in settingsChanged() }
    // Jobs that are not written yet the next process sees again.
    worker.onEnd = { [ledger] in ledger.close() }
    worker.onClockSet = { [interests] in interests.clockSet() }
    bus.onEvent = { [unowned self] in received($0) }
    bus.onGap = { [unowned self] topic, _ in missed(topic) }
    bus.onRegistry = { [unowned self] in registryChanged($0) }
    accounts.onChange = { [unowned self] in accountsChanged() }
    ledger.onForgotten = { [unowned self] in jobs.forgotten($0.id, key: $0.key, requests: $0.requests) }
    answers.onEvents = { [unowned self] events, seq in perform { $0.received(events, cursor: seq, at: $1) } }
    answers.onOtherStore = { [unowned self] in perform { $0.storeBegan(at: $1) } }
    publications.watched = { [unowned self] in jobs.watched }
    publications.onPublication = { [unowned self] in take($0) }
    EventLoopActor.task { [self] in
      await learnDependencies()
      perform { $0.began(at: $1) }
      subscribe()
      answers.begin()
      offerRequests()
      registryChanged(bus.registry)
    }
    ledger.sweep()
  }

  /// A job that others depend on, and that has ended, is in the ledger alone.
  private func learnDependencies() async {
    for id in jobs.missingDependencies {
      // `try?`: a job that cannot be read is missing still.
      _ = try? await learn(id)
    }
  }

  /// Reads an ended job from the ledger, for jobs that depend on it.
  func learn(_ id: JobID) async throws(Refusal) {
    let job = try await ledger.read { ledger throws(StorageFault) in try await ledger.job(id) }
    jobs.learned(id, job?.order, job?.facts ?? [])
  }

  private func settingsChanged() {
    do throws(Refusal) { jobs.limits = try worker.settings(of: TrackerSettings.self).limits } catch {
      log.error("the new settings are not taken", metadata: ["why": "\(error.message)"])
    }
  }

  private func drain() {
    perform { $0.closed(at: $1) }
    publications.end()
    ledger.endSweeping()
    answers.end(Self.draining)
    interests.end(Self.draining)
    followers.end(Self.draining)
  }

  static var draining: Refusal {
    Refusal(.unavailable, "dvm-tracker is about to end", outcome: .notStarted, retryAfterMilliseconds: 500)
  }

  // MARK: The machine

  /// Milliseconds since 1970.
  var now: Int64 { WallClock.milliseconds }

  /// Gives the machine an input, and performs its actions.
  func perform(_ step: (inout JobTable, Int64) -> [JobAction]) { perform(step(&jobs, now)) }

  /// Performs actions of the machine.
  func perform(_ actions: [JobAction]) {
    for action in actions {
      switch action {
      case .write(let batch): write(batch)
      case .perform(let task): EventLoopActor.task { [self] in await carryOut(task) }
      case .tell(let id): followers.changed(id)
      case .setTimer(let at): setTimer(at)
      case .observe: interests.changed { [unowned self] in jobs.interests }
      }
    }
    if !actions.isEmpty { tellStatus() }
  }

  private func setTimer(_ at: Int64) {
    // A clock that is set is noticed within a minute.
    let wait = UInt64(max(1, min(at - now, 60_000)))
    timer.set(afterMilliseconds: wait) { [unowned self] in
      if now >= at { perform { $0.timerFired(at: $1) } } else { setTimer(at) }
    }
  }

  private func tellStatus() {
    let text = ledger.health.fault?.description ?? Amount.count(jobs.count, "job") + " under way"
    guard text != statusText else { return }
    statusText = text
    bus.sendStatus(StatusReport(text: text))
  }

  // MARK: Writing

  private func write(_ batch: JobBatch) {
    ledger.write(batch) { [self] fault in
      guard fault == nil else { return perform { $0.notWritten(batch.number, at: $1) } }
      for id in batch.closed {
        countEnded(id)
        obstacles[id] = nil
      }
      perform { $0.written(batch.number, at: $1) }
    }
  }

  private func countEnded(_ id: JobID) {
    guard let picture = jobs.picture(id) else { return }
    endedCounts[picture.state, default: 0] += 1
    if picture.state == .cancelled, picture.attempts.contains(where: { $0.request != nil && !$0.isWithdrawn }) {
      log.warning("a request is not taken back: that was not possible for too long", metadata: ["job": "\(id)"])
    }
  }

  /// Why the request of a job is not at its relays; nil when nothing is known that keeps it.
  func noteObstacle(_ id: JobID, _ why: String?) {
    guard obstacles[id] != why else { return }
    obstacles[id] = why
    if jobs.picture(id)?.state == .drafted { followers.changed(id) }
  }

  /// Does something again and again until it says that it is over, waiting longer after each failure.
  func persist(_ what: String, _ attempt: @escaping @EventLoopActor () async throws(Refusal) -> Bool) {
    worker.persist(what, ceilingMilliseconds: Self.retryMillisecondsMaximum, log, attempt)
  }
}
