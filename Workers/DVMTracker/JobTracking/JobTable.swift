public import Contracts
public import Cryptography
internal import Clocks
public import Nostr

// The tracker's machine: all jobs that are not closed, as a value without I/O. A job is closed when it has ended and
// nothing is left to do for it.
//
//   submitted, received, approved, … ─▶ facts ─▶ write ─▶ written ─▶ applied ─▶ looked at ─▶ tasks, more facts
//                                                                                 ▲
//                                            the time of something has come ──────┘
//
// Nothing follows from a fact before it is on disk: facts wait in a batch, and the table looks at a job when none of
// its facts wait. What has to be done is not stored but derived: the same facts give the same tasks, after a death as
// before it. So a task may be asked for again, and none is under way twice at a time.
//
// Times are of the wall clock, because they are shown, and must outlive a reboot. When the clock is set, a phase
// becomes shorter or longer; nothing that is known changes.

/// The jobs of this machine.
public struct JobTable: Sendable {
  /// A batch on its way to the disk, and what its jobs become with it.
  struct Outstanding: Sendable {
    var batch: JobBatch
    var pictures: [JobID: JobPicture]
  }

  /// The outcome of a job, for the jobs that wait for it.
  struct Outcome: Sendable, Hashable {
    var state: Job.State
    var reason: String?
    var feed: JobFeed?
  }

  /// A payment that was approved.
  struct Spending: Sendable, Hashable {
    var at: Int64
    var job: JobID
    var provider: PublicKey
    /// The key of the intent.
    var key: Octets32
    var amount: Int64

    /// Whether both are the same intent.
    func isSame(_ other: Spending) -> Bool {
      job == other.job && provider == other.provider && key == other.key
    }
  }

  /// The limits.
  public var limits: TrackingLimits
  var records: [JobID: JobRecord] = [:]
  /// All kept jobs, closed ones included.
  var keys = JobKeyIndex()
  var requestJobs: [EventID: JobID] = [:]
  /// Zaps of jobs in memory.
  var zaps = ZapIndex()
  /// For jobs that are not in memory: how many late answers they have, and the time of their last fact.
  var lateCounts: [JobID: Int] = [:]
  var lateStamps: [JobID: Int64] = [:]
  /// For each job, the jobs that wait for it.
  var dependents: [JobID: Set<JobID>] = [:]
  var outcomes: [JobID: Outcome] = [:]
  /// Cancelled jobs whose requests are still to be deleted.
  var withdrawing: Set<JobID> = []
  /// Approvals for jobs in memory, and those of the last ``spendingMilliseconds``.
  var spendings: [Spending] = []
  /// Payment hashes that have proven a payment.
  var proven = ProvenHashes()
  /// Keys of intents that this process has approved.
  var approvedHere: Set<Octets32> = []
  /// What is known of providers.
  public internal(set) var histories: [PublicKey: ProviderHistory] = [:]
  var queued: JobBatch
  var outstanding: Outstanding?
  /// When to write again after a failure.
  var writeDue: Int64?
  var wakes = Deadlines<Int64, JobID>()
  var actions: [JobAction] = []
  var isClosed = false
  /// Whether the table looks at jobs. Before that, it only takes in what is on disk.
  var isLive = false
  /// Answers that were kept, and receipts that came for zaps here, since the start.
  public internal(set) var answerCount: UInt64 = 0
  /// What has become of jobs, since the start.
  public internal(set) var counters = JobCounters()
  private var timer: Int64?
  private var batchCount: UInt64 = 0
  private var writtenCursor: Int64 = 0
  /// Whether ``interests`` may have changed.
  var haveInterestsChanged = true

  /// An empty table.
  public init(limits: TrackingLimits = TrackingLimits()) {
    self.limits = limits
    queued = JobBatch(number: 0)
  }

  // MARK: Reading

  /// Jobs in memory: those that have not ended, and those for which something is left to do.
  public var count: Int { records.count }
  /// Jobs in memory by state.
  public var counts: [Job.State: Int] { records.values.reduce(into: [:]) { $0[$1.picture.state, default: 0] += 1 } }
  /// A job in memory, as computed from its facts on disk.
  public func picture(_ id: JobID) -> JobPicture? { records[id]?.picture }
  /// A job in memory, as it was accepted.
  public func order(_ id: JobID) -> JobOrder? { records[id]?.order }
  /// The facts on disk of a job in memory.
  public func facts(_ id: JobID) -> [JobFact]? { records[id]?.facts }
  /// The job with this name: its id, its key, or the id of one of its requests.
  public func job(named name: String) -> JobID? {
    if let id = JobID(name), records[id] != nil || keys.contains(id) { return id }
    return keys[name] ?? EventID(name).flatMap { requestJobs[$0] }
  }
  /// Whether this event is a request of a job here, whatever became of the job.
  public func isRequest(_ id: EventID) -> Bool { requestJobs[id] != nil }
  /// The job to which its submitter gave this key.
  public func job(keyed key: String) -> JobID? { keys[key] }
  /// Whether an accepted job is on disk; false while it is on its way there.
  public func isCommitted(_ id: JobID) -> Bool { records[id]?.isCommitted ?? true }
  /// Whether anything of a job is on its way to the disk.
  public func isPending(_ id: JobID) -> Bool {
    records[id].map { $0.pendingCount > 0 || !$0.isCommitted } ?? hasPending(id) { _ in true }
  }

  // MARK: A start

  /// Takes in a job from the disk that is not closed.
  public mutating func restored(_ order: JobOrder, _ facts: [JobFact]) {
    let record = JobRecord(order, facts, isCommitted: true)
    records[order.id] = record
    for zap in record.picture.zaps { zaps.add(zap, of: order.id) }
    for proof in record.picture.proofs { restored(proof, of: order.id) }
    kept(order.id, key: order.key, requests: record.picture.requests.map(\.id))
    for other in order.dependencies where record.picture.feeds[other] == nil && record.picture.endedAt == nil {
      dependents[other, default: []].insert(order.id)
    }
  }

  /// Takes in a closed job that is kept.
  public mutating func kept(_ id: JobID, key: String, requests: [EventID]) {
    keys.add(id, keyed: key)
    for request in requests { requestJobs[request] = id }
  }

  /// Removes a job that is no longer kept.
  public mutating func forgotten(_ id: JobID, key: String, requests: [EventID]) {
    keys.remove(id, keyed: key)
    for request in requests { requestJobs[request] = nil }
    lateCounts[id] = nil
    lateStamps[id] = nil
  }

  /// Takes in what is known of a provider.
  public mutating func restored(_ provider: PublicKey, _ history: ProviderHistory) { histories[provider] = history }

  /// Takes in an approval for a job in memory, or of the last ``spendingMilliseconds``.
  public mutating func restored(_ intent: PaymentIntent, of job: JobID, at: Int64) {
    spendings.append(
      Spending(at: at, job: job, provider: intent.provider, key: intent.key, amount: intent.amount))
  }

  /// The event store was read up to this seq.
  public mutating func restored(cursor: Int64) { writtenCursor = cursor }

  /// Jobs that others wait for and that are not in memory: they have ended, or are forgotten.
  public var missingDependencies: [JobID] { dependents.keys.filter { records[$0] == nil && outcomes[$0] == nil } }

  /// Takes in the outcome of a job that others wait for; `order` is nil if the job is forgotten.
  public mutating func learned(_ id: JobID, _ order: JobOrder?, _ facts: [JobFact]) {
    outcomes[id] =
      order.map { Self.outcome($0, JobPicture($0, facts)) } ?? Outcome(state: .failed, reason: "it is forgotten")
  }

  /// Everything on disk has been taken in: the work begins.
  public mutating func began(at now: Int64) -> [JobAction] {
    isLive = true
    for id in records.keys.sorted() { look(id, at: now) }
    return finish(at: now)
  }

  // MARK: Writing

  /// Notes a fact. It counts once it is on disk.
  mutating func note(_ id: JobID, _ what: JobFact.What, at now: Int64) {
    guard var record = records[id] else { return }
    let fact = JobFact(at: record.stamp(now), what)
    record.pendingCount += 1
    record.note(fact)
    records[id] = record
    queued.entries.append(JobBatch.Entry(job: id, fact: fact))
  }

  /// The batch with this number is on disk.
  public mutating func written(_ number: UInt64, at now: Int64) -> [JobAction] {
    guard let done = outstanding, done.batch.number == number else { return [] }
    outstanding = nil
    writeDue = nil
    writtenCursor = done.batch.cursor ?? writtenCursor
    remember(done.batch.histories)
    for (id, intent) in done.batch.voided { discount(intent, of: id) }
    for order in done.batch.accepted { records[order.id]?.isCommitted = true }
    for (id, events) in done.batch.droppedEvents { records[id]?.facts.removeAll { $0.isEvent(among: events) } }
    for entry in done.batch.entries { apply(entry) }
    for (id, picture) in done.pictures { applied(id, picture) }
    for id in done.batch.closed { close(id) }
    for id in Set(done.batch.entries.map(\.job)).union(done.batch.accepted.map(\.id)).sorted() { look(id, at: now) }
    return finish(at: now)
  }

  /// The batch with this number could not be written. Its facts are kept and tried again. Its new jobs are dropped;
  /// their submitters get an error.
  public mutating func notWritten(_ number: UInt64, at now: Int64) -> [JobAction] {
    guard let failed = outstanding, failed.batch.number == number else { return [] }
    outstanding = nil
    let refused = Set(failed.batch.accepted.map(\.id))
    for order in failed.batch.accepted { withdraw(order) }
    var again = failed.batch
    again.accepted = []
    again.standings = [:]
    again.histories = [:]
    again.voided = []
    again.entries.removeAll { refused.contains($0.job) }
    again.entries += queued.entries.filter { !refused.contains($0.job) }
    again.dropped += queued.dropped
    again.proofs += queued.proofs
    again.closed += queued.closed
    again.accepted = queued.accepted
    again.cursor = queued.cursor ?? again.cursor
    leaveOut(again.droppedEvents, of: &again)
    queued = again
    writeDue = now + limits.retryCeilingMilliseconds / 10
    for other in failed.batch.accepted.flatMap(\.dependencies) { look(other, at: now) }
    return finish(at: now)
  }

  /// Leaves out facts that lost their place while they were on their way to the disk.
  private mutating func leaveOut(_ events: [JobID: Set<EventID>], of batch: inout JobBatch) {
    guard !events.isEmpty else { return }
    batch.entries.removeAll { entry in
      guard let gone = events[entry.job], entry.fact.isEvent(among: gone) else { return false }
      records[entry.job]?.pendingCount -= 1
      return true
    }
  }

  private mutating func withdraw(_ order: JobOrder) {
    records[order.id] = nil
    keys.remove(order.id, keyed: order.key)
    for other in order.dependencies { release(other, from: order.id) }
    if dependents[order.id] != nil {
      outcomes[order.id] = Outcome(state: .failed, reason: "it could not be written down")
    }
  }

  private mutating func apply(_ entry: JobBatch.Entry) {
    guard records[entry.job] != nil else { return }
    records[entry.job]?.facts.append(entry.fact)
    records[entry.job]?.pendingCount -= 1
    switch entry.fact.what {
    case .requested(let request): requestJobs[request.id] = entry.job
    case .zapRequested(let zap): zaps.add(zap, of: entry.job)
    default: break
    }
  }

  private mutating func applied(_ id: JobID, _ picture: JobPicture) {
    guard let before = records[id]?.picture else { return }
    records[id]?.picture = picture
    guard picture != before else { return }
    counters.changed(from: before, to: picture)
    actions.append(.tell(id))
    let isOther = picture.requests.count != before.requests.count || picture.zaps.count != before.zaps.count
    if isOther || picture.endedAt != before.endedAt {
      haveInterestsChanged = true
    }
  }

  /// Whether there is anything to write. A new cursor alone is not written at once: to look at events again is
  /// harmless, and each event of a stranger would cost a transaction.
  private var isWorthWriting: Bool {
    guard queued.isEmpty, let cursor = queued.cursor else { return !queued.isEmpty }
    // A lower cursor belongs to another store, of which nothing was looked at.
    return cursor < writtenCursor || cursor - writtenCursor >= limits.cursorStride
  }

  /// Writes what is queued, unless a batch is under way.
  private mutating func pump(at now: Int64) {
    guard outstanding == nil, isWorthWriting, writeDue.map({ $0 <= now }) ?? true else { return }
    batchCount += 1
    var batch = queued
    batch.number = batchCount
    queued = JobBatch(number: 0)
    let surplus = batch.entries.count - limits.batchFactMaximum
    if surplus > 0 {
      queued.entries = Array(batch.entries.suffix(surplus))
      batch.entries.removeLast(surplus)
      // The facts of the events must be on disk before the cursor says so.
      (queued.cursor, batch.cursor) = (batch.cursor, nil)
      (queued.closed, batch.closed) = (batch.closed, [])
    }
    var added: [JobID: [JobFact]] = [:]
    for entry in batch.entries { added[entry.job, default: []].append(entry.fact) }
    var pictures: [JobID: JobPicture] = [:]
    let dropped = batch.droppedEvents
    for (id, facts) in added {
      guard let record = records[id] else { continue }
      let kept = dropped[id].map { events in record.facts.filter { !$0.isEvent(among: events) } } ?? record.facts
      let picture = JobPicture(record.order, kept + facts)
      pictures[id] = picture
      batch.standings[id] = JobBatch.Standing(state: picture.state, endedAt: picture.endedAt)
      batch.voided += picture.voidIntents.filter { isCounted($0, of: id) }.map { (id, $0) }
      if picture.endedAt != nil, record.picture.endedAt == nil { tally(picture, into: &batch, at: now) }
    }
    outstanding = Outstanding(batch: batch, pictures: pictures)
    actions.append(.write(batch))
  }

  /// Adds to the histories what a job that ends with this batch has shown of its providers. It counts once the batch is
  /// written; a batch that fails is made again.
  private func tally(_ picture: JobPicture, into batch: inout JobBatch, at now: Int64) {
    for pair in picture.pairs.values {
      var history = batch.histories[pair.provider] ?? histories[pair.provider] ?? ProviderHistory()
      history.add(pair, of: picture, at: now)
      batch.histories[pair.provider] = history
    }
  }

  private mutating func remember(_ written: [PublicKey: ProviderHistory]) {
    histories.merge(written) { $1 }
    while histories.count > ProviderHistory.providerMaximum,
      let oldest = histories.min(by: { $0.value.lastAt < $1.value.lastAt })?.key
    {
      histories[oldest] = nil
    }
  }

  // MARK: Turns

  /// The timer has fired.
  public mutating func timerFired(at now: Int64) -> [JobAction] {
    timer = nil
    while let (time, job) = wakes.popDue(at: now) {
      guard records[job]?.wakeAt == time else { continue }
      records[job]?.wakeAt = nil
      look(job, at: now)
    }
    return finish(at: now)
  }

  /// The process is about to end: nothing new begins from now on.
  public mutating func closed(at now: Int64) -> [JobAction] {
    isClosed = true
    return finish(at: now)
  }

  /// Ends a turn: writes what has to be written, sets the timer, returns the actions.
  mutating func finish(at now: Int64) -> [JobAction] {
    pump(at: now)
    let next = [wakes.first, outstanding == nil ? writeDue : nil].compactMap { $0 }.min()
    if let next, next != timer, !isClosed {
      timer = next
      // First, because carrying out the other actions may set it again.
      actions.insert(.setTimer(next), at: 0)
    }
    if isLive, haveInterestsChanged {
      haveInterestsChanged = false
      actions.append(.observe)
    }
    defer { actions = [] }
    return actions
  }

  /// Has the table look at a job at this time, or before.
  mutating func wake(_ id: JobID, at time: Int64) {
    if let known = records[id]?.wakeAt, known <= time { return }
    records[id]?.wakeAt = time
    wakes.add(id, at: time)
  }
}
