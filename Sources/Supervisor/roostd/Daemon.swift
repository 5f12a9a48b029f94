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

// roostd: what holds the parts together.
//
//     PeerAdmission ── joining         HubShell ── every message
//        \                              /
//         Daemon ── ManagedWorker × n ── WorkerProcess (exec shim, log pipes, lock)
//        /                              \
//     ControlService ── roost           WorkerLogs, DeadLetterStore, Guardian
//
// It parses no payload that is not addressed to itself, holds no key, opens no internet socket. It never waits:
// everything that takes time is a state of a machine with a timer.

/// The running supervisor.
@EventLoopActor
final class Daemon {
  var configuration: SupervisorConfiguration
  let shell: HubShell
  let logs: WorkerLogs
  /// Random text that every process of this start inherits; the guardian finds descendants by it.
  let instance: String
  let shimPath: String
  let startedAt: Instant
  let programPath: String
  /// Rereads the configuration file.
  let reread: @EventLoopActor () -> ConfigurationVerdict

  var workers: [ManagedWorker] = []
  var managedPids: Set<Int32> = []
  private(set) lazy var admission = PeerAdmission(daemon: self)
  private(set) lazy var control = ControlService(daemon: self)
  private(set) lazy var registry = RegistryBroadcast(daemon: self)
  private lazy var guardian = GuardianKeeper(daemon: self)
  private(set) lazy var deadLetters = DeadLetterKeeper(
    DeadLetterStore(
      directory: configuration.supervisor.stateDirectory + "/dead-letters",
      countMaximum: configuration.bus.deadLettersMaximum), daemon: self)
  private(set) lazy var socket = ListeningSocket(daemon: self) { [unowned self] in admission.accepted($0) }
  var spawnBudget: SpawnBudget
  private var suspends: SuspendDetector
  private let housekeepingTimer = LoopTimer()
  private var signals: [SignalWatcher] = []
  private(set) var stopping: StopReason?
  private let stopTimer = LoopTimer()
  private(set) var isFinished = false
  private(set) lazy var service = ServiceReporting(
    daemon: self, notifier, watchdogMilliseconds: watchdogMilliseconds)
  private let notifier: ServiceNotifier?
  /// What a service manager has opened for workers.
  let sockets: ServiceSockets
  private let watchdogMilliseconds: UInt64?
  var directories: SupervisorDirectories
  /// Before the first child: it moves this process, and children are where their parent was.
  let jobGroups = JobGroups()

  enum StopReason { case asked(String), escalated(String) }

  init(
    _ configuration: SupervisorConfiguration, directories: SupervisorDirectories, programPath: String,
    notifier: ServiceNotifier?, watchdogMilliseconds: UInt64?,
    sockets: ServiceSockets,
    reread: @escaping @EventLoopActor () -> ConfigurationVerdict
  ) {
    self.configuration = configuration
    self.directories = directories
    self.programPath = programPath
    self.reread = reread
    self.notifier = notifier
    self.watchdogMilliseconds = watchdogMilliseconds
    self.sockets = sockets
    var random = SystemRandomNumberGenerator()
    instance = String(random.next(), radix: 16) + String(random.next() | 1 << 63, radix: 16)
    let now = EventLoop.process.now
    startedAt = now
    shell = HubShell(
      limits: HubLimits(configuration.bus),
      table: AccessTable(customRoles: configuration.roles.map(AccessTable.CustomRole.init)),
      traceSeed: random.next())
    logs = WorkerLogs(
      settings: WorkerLogSettings(configuration.log, directory: configuration.supervisor.logDirectory),
      levels: LogFilter(configuration.log))
    shimPath = programPath + "/roost-exec"
    spawnBudget = SpawnBudget(configuration.supervisor, now: now)
    suspends = SuspendDetector(monotonic: now, bootNanoseconds: SystemClock.bootNanoseconds())
  }

  // MARK: Starting

  /// Binds the socket, seats the workers and starts those that are enabled.
  func start() throws {
    // A file size limit is an error of the write, not the end of the supervisor.
    signal(SIGXFSZ, SIG_IGN)
    try ProcessAttributes.becomeSubreaper()
    try guardian.start()
    shell.onAction = { [unowned self] action, input in perform(action, Array(input)) }
    for worker in configuration.workers { try add(worker) }
    try socket.listen()
    try watchSignals()
    housekeep()
    EventLoopActor.task { [self] in await deadLetters.recount() }
    for worker in workers where worker.configuration.enabled { worker.receive(.startRequested) }
    tellDependents()
    if configuration.workers.contains(where: { $0.enabled && $0.runsUserPrograms }) {
      log(.info, "supervision", "programs of yours: \(jobGroups.sentence)")
    }
    service.begin()
  }

  /// What the hub leaves to the supervisor.
  private func perform(_ action: HubAction, _ input: [UInt8]) {
    switch action {
    case .send: preconditionFailure("the shell sends what the hub wants sent")
    case .cut(let seat, let violation):
      if let connection = shell.connection(on: seat) { admission.broke(violation, connection) }
    case .serve(let call): control.serve(call, input)
    case .serviceCancelled(let call): control.cancelled(call)
    case .serviceMayContinue(let seat, let id): control.mayContinue(seat, id)
    case .control(let seat, let header):
      workers.first { $0.seat == seat }?.control(header, input)
      if header.type == .ready { registry.changed() }
      if header.type == .extend { service.look() }
    case .injectedAnswer(let id, let header, let payload):
      control.deadLetters.injectedAnswer(id, header, payload.bytes(input: input))
    case .keepDeadLetter(let letter): deadLetters.keep(letter)
    case .retryKilled(let id, let worker, let deliveries):
      control.deadLetters.diedAgain(id, DeadLetterCommands.Death(worker: worker, deliveries: deliveries))
    }
  }

  /// Gives a worker its seat; it is not started by that.
  func add(_ configuration: WorkerConfiguration) throws {
    guard let role = shell.table.role(named: configuration.role),
      let seat = shell.change({ hub, _, _ in hub.reserveSeat(name: configuration.name, role: role) })
    else { throw SystemFault(call: "seat", subject: configuration.name, code: ENOSPC, advice: "Too many workers.") }
    workers.append(ManagedWorker(configuration, role: role, seat: seat, daemon: self))
  }

  // MARK: Workers

  func worker(named name: String) -> ManagedWorker? { workers.first { $0.name == name } }

  /// Where a program is: a name without a slash is looked up in the program directories, and means the first of
  /// them when it is in none, so that the complaint says where it was looked for.
  func path(ofProgram program: String) -> String {
    if program.contains("/") { return program }
    let directories = configuration.supervisor.programDirectories
    let candidates = directories.map { "\($0)/\(program)" }
    return candidates.first { access($0, X_OK) == 0 } ?? candidates.first ?? "./\(program)"
  }

  func takeSpawn() -> SpawnBudget.Answer { spawnBudget.take(now: EventLoop.process.now) }

  /// Processes that descend from a worker of this start and are not managed: found by what they inherited, wherever
  /// they are. One that left its group may not be our child yet when its worker has gone: its own parent may be dying
  /// still.
  func strays(of name: String) -> [Int32] {
    ProcessTable.entries().lazy.filter { $0.state != .ended }.map(\.process).filter { [managedPids, instance] process in
      !managedPids.contains(process)
        && ProcessTable.environment(of: process, holds: "ROOST_INSTANCE=\(instance)") == true
        && ProcessTable.environment(of: process, holds: "ROOST_WORKER=\(name)") == true
    }
  }

  func announce(_ change: StateChange, of worker: ManagedWorker) {
    tell(
      Self.severity(of: change), change.name, from: change.from.kind.word, to: change.to.kind.word, change.sentence)
    registry.changed()
    // Others may wait for this one, in either direction; not now, while its machine is at work.
    EventLoop.process.atTurnEnd { [unowned self] in
      tellDependents()
      continueStopping()
      service.look()
    }
  }

  /// Says what has happened to a worker, in the log and to the subscribers of `supervisor.events`.
  func tell(
    _ level: LogSeverity, _ name: String, from: WorkerStateWord, to: WorkerStateWord, _ sentence: String
  ) {
    log(level, "supervision", "\(name) \(sentence)")
    publish(name, from: from, to: to, sentence)
  }

  /// Tells the subscribers of `supervisor.events`.
  func publish(_ name: String, from: WorkerStateWord, to: WorkerStateWord, _ sentence: String) {
    let event = SupervisorEvent(time: WallTime.now.text, worker: name, from: from, to: to, sentence: sentence)
    let (topic, payload) = (SupervisorTopic.events.declaration.number, JSONPayload.encode(event))
    shell.change { hub, now, actions in hub.publish(topic: topic, payload: payload, now: now, actions: &actions) }
  }

  private static func severity(of change: StateChange) -> LogSeverity {
    switch change.to {
    case .failed, .execFailed: .error
    case .backoff, .stopping(.aborting), .stopping(.killing): .warning
    // The line that it is starting follows at once. After an end this line is the one that tells how it ended.
    case .waiting(.spawning) where change.from.kind != .stopping: .debug
    default: .info
    }
  }

  func tellDependents() {
    for worker in workers where !worker.configuration.after.isEmpty {
      let missing = worker.configuration.after.filter { self.worker(named: $0)?.isReady != true }
      worker.receive(.dependenciesChanged(missing: missing))
    }
  }

  func escalate(_ reason: String) {
    log(.critical, "supervision", "a critical worker has failed: \(reason)")
    stop(.escalated(reason))
  }

  // MARK: Housekeeping

  private func housekeep() {
    let now = EventLoop.process.now
    if let gap = suspends.slept(monotonic: now, bootNanoseconds: SystemClock.bootNanoseconds()) {
      log(.notice, "supervision", "the machine slept for \(gap.components.seconds) s; deadlines are put off")
      for worker in workers { worker.receive(.resumedAfterSuspend(gap: gap)) }
    }
    for worker in workers { worker.housekeep(now: now) }
    for connection in shell.allConnections {
      guard case .client(let seat) = connection.role else { continue }
      // It neither reads nor grants credit, and what it asked for holds the credit of the workers that answer it.
      let isIdle = shell.hub.busySince(seat).map { now.milliseconds(since: $0) > Self.clientStallMilliseconds } ?? false
      if isIdle || connection.isStalled(now: now, milliseconds: Self.clientStallMilliseconds) {
        admission.refused(
          connection, Refusal(.notReading, "did not read its connection for \(Self.clientStallMilliseconds) ms"))
      }
    }
    cutMostUntaken(now)
    service.look()
    if stopping == nil { mendPremises() }
    if stopping == nil { socket.rebindIfReplaced() }
    housekeepingTimer.set(afterMilliseconds: housekeepingMilliseconds) { [unowned self] in housekeep() }
  }

  /// While the hub has no memory left, the client goes that fills it and takes nothing: one each time, since that may
  /// be enough.
  private func cutMostUntaken(_ now: Instant) {
    guard let seat = shell.hub.mostUntaken(forMilliseconds: Self.clientStallMilliseconds, now: now),
      let connection = shell.connection(on: seat)
    else { return }
    let byteCount = shell.hub.report(seat).mailboxBytes
    admission.refused(
      connection,
      Refusal(
        .notReading,
        "took nothing of its answers for \(Self.clientStallMilliseconds) ms; \(byteCount) bytes wait for it, and the "
          + "hub keeps as many as it may"))
  }

  /// A client that leaves what it asked for unread is cut after this long; its requests are cancelled.
  private static let clientStallMilliseconds: UInt64 = 300_000

  private var housekeepingMilliseconds: UInt64 {
    let shortest = workers.map { $0.configuration.stuckAfter.wholeMilliseconds }.min() ?? 10_000
    return min(5_000, max(100, shortest / 3))
  }

  private func watchSignals() throws {
    signals = [
      try SignalWatcher(SIGTERM) { [unowned self] in stop(.asked("SIGTERM")) },
      try SignalWatcher(SIGINT) { [unowned self] in stop(.asked("Ctrl-C")) },
      // Swift's crash handler takes it for a crash of ours, writes a backtrace, and lets the process live.
      try SignalWatcher(SIGQUIT) { [unowned self] in stop(.asked("SIGQUIT")) },
      try SignalWatcher(SIGHUP) { [unowned self] in control.reloadBySignal() },
      try SignalWatcher(SIGUSR1) { [unowned self] in logs.reopen() },
      try SignalWatcher(SIGUSR2) { [unowned self] in dumpState() },
      try SignalWatcher(SIGCHLD) { [unowned self] in
        for orphan in OrphanReaper.reap(except: managedPids) {
          log(.notice, "supervision", "reaped \(orphan.name) (pid \(orphan.process)), left behind by a worker")
        }
      },
    ]
  }

  private func dumpState() {
    for worker in workers { log(.notice, "state", control.explain(worker).joined(separator: " ")) }
  }

  func log(_ level: LogSeverity, _ category: String, _ message: String) {
    logs.append(worker: "roostd", LogMessage(level, category, message))
  }

  var logLevels: [String: String] { logs.levels.words }

  // MARK: Stopping

  /// Drains and stops everything, dependents first; asked again, it hurries.
  func stop(_ reason: StopReason) {
    guard stopping == nil else {
      log(.notice, "supervision", "asked again to stop: hurrying")
      for worker in workers where worker.isRunning { worker.receive(.stopRequested(drain: .zero)) }
      return
    }
    stopping = reason
    service.stopping(withinMilliseconds: configuration.supervisor.drainDeadline.wholeMilliseconds)
    if case .asked(let by) = reason { log(.notice, "supervision", "stopping (\(by))") }
    stopTimer.set(afterMilliseconds: configuration.supervisor.drainDeadline.wholeMilliseconds) { [unowned self] in
      for worker in workers where worker.isRunning {
        worker.receive(.stopRequested(drain: .zero))
        worker.receive(.stopRequested(drain: .zero))
      }
    }
    continueStopping()
  }

  /// Tells the next workers to stop once nothing that depends on them is left; ends when none is.
  func continueStopping() {
    guard stopping != nil else { return }
    let open = workers.filter { !$0.isAtRest }
    guard !open.isEmpty else {
      finish()
      return
    }
    for worker in open where !worker.isStopRequested {
      let dependents = open.filter { $0.configuration.after.contains(worker.name) }
      if dependents.isEmpty { worker.requestStop() }
    }
  }

  private func finish() {
    guard !isFinished else { return }
    isFinished = true
    stopTimer.cancel()
    housekeepingTimer.cancel()
    socket.close()
    for connection in shell.allConnections {
      connection.send(FrameHeader(type: .goodbye), UnsafeRawBufferPointer(start: nil, count: 0))
      connection.close("the supervisor stops")
    }
    log(.notice, "supervision", "stopped")
    let leave: @EventLoopActor () -> Void = { [logs, control, deadLetters] in
      EventLoopActor.task {
        await deadLetters.settle(until: EventLoop.process.now.advanced(milliseconds: Self.flushMilliseconds))
        _ = await logs.flush(until: EventLoop.process.now.advanced(milliseconds: Self.flushMilliseconds))
        await control.recordings.written(withinMilliseconds: Self.flushMilliseconds)
        EventLoop.process.stop()
      }
    }
    guardian.dismiss(leave)
  }

  private static let flushMilliseconds: UInt64 = 2_000

  /// 0 when asked to stop, 1 when a critical worker failed.
  var exitCode: Int32 {
    if case .escalated = stopping { return 1 }
    return 0
  }
}
