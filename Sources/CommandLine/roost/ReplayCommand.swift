internal import ArgumentParser
internal import EventLoop
internal import Frames
internal import Glibc
internal import Recordings
internal import Rendering

/// `roost replay`
struct ReplayFile: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay",
    abstract: "Plays a recording to a program, and compares what it says with what was recorded.",
    discussion: """
      The program is started as roostd starts a worker: bus on descriptor 3, the variables of the recorded worker, a state \
      directory of its own. Each recorded message to the worker is sent when all messages from it that stood before have \
      come. Not compared: CREDIT, STATUS, PROGRESS, EXTEND, PING, and in HELLO pid, instance, version and sandbox. What the \
      program prints goes to standard error.

        roost replay a.recording -- .build/debug/example --flag
        roost replay a.recording --timeout 1h -- gdb --args .build/debug/example

      Exit codes: 0 identical, 1 different or not to be played, 5 timed out.
      """)
  @Argument(help: "The recording.") var file: String
  @Option(
    help: ArgumentHelp("How much longer than recorded a message may take.", valueName: "time"),
    transform: Timeout.init(reading:))
  var timeout = Timeout(milliseconds: 5_000)
  @Flag(help: "Send each message no earlier than it was sent in the recording.")
  var paced = false
  @Flag(help: "Compare answers alone, not what the program asks or tells of its own accord.")
  var answersOnly = false
  @Option(
    help: ArgumentHelp("The program's ROOST_STATE, instead of a new temporary directory.", valueName: "directory"))
  var state: String?
  @Option(
    help: ArgumentHelp("The program's ROOST_SANDBOX, instead of the recorded: try, required, off.", valueName: "mode"))
  var sandbox: String?
  @Option(help: ArgumentHelp("Pass on this variable of the environment too; may be repeated.", valueName: "name"))
  var env: [String] = []
  @OptionGroup var general: GeneralOptions
  @Argument(parsing: .postTerminator, help: "The program and its arguments, behind '--'.")
  var program: [String] = []

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    if program.isEmpty { throw ValidationError("The program is missing: roost replay FILE -- PROGRAM ARGUMENTS") }
    if let sandbox, !["try", "required", "off"].contains(sandbox) {
      throw ValidationError("--sandbox is try, required or off.")
    }
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let recording = try RecordingInput.whole(file)
    var settings = ReplaySettings()
    settings.patienceMilliseconds = UInt64(timeout.milliseconds)
    settings.isPaced = paced
    settings.comparesAnswersOnly = answersOnly
    let replay: Replay
    do throws(ReplayProblem) {
      replay = try Replay(recording, settings, now: EventLoop.process.now)
    } catch { throw Refusal(.failed, "\(file): \(error)", outcome: .notStarted) }
    let runner = ReplayRunner(replay)
    try runner.start(
      ReplayProgram(
        recording, command: program, sandbox: sandbox, passedVariables: env,
        stateDirectory: state.map(TypedPaths.absolute)))
    let hasTerminal = Terminal.isTerminal(STDIN_FILENO)
    if hasTerminal {
      // The program has the same terminal and gets the signal too: a debugger needs Ctrl-C for itself.
      try session.onFirstInterrupt({}, giveUp: { runner.kill() })
    } else {
      try session.onInterrupt(.interrupted) { runner.kill() }
    }
    let report = await runner.report()
    var names = RecordingText(session.style)
    for (index, frame) in recording.frames.enumerated() { _ = names.line(index + 1, frame) }
    if session.isJSON {
      await session.output.writeLine(ReplayText.object(report, names: names))
    } else {
      await session.output.writeLines(ReplayText.lines(report, names: names, session.style))
    }
    // A debugger is not killed; a second Ctrl-C leaves it.
    await runner.end(isPatient: hasTerminal)
    return switch report.outcome {
    case .identical: .done
    case .different: .failed
    case .timedOut: .timedOut
    }
  }
}
