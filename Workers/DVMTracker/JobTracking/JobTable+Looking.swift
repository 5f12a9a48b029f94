internal import Clocks
internal import Contracts
internal import Cryptography
internal import Nostr

// What has to be done for a job, derived from its facts each time.

extension JobTable {
  /// Looks at a job whose facts are all on disk: what has passed, what state it has come to, what comes next.
  mutating func look(_ id: JobID, at now: Int64) {
    guard isLive, let record = records[id], record.isCommitted, record.pendingCount == 0 else { return }
    let picture = record.picture
    if picture.endedAt != nil { return lookBack(id, record, at: now) }
    if let deadline = picture.deadline {
      if deadline.at <= now {
        return note(
          id, .lapsed(deadline.phase, attempt: deadline.attempt, provider: deadline.provider), at: now)
      }
      wake(id, at: deadline.at)
    }
    if picture.state.isFinal { return note(id, .ended(picture.state, picture.reason), at: now) }
    guard picture.state != .waiting else { return lookAtDependencies(id, record, at: now) }
    if let next = picture.nextAttempt { note(id, .attempted(next.number, next.providers), at: now) }
    decidePayments(id, record, at: now)
    for task in wanted(id, record) { begin(task, at: now) }
  }

  /// Looks at a job that has ended: what is left to do, and which jobs wait for it.
  private mutating func lookBack(_ id: JobID, _ record: JobRecord, at now: Int64) {
    for other in (dependents[id] ?? []).sorted() where records[other]?.pendingCount == 0 { look(other, at: now) }
    if takesBack(id, record, at: now) { return }
    if let end = receiptsEnd(record), end > now { return wake(id, at: end) }
    guard dependents[id]?.isEmpty ?? true, !record.isClosing, !record.isBeingPaid else { return }
    records[id]?.isClosing = true
    queued.closed.append(id)
  }

  /// Forgets a job for which nothing is left to do.
  mutating func close(_ id: JobID) {
    lateStamps[id] = records[id]?.lastStamp
    for zap in records[id]?.picture.zaps ?? [] { zaps.remove(zap) }
    records[id] = nil
    withdrawing.remove(id)
    haveInterestsChanged = true
  }

  // MARK: Jobs that wait for jobs

  private mutating func lookAtDependencies(_ id: JobID, _ record: JobRecord, at now: Int64) {
    for other in record.order.dependencies where record.picture.feeds[other] == nil {
      guard let known = outcomes[other] ?? outcomeHere(other) else { continue }
      if let feed = known.feed {
        note(id, .fed(feed), at: now)
      } else {
        let state: Job.State = known.state == .cancelled ? .cancelled : .failed
        note(id, .ended(state, ChainReason(other, known.state, known.reason).text), at: now)
      }
      if release(other, from: id) { look(other, at: now) }
      if known.feed == nil { return }
    }
  }

  /// A job no longer waits for another one.
  ///
  /// - Returns: whether no job waits for it now: it was kept in memory for this one only.
  @discardableResult
  mutating func release(_ other: JobID, from id: JobID) -> Bool {
    guard dependents[other]?.remove(id) != nil, dependents[other]?.isEmpty == true else { return false }
    dependents[other] = nil
    outcomes[other] = nil
    return true
  }

  /// The outcome of a job in memory; nil while it continues.
  private func outcomeHere(_ id: JobID) -> Outcome? {
    guard let found = records[id], found.picture.endedAt != nil else { return nil }
    return Self.outcome(found.order, found.picture)
  }

  /// The outcome of an ended job, for the jobs that wait for it.
  static func outcome(_ order: JobOrder, _ picture: JobPicture) -> Outcome {
    guard picture.state == .settled, let taken = picture.taken else {
      return Outcome(state: picture.state, reason: picture.reason)
    }
    // A provider that can read the request can read the result. An encrypted result, or one that stays here, is passed
    // on itself.
    if !order.isEncrypted, !order.isLocal {
      return Outcome(state: .settled, feed: JobFeed(job: order.id, data: taken.request.description, isText: false))
    }
    let text = taken.content ?? ""
    guard !taken.isCut, text.utf8.count <= JobLimits.inputByteCountMaximum else {
      return Outcome(state: .failed, reason: "its result is too long for an input")
    }
    return Outcome(state: .settled, feed: JobFeed(job: order.id, data: text, isText: true))
  }

  // MARK: Tasks

  /// The tasks of a job that continues.
  private func wanted(_ id: JobID, _ record: JobRecord) -> [JobTask] {
    var wanted: [JobTask] = []
    for attempt in record.picture.attempts {
      guard let request = attempt.request else {
        if !attempt.isUndone { wanted.append(.make(id, attempt: attempt.number)) }
        continue
      }
      let isPublished = record.order.isLocal ? attempt.isStored : attempt.relays != nil
      if !isPublished, !attempt.isUnpublished { wanted.append(.publish(id, request.id)) }
    }
    for answer in record.answers where answer.sealed != nil { wanted.append(.open(id, answer.event)) }
    for pair in record.picture.pairs.values where pair.payment == .approved && pair.paidAt == nil {
      guard let intent = pair.intent else { continue }
      if let target = intent.zapTarget, record.picture.zap(for: intent) == nil {
        wanted.append(.zap(id, target))
        continue
      }
      guard !record.begun.contains(intent.key) else { continue }
      wanted.append(isOwn(intent, of: record) ? .pay(id, intent) : .lookUp(id, intent))
    }
    return wanted
  }

  /// Whether this process wrote the intent down, and so knows that no earlier one has given it to the rail.
  private func isOwn(_ intent: PaymentIntent, of record: JobRecord) -> Bool {
    approvedHere.contains(intent.key)
  }

  mutating func begin(_ task: JobTask, at now: Int64) {
    guard !isClosed else { return }
    if let known = records[task.job]?.tasks[task] {
      guard let due = known.due else { return }
      guard due <= now else { return wake(task.job, at: due) }
    }
    let failures = records[task.job]?.tasks[task]?.failures ?? 0
    records[task.job]?.tasks[task] = JobRecord.TaskState(due: nil, failures: failures)
    switch task {
    case .pay(_, let intent), .lookUp(_, let intent): records[task.job]?.begun.insert(intent.key)
    default: break
    }
    actions.append(.perform(task))
  }

  /// Ends a task; false if it was not under way.
  mutating func end(_ task: JobTask) -> Bool { records[task.job]?.tasks.removeValue(forKey: task) != nil }
}
