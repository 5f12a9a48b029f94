import Bus
import Clocks
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

// The dvm-tracker: jobs that others do. What follows from what is decided by `JobTracking`; here it meets the bus and
// the disk.
//
//    job.submit, .approve, … ─▶ JobTable ─ write ─▶ JobLedger ─ written ─▶ JobTable ─ perform ─▶ signer, store, planner
//    event-store, by seq ─────▶    ▲                                                              │
//                                  └──────────────────────────────────────────────────────────────┘
//
// Nothing is remembered here but what the machine has. What cannot be done now (the signer is locked, the planner is
// away) it asks for again; what was done twice because a process died in between is the same thing: an event of the
// same id, an answer that is known. So any of the workers may die at any time, and this one.

/// Serves `job.*`.
@EventLoopActor
final class Tracker {
  let worker: Worker
  let bus: BusConnection
  let log = Logger(label: "jobs")
  let ledger: JobLedger
  let health: LedgerHealth
  let signer: SignerRequests
  let accounts: CustomerAccounts
  var book: JobTable
  /// Jobs that are done with, by state.
  var endedCounts: [Job.State: Int]
  /// Up to which seq the store was looked through.
  var cursor: Int64?
  var isDraining = false
  let rail: any PaymentRail = PersonalRail()

  // Of the extensions.
  var followers: [JobID: [ChangeFollower<Job>]] = [:]
  var followerCount = 0
  /// Who waits for a batch to be written.
  var writeWaiters: [CheckedContinuation<Void, Never>] = []
  /// Who waits for the request of a zap to be signed.
  var zapWaiters: [JobID: [CheckedContinuation<Void, Never>]] = [:]
  var acceptanceWaiters: [JobID: [CheckedContinuation<StorageFault?, Never>]] = [:]
  var isWriting = false
  var rounds = InterestRounds()
  var observations: [InterestRounds.Round: BusAnswer] = [:]
  var storeAnswer: BusAnswer?
  /// Why the last request of a job is not where it is to be, of jobs under way: no fact, and found out again.
  var obstacles: [JobID: String] = [:]
  /// Requests that are being signed.
  var drafts: Set<EventID> = []
  var plannerEndpoint: UInt32?
  var isAskingPublications = false
  let observeTimer = LoopTimer()
  let publicationTimer = LoopTimer()
  private let bookTimer = LoopTimer()
  private let sweepTimer = LoopTimer()
  private var statusText = ""

  /// The ledger's file in the worker's directory.
  nonisolated static let fileName = "jobs.db"
  /// Longest wait until what others could not do is asked of them again.
  static let retryMillisecondsMaximum: UInt64 = 5_000
  /// How often it is looked for jobs that need not be kept any longer.
  private static let sweepMilliseconds: UInt64 = 3_600_000

  /// Opens the ledger in `directory`.
  ///
  /// - Throws: `unavailable` when waiting may help.
  init(_ worker: Worker, directory: String) throws(Refusal) {
    self.worker = worker
    bus = worker.bus
    signer = SignerRequests(worker.bus)
    accounts = CustomerAccounts(signer, log)
    let contents: JobLedgerContents
    let rescue: LedgerRescue?
    do throws(StorageFault) {
      (ledger, contents, rescue) = try JobLedger.openOrRescue(
        path: directory + "/" + Self.fileName, now: WallClock.milliseconds)
    } catch {
      throw Refusal(error.mayPass ? .unavailable : .failed, error.description)
    }
    health = LedgerHealth("the ledger of jobs", log) { [ledger] in ledger.markDamaged() }
    book = JobTable(limits: try worker.settings(of: TrackerSettings.self).limits)
    endedCounts = contents.counts
    cursor = contents.cursor
    rescue?.tell("the ledger of jobs", log)
    take(contents)
  }

  private func take(_ contents: JobLedgerContents) {
    for job in contents.kept { book.kept(job.id, key: job.key, requests: job.requests) }
    for (job, proof) in contents.proofs { book.restored(proof, of: job) }
    for job in contents.open { book.restored(job.order, job.facts) }
    for payment in contents.payments { book.restored(payment.intent, of: payment.job, at: payment.at) }
    for (provider, history) in contents.histories { book.restored(provider, history) }
    book.restored(cursor: contents.cursor ?? 0)
    // Answers that came before the file was damaged are read again from the beginning.
    if cursor == nil, !contents.open.isEmpty { cursor = 0 }
  }

  // MARK: Life

  /// Begins to serve and to ask.
  func start() {
    serve()
    worker.onDrain = { [unowned self] in drain() }
    worker.onSettings = { [unowned self] _ in settingsChanged() }
    worker.onEnd = { [unowned self] in end() }
    worker.onClockSet = { [unowned self] in clockSet() }
    bus.onEvent = { [unowned self] in received($0) }
    accounts.onChange = { [unowned self] in accountsChanged() }
    bus.onGap = { [unowned self] topic, _ in missed(topic) }
    bus.onRegistry = { [unowned self] in registryChanged($0) }
    EventLoopActor.task { [self] in
      await learnDependencies()
      perform { $0.began(at: $1) }
      subscribe()
      readStore()
      offerRequests()
      registryChanged(bus.registry)
    }
    sweep()
  }

  /// Jobs that are waited for and have ended are in the ledger alone.
  private func learnDependencies() async {
    for id in book.missingDependencies {
      do throws(StorageFault) {
        let job = try await ledger.job(id)
        book.learned(id, job?.order, job?.facts ?? [])
      } catch { health.leaveIfDamaged(error) }
    }
  }

  private func settingsChanged() {
    do throws(Refusal) { book.limits = try worker.settings(of: TrackerSettings.self).limits } catch {
      log.error("the new settings are not taken", metadata: ["why": "\(error.message)"])
    }
  }

  private func drain() {
    isDraining = true
    perform { $0.closed(at: $1) }
    observeTimer.cancel()
    publicationTimer.cancel()
    sweepTimer.cancel()
    storeAnswer?.abandon(Self.draining)
    for answer in observations.values { answer.abandon(Self.draining) }
    for follower in followers.values.joined() { follower.end(Self.draining) }
  }

  /// The last thing of all. What is not written is seen again by the next process.
  private func end() {
    do throws(StorageFault) { try ledger.close() } catch { log.error("cannot close", metadata: ["why": "\(error)"]) }
  }

  static var draining: Refusal {
    Refusal(.unavailable, "dvm-tracker is about to end", outcome: .notStarted, retryAfterMilliseconds: 500)
  }

  // MARK: The machine

  /// Milliseconds since 1970.
  var now: Int64 { WallClock.milliseconds }

  /// Tells the machine something, and does what it wants.
  func perform(_ step: (inout JobTable, Int64) -> [JobAction]) { perform(step(&book, now)) }

  func perform(_ actions: [JobAction]) {
    for action in actions {
      switch action {
      case .write(let batch): write(batch)
      case .perform(let task): EventLoopActor.task { [self] in await carryOut(task) }
      case .tell(let id): for follower in followers[id] ?? [] { follower.changed() }
      case .setTimer(let at): setTimer(at)
      case .observe: scheduleObserving()
      }
    }
    if !actions.isEmpty { tellStatus() }
  }

  private func setTimer(_ at: Int64) {
    // A clock that is set is noticed within a minute.
    let wait = UInt64(max(1, min(at - now, 60_000)))
    bookTimer.set(afterMilliseconds: wait) { [unowned self] in
      if now >= at { perform { $0.timerFired(at: $1) } } else { setTimer(at) }
    }
  }

  private func tellStatus() {
    let text = health.fault?.description ?? Amount.count(book.count, "job") + " under way"
    guard text != statusText else { return }
    statusText = text
    bus.sendStatus(StatusReport(text: text))
  }

  // MARK: Writing

  private func write(_ batch: JobBatch) {
    isWriting = true
    EventLoopActor.task { [self] in
      do throws(StorageFault) {
        try await ledger.write(batch)
        health.written()
        for id in batch.closed {
          countEnded(id)
          obstacles[id] = nil
        }
        finish(batch, nil)
        perform { $0.written(batch.number, at: $1) }
      } catch {
        health.notWritten(error)
        perform { $0.notWritten(batch.number, at: $1) }
        finish(batch, error)
      }
      let waiters = writeWaiters
      writeWaiters = []
      for waiter in waiters { waiter.resume() }
    }
  }

  private func finish(_ batch: JobBatch, _ fault: StorageFault?) {
    isWriting = false
    for order in batch.accepted {
      for waiter in acceptanceWaiters.removeValue(forKey: order.id) ?? [] { waiter.resume(returning: fault) }
    }
  }

  private func countEnded(_ id: JobID) {
    guard let picture = book.picture(id) else { return }
    endedCounts[picture.state, default: 0] += 1
    if picture.state == .cancelled, picture.attempts.contains(where: { $0.request != nil && !$0.isWithdrawn }) {
      log.warning("a request is not taken back: that was not possible for too long", metadata: ["job": "\(id)"])
    }
  }

  private func sweep() {
    sweepTimer.set(afterMilliseconds: Self.sweepMilliseconds) { [unowned self] in sweep() }
    EventLoopActor.task { [self] in
      do throws(StorageFault) {
        var gone: [KeptJob]
        repeat {
          gone = try await ledger.sweep(now: now)
          for job in gone { book.forgotten(job.id, key: job.key, requests: job.requests) }
        } while gone.count == JobLedger.sweepCount && !isDraining
      } catch { health.leaveIfDamaged(error) }
    }
  }

  /// Does something again and again until it says that it is over, waiting longer after each failure.
  func persist(_ what: String, _ attempt: @escaping @EventLoopActor () async throws(Refusal) -> Bool) {
    worker.persist(what, ceilingMilliseconds: Self.retryMillisecondsMaximum, log, attempt)
  }
}
