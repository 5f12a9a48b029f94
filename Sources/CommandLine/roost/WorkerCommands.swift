internal import ArgumentParser
internal import Contracts
internal import EventLoop
internal import Frames
internal import Rendering
internal import Wording

/// `roost start`
struct Start: LoopCommand {
  static let configuration = CommandConfiguration(abstract: "Starts a worker and waits until it is ready.")
  @OptionGroup var name: WorkerName
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.move(SupervisorMethod.start, WorkerCommand(worker: name.worker))
  }
}

/// `roost stop`
struct Stop: LoopCommand {
  static let configuration = CommandConfiguration(
    abstract: "Stops a worker: it finishes what it has in hand, then nothing of it runs.")
  @OptionGroup var name: WorkerName
  @Option(
    help: ArgumentHelp("How long it may finish, such as 20s; as configured if not given.", valueName: "time"),
    transform: Timeout.init(reading:))
  var deadline: Timeout?
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let drain = deadline.map { UInt64($0.milliseconds) }
    let whole = Timeout.moving.milliseconds.addingReportingOverflow(deadline?.milliseconds ?? 0)
    return try await session.move(
      SupervisorMethod.stop, StopCommand(worker: name.worker, drainMilliseconds: drain),
      timeout: Timeout(milliseconds: whole.overflow ? .max : whole.partialValue))
  }
}

/// `roost restart`
struct Restart: LoopCommand {
  static let configuration = CommandConfiguration(
    abstract: "Stops a worker and starts it again; its mail is kept meanwhile.")
  @OptionGroup var name: WorkerName
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.move(SupervisorMethod.restart, WorkerCommand(worker: name.worker))
  }
}

/// `roost hold`
struct Hold: LoopCommand {
  static let configuration = CommandConfiguration(
    abstract: "Parks a worker: nothing of it runs, and its mail is kept until it is released.")
  @OptionGroup var name: WorkerName
  @Flag(help: "Let it run again.")
  var release = false
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.move(SupervisorMethod.hold, HoldCommand(worker: name.worker, hold: !release))
  }
}

/// `roost attach`
struct Attach: LoopCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints a command line that joins a worker of your own to the bus.")
  @Argument(help: "The role to join as, such as relay-connector.")
  var role: String
  @Option(help: "The worker whose place to take, or a new name.")
  var name: String?
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.show(SupervisorMethod.attach, AttachRequest(role: role, name: name)) {
      (grant, style) in AttachText.lines(grant, style)
    }
    return .done
  }
}

/// `roost reload`
struct Reload: LoopCommand {
  static let configuration = CommandConfiguration(abstract: "Reads supervisor.conf again and puts it in force.")
  @Flag(help: "Only tell what would change.")
  var dryRun = false
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let request = ReloadRequest(dryRun: dryRun ? true : nil)
    try await session.show(SupervisorMethod.reload, request, timeout: .moving) { (result, style) in
      ReloadText.lines(result, style)
    }
    return .done
  }
}

/// `roost log`
struct Log: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Changes what is logged.", subcommands: [Level.self])

  /// `roost log level`
  struct Level: LoopCommand {
    static let configuration = CommandConfiguration(
      abstract: "Sets the level of a category, in all workers, until the next restart of roostd.")
    @Argument(help: "CATEGORY=LEVEL, or LEVEL for all categories without one of their own.")
    var setting: String
    @OptionGroup var general: GeneralOptions

    static let levels = ["trace", "debug", "info", "notice", "warning", "error", "critical"]

    func validate() throws {
      guard !UnknownOptions.areSought else { return }
      guard Self.levels.contains(request.level) else {
        let hint = NearestName.hint(request.level, among: Self.levels)
        throw ValidationError("'\(request.level)' is no level\(hint)\nLevels: \(Self.levels.joined(separator: ", "))")
      }
    }

    private var request: LogLevelRequest {
      let parts = setting.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else { return LogLevelRequest(category: "*", level: setting) }
      return LogLevelRequest(category: parts[0].isEmpty ? "*" : String(parts[0]), level: String(parts[1]))
    }

    func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
      let request = request
      try await session.show(SupervisorMethod.logLevel, request) { (result, style) in
        LogLevelText.lines(result, style)
      }
      return .done
    }
  }
}

extension CommandSession {
  /// Brings a worker into another state and prints the state that it has reached.
  func move<Command>(
    _ method: Method<Command, WorkerCommandResult>, _ command: Command, timeout: Timeout = .moving
  ) async throws(Refusal) -> ExitStatus {
    try await show(method, command, timeout: timeout) { (result, _) in
      [VisibleText.make(result.sentence)]
    }
    return .done
  }
}
