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

/// The hands of one worker's machine: performs its actions on processes, mailboxes and timers,
/// and tells it what happened.
///
/// Inputs that arrive while actions are being performed wait in a queue, so the machine sees one
/// thing at a time, in order.
@EventLoopActor
final class ManagedWorker {
  let name: String
  let role: Role
  let seat: SeatIndex
  private(set) var configuration: WorkerConfiguration
  private(set) var machine: WorkerMachine
  /// The sandbox it told of in HELLO.
  var sandbox: String?
  /// Its own line about what it does.
  var status: StatusReport?
  unowned let daemon: Daemon

  /// The message that its last deaths were charged to.
  var deathCharge: DeathCharge?
  /// The newest record of all logs when it last became ready; 0 before.
  private(set) var readyArrival: UInt64 = 0
  /// What is being recorded of it, or waits for its next start to be.
  var recording: BusRecording?

  /// Whether the configuration no longer names it, or names another in its place.
  var isLeaving = false

  private(set) var process: WorkerProcess?
  /// Why the program of the present process could not be run; nil while it is not known to have failed.
  private var execFailure: String?
  private var connection: PeerConnection?
  private var visitor: Visitor?
  private var timers: [WorkerTimer: LoopTimer] = [:]
  private let groupTimer = LoopTimer()
  private let drainTimer = LoopTimer()
  private var random = SystemRandomNumberGenerator()
  private var inputs: [WorkerInput] = []
  private var isReceiving = false
  private var arrivals: [Arrival] = []

  struct Visitor {
    let connection: PeerConnection
    let hello: Hello
    let pid: Int32
  }
  /// A call that waits for the worker to reach a state; `test` says true when it has.
  struct Arrival {
    let test: @EventLoopActor (WorkerState) -> Bool
    let body: @EventLoopActor () -> Void
  }

  /// The machine's start deadline comes first, since it knows what to say; the deadline of HELLO (`PeerAdmission`) is a
  /// backstop.
  private static let helloSlackMilliseconds: UInt64 = 10_000
  private static let groupLookMilliseconds: UInt64 = 20
  private static let drainLookMilliseconds: UInt64 = 20

  init(_ configuration: WorkerConfiguration, role: Role, seat: SeatIndex, daemon: Daemon) {
    name = configuration.name
    self.role = role
    self.seat = seat
    self.configuration = configuration
    self.daemon = daemon
    machine = WorkerMachine(
      name: configuration.name, policy: WorkerPolicy(configuration), now: EventLoop.process.now)
  }

  /// Whether it takes work.
  var isReady: Bool {
    switch machine.state {
    case .ready, .attached: true
    default: false
    }
  }

  /// Whether anything of it runs.
  var isRunning: Bool { process != nil || connection != nil }

  /// Whether the supervisor, on its way out, has told it to stop.
  private(set) var isStopRequested = false

  /// Part of the supervisor's own end.
  func requestStop() {
    isStopRequested = true
    receive(.stopRequested(drain: nil))
  }

  // MARK: Inputs

  /// Tells the machine, and performs what it wants.
  func receive(_ input: WorkerInput) {
    inputs.append(input)
    guard !isReceiving else { return }
    isReceiving = true
    while !inputs.isEmpty {
      let input = inputs.removeFirst()
      for action in machine.receive(input, now: EventLoop.process.now, random: &random) { perform(action) }
    }
    isReceiving = false
    lookForArrivals()
    // The last sign of its end may change no state, as when its program could not be run.
    if daemon.stopping != nil { EventLoop.process.atTurnEnd { [daemon] in daemon.continueStopping() } }
  }

  /// New settings from a reload; what needs a restart is decided by the caller.
  func adopt(_ configuration: WorkerConfiguration) {
    self.configuration = configuration
    receive(.policyChanged(WorkerPolicy(configuration)))
  }

  /// Calls `body` once the worker is where `test` wants it; at once if it is there.
  func whenArrived(
    _ test: @escaping @EventLoopActor (WorkerState) -> Bool, _ body: @escaping @EventLoopActor () -> Void
  ) {
    arrivals.append(Arrival(test: test, body: body))
    lookForArrivals()
  }

  private func lookForArrivals() {
    let state = machine.state
    let arrived = arrivals.filter { $0.test(state) }
    guard !arrived.isEmpty else { return }
    arrivals.removeAll { $0.test(state) }
    for arrival in arrived { arrival.body() }
  }

  // MARK: Actions

  private func perform(_ action: WorkerAction) {
    switch action {
    case .spawn(let generation): spawn(generation)
    case .sendDrain(_, let milliseconds): sendDrain(milliseconds)
    case .signalGroup(_, let signal): signalGroup(signal)
    case .cutBus: connection?.close("cut by the supervisor")
    case .setTimer(let timer, let instant):
      let loopTimer = timers[timer] ?? LoopTimer()
      timers[timer] = loopTimer
      loopTimer.set(at: instant) { [unowned self] in receive(.timerFired(timer)) }
    case .cancelTimer(let timer): timers[timer]?.cancel()
    case .openMailbox: daemon.shell.change { hub, _, _ in hub.openMailbox(seat) }
    case .closeMailbox(let reason):
      daemon.shell.change { hub, now, actions in
        hub.closeMailbox(seat, reason: reason, now: now, actions: &actions)
      }
    case .admitAttached: admitVisitor()
    case .refuseAttached(_, let reason), .dismissAttached(_, let reason): dismissVisitor(reason)
    case .announce(let change):
      if change.to == .ready { readyArrival = daemon.logs.lastArrival }
      daemon.announce(change, of: self)
    case .escalate(let reason): daemon.escalate(reason)
    }
  }

  private func spawn(_ generation: UInt32) {
    switch daemon.takeSpawn() {
    case .wait(let instant):
      receive(.spawnRateReached(generation: generation, retryAt: instant))
      return
    case .granted: break
    }
    daemon.mendPremises()
    do {
      let lockPath = daemon.configuration.supervisor.runDirectory + "/locks/\(name).lock"
      switch try FileLock.attempt(path: lockPath, information: "\(name) started by roostd pid \(getpid())") {
      case .held:
        // A process of an earlier generation that slipped away has it.
        killStrays()
        receive(.lockBusy(generation: generation, holder: nil))
      case .acquired(let lock):
        try start(generation, lock)
      }
    } catch {
      receive(
        Self.isLack(error)
          ? .spawnLacked(generation: generation, text: "\(error)")
          : .spawnFailed(generation: generation, text: "\(error)"))
    }
  }

  /// Whether a start failed for want of what every process needs, which says nothing of the worker.
  private static func isLack(_ error: any Error) -> Bool {
    if let fault = error as? SystemFault { return fault.mayPass }
    return (error as? LoopFault).map { SystemFault.mayPass(-$0.code) } ?? false
  }

  private func start(_ generation: UInt32, _ lock: FileLock) throws {
    let plan = WorkerProcess.Plan(
      worker: configuration, program: daemon.path(ofProgram: configuration.program), generation: generation, lock: lock,
      shim: daemon.shimPath, instance: daemon.instance,
      stateDirectory: daemon.configuration.supervisor.stateDirectory, listening: daemon.sockets.descriptors(for: name),
      jobGroup: jobGroup())
    status = nil
    let (process, stream) = try WorkerProcess.start(
      plan, logs: daemon.logs,
      onExec: { [unowned self] failure in execEnded(generation, failure) },
      onExit: { [unowned self] exit in exited(generation, exit) })
    self.process = process
    daemon.managedPids.insert(process.pid)
    connection = daemon.admission.connect(
      stream, origin: .managed(worker: name, generation: generation),
      helloDeadlineMilliseconds: configuration.startDeadline.wholeMilliseconds + Self.helloSlackMilliseconds)
  }

  private func jobGroup() -> String? {
    do throws(SystemFault) { return try daemon.jobGroups.folder(for: configuration) } catch {
      daemon.log(.warning, "supervision", "\(name): its programs are not bounded by the kernel: \(error)")
      return nil
    }
  }

  private func execEnded(_ generation: UInt32, _ failure: String?) {
    guard let process, process.generation == generation else { return }
    guard let failure else {
      receive(.spawned(generation: generation, pid: process.pid))
      return
    }
    // The machine learns it when the shim itself is gone: a worker whose start has failed has no process.
    execFailure = failure
    connection?.close("never started")
  }

  private func exited(_ generation: UInt32, _ exit: ChildExit) {
    guard let process, process.generation == generation else { return }
    daemon.managedPids.remove(process.pid)
    process.drainLogs()
    if let text = execFailure {
      execFailure = nil
      self.process = nil
      receive(.spawnFailed(generation: generation, text: text))
      return
    }
    let exit: WorkerExit =
      exit.signal != 0 ? .signal(exit.signal, coreDumped: false) : .code(Int32(clamping: exit.code))
    receive(.exited(generation: generation, exit))
    lookAtGroup(generation)
  }

  /// "Gone" means the whole group and every adopted descendant.
  private func lookAtGroup(_ generation: UInt32) {
    guard let process, process.generation == generation else { return }
    guard process.isGroupEmpty, daemon.strays(of: name).isEmpty else {
      groupTimer.set(afterMilliseconds: Self.groupLookMilliseconds) { [unowned self] in lookAtGroup(generation) }
      return
    }
    self.process = nil
    receive(.groupEmptied(generation: generation))
  }

  private func signalGroup(_ signal: GroupSignal) {
    let number: Int32 =
      switch signal {
      case .term: SIGTERM
      case .abort: SIGABRT
      case .kill: SIGKILL
      }
    process?.signalGroup(number)
    // Processes that left the group get no second warning.
    if signal == .kill { killStrays() }
  }

  private func killStrays() {
    for stray in daemon.strays(of: name) { kill(stray, SIGKILL) }
  }

  private func sendDrain(_ milliseconds: UInt64) {
    guard let connection else { return }
    daemon.shell.change { hub, _, _ in hub.beginDrain(seat) }
    let header = FrameHeader(type: .drain, ttlMilliseconds: UInt32(clamping: milliseconds))
    connection.send(header, UnsafeRawBufferPointer(start: nil, count: 0))
    daemon.registry.changed()
    if let generation = process?.generation { lookWhetherDrained(generation) }
  }

  private func lookWhetherDrained(_ generation: UInt32) {
    drainTimer.set(afterMilliseconds: Self.drainLookMilliseconds) { [unowned self] in
      guard case .draining = machine.state, let process, process.generation == generation else { return }
      if daemon.shell.hub.isIdle(seat) {
        receive(.drainFinished(generation: generation))
      } else {
        lookWhetherDrained(generation)
      }
    }
  }

  // MARK: The bus

  /// The process we started has said HELLO over its own socketpair.
  func greeted(_ hello: Hello) {
    sandbox = hello.sandbox
    if let generation = process?.generation { receive(.helloReceived(generation: generation)) }
  }

  /// A frame that runs the connection.
  func control(_ header: FrameHeader, _ payload: [UInt8]) {
    switch header.type {
    case .ready:
      if visitor == nil, let generation = process?.generation { receive(.readyReceived(generation: generation)) }
      daemon.registry.changed()
    case .status:
      if let status = try? JSONPayload.decode(StatusReport.self, from: payload) { self.status = status }  // A courtesy.
    case .extend:
      if let generation = process?.generation {
        receive(.extendReceived(generation: generation, milliseconds: UInt64(header.ttlMilliseconds)))
      }
    default: break
    }
  }

  /// The connection of the process we started has ended.
  func busEnded(_ ended: PeerConnection, _ generation: UInt32) {
    connection = nil
    // Also while a visitor waits: the hub must see this connection leave before another takes the seat.
    if case .managed = ended.role {
      let report = daemon.shell.unseat(seat)
      if report.isPoison { receive(.deathChargedToPoison(generation: generation)) }
    }
    daemon.registry.changed()
    receive(.busEnded(generation: generation, cut: ended.overflow))
  }

  /// Its death, and so many before it, are the fault of one message.
  func charge(method: String, deaths: UInt16) {
    deathCharge = DeathCharge(generation: process?.generation ?? machine.generation, deaths: deaths, method: method)
  }

  /// The peer broke the protocol: for a managed worker that is a crash.
  func violated(_ code: RefusalCode) {
    if visitor == nil, let generation = process?.generation {
      receive(.violated(generation: generation, code: code.rawValue))
    }
  }

  /// Our own process was not let in: it broke the protocol before it had a seat.
  func refusedAtDoor(_ generation: UInt32, _ refusal: Refusal) {
    let reason = String(refusal.message.prefix(Self.reasonCountMaximum))
    receive(.violated(generation: generation, code: "\(refusal.code): \(reason)"))
  }

  /// Characters of a refusal that are kept: some of it are the peer's own words.
  private static let reasonCountMaximum = 200

  // MARK: Attached

  /// A worker started by hand wants this place; it gets it once nothing of ours is left in it.
  func visit(_ visitor: Visitor) {
    if self.visitor != nil {
      visitor.connection.cut(Refusal(.nameTaken, "\(name) is attached already"))
      return
    }
    self.visitor = visitor
    visitor.connection.role = .visitor(self, nil)
    receive(.attachArrived(pid: visitor.pid))
  }

  private func admitVisitor() {
    guard let visitor else { return }
    sandbox = "UNSANDBOXED (started by hand)"
    daemon.admission.admitVisitor(visitor.connection, visitor.hello, to: self)
  }

  /// The connection of the visitor has ended.
  func visitorLeft(_ reason: String) {
    guard let visitor else { preconditionFailure("\(name) has no visitor that could leave") }
    let pid = visitor.pid
    self.visitor = nil
    if visitor.connection.seat != nil { daemon.shell.unseat(seat) }
    sandbox = nil
    daemon.registry.changed()
    if machine.state != .attached(pid: pid) {
      let sentence = "pid \(pid), started by hand, left before it had the place of \(name): \(reason)"
      daemon.log(.info, "supervision", sentence)
    }
    receive(.attachedLeft(pid: pid, why: reason))
  }

  private func dismissVisitor(_ reason: String) {
    visitor?.connection.cut(Refusal(.nameTaken, reason))
  }

  // MARK: Housekeeping

  /// Looks whether the worker's work moves, and how much memory it has.
  func housekeep(now: Instant) {
    guard let process, case .ready = machine.state, visitor == nil else { return }
    let patience = configuration.stuckAfter.wholeMilliseconds
    if let since = daemon.shell.hub.busySince(seat), now.milliseconds(since: since) > patience {
      receive(
        .becameStuck(
          generation: process.generation, why: "has had work for \(now.milliseconds(since: since)) ms without progress")
      )
      return
    }
    if let connection, connection.isStalled(now: now, milliseconds: patience) {
      receive(.becameStuck(generation: process.generation, why: "has not read its bus for \(patience) ms"))
      return
    }
    if let limit = configuration.limits.memoryBytes,
      let memory = ProcessTable.memory(of: process.pid, withProportional: false), memory.residentByteCount > limit
    {
      receive(
        .memoryExceeded(
          generation: process.generation,
          text: "uses \(memory.residentByteCount >> 20) MiB; its limit is \(limit >> 20) MiB"))
    }
  }
}

extension WorkerPolicy {
  /// The policy in a worker's table of `supervisor.conf`.
  init(_ configuration: WorkerConfiguration) {
    self.init()
    restart = RestartRule(rawValue: configuration.restart.rawValue) ?? .always
    after = configuration.after
    isCritical = configuration.critical
    startDeadline = configuration.startDeadline
    drainDeadline = configuration.drainDeadline
    termDeadline = configuration.termDeadline
    stuckAfter = configuration.stuckAfter
    backoffBase = configuration.backoffBase
    backoffCeiling = configuration.backoffCeiling
    stableAfter = configuration.stableAfter
    breakerRestarts = configuration.breakerRestarts
    breakerWindow = configuration.breakerWindow
  }
}

extension Duration {
  /// Whole milliseconds; 0 for a negative duration.
  var wholeMilliseconds: UInt64 {
    let (seconds, attoseconds) = components
    return seconds < 0 ? 0 : UInt64(seconds) * 1_000 + UInt64(attoseconds / 1_000_000_000_000_000)
  }
}

extension ManagedWorker {
  /// Whether nothing of it runs and nothing is planned, unless an operator asks.
  var isAtRest: Bool {
    switch machine.state {
    case .stopped, .failed, .exited, .held: !isRunning
    default: false
    }
  }
}
