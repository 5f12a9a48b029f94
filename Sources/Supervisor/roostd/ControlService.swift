import RoostConfiguration
import Contracts
import EventLoop
import Frames
import Glibc
import LinuxSystem
import Logs
import MessageHub
import Supervision

/// The methods `supervisor.*`: what `roost` asks of a running roostd.
///
/// Each answers at once from what is in memory, except those that wait for a worker to arrive somewhere; their callers'
/// time to live ends them. Nothing here waits for a disk, so `status` answers while a log disk is full.
@EventLoopActor
final class ControlService {
  unowned let daemon: Daemon
  private var followers: [HubCall: LogStream] = [:]
  private(set) lazy var deadLetters = DeadLetterCommands(self)
  private(set) lazy var recordings = RecordingCommands(self)

  /// Answers a request; what it returns is refused.
  private typealias Handler = @EventLoopActor (HubCall, [UInt8]) -> Refusal?

  private var handlers: [UInt16: Handler] = [:]

  init(daemon: Daemon) {
    self.daemon = daemon
    registerHandlers()
  }

  /// A request came; it is answered through the hub.
  func serve(_ call: HubCall, _ payload: [UInt8]) {
    guard let handler = handlers[call.method] else {
      let name = daemon.shell.table[call.method]?.name ?? "\(call.method)"
      return refuse(
        call, Refusal(.unknownMethod, "the supervisor does not serve \(name)", outcome: .notStarted))
    }
    if let refusal = handler(call, payload) { refuse(call, refusal) }
  }

  private func registerHandlers() {
    on(SupervisorMethod.status) { [unowned self] (_, request) in status(request) }
    later(SupervisorMethod.start) { [unowned self] (call, command) throws(Refusal) in try start(call, command) }
    later(SupervisorMethod.stop) { [unowned self] (call, command) throws(Refusal) in try stop(call, command) }
    later(SupervisorMethod.restart) { [unowned self] (call, command) throws(Refusal) in try restart(call, command) }
    later(SupervisorMethod.hold) { [unowned self] (call, command) throws(Refusal) in try hold(call, command) }
    on(SupervisorMethod.attach) { [unowned self] (call, request) throws(Refusal) in
      try requireOwner(call, to: "attach a worker")
      return try attach(request)
    }
    on(SupervisorMethod.reload) { [unowned self] (_, request) throws(Refusal) in try reload(request) }
    on(SupervisorMethod.logs) { [unowned self] (call, request) throws(Refusal) in try logs(call, request) }
    on(SupervisorMethod.logLevel) { [unowned self] (_, request) throws(Refusal) in try setLevel(request) }
    on(SupervisorMethod.why) { [unowned self] (_, request) throws(Refusal) in try why(request) }
    later(SupervisorMethod.deadLetters) { [unowned self] (call, request) in deadLetters.perform(call, request) }
    on(SupervisorMethod.doctor) { [unowned self] (_, _) in doctor() }
    on(SupervisorMethod.version) { (_, _) in
      SupervisorVersion(version: RoostVersion.text, protocolVersion: FrameHeader.version)
    }
    on(SupervisorMethod.record) { [unowned self] (call, request) throws(Refusal) in try recordings.record(call, request)
    }
    later(SupervisorMethod.configuration) { [unowned self] (call, _) in configuration(call) }
    later(SupervisorMethod.shutdown) { [unowned self] (call, _) in
      // The answer first: nothing is sent once the stop has begun.
      reply(call, WorkerCommandResult(worker: "roostd", state: .stopping, sentence: "is stopping"))
      daemon.stop(.asked("roost"))
    }
    for method in BuiltInMethods.served(by: .supervisor) {
      precondition(handlers[method.number] != nil, "the supervisor declares \(method) and has no handler for it")
    }
  }

  /// Takes the handler of a method.
  private func on<Arguments, Answer>(
    _ method: Method<Arguments, Answer>,
    _ handler: @escaping @EventLoopActor (HubCall, Arguments) throws(Refusal) -> Answer
  ) {
    later(method) { [unowned self] (call, arguments) throws(Refusal) in reply(call, try handler(call, arguments)) }
  }

  /// Takes the handler of a method that replies by itself, mostly later.
  private func later<Arguments, Answer>(
    _ method: Method<Arguments, Answer>,
    _ handler: @escaping @EventLoopActor (HubCall, Arguments) throws(Refusal) -> Void
  ) {
    take(method.declaration, handler)
  }

  /// The same for a stream.
  private func on<Arguments, Part, Answer>(
    _ stream: Stream<Arguments, Part, Answer>,
    _ handler: @escaping @EventLoopActor (HubCall, Arguments) throws(Refusal) -> Void
  ) {
    take(stream.declaration, handler)
  }

  private func take<Arguments: Payload>(
    _ method: MethodDeclaration, _ handler: @escaping @EventLoopActor (HubCall, Arguments) throws(Refusal) -> Void
  ) {
    handlers[method.number] = { call, payload in
      do throws(Refusal) {
        try handler(call, try Arguments.read(payload, isRaw: false, of: method.name))
        return nil
      } catch {
        return error
      }
    }
  }

  /// The caller gave up, or left.
  func cancelled(_ call: HubCall) {
    followers.removeValue(forKey: call)?.end()
    recordings.cancelled(call)
    deadLetters.cancelled(call)
  }

  /// A caller whose mailbox was full has room again.
  func mayContinue(_ seat: SeatIndex, _ id: UInt64?) {
    for (call, follower) in followers where call.seat == seat && (id ?? call.id) == call.id {
      follower.mayContinue()
    }
  }

  // MARK: Answering

  func reply(_ call: HubCall, _ value: some Payload) { reply(call, value.written.bytes) }

  func reply(_ call: HubCall, _ payload: [UInt8]) {
    daemon.shell.change { hub, now, actions in hub.answer(call, payload: payload, now: now, actions: &actions) }
  }

  func refuse(_ call: HubCall, _ refusal: Refusal) {
    daemon.shell.change { hub, _, actions in hub.refuse(call, refusal, actions: &actions) }
  }

  /// Sends a part; false when the caller has no room for more now.
  func part(_ call: HubCall, _ value: some Payload) -> Bool { part(call, value.written.bytes) }

  func part(_ call: HubCall, _ payload: [UInt8]) -> Bool {
    daemon.shell.change { hub, now, actions in
      hub.answer(call, payload: payload, more: true, now: now, actions: &actions)
    }
  }

  /// The most payload a frame to the caller may have.
  func payloadMaximum(for call: HubCall) -> Int { daemon.shell.hub.payloadMaximum(of: call.seat) }

  func worker(_ name: String) throws(Refusal) -> ManagedWorker {
    if let worker = daemon.worker(named: name) { return worker }
    if daemon.guest(named: name) != nil {
      throw Refusal(
        .badRequest, "\(name) was started by hand and is not in supervisor.conf; end it where it was started",
        outcome: .notStarted)
    }
    let hint = NearestName.hint(name, among: daemon.workers.map(\.name))
    throw Refusal(.badRequest, "supervisor.conf has no worker '\(name)'\(hint)", outcome: .notStarted)
  }

  /// Refuses a caller that is no client of our own user, for what `allow-uids` is not meant for: recordings, whose file
  /// is made with our rights and tells what passes others, and a worker's place.
  func requireOwner(_ call: HubCall, to act: String) throws(Refusal) {
    if let connection = daemon.shell.connection(on: call.seat), case .client = connection.role,
      case .socket(let credentials) = connection.origin, credentials.user == geteuid()
    {
      return
    }
    throw Refusal(.denied, "only clients of roostd's own user may \(act)", outcome: .notStarted)
  }

  // MARK: Workers

  /// A worker that can be told to run: one that leaves the configuration only stops.
  private func stayingWorker(_ name: String) throws(Refusal) -> ManagedWorker {
    let worker = try worker(name)
    guard !worker.isLeaving else {
      throw Refusal(
        .unavailable, "\(name) is stopping: a reload took it out of the configuration, or put another in its place",
        outcome: .notStarted)
    }
    return worker
  }

  private func start(_ call: HubCall, _ command: WorkerCommand) throws(Refusal) {
    let worker = try stayingWorker(command.worker)
    guard daemon.stopping == nil else {
      throw Refusal(.unavailable, "the supervisor is stopping", outcome: .notStarted)
    }
    if worker.machine.state == .held {
      let advice = "'roost hold --release \(worker.name)' lets it run again"
      throw Refusal(.badRequest, "\(worker.name) is held; \(advice)", outcome: .notStarted)
    }
    worker.receive(.startRequested)
    answerOnArrival(call, worker)
  }

  private func restart(_ call: HubCall, _ command: WorkerCommand) throws(Refusal) {
    let worker = try stayingWorker(command.worker)
    if let why = whyNotRestarted(worker) { throw Refusal(.badRequest, why, outcome: .notStarted) }
    let before = worker.machine.generation
    worker.receive(.restartRequested)
    worker.whenArrived({ state in worker.machine.generation != before && Self.isSettled(state) || Self.isFailed(state) }
    ) {
      [unowned self] in arrived(call, worker)
    }
  }

  /// Why a restart would change nothing; nil when it would.
  func whyNotRestarted(_ worker: ManagedWorker) -> String? {
    switch worker.machine.state {
    case .held: "\(worker.name) is held; 'roost hold --release \(worker.name)' lets it run again"
    case .attached(let pid):
      "\(worker.name) is attached: pid \(pid) was started by hand; end it where it was started"
    default: nil
    }
  }

  private func stop(_ call: HubCall, _ command: StopCommand) throws(Refusal) {
    let worker = try worker(command.worker)
    worker.receive(.stopRequested(drain: command.drainMilliseconds.map { .milliseconds(Int64(clamping: $0)) }))
    worker.whenArrived({ $0.kind == .stopped }) { [unowned self] in arrived(call, worker) }
  }

  private func hold(_ call: HubCall, _ command: HoldCommand) throws(Refusal) {
    let worker = try stayingWorker(command.worker)
    if command.hold == false {
      worker.receive(.releaseRequested)
      answerOnArrival(call, worker)
    } else {
      worker.receive(.holdRequested)
      worker.whenArrived({ $0.kind == .held || $0.kind == .attached }) { [unowned self] in arrived(call, worker) }
    }
  }

  private func answerOnArrival(_ call: HubCall, _ worker: ManagedWorker) {
    worker.whenArrived(Self.isSettled) { [unowned self] in arrived(call, worker) }
  }

  private static func isSettled(_ state: WorkerState) -> Bool {
    switch state.kind {
    case .ready, .attached, .stopped, .held, .exited, .failed, .execFailed, .backoff: true
    case .waiting, .starting, .draining, .stopping: false
    }
  }

  private static func isFailed(_ state: WorkerState) -> Bool {
    state.kind == .failed || state.kind == .execFailed
  }

  private func arrived(_ call: HubCall, _ worker: ManagedWorker) {
    let report = worker.machine.report(now: EventLoop.process.now)
    let sentence = report.sentences(now: EventLoop.process.now).first ?? ""
    switch worker.machine.state.kind {
    case .failed, .execFailed, .backoff:
      let said = complaint(of: worker).map { ["It said: \($0)"] } ?? []
      let words = explain(worker) + said + ["'roost why \(worker.name)' has its last lines."]
      refuse(call, Refusal(.failed, words.joined(separator: " "), outcome: .done))
    default:
      reply(call, WorkerCommandResult(worker: worker.name, state: report.state.kind.word, sentence: sentence))
    }
  }

  private func attach(_ request: AttachRequest) throws(Refusal) -> AttachGrant {
    let roles = daemon.shell.table.roles
    guard let role = roles[request.role], role != .supervisor, role != .client else {
      let workerRoles = roles.values.filter { $0 != .supervisor && $0 != .client }.map(\.name)
      let hint = NearestName.hint(request.role, among: workerRoles)
      throw Refusal(.badRequest, "there is no worker role '\(request.role)'\(hint)", outcome: .notStarted)
    }
    let name = try attachName(request, role)
    let token = daemon.admission.issueToken(role: role.name, name: name)
    let socket = daemon.configuration.supervisor.socket
    var grant = AttachGrant(
      token: token.text, name: name, role: role.name, socket: socket,
      command: "ROOST_TOKEN=\(token.text) ROOST_SOCKET=\(shellWord(socket)) ROOST_WORKER=\(name) YOUR-PROGRAM",
      expiresMilliseconds: AttachTokens.lifetimeMilliseconds)
    // People's own programs take the socket from the environment; ours have an option for it.
    guard Role.builtIn.contains(role) else { return grant }
    let program = daemon.path(ofProgram: daemon.worker(named: name)?.configuration.program ?? role.name)
    if access(program, X_OK) == 0 {
      grant.command =
        "ROOST_TOKEN=\(token.text) \(shellWord(program)) --attach \(shellWord(socket)) --name \(name)"
    } else {
      grant.remark = "There is no program \(program). Put one of yours in the place of YOUR-PROGRAM."
    }
    return grant
  }

  private func attachName(_ request: AttachRequest, _ role: Role) throws(Refusal) -> String {
    if let name = request.name {
      if let worker = daemon.worker(named: name), worker.role != role {
        throw Refusal(.badRequest, "\(name) has role '\(worker.role)', not '\(role)'", outcome: .notStarted)
      }
      // It becomes a part of a command line that people paste into their shells.
      if let complaint = Names.complaint(about: name) { throw Refusal(.badRequest, complaint, outcome: .notStarted) }
      return name
    }
    let candidates = daemon.workers.filter { $0.role == role }
    if candidates.count > 1 {
      let names = candidates.map(\.name).joined(separator: ", ")
      throw Refusal(
        .badRequest, "role '\(role)' has several workers (\(names)); say which with --name", outcome: .notStarted)
    }
    return candidates.first?.name ?? role.name
  }

  // MARK: Reload

  /// SIGHUP: what goes wrong is in the log, and the old configuration stays.
  func reloadBySignal() {
    do throws(Refusal) { _ = try reload(ReloadRequest()) } catch {
      for line in error.message.split(separator: "\n") { daemon.log(.error, "supervision", "not reloaded: \(line)") }
    }
  }

  private func reload(_ request: ReloadRequest) throws(Refusal) -> ReloadResult {
    guard daemon.stopping == nil else {
      throw Refusal(.unavailable, "the supervisor is stopping", outcome: .notStarted)
    }
    if request.dryRun == true { return try reloaded(request) }
    return try daemon.service.reloading { () throws(Refusal) in try reloaded(request) }
  }

  private func reloaded(_ request: ReloadRequest) throws(Refusal) -> ReloadResult {
    let verdict = daemon.reread()
    let new: SupervisorConfiguration
    do throws(ConfigurationError) { new = try verdict.outcome.get() } catch {
      throw Refusal(.failed, "the old configuration stays in force:\n\(error)", outcome: .notStarted)
    }
    let changes = new.changes(from: daemon.configuration)
    // Before the change: it moves the workers whose states the texts have.
    let texts = daemon.texts(of: changes, new)
    let remarks = daemon.remarks(on: changes)
    let warnings = verdict.doubts.map { "\($0)" }
    if request.dryRun == true {
      return ReloadResult(changes: texts, isApplied: false, warnings: warnings, remarks: remarks)
    }
    do { try daemon.adopt(new, changes) } catch {
      throw Refusal(.failed, "\(error)", outcome: .unknown)
    }
    daemon.log(.notice, "supervision", "reloaded: \(texts.isEmpty ? "nothing differs" : "\(texts.count) parts differ")")
    for warning in warnings { daemon.log(.warning, "supervision", warning) }
    for remark in remarks { daemon.log(.notice, "supervision", remark) }
    return ReloadResult(changes: texts, isApplied: true, warnings: warnings, remarks: remarks)
  }

  // MARK: Logs

  private func logs(_ call: HubCall, _ request: LogsRequest) throws(Refusal) {
    if let name = request.worker, name != "roostd" {
      guard daemon.guest(named: name) == nil else {
        throw Refusal(
          .badRequest,
          "\(name) was started by hand: its log goes to where it was started, and roostd has none of it "
            + "('roost logs roostd' tells when it came)",
          outcome: .notStarted)
      }
      _ = try worker(name)
    }
    let lines = min(max(request.lines ?? 50, 0), 10_000)
    // Written as the workers write it.
    let trace = request.trace.flatMap { RequestTrace($0)?.description }
    let known = daemon.logs.tail(worker: request.worker, lines: trace == nil ? lines : .max).map(\.record)
    let records = Array(known.filter { $0.isAbout(trace) }.suffix(lines))
    guard request.follow == true else {
      replyLines(call, records)
      return
    }
    let follower = LogStream(worker: request.worker, trace: trace, book: daemon.logs) { [unowned self] records in
      sendLines(call, records)
    }
    followers[call] = follower
    follower.begin(with: records)
  }

  private func setLevel(_ request: LogLevelRequest) throws(Refusal) -> LogLevelResult {
    guard let level = LogSeverity(rawValue: request.level) else {
      let hint = NearestName.hint(request.level, among: LogSeverity.allCases.map(\.rawValue))
      throw Refusal(.badRequest, "'\(request.level)' is no log level\(hint)", outcome: .notStarted)
    }
    guard daemon.logs.setLevel(request.category, level) else {
      throw Refusal(
        .full, "'\(request.category)' cannot have a level: \(LogFilter.categoryCountMaximum) categories at most",
        outcome: .notStarted)
    }
    daemon.broadcastSettings()
    var result = LogLevelResult(category: request.category, level: request.level)
    result.remark = remark(onCategory: request.category)
    return result
  }

  /// What to say of a category without a log line. It is no mistake for sure: a person's
  /// own worker may begin with it.
  private func remark(onCategory category: String) -> String? {
    guard category != LogFilter.general else { return nil }
    let seen = daemon.logs.tail(worker: nil, lines: Self.categoryLineCount).map(\.record.category)
    let known = Set(seen).union(LogCategory.builtIn)
    guard !known.contains(category) else { return nil }
    let shown = known.sorted().prefix(Self.categoryCountMaximum).joined(separator: ", ")
    let near = NearestName.find(category, among: known.sorted()).map { " Did you mean '\($0)'?" } ?? ""
    return "No line of category '\(category)' has been logged yet.\(near) Known: \(shown)."
  }

  /// Past lines that are looked through for categories, and categories that are named.
  private static let categoryLineCount = 10_000
  private static let categoryCountMaximum = 40
}
