internal import Contracts
public import Cryptography
public import Nostr

// The outcomes of tasks.

extension JobTable {
  // MARK: What a task needs

  /// What the request of an attempt says; nil if the request is no longer to be made.
  public func terms(_ id: JobID, attempt: Int) -> JobTerms? {
    guard let record = records[id], record.picture.endedAt == nil,
      let found = record.picture.attempts.first(where: { $0.number == attempt }), found.request == nil
    else { return nil }
    return record.order.terms(for: found.providers, feeds: record.picture.feeds)
  }

  /// A request of a job, JSON.
  public func requestJSON(_ id: JobID, _ request: EventID) -> [UInt8]? {
    records[id]?.picture.requests.first { $0.id == request }?.json
  }

  /// A request of a job as it was published.
  public func request(_ id: JobID, _ request: EventID) -> JobRequest? { records[id]?.request(request) }

  /// An encrypted answer, and the provider that has encrypted it.
  public func sealed(_ id: JobID, _ event: EventID) -> (provider: PublicKey, event: Event)? {
    // `try?`: it was an event when it was kept.
    guard let answer = records[id]?.answers.first(where: { $0.event == event }), let json = answer.sealed,
      let read = try? Event(json: json)
    else { return nil }
    return (answer.provider, read)
  }

  /// Requests that are still on their way to relays; the shell asks the publisher about them.
  public var watched: [EventID] {
    records.values.flatMap { record in
      record.picture.attempts.compactMap { attempt in
        let isOnItsWay = attempt.confirmed < (attempt.relays ?? 0) && !attempt.isUnpublished
        return isOnItsWay && record.picture.endedAt == nil ? attempt.request?.id : nil
      }
    }
  }

  /// Requests of jobs that continue which the store has, to the tracker's knowledge; the oldest first.
  public var storedRequests: [(job: JobID, request: EventID)] {
    let requests = records.flatMap { id, record in
      record.picture.attempts.compactMap { attempt -> (job: JobID, request: EventID, startedAt: Int64)? in
        guard record.picture.endedAt == nil, attempt.isStored, !attempt.isWithdrawn else { return nil }
        return attempt.request.map { (id, $0.id, attempt.startedAt) }
      }
    }
    return requests.sorted { $0.startedAt < $1.startedAt }.map { ($0.job, $0.request) }
  }

  // MARK: Outcomes

  /// The request of an attempt is signed. The event is not verified, because the signer is trusted.
  public mutating func made(_ id: JobID, attempt: Int, event: Event, at now: Int64) -> [JobAction] {
    if let other = requestJobs[event.id], other != id {
      // Two jobs with equal contents must have two requests: an answer to one event could belong to either.
      return failed(.make(id, attempt: attempt), "another job has asked the same in the same second", at: now)
    }
    guard end(.make(id, attempt: attempt)), records[id]?.picture.endedAt == nil else { return finish(at: now) }
    note(
      id,
      .requested(JobRequestFact(attempt: attempt, id: event.id, createdAt: event.createdAt, json: event.json)),
      at: now)
    // Early enough for an answer: the request is published only after it is on disk.
    requestJobs[event.id] = id
    return finish(at: now)
  }

  /// The request of an attempt can never be made; why.
  public mutating func undone(_ id: JobID, attempt: Int, _ why: String, at now: Int64) -> [JobAction] {
    if end(.make(id, attempt: attempt)) { note(id, .undone(attempt, why), at: now) }
    return finish(at: now)
  }

  /// A request is published, or has reached more relays. Without relays, only the store here has it.
  public mutating func published(
    _ id: JobID, _ request: EventID, confirmed: Int, of count: Int, isStored: Bool, at now: Int64
  ) -> [JobAction] {
    _ = end(.publish(id, request))
    guard let attempt = records[id]?.picture.attempts.first(where: { $0.request?.id == request }) else {
      return finish(at: now)
    }
    if isStored, !attempt.isStored { note(id, .stored(request), at: now) }
    if attempt.relays == nil || count > attempt.relays ?? 0 || confirmed > attempt.confirmed {
      note(id, .relayed(request, confirmed: confirmed, of: count), at: now)
    }
    look(id, at: now)
    return finish(at: now)
  }

  /// No relay takes a request, and no attempt will follow; why.
  public mutating func unpublished(_ id: JobID, _ request: EventID, _ why: String, at now: Int64) -> [JobAction] {
    _ = end(.publish(id, request))
    let attempt = records[id]?.picture.attempts.first { $0.request?.id == request }
    if attempt?.isUnpublished == false { note(id, .unpublished(request, why), at: now) }
    look(id, at: now)
    return finish(at: now)
  }

  /// An encrypted answer was decrypted; `plaintext` is nil if it cannot be.
  public mutating func opened(_ id: JobID, _ event: EventID, plaintext: String?, at now: Int64) -> [JobAction] {
    guard end(.open(id, event)), let record = records[id], record.picture.endedAt == nil,
      let answer = record.answers.first(where: { $0.event == event && $0.sealed != nil })
    else { return finish(at: now) }
    let request = record.request(answer.request)
    let fact =
      if let plaintext, let request { answer.opened(plaintext, request: request, limits) } else { answer.unreadable }
    note(id, .answered(fact), at: now)
    return finish(at: now)
  }

  /// The deletion of a request is where the request was.
  public mutating func withdrawn(_ id: JobID, _ request: EventID, at now: Int64) -> [JobAction] {
    if end(.withdraw(id, request)) { note(id, .withdrawn(request), at: now) }
    return finish(at: now)
  }

  /// A task could not be done now. It is retried, with a growing wait.
  ///
  /// - Parameters:
  ///   - task: the task.
  ///   - why: for people.
  ///   - isLocked: whether the job's account is locked. A task without a deadline then waits for ``unlocked(_:at:)``.
  ///   - now: milliseconds since 1970.
  public mutating func failed(
    _ task: JobTask, _ why: String, isLocked: Bool = false, at now: Int64
  ) -> [JobAction] {
    guard let failures = records[task.job]?.tasks[task]?.failures else { return finish(at: now) }
    if case .publish = task, records[task.job]?.picture.endedAt != nil {
      // The request may be published all the same, so it is deleted.
      _ = end(task)
      look(task.job, at: now)
      return finish(at: now)
    }
    var wait = min(limits.retryCeilingMilliseconds, limits.retryBaseMilliseconds << Int64(min(failures, 16)))
    if isLocked, case .withdraw = task { wait = limits.unlockMilliseconds }
    records[task.job]?.tasks[task] = JobRecord.TaskState(due: now + wait, failures: failures + 1)
    wake(task.job, at: now + wait)
    return finish(at: now)
  }
}
