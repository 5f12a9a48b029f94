import Bus
import Clocks
import Contracts
import Cryptography
import EventLoop
import Frames
import Glibc
import JobProviding
import LinuxSystem
import Logging
import Nostr
import NostrContracts
import UserPrograms

// The work on a request: by one of the two built-in services, or by a program.

extension Provider {
  /// The wait before the next attempt with the signer or the store.
  private static let retryMilliseconds: UInt64 = 250
  /// Refusals that another attempt would not change.
  private static let finalCodes: Set<RefusalCode> = [.badRequest, .badPayload, .forbidden, .denied]
  /// Most events that are counted in groups, and most bytes of them: they are in memory all at once.
  private static let (groupedEventMaximum, groupedByteCountMaximum) = (20_000, 64 << 20)

  /// Works on a request, and reports the outcome to the machine.
  func work(on id: EventID) {
    EventLoopActor.task { [self] in
      guard let outcome = await outcome(of: id) else { return perform { desk, _ in desk.putBack(id) } }
      perform { $0.finished(id, outcome, at: $1) }
    }
  }

  /// The outcome of a request; nil if its work could not start and no part of it has run.
  private func outcome(of id: EventID) async -> ServingOutcome? {
    guard let served = desk?[id], let job = configuration.services.first(where: { $0.kind == served.kind }) else {
      return .failed("it is no longer done here")
    }
    // `try?`: it could be read when it came. The file was changed since, and the reason does not matter.
    guard let event = try? Event(json: served.request), let request = try? JobRequest(event) else {
      return .failed("the request cannot be read")
    }
    let deadline = EventLoop.process.now.advanced(milliseconds: job.patienceMilliseconds)
    do throws(Refusal) {
      let clear = try await persisting(id, until: deadline) { [self] () async throws(Refusal) in
        guard let answers else { throw Refusal(.unavailable, "no account can answer") }
        return try await answers.decrypted(request)
      }
      guard clear.terms.isEncrypted == false || clear.isReadable else {
        return .failed("the request cannot be decrypted")
      }
      switch job.isBuiltIn ? job.builtin : nil {
      case "count": return try await count(clear, until: deadline)
      case "search": return try await search(clear, until: deadline)
      default: return try await run(clear, job)
      }
    } catch {
      // Customers get the reason without local paths, so the log keeps all of it.
      if error.message.withoutLocalPaths != error.message {
        log.warning("a request has failed", metadata: ["request": "\(id)", "why": "\(error.message)"])
      }
      return .failed(error.message)
    }
  }

  /// Retries until it is done, refused for good, no longer wanted, or out of time.
  private func persisting<Value: Sendable>(
    _ id: EventID, until deadline: Instant, _ body: @EventLoopActor () async throws(Refusal) -> Value
  ) async throws(Refusal) -> Value {
    while true {
      do throws(Refusal) { return try await body() } catch {
        guard !Self.finalCodes.contains(error.code), EventLoop.process.now < deadline, !isDraining,
          desk?[id]?.state == .running
        else { throw error }
        await EventLoopActor.sleep(milliseconds: Self.retryMilliseconds)
      }
    }
  }

  // MARK: Built in

  private func count(_ request: JobRequest, until deadline: Instant) async throws(Refusal) -> ServingOutcome {
    let question: EventCountQuestion
    do throws(QuestionFault) { question = try EventCountQuestion(request) } catch {
      return .failed(error.description)
    }
    // No recipients, so no gift wraps: how many an account has is private.
    let filters = question.filters.map { JSONValue(of: $0) }
    guard question.groups.isEmpty else {
      let wanted = StoreQuery(filters: filters, limit: Self.groupedEventMaximum + 1, recipients: [])
      let events = try await persisting(request.id, until: deadline) { [self] () async throws(Refusal) in
        try await query(wanted, byteCountMaximum: Self.groupedByteCountMaximum)
      }
      guard events.count <= Self.groupedEventMaximum else {
        return .failed("more than \(Self.groupedEventMaximum) events match, which is too many to be grouped")
      }
      return .done(question.answer(grouping: events))
    }
    let wanted = StoreQuery(filters: filters, recipients: [])
    let count = try await persisting(request.id, until: deadline) { [self] () async throws(Refusal) in
      try await bus.request(StoreMethod.count, wanted).count
    }
    return .done(EventCountQuestion.answer(count: count))
  }

  private func search(_ request: JobRequest, until deadline: Instant) async throws(Refusal) -> ServingOutcome {
    let question: ContentSearchQuestion
    do throws(QuestionFault) { question = try ContentSearchQuestion(request, at: WallClock.seconds) } catch {
      return .failed(error.description)
    }
    let wanted = StoreQuery(
      filters: [JSONValue(of: question.filter)], limit: question.countMaximum, recipients: [])
    let events = try await persisting(request.id, until: deadline) { [self] () async throws(Refusal) in
      try await query(wanted)
    }
    return .done(ContentSearchQuestion.answer(events))
  }

  func query(_ wanted: StoreQuery, byteCountMaximum: Int = .max) async throws(Refusal) -> [Event] {
    let answer = try await bus.ask(StoreMethod.query, wanted)
    var events: [Event] = []
    var byteCount = 0
    while let part = try await answer.nextPart() {
      byteCount += part.bytes.count
      guard byteCount <= byteCountMaximum else {
        let refusal = Refusal(.badRequest, "more than \(byteCountMaximum) bytes of events match, which is too many")
        answer.abandon(refusal)
        throw refusal
      }
      // The store has verified it.
      if let event = try? Event(json: part.bytes) { events.append(event) }
    }
    return events
  }

  // MARK: Programs

  private func run(_ request: JobRequest, _ job: JobSettings) async throws(Refusal) -> ServingOutcome? {
    let id = request.id
    switch ProgramEnvironment.own.files.fitness(of: job.programText, reading: job.read ?? []) {
    case .fit: break
    case .unfit(let why):
      log.error("a job's program is not run", metadata: ["request": "\(id)", "why": "\(why)"])
      return .failed("the program of this job cannot be run at present")
    case .replaced(let path):
      log.notice(
        "a job's file was replaced: the provider restarts when the work under way has ended",
        metadata: ["file": "\(path)"])
      return nil
    }
    answers?.say(id, .processing)
    let input = JobPaper.json(request, resolved: await resolved(request))
    guard desk?[id]?.state == .running, !isDraining else { return .failed("it was called off") }
    runNumber += 1
    let folder = "\(jobFolder)/\(runNumber)"
    var plan = job.plan(input: input, folder: folder)
    // A program that works for a stranger must not reach everything that this user can.
    plan.group = ProgramEnvironment.own.group?.inner("\(getpid())-\(runNumber)")
    plan.mayLackSandbox = identity.accounts.contains(request.customer)
    let run = ProgramRun(plan, gate: lookGate) { [unowned self] in received(report: $0, of: id) }
    runs[id] = run
    feedback[id] = FeedbackReader()
    let end = await run.run()
    runs[id] = nil
    let dropped = feedback.removeValue(forKey: id)?.dropped ?? [:]
    if let fault = end.leftFolder { left(folder, fault) }
    if let fault = end.leftGroup ?? end.lackedGroup {
      log.error("a program's group cannot be made or removed", metadata: ["why": "\(fault)"])
    }
    // Customers, ours included, reject a result that lacks the form of its kind, and would wait in vain.
    var outcome = ServingOutcome(end.outcome)
    if case .done(let text) = outcome, case .broken(let expected) = JobSchema.check(text, kind: job.kind + 1_000) {
      outcome = .failed("what the program has written is not \(expected), as results of its kind are")
    }
    report(dropped, request, job)
    report(outcome, errors: end.errors, request, job)
    return explained(outcome, errors: end.errors, request)
  }

  /// A program has written to descriptor 3.
  private func received(report bytes: ArraySlice<UInt8>, of id: EventID) {
    for item in feedback[id]?.received(bytes, at: EventLoop.process.now) ?? [] {
      answers?.say(
        id, item.status == .partial ? .partial : .processing, remark: item.message, content: item.content ?? "")
    }
  }

  private func left(_ folder: String, _ fault: SystemFault) {
    leftFolders.insert(folder)
    log.error("a program's folder cannot be removed, which is tried again", metadata: ["why": "\(fault)"])
  }

  /// Ends everything in groups that belong to no run of this process: what a killed provider has left, and what did not
  /// end.
  func removeLeftGroups() {
    let names = Set(runs.values.compactMap(\.groupName))
    EventLoopActor.task { [self] in
      for fault in await ProgramRun.endLeftGroups(except: names) {
        log.error("a program's group cannot be removed, which is tried again", metadata: ["why": "\(fault)"])
      }
    }
  }

  /// Retries to remove the folders that could not be removed.
  func removeLeftFolders() {
    for folder in leftFolders where folder != jobFolder {
      EventLoopActor.task { [self] in
        do throws(SystemFault) {
          try await ProgramRun.remove(folder)
          leftFolders.remove(folder)
        } catch { left(folder, error) }
      }
    }
    // This one is removed on the loop, so that no run can start in it meanwhile.
    guard leftFolders.contains(jobFolder), runs.isEmpty else { return }
    do throws(SystemFault) {
      try FolderTree.remove(jobFolder)
      leftFolders.remove(jobFolder)
    } catch { left(jobFolder, error) }
  }

  /// A program's last words explain its failure. But a program may repeat what a customer asked in private; so if the
  /// request was encrypted, they stay out of answers in clear, the logs and the ledger.
  private func explained(_ outcome: ServingOutcome, errors: String, _ request: JobRequest) -> ServingOutcome {
    guard case .failed(let reason) = outcome, !request.terms.isEncrypted,
      let last = errors.split(whereSeparator: \.isNewline).last(where: { !$0.allSatisfy(\.isWhitespace) })
    else { return outcome }
    return .failed("\(reason): \(String(last).cut(toByteCount: Self.reasonByteCountMaximum))")
  }

  private func report(_ dropped: [FeedbackReader.DropReason: Int], _ request: JobRequest, _ job: JobSettings) {
    guard !dropped.isEmpty else { return }
    let reasons = FeedbackReader.DropReason.allCases.compactMap { reason in
      dropped[reason].map { "\($0) \(reason.text)" }
    }
    log.notice(
      "lines that a program wrote to descriptor 3 were not passed on",
      metadata: [
        "request": "\(request.id)", "program": "\(job.programText)", "lines": "\(reasons.joined(separator: "; "))",
      ])
  }

  private func report(_ outcome: ServingOutcome, errors: String, _ request: JobRequest, _ job: JobSettings) {
    guard case .failed(let reason) = outcome else { return }
    log.warning(
      "a job's program has failed",
      metadata: [
        "request": "\(request.id)", "program": "\(job.programText)", "why": "\(reason)",
        "stderr": "\(request.terms.isEncrypted ? "not shown, the request is encrypted" : errors)",
      ])
  }

  /// Most bytes of a program's last line that a customer gets.
  private static let reasonByteCountMaximum = 512

  // MARK: Inputs

  /// The events that inputs name, and the results of the jobs that inputs name, if the store has them.
  private func resolved(_ request: JobRequest) async -> [Int: JSONValue] {
    var found: [Int: JSONValue] = [:]
    for (place, input) in request.terms.inputs.enumerated() {
      guard let id = input.eventID, let filter = Self.filter(input, id) else { continue }
      do throws(Refusal) {
        let events = try await query(StoreQuery(filters: [JSONValue(of: filter)], limit: 1, recipients: []))
        if let event = events.first { found[place] = try JSONPayload.decode(JSONValue.self, from: event.json) }
      } catch {
        log.debug("an input cannot be looked up", metadata: ["request": "\(request.id)", "why": "\(error.message)"])
      }
    }
    return found
  }

  private static func filter(_ input: JobInput, _ id: EventID) -> Filter? {
    switch input.form {
    case .event: Filter(ids: [id])
    case .job:
      TagLetter("e").map {
        Filter(kinds: Array(EventKind.jobResults), tags: [$0: [TagValue(id.description)]], limit: 1)
      }
    case .url, .text, nil: nil
    }
  }
}
