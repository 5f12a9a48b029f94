public import Contracts
public import Cryptography
internal import Clocks
public import Nostr

// The tracker's machine: all jobs that are not done with, as a value without I/O.
//
//   submitted, received, approved, … ─▶ facts ─▶ write ─▶ written ─▶ applied ─▶ looked at ─▶ tasks, more facts
//                                                                                 ▲
//                                            the time of something has come ──────┘
//
// Nothing follows from a fact before it is on the disk: facts wait in a batch, and a job is looked at when none of its
// facts wait. What is to be done is not remembered but seen: the same look at the same facts wants the same tasks,
// after a death as before it. So every task may be asked for again, and none is begun twice at a time.
//
// Times are those of the wall clock, because they are told, and must outlive a reboot. A clock that is set makes a
// phase shorter or longer, and changes nothing of what is known.

/// The jobs of this machine.
public struct JobTable: Sendable {
  /// A batch on its way to the disk, and what it makes of its jobs.
  struct Outstanding: Sendable {
    var batch: JobBatch
    var pictures: [JobID: JobPicture]
  }

  /// What a job has come to that others wait for.
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
    /// The intent's.
    var key: Octets32
    var amount: Int64

    /// Whether both are one intent.
    func isSame(_ other: Spending) -> Bool {
      job == other.job && provider == other.provider && key == other.key
    }
  }

  /// The bounds.
  public var limits: TrackingLimits
  var records: [JobID: JobRecord] = [:]
  /// All jobs that are kept, those that are done with among them.
  var keys = JobKeyIndex()
  var requestJobs: [EventID: JobID] = [:]
  /// Zaps of jobs in memory.
  var zaps = ZapIndex()
  /// Of jobs that are not in memory: answers that came late, and the time of the last fact.
  var lateCounts: [JobID: Int] = [:]
  var lateStamps: [JobID: Int64] = [:]
  /// Who waits for whom.
  var dependents: [JobID: Set<JobID>] = [:]
  var outcomes: [JobID: Outcome] = [:]
  /// Cancelled jobs whose requests are still to be taken back.
  var withdrawing: Set<JobID> = []
  /// Of jobs in memory, and of the last ``spendingMilliseconds``.
  var spendings: [Spending] = []
  /// Payment hashes that have proven a payment.
  var proven = ProvenHashes()
  /// Keys of intents that this process has written down.
  var approvedHere: Set<Octets32> = []
  /// What is known of providers.
  public internal(set) var histories: [PublicKey: ProviderHistory] = [:]
  var queued: JobBatch
  var outstanding: Outstanding?
  /// After a failure, when writing is tried again.
  var writeDue: Int64?
  var wakes = Deadlines<Int64, JobID>()
  var actions: [JobAction] = []
  var isClosed = false
  /// Whether looking has begun: before, only what is on the disk is taken in.
  var isLive = false
  /// Answers that were kept, since the start.
  public internal(set) var answerCount: UInt64 = 0
  /// What has become of jobs, since the start.
  public internal(set) var counters = JobCounters()
  private var timer: Int64?
  private var batchCount: UInt64 = 0
  private var writtenCursor: Int64 = 0
  /// Whether ``interests`` may have changed.
  var haveInterestsChanged = true

  /// An empty book.
  public init(limits: TrackingLimits = TrackingLimits()) {
    self.limits = limits
    queued = JobBatch(number: 0)
  }

  // MARK: What is there

  /// Jobs in memory: those that have not ended, and those with something left to be done.
  public var count: Int { records.count }
  /// Jobs in memory by state.
  public var counts: [Job.State: Int] { records.values.reduce(into: [:]) { $0[$1.picture.state, default: 0] += 1 } }
  /// A job in memory as its facts on the disk make it.
  public func picture(_ id: JobID) -> JobPicture? { records[id]?.picture }
  /// What was asked for.
  public func order(_ id: JobID) -> JobOrder? { records[id]?.order }
  /// The facts on the disk of a job in memory.
  public func facts(_ id: JobID) -> [JobFact]? { records[id]?.facts }
  /// The job that somebody names: by its id, its key, or one of its requests.
  public func job(named name: String) -> JobID? {
    if let id = JobID(name), records[id] != nil || keys.contains(id) { return id }
    return keys[name] ?? EventID(name).flatMap { requestJobs[$0] }
  }
  /// Whether a job here, whatever became of it, has asked by this event.
  public func isRequest(_ id: EventID) -> Bool { requestJobs[id] != nil }
  /// The job with this key of its submitter's.
  public func job(keyed key: String) -> JobID? { keys[key] }
  /// Whether a job is accepted and on the disk; false for one that is on its way there.
  public func isCommitted(_ id: JobID) -> Bool { records[id]?.isCommitted ?? true }
  /// Whether anything of a job is on its way to the disk.
  public func isPending(_ id: JobID) -> Bool {
    records[id].map { $0.pendingCount > 0 || !$0.isCommitted } ?? hasPending(id) { _ in true }
  }

  // MARK: A start

  /// A job that is on the disk and not done with.
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

  /// A job that is kept, and done with.
  public mutating func kept(_ id: JobID, key: String, requests: [EventID]) {
    keys.add(id, keyed: key)
    for request in requests { requestJobs[request] = id }
  }

  /// A job that was kept is kept no longer.
  public mutating func forgotten(_ id: JobID, key: String, requests: [EventID]) {
    keys.remove(id, keyed: key)
    for request in requests { requestJobs[request] = nil }
    lateCounts[id] = nil
    lateStamps[id] = nil
  }

  /// What is known of a provider.
  public mutating func restored(_ provider: PublicKey, _ history: ProviderHistory) { histories[provider] = history }

  /// A payment that was approved, of a job in memory or in the last ``spendingMilliseconds``.
  public mutating func restored(_ intent: PaymentIntent, of job: JobID, at: Int64) {
    spendings.append(
      Spending(at: at, job: job, provider: intent.provider, key: intent.key, amount: intent.amount))
  }

  /// Up to this seq the event store was looked through.
  public mutating func restored(cursor: Int64) { writtenCursor = cursor }

  /// Jobs that are waited for and not in memory: they have ended, or are forgotten.
  public var missingDependencies: [JobID] { dependents.keys.filter { records[$0] == nil && outcomes[$0] == nil } }

  /// What a job that is waited for has come to; nil: nobody knows it any more.
  public mutating func learned(_ id: JobID, _ order: JobOrder?, _ facts: [JobFact]) {
    outcomes[id] =
      order.map { Self.outcome($0, JobPicture($0, facts)) } ?? Outcome(state: .failed, reason: "it is forgotten")
  }

  /// All that is on the disk is here: what is to be done is done.
  public mutating func began(at now: Int64) -> [JobAction] {
    isLive = true
    for id in records.keys.sorted() { look(id, at: now) }
    return finish(at: now)
  }

  // MARK: Writing

  /// Notes a fact: it is written down, and then counts.
  mutating func note(_ id: JobID, _ what: JobFact.What, at now: Int64) {
    guard var record = records[id] else { return }
    let fact = JobFact(at: record.stamp(now), what)
    record.pendingCount += 1
    record.note(fact)
    records[id] = record
    queued.entries.append(JobBatch.Entry(job: id, fact: fact))
  }

  /// The batch with this number is on the disk.
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

  /// The batch with this number is not on the disk: facts are kept and tried again; whoever submitted a job is told,
  /// and it is none.
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

  /// What has lost its place while it was on its way to the disk need not get there any more.
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

  /// Whether anything waits for the disk. Where the store was looked through alone does not, for a while: looking once
  /// more is harmless, and strangers' events would cost a transaction each.
  private var isWorthWriting: Bool {
    guard queued.isEmpty, let cursor = queued.cursor else { return !queued.isEmpty }
    // A lower one is of another store: of that one nothing was looked at.
    return cursor < writtenCursor || cursor - writtenCursor >= limits.cursorStride
  }

  /// Takes what is queued, unless something is on its way already.
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
      // What was looked at is on the disk before it is said to be.
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

  /// What a job that ends with this batch has shown of its providers. It counts when it is written: a batch that is not
  /// is made again.
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

  // MARK: Turning

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

  /// Nothing new is begun from now on: the process is about to end.
  public mutating func closed(at now: Int64) -> [JobAction] {
    isClosed = true
    return finish(at: now)
  }

  /// Ends a turn: writes what is to be written, sets the timer, gives the actions out.
  mutating func finish(at now: Int64) -> [JobAction] {
    pump(at: now)
    let next = [wakes.first, outstanding == nil ? writeDue : nil].compactMap { $0 }.min()
    if let next, next != timer, !isClosed {
      timer = next
      // First of all: what the others bring about may set it again.
      actions.insert(.setTimer(next), at: 0)
    }
    if isLive, haveInterestsChanged {
      haveInterestsChanged = false
      actions.append(.observe)
    }
    defer { actions = [] }
    return actions
  }

  /// Has a job looked at at this time, at the latest.
  mutating func wake(_ id: JobID, at time: Int64) {
    if let known = records[id]?.wakeAt, known <= time { return }
    records[id]?.wakeAt = time
    wakes.add(id, at: time)
  }
}
