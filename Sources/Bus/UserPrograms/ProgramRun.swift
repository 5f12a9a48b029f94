public import EventLoop
internal import Frames
internal import Glibc
public import LinuxSystem

// One run of a user's program, from the exec shim to the end of its last child.
//
//    worker ─ uv_spawn ─▶ roost-exec ─ exec ─▶ worker --run-program ─ exec ─▶ the program
//                         session, signals,    limits, Landlock, seccomp
//                         death with worker,
//                         environment, folder
//
// All of this is one process, which leads a session and a process group of its own. It may start others, but none can
// leave the group (seccomp denies `setsid` and `setpgid`). So one SIGKILL to the group ends them all at one instant,
// however fast they fork: the kernel makes no child for a parent that is about to be killed. When the program ends, all
// of them end, whatever it has left behind.
//
// When the worker itself is killed, the program dies by the death signal. Processes that the program has started carry
// ROOST_INSTANCE and ROOST_WORKER in their environment, by which roostd finds and ends them before it restarts the
// worker. A child that was started with an emptied environment escapes that and nothing else: no process reads what it
// writes.
//
// If roostd was given a part of the kernel's tree of groups (cgroup v2), each run has a group of its own there. The
// kernel limits its memory, sockets included, and its processes at every instant, and ends everything in it at once. A
// start ends what a dead worker has left in such groups.
//
// All limits are also checked from here, and without a group only here: `ProgramMeter`.

/// A running program.
@EventLoopActor
public final class ProgramRun {
  private let plan: ProgramPlan
  private var child: ChildProcess?
  private var readers: [PipeReader] = []
  private var output: [UInt8] = []
  private var errors: [UInt8] = []
  private let onReport: @EventLoopActor (ArraySlice<UInt8>) -> Void
  private var continuation: CheckedContinuation<ProgramEnd, Never>?
  private var exit: ChildExit?
  private var endReason: String?
  private var watch: ProgramMeter?
  private let gate: LookGate
  /// The kernel's group that it is in.
  private var group: ControlGroup?
  private var lackedGroup: SystemFault?
  private let timeTimer = LoopTimer()
  private let lookTimer = LoopTimer()
  private let restTimer = LoopTimer()

  /// Bytes of standard error that are kept, from its end.
  private static let errorByteCountMaximum = 4 << 10
  /// The interval between checks of processes, memory and files.
  private static let lookMilliseconds: UInt64 = 100
  /// How long pipes are still read after the last process of the group was killed.
  private static let restMilliseconds: UInt64 = 1_000
  private static let openFileMaximum: UInt64 = 256

  /// A run that has not begun.
  ///
  /// - Parameters:
  ///   - plan: how it is run.
  ///   - gate: shared by all runs.
  ///   - onReport: takes what the program writes to descriptor 3 while it works; of its length nothing is checked here.
  public init(
    _ plan: ProgramPlan, gate: LookGate, onReport: @escaping @EventLoopActor (ArraySlice<UInt8>) -> Void = { _ in }
  ) {
    self.plan = plan
    self.gate = gate
    self.onReport = onReport
  }

  /// Runs the program; returns when nothing of it is left.
  public func run() async -> ProgramEnd {
    if let endReason { return end(.failed(endReason)) }
    var result: ProgramEnd
    do {
      // Left by an earlier process that could not remove it.
      try await Self.remove(plan.folder)
      await makeGroup()
      if let endReason {
        result = end(.failed(endReason))
      } else {
        try start()
        result = await withCheckedContinuation { continuation = $0 }
      }
    } catch {
      result = end(.failed("the program could not be started: \(error)"))
    }
    result.leftFolder = await tidy()
    result.leftGroup = await endGroup()
    result.lackedGroup = lackedGroup
    return result
  }

  /// Removes a folder, on the thread pool, because a program may have made thousands of files.
  public static func remove(_ folder: String) async throws(SystemFault) {
    let result = await EventLoopActor.onThreadPool { () -> Result<Void, SystemFault> in
      do throws(SystemFault) { return .success(try FolderTree.remove(folder)) } catch { return .failure(error) }
    }
    try result.get()
  }

  /// Ends the program at once.
  public func stop(_ reason: String) {
    if endReason == nil { endReason = reason }
    killGroup()
  }

  // MARK: The kernel's group

  /// The name of its own kernel group; nil without one.
  public var groupName: String? { plan.group?.name }

  /// Makes the kernel's group, and limits it before any process is in it. If that fails, the run continues as on a
  /// machine without groups.
  private func makeGroup() async {
    guard let wanted = plan.group else { return }
    let (memory, processes) = (plan.memoryByteCount, plan.processMaximum)
    let result = await EventLoopActor.onThreadPool { () -> Result<Void, SystemFault> in
      Result { () throws(SystemFault) in
        // Left by an earlier process that was killed.
        try wanted.end()
        try wanted.make()
        try wanted.bound(memoryByteCount: memory, processCount: processes)
      }
    }
    switch result {
    case .success: group = wanted
    case .failure(let fault): lackedGroup = fault
    }
  }

  /// Ends and removes the group, on the thread pool, because the last process may take a while. Returns why it is still
  /// there.
  private func endGroup() async -> SystemFault? {
    guard let group = plan.group else { return nil }
    let result = await EventLoopActor.onThreadPool { () -> Result<Void, SystemFault> in
      Result { () throws(SystemFault) in try group.end() }
    }
    if case .failure(let fault) = result { return fault }
    return nil
  }

  /// Ends everything in groups that belong to no run of this process: what a killed worker has left, and what did not
  /// end.
  ///
  /// - Parameter names: the groups of the runs of this process.
  /// - Returns: why groups are still there.
  public static func endLeftGroups(except names: Set<String>) async -> [SystemFault] {
    let left = ProgramEnvironment.own.group?.innerGroups.filter { !names.contains($0.name) } ?? []
    guard !left.isEmpty else { return [] }
    return await EventLoopActor.onThreadPool {
      left.compactMap { group -> SystemFault? in
        do throws(SystemFault) { try group.end() } catch { return error }
        return nil
      }
    }
  }

  // MARK: Starting

  private func start() throws {
    try PrivateDirectory.ensure(plan.folder)
    var theirs: [Int32] = []
    defer { for descriptor in theirs { Descriptors.close(descriptor) } }
    theirs.append(try Descriptors.memoryFile(plan.input))
    let takers: [@EventLoopActor (ArraySlice<UInt8>) -> Void] = [
      { [unowned self] in received(output: $0) }, { [unowned self] in received(errors: $0) },
      { [unowned self] in onReport($0) },
    ]
    for taker in takers {
      let pipe = try Descriptors.pipe()
      theirs.append(pipe.second)
      readers.append(
        try PipeReader(descriptor: pipe.first, onBytes: taker, onEnd: { [unowned self] in concludeIfOver() }))
    }
    child = try ChildProcess(
      path: ProgramEnvironment.own.shim, arguments: arguments, environment: variables.entries,
      descriptors: theirs.map(Optional.some)
    ) { [weak self] exit in self?.exited(exit) }
    timeTimer.set(afterMilliseconds: plan.timeMilliseconds) { [unowned self] in
      stop("it took longer than the \(plan.timeMilliseconds) ms that it may")
    }
    var status = stat()
    let device = fstat(theirs[0], &status) == 0 ? UInt64(status.st_dev) : nil
    watch = child.map { ProgramMeter(plan, group: $0.pid, inputDevice: device) }
    look()
  }

  /// By these variables roostd finds what is left when this worker is killed.
  private static let marks = ["ROOST_INSTANCE", "ROOST_WORKER"]

  private static var inherited: [String] {
    marks.compactMap { name in getenv(name).map { "\(name)=\(String(cString: $0))" } }
  }

  private var variables: ProgramVariables {
    let standard = [
      "PATH=/usr/local/bin:/usr/bin:/bin", "HOME=\(plan.folder)", "TMPDIR=\(plan.folder)", "LANG=C.UTF-8",
    ]
    return ProgramVariables(standard + plan.environment + Self.inherited)
  }

  private var arguments: [String] {
    let list = ["--parent", "\(getpid())", "--directory", plan.folder] + variables.shimArguments
    let launch = String(decoding: JSONPayload.encode(launchPlan), as: UTF8.self)
    return list + ["--", ProgramEnvironment.own.program, ProgramLauncher.word, launch, "--"] + plan.command
  }

  private var launchPlan: ProgramLauncher.Plan {
    let network: SandboxProfile.Network =
      switch plan.network {
      case .none: .none
      case .unixSockets: .unixOnly
      case .internet: .inet
      }
    let profile = SandboxProfile(
      readablePaths: SandboxProfile.runtimePaths + plan.readablePaths
        + (plan.network == .internet ? SandboxProfile.resolverPaths : []),
      writablePaths: [plan.folder, "/dev/null"], executablePaths: ProgramEnvironment.systemPaths + [plan.command[0]],
      network: network, maySpawn: true, holdsForeignProgram: true,
      mayReachAbstractSockets: plan.network == .unixSockets)
    let limits: [(ResourceLimit.Resource, UInt64)] = [
      (.data, UInt64(plan.memoryByteCount)), (.fileSize, UInt64(plan.diskByteCount)), (.coreFile, 0),
      // For each process; the limit of real time ends them all.
      (.processorTime, plan.timeMilliseconds / 1_000 + 1), (.openFiles, Self.openFileMaximum),
    ]
    return ProgramLauncher.Plan(
      profile: profile, requirement: plan.mayLackSandbox ? ProgramEnvironment.own.requirement : .required,
      limits: limits.map { ProgramLauncher.Plan.Limit(resource: $0, value: $1) }, group: group?.path)
  }

  // MARK: While it runs

  private func received(output bytes: ArraySlice<UInt8>) {
    guard output.count + bytes.count <= plan.outputByteCount else {
      return stop("it wrote more than the \(plan.outputByteCount) bytes that a result may have")
    }
    output += bytes
  }

  private func received(errors bytes: ArraySlice<UInt8>) {
    errors += bytes.suffix(Self.errorByteCountMaximum)
    if errors.count > 2 * Self.errorByteCountMaximum { errors = Array(errors.suffix(Self.errorByteCountMaximum)) }
  }

  /// Checks, on the thread pool: to walk through a folder of ten thousand files takes longer than the loop may block.
  /// The next check comes a while after the end of this one, so each run has one at a time; `LookGate` limits those of
  /// all runs.
  private func look() {
    guard let watch else { return }
    EventLoopActor.task { [self] in
      await gate.enter()
      defer { gate.leave() }
      guard isWatched else { return }
      let (complaint, after) = await EventLoopActor.onThreadPool {
        var watch = watch
        let complaint = watch.complaint()
        return (complaint, watch)
      }
      self.watch = after
      // The program may have ended meanwhile, and its number may be another process's.
      guard isWatched else { return }
      if let complaint { return stop(complaint) }
      lookTimer.set(afterMilliseconds: Self.lookMilliseconds) { [unowned self] in look() }
    }
  }

  private var isWatched: Bool { exit == nil && endReason == nil }

  private func killGroup() {
    // A lower number would mean every process of the user, or init: it can only be a bug.
    guard let pid = child?.pid, pid > 1 else { return }
    kill(-pid, SIGKILL)
    // Until it leads its group, it is the only process.
    child?.signal(SIGKILL)
    group?.kill()
  }

  // MARK: The end

  private func exited(_ exit: ChildExit) {
    self.exit = exit
    group?.kill()
    // The kernel does not reuse the number while the group has a member, and no other process can have made a group of
    // that number in the turn of the loop in which the program was reaped.
    if let pid = child?.pid, pid > 1 { kill(-pid, SIGKILL) }
    restTimer.set(afterMilliseconds: Self.restMilliseconds) { [unowned self] in
      for reader in readers { reader.close() }
      concludeIfOver()
    }
    concludeIfOver()
  }

  private func concludeIfOver() {
    guard let exit, readers.allSatisfy(\.isClosed), let continuation else { return }
    self.continuation = nil
    continuation.resume(returning: end(outcome(of: exit)))
  }

  private func outcome(of exit: ChildExit) -> ProgramOutcome {
    if let endReason { return .failed(endReason) }
    switch exit.signal {
    case 0: break
    case SIGXCPU: return .failed("it took more time of the processor than it may")
    case SIGKILL where group?.wasShortOfMemory == true:
      return .failed("it took more than the \(plan.memoryByteCount) bytes of memory that it may")
    case SIGXFSZ: return .failed("it wrote a file of more than the \(plan.diskByteCount) bytes that it may")
    default:
      return .failed("the program was ended by signal \(exit.signal) (\(String(cString: strsignal(exit.signal))))")
    }
    guard exit.code == 0 else {
      let denial = "after it was denied more than the \(plan.processMaximum) processes and threads that it may have"
      return .failed(
        "the program has ended with code \(exit.code)" + (group?.wasShortOfProcesses == true ? ", \(denial)" : ""))
    }
    return .done(output)
  }

  private func end(_ outcome: ProgramOutcome) -> ProgramEnd {
    ProgramEnd(
      outcome: outcome, errors: String(decoding: errors.suffix(Self.errorByteCountMaximum), as: UTF8.self))
  }

  /// Closes the pipes and removes the folder. Returns why the folder is still there.
  private func tidy() async -> SystemFault? {
    timeTimer.cancel()
    lookTimer.cancel()
    restTimer.cancel()
    for reader in readers { reader.close() }
    do throws(SystemFault) { try await Self.remove(plan.folder) } catch { return error }
    return nil
  }
}
