internal import Contracts
public import Cryptography
public import Nostr

// What has come of what others were asked to do.

extension JobTable {
  // MARK: What a task needs

  /// What the request of an attempt says; nil when it is not to be made any more.
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

  /// An answer that is encrypted, and who has encrypted it.
  public func sealed(_ id: JobID, _ event: EventID) -> (provider: PublicKey, event: Event)? {
    // `try?`: it was an event when it was kept.
    guard let answer = records[id]?.answers.first(where: { $0.event == event }), let json = answer.sealed,
      let read = try? Event(json: json)
    else { return nil }
    return (answer.provider, read)
  }

  /// Requests whose way to relays is not over: who publishes is asked how far they are.
  public var watched: [EventID] {
    records.values.flatMap { record in
      record.picture.attempts.compactMap { attempt in
        let isOnItsWay = attempt.confirmed < (attempt.relays ?? 0) && !attempt.isUnpublished
        return isOnItsWay && record.picture.endedAt == nil ? attempt.request?.id : nil
      }
    }
  }

  /// Requests of jobs that go on which the store has, as far as is known; the oldest first.
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

  /// The request of an attempt is signed. The event is verified by nobody: the signer is believed.
  public mutating func made(_ id: JobID, attempt: Int, event: Event, at now: Int64) -> [JobAction] {
    if let other = requestJobs[event.id], other != id {
      // Two jobs of the same words are two requests, or an answer could be of either.
      return failed(.make(id, attempt: attempt), "another job has asked the same in the same second", at: now)
    }
    guard end(.make(id, attempt: attempt)), records[id]?.picture.endedAt == nil else { return finish(at: now) }
    note(
      id,
      .requested(JobRequestFact(attempt: attempt, id: event.id, createdAt: event.createdAt, json: event.json)),
      at: now)
    // An answer may come as soon as it is out, and that is after it is written down.
    requestJobs[event.id] = id
    return finish(at: now)
  }

  /// The request of an attempt cannot be made, whoever tries again; why.
  public mutating func undone(_ id: JobID, attempt: Int, _ why: String, at now: Int64) -> [JobAction] {
    if end(.make(id, attempt: attempt)) { note(id, .undone(attempt, why), at: now) }
    return finish(at: now)
  }

  /// A request is published, or how far that is has changed. Without relays the store here has it alone.
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

  /// No relay takes a request, and none is tried any more; why.
  public mutating func unpublished(_ id: JobID, _ request: EventID, _ why: String, at now: Int64) -> [JobAction] {
    _ = end(.publish(id, request))
    let attempt = records[id]?.picture.attempts.first { $0.request?.id == request }
    if attempt?.isUnpublished == false { note(id, .unpublished(request, why), at: now) }
    look(id, at: now)
    return finish(at: now)
  }

  /// An encrypted answer was decrypted; nil: it cannot be.
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

  /// A request's deletion is where the request was.
  public mutating func withdrawn(_ id: JobID, _ request: EventID, at now: Int64) -> [JobAction] {
    if end(.withdraw(id, request)) { note(id, .withdrawn(request), at: now) }
    return finish(at: now)
  }

  /// Something could not be done now; it is tried again, later each time.
  ///
  /// - Parameters:
  ///   - task: what.
  ///   - why: for people.
  ///   - isLocked: whether the job's account is locked. What no deadline ends waits for ``unlocked(_:at:)`` then.
  ///   - now: milliseconds since 1970.
  public mutating func failed(
    _ task: JobTask, _ why: String, isLocked: Bool = false, at now: Int64
  ) -> [JobAction] {
    guard let failures = records[task.job]?.tasks[task]?.failures else { return finish(at: now) }
    if case .publish = task, records[task.job]?.picture.endedAt != nil {
      // It may be out all the same, and is taken back.
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
