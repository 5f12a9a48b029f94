import Clocks
import RoostConfiguration
import Contracts
import EventLoop
import Frames
import Glibc
import LinuxSystem
import Logs
import MessageHub
import Supervision

extension ControlService {
  // MARK: Status

  func status(_ request: StatusRequest) -> SupervisorStatus {
    let now = EventLoop.process.now
    let hub = daemon.shell.hub.counters
    let clients = daemon.shell.allConnections.compactMap { connection -> ClientStatus? in
      guard case .socket(let credentials) = connection.origin, case .client(let seat) = connection.role else {
        return nil
      }
      let report = daemon.shell.hub.report(seat)
      return ClientStatus(
        name: connection.name, pid: credentials.process, outstanding: report.outstanding,
        mailboxFrames: report.mailboxFrames)
    }
    var status = SupervisorStatus(
      version: RoostVersion.text, pid: getpid(), uptimeMilliseconds: now.milliseconds(since: daemon.startedAt),
      configuration: daemon.configuration.file, socket: daemon.configuration.supervisor.socket,
      residentBytes: ProcessTable.memory(of: getpid(), withProportional: false)?.residentByteCount,
      keptBytes: daemon.shell.hub.keptByteCount,
      counters: [
        "frames-in": hub.framesIn, "frames-out": hub.framesOut, "requests": hub.requests, "answered": hub.answered,
        "refused": hub.refused, "redelivered": hub.redelivered, "quarantined": hub.quarantined, "stale": hub.stale,
        "denied": hub.denied, "dropped": hub.dropped, "violations": hub.violations,
      ],
      deadLetters: daemon.deadLetters.count,
      workers: daemon.workers.map { self.status(of: $0, request, now) } + guests(now), clients: clients)
    status.latestDeadLetters = daemon.deadLetters.latest.isEmpty ? nil : daemon.deadLetters.latest
    return status
  }

  /// Workers started by hand, with a token, that no configuration names.
  private func guests(_ now: Instant) -> [WorkerStatus] {
    daemon.guests.compactMap { connection in
      guard case .guest(let name, let seat) = connection.role, case .socket(let credentials) = connection.origin else {
        return nil
      }
      let report = daemon.shell.hub.report(seat)
      var status = WorkerStatus(name: name, role: daemon.shell.hub.roleName(ofSeat: seat), state: .attached)
      status.sinceMilliseconds = now.milliseconds(since: connection.joinedAt)
      status.pid = credentials.process
      status.mailboxFrames = report.mailboxFrames
      status.inHand = report.inFlight
      status.residentBytes = ProcessTable.memory(of: credentials.process, withProportional: false)?.residentByteCount
      status.sandbox = "UNSANDBOXED (started by hand)"
      return status
    }
  }

  private func status(of worker: ManagedWorker, _ request: StatusRequest, _ now: Instant) -> WorkerStatus {
    let report = worker.machine.report(now: now)
    let hub = daemon.shell.hub.report(worker.seat)
    var status = WorkerStatus(name: worker.name, role: worker.role.name, state: report.state.kind.word)
    status.sinceMilliseconds = now.milliseconds(since: report.since)
    status.pid = report.pid
    status.generation = report.generation
    status.restarts = report.restarts.count
    status.restartLimit = report.restarts.limit
    status.nextAttemptMilliseconds = report.nextAttempt.map { $0.milliseconds(since: now) }
    status.lastExit = report.lastExit?.sentence
    status.mailboxFrames = hub.mailboxFrames
    status.inHand = hub.inFlight
    status.busyMilliseconds = hub.busySince.map { now.milliseconds(since: $0) }
    if let pid = report.pid {
      let memory = ProcessTable.memory(of: pid, withProportional: request.memory == true)
      status.residentBytes = memory?.residentByteCount
      status.proportionalBytes = memory?.proportionalByteCount
    }
    status.sandbox = worker.sandbox
    status.text = worker.status?.text
    status.droppedLogLines = daemon.logs.droppedLineCount(of: worker.name)
    return status
  }

  // MARK: Why

  func why(_ request: WhyRequest) throws(Refusal) -> WhyResult {
    if let guest = daemon.guest(named: request.worker) {
      return WhyResult(worker: request.worker, state: .attached, sentences: explain(guest), lastLines: [])
    }
    let worker = try worker(request.worker)
    return WhyResult(
      worker: worker.name, state: worker.machine.state.kind.word, sentences: explain(worker),
      lastLines: daemon.logs.tail(worker: worker.name, lines: 8).map {
        $0.record.shortened(toByteCount: Self.whyLineByteCountMaximum)
      }, complaint: Self.isTrouble(worker.machine.state.kind) ? complaint(of: worker) : nil)
  }

  /// Bytes shown of each of the last lines; `roost logs` has all of them.
  private static let whyLineByteCountMaximum = 1_000

  /// What there is to say about a worker's state: its life, its mail, its dependencies.
  func explain(_ worker: ManagedWorker) -> [String] {
    let now = EventLoop.process.now
    let report = worker.machine.report(now: now)
    var sentences = report.sentences(now: now)
    if let charge = worker.deathCharge, charge.generation >= report.lastExit?.generation ?? 0 {
      sentences.append(charge.sentence)
    }
    let hub = daemon.shell.hub.report(worker.seat)
    if let since = hub.busySince, now.milliseconds(since: since) > 1_000 {
      sentences.append(
        "Its work has not moved for \(now.milliseconds(since: since) / 1_000) s; after "
          + "\(worker.configuration.stuckAfter.wholeMilliseconds / 1_000) s it counts as stuck.")
    }
    sentences += mailSentences(hub)
    for name in worker.configuration.after where daemon.worker(named: name)?.isReady != true {
      sentences.append("\(name), which must be ready before it, is \(stateWord(name)).")
    }
    return sentences
  }

  /// What there is to say about a worker that was started by hand and that no configuration names.
  private func explain(_ guest: PeerConnection) -> [String] {
    guard case .guest(let name, let seat) = guest.role, case .socket(let credentials) = guest.origin else { return [] }
    let seconds = EventLoop.process.now.milliseconds(since: guest.joinedAt) / 1_000
    let role = daemon.shell.hub.roleName(ofSeat: seat)
    return [
      "\(name) is attached: role \(role), pid \(credentials.process), started by hand \(seconds) s ago, in no "
        + "configuration, neither watched nor restarted.",
      "When it leaves, its mail is refused, and it is gone from here. Its log goes to where it was started.",
    ] + mailSentences(daemon.shell.hub.report(seat))
  }

  /// What there is to say about a seat's mail.
  private func mailSentences(_ hub: MessageHub.SeatReport) -> [String] {
    var sentences: [String] = []
    if hub.mailboxFrames > 0 {
      sentences.append(
        "\(Self.messages(hub.mailboxFrames)) \(hub.mailboxFrames == 1 ? "waits" : "wait") in its mailbox.")
    }
    if hub.inFlight > 0 { sentences.append("It has \(Self.messages(hub.inFlight)) in hand.") }
    if hub.isOutOfCredit { sentences.append("It has granted no credit for what waits: it is slower than its senders.") }
    for (sender, count) in hub.holding.sorted(by: { $0.key < $1.key }) {
      sentences.append("Its mailbox is full, and holds the credit of \(sender) for \(Self.messages(count)).")
    }
    if hub.suspects > 0 {
      sentences.append(
        hub.suspects == 1
          ? "1 message was in hand when it died and is given to it alone."
          : "\(hub.suspects) messages were in hand when it died and are given to it one at a time.")
    }
    return sentences
  }

  private static func messages(_ count: some BinaryInteger) -> String {
    count == 1 ? "1 message" : "\(count) messages"
  }

  private func stateWord(_ name: String) -> String {
    daemon.worker(named: name)?.machine.state.kind.rawValue ?? "not configured"
  }

  // MARK: Doctor

  func doctor() -> DoctorResult {
    var checks = workerChecks()
    checks.append(
      .init(
        name: "program files", isGood: access(daemon.shimPath, X_OK) == 0,
        text: access(daemon.shimPath, X_OK) == 0
          ? "the exec shim is at \(daemon.shimPath)" : "\(daemon.shimPath) is missing"))
    checks += directoryChecks()
    checks += userProgramChecks()
    checks += programBoundChecks()
    checks += ledgerChecks()
    for worker in daemon.workers where worker.configuration.mayFollowPrivateAddresses {
      checks.append(
        .init(
          name: "allow-private-relays of \(worker.name)", isGood: false, text: WorkerConfiguration.privateAddressRisk))
    }
    let letters = daemon.deadLetters.count
    checks.append(
      .init(
        name: "dead letters", isGood: letters == 0,
        text: letters == 0 ? "none" : "\(letters) kept; 'roost dead-letters list' shows them"))
    let (kept, pool) = (daemon.shell.hub.keptByteCount, daemon.shell.hub.limits.poolBytes)
    checks.append(
      .init(
        name: "mail", isGood: kept < pool,
        text: "\(Amount.bytes(UInt64(kept))) of \(Amount.bytes(UInt64(pool))) kept for workers"))
    if let count = ProcessTable.openDescriptorCount(of: getpid()) {
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      checks.append(
        .init(
          name: "descriptors", isGood: UInt64(count) * 2 < limit.rlim_cur,
          text: "roostd has \(count) open; its limit is \(limit.rlim_cur)"))
    }
    return DoctorResult(checks: checks)
  }

  private func workerChecks() -> [DoctorResult.Check] {
    // One that is not enabled may have been started by hand.
    let shown = daemon.workers.filter { $0.configuration.enabled || Self.isTrouble($0.machine.state.kind) }
    return shown.map { worker in
      var sentence = explain(worker).first ?? ""
      // The check bears the worker's name already.
      if sentence.hasPrefix(worker.name + " ") { sentence.removeFirst(worker.name.count + 1) }
      let isTrouble = Self.isTrouble(worker.machine.state.kind) || isReturning(worker)
      if isTrouble, let complaint = complaint(of: worker) { sentence += " It said: \(complaint)" }
      return .init(
        name: "worker \(worker.name)", isGood: !isTrouble, isPending: !isTrouble && !worker.isReady, text: sentence)
    }
  }

  /// Whether a worker is on its way again after it said itself that something is missing: it says so at each start
  /// until a person mends that.
  private func isReturning(_ worker: ManagedWorker) -> Bool {
    guard [.starting, .waiting, .stopping].contains(worker.machine.state.kind) else { return false }
    switch worker.machine.report(now: EventLoop.process.now).lastExit?.status?.verdict {
    case .unavailable, .tryLater: return true
    default: return false
    }
  }

  /// The last thing that a worker said went wrong, of its last lines, since it was ready: what was before that has been
  /// mended.
  func complaint(of worker: ManagedWorker) -> String? {
    let lines = daemon.logs.tail(worker: worker.name, lines: 8).filter { $0.arrival > worker.readyArrival }.map {
      $0.record.shortened(toByteCount: Self.whyLineByteCountMaximum)
    }
    guard let line = lines.last(where: { ["error", "critical"].contains($0.level) }) else { return nil }
    return [line.message, line.fields?["why"]].compactMap(\.self).joined(separator: ": ")
  }

  /// Whether a worker in this state needs a person. One that is held or was stopped is as its operator wanted it, and
  /// one on its way is not late yet: its deadlines see to that.
  private static func isTrouble(_ state: WorkerState.Kind) -> Bool {
    switch state {
    case .backoff, .execFailed, .failed: true
    case .ready, .attached, .waiting, .starting, .draining, .stopping, .held, .stopped, .exited: false
    }
  }
}
