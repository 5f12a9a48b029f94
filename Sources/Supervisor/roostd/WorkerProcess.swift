import Clocks
import RoostConfiguration
import Contracts
import EventLoop
import Glibc
import LinuxSystem
import Logs
import Supervision

/// One started process of a worker, from the exec shim to the last line of its log.
///
/// Descriptors of the child: 0 /dev/null, 1 and 2 log pipes, 3 the bus, 4 the lock of the worker's name, 5 the shim's
/// status pipe, which tells a failed exec from a program that dies at once; from 6 on the sockets that a service
/// manager opened for this worker, which are passed on to each of its processes. Ours are closed by their owner here:
/// the bus by its connection, the log pipes by their readers, the status pipe once it has ended.
@EventLoopActor
final class WorkerProcess {
  /// What became of the shim's `exec`: nil = it succeeded.
  typealias ExecResult = @EventLoopActor (String?) -> Void

  let generation: UInt32
  private(set) var child: ChildProcess?
  private let onExec: ExecResult
  private let onExit: @EventLoopActor (ChildExit) -> Void
  private var statusDescriptor: Int32
  private var statusWatcher: DescriptorWatcher?
  private var statusText: [UInt8] = []
  private var logPipes: [LogPipe] = []

  /// Longest message taken from the shim, in bytes.
  private static let statusByteCountMaximum = 1_024

  /// What a start needs.
  struct Plan {
    var worker: WorkerConfiguration
    /// The program as a path with a slash.
    var program: String
    var generation: UInt32
    var lock: FileLock
    var shim: String
    var instance: String
    var stateDirectory: String
    /// Sockets of the worker's name that a service manager opened.
    var listening: [Int32]
    /// The group for programs of the user's; nil without one.
    var jobGroup: String?
  }

  /// Starts the program through the exec shim; `bus` is our end of the new socketpair.
  ///
  /// Whatever fails on the way, every descriptor that was opened is closed: what is tried again for ever must not lose
  /// one at each attempt.
  static func start(
    _ plan: Plan, logs: WorkerLogs, onExec: @escaping ExecResult, onExit: @escaping @EventLoopActor (ChildExit) -> Void
  ) throws -> (process: WorkerProcess, bus: ByteStream) {
    var theirs: [Int32] = []
    defer { for descriptor in theirs { Descriptors.close(descriptor) } }
    // Ours belong to their readers as soon as they are there.
    func keepTheirs(_ pair: DescriptorPair) -> Int32 {
      theirs.append(pair.second)
      return pair.first
    }
    let name = plan.worker.name
    let stream = try ByteStream(descriptor: keepTheirs(try Descriptors.socketPair()))
    let output = try LogPipe(
      descriptor: keepTheirs(try Descriptors.pipe()), worker: name, source: .standardOutput, book: logs)
    let errors = try LogPipe(
      descriptor: keepTheirs(try Descriptors.pipe()), worker: name, source: .standardError, book: logs)
    theirs.append(try plan.lock.duplicate())
    let process = WorkerProcess(
      plan.generation, status: keepTheirs(try Descriptors.pipe()), onExec: onExec, onExit: onExit)
    process.logPipes = [output, errors]
    // Before the child: there is no way back once it runs.
    try process.watchStatus()
    process.child = try ChildProcess(
      path: plan.shim, arguments: arguments(plan), environment: environment(),
      descriptors: [nil] + childOrder(theirs) + plan.listening
    ) { [weak process] exit in process?.exited(exit) }
    return (process, stream)
  }

  /// Their ends as the child numbers them from 1 on: output, errors, bus, lock, status; made in another order.
  private static func childOrder(_ made: [Int32]) -> [Int32?] { [made[1], made[2], made[0], made[3], made[4]] }

  private func watchStatus() throws(LoopFault) {
    statusWatcher = try DescriptorWatcher(descriptor: statusDescriptor) { [weak self] in self?.readStatus() }
  }

  private init(
    _ generation: UInt32, status: Int32, onExec: @escaping ExecResult,
    onExit: @escaping @EventLoopActor (ChildExit) -> Void
  ) {
    self.generation = generation
    statusDescriptor = status
    self.onExec = onExec
    self.onExit = onExit
    _ = fcntl(status, F_SETFL, O_NONBLOCK)
  }

  isolated deinit { closeStatus() }

  /// Its process id, which leads its own group and session.
  var pid: Int32 { child?.pid ?? 0 }

  /// Signals the whole group.
  func signalGroup(_ number: Int32) {
    // Below 2 lies every process of the user, and init: a number that can only be a fault of ours.
    if pid > 1 { kill(-pid, number) }
  }

  /// Whether nothing of the group is left.
  var isGroupEmpty: Bool { pid <= 1 || (kill(-pid, 0) != 0 && errno == ESRCH) }

  /// The process is gone: what it wrote last is still read, for a moment.
  func drainLogs() { for pipe in logPipes { pipe.workerEnded() } }

  // MARK: Exec

  private func readStatus() {
    var buffer = [UInt8](repeating: 0, count: 256)
    while statusDescriptor >= 0 {
      let count = read(statusDescriptor, &buffer, buffer.count)
      if count < 0 && errno == EINTR { continue }
      if count < 0 { return }
      if count == 0 {
        let text = String(decoding: statusText, as: UTF8.self)
        closeStatus()
        onExec(text.isEmpty ? nil : Self.explain(text))
        return
      }
      if statusText.count < Self.statusByteCountMaximum { statusText += buffer[..<count] }
    }
  }

  private func exited(_ exit: ChildExit) {
    // What the shim said before it ended is in the pipe already, and comes first.
    readStatus()
    onExit(exit)
  }

  private func closeStatus() {
    statusWatcher?.close()
    statusWatcher = nil
    if statusDescriptor >= 0 { Descriptors.close(statusDescriptor) }
    statusDescriptor = -1
  }

  /// `exec 2 /bin/worker: No such file or directory` → `/bin/worker: No such file or directory`. Of another stage,
  /// which a worker's program has no part in, the stage comes before it. "Permission denied" leaves open what is wrong
  /// with a path, so that is looked at.
  private static func explain(_ line: String) -> String {
    let words = line.split(whereSeparator: \.isWhitespace)
    guard words.count > 2 else { return line }
    let rest = words[2...].joined(separator: " ")
    guard words[0] == "exec" else { return "\(words[0]): \(rest)" }
    let denied = ": " + String(cString: strerror(EACCES))
    guard rest.hasSuffix(denied) else { return rest }
    let program = String(rest.dropLast(denied.count))
    return ProgramFinding(at: program).complaint.map { "\(program) \($0)" } ?? rest
  }

  // MARK: Command line

  private static func arguments(_ plan: Plan) -> [String] {
    let worker = plan.worker
    var list = ["--parent", "\(getpid())", "--status-fd", "5"]
    if !plan.listening.isEmpty { list += ["--listen-fds", "\(plan.listening.count)"] }
    let limits: [(String, Int?)] = [
      ("nofile", worker.limits.openFiles), ("core", worker.limits.coreBytes), ("fsize", worker.limits.fileBytes),
      ("as", worker.limits.addressSpaceBytes),
    ]
    for (name, value) in limits { if let value { list += ["--limit", "\(name)=\(value)"] } }
    for name in worker.environment { list += ["--env", name] }
    var variables = [
      "ROOST_WORKER": worker.name, "ROOST_GENERATION": "\(plan.generation)", "ROOST_INSTANCE": plan.instance,
      "ROOST_SANDBOX": worker.sandbox.rawValue, "ROOST_STATE": plan.stateDirectory,
      // Swift's backtracer is a program, which a sandboxed worker may not start: its tries would only delay the end.
      "SWIFT_BACKTRACE": "enable=no",
    ]
    // A worker's sandbox is made before the settings come, and these files have to be in it.
    for (entry, variable) in FileVariables.names {
      if case .string(let path)? = worker.settings[entry], !path.isEmpty { variables[variable] = path }
    }
    variables.merge(worker.sandboxVariables) { own, _ in own }
    variables["ROOST_JOB_GROUP"] = plan.jobGroup
    if !plan.listening.isEmpty { variables["ROOST_LISTEN_FDS"] = "\(plan.listening.count)" }
    for (name, value) in variables.sorted(by: { $0.key < $1.key }) { list += ["--set", "\(name)=\(value)"] }
    return list + ["--", plan.program] + worker.arguments
  }

  private static func environment() -> [String] {
    var list: [String] = []
    var next = environ
    while let entry = next.pointee {
      list.append(String(cString: entry))
      next += 1
    }
    return list
  }
}
