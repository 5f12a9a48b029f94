internal import Bus
internal import Clocks
internal import Contracts
internal import EventLoop
internal import Frames
internal import Glibc
internal import LinuxSystem
internal import Rendering
internal import RoostClient

// The first step of `roost setup`: a Roost that runs, with the workers that the other steps need.
//
// An installed Roost is started by the user's systemd, if there is a unit for it. Otherwise the roostd beside this
// program is started by setsid(1), in a session of its own: neither Ctrl-C here nor the end of the terminal reaches it.
// With --quiet it writes only why it does not start, into a file without a name that this program reads.

extension SetupRun {
  /// The roles that must be ready before the next step.
  private static let roles: Set<String> = [
    Role.signer.name, Role.eventStore.name, Role.outboxPlanner.name, Role.relayConnector.name,
  ]
  /// How long a start may take.
  private static let startMilliseconds: UInt64 = 60_000
  /// How often it is looked whether something is ready.
  private static let lookMilliseconds: UInt64 = 200

  /// Connects to the supervisor; starts one where no supervisor answers.
  func findSupervisor() async throws(Refusal) {
    var isStarted = false
    do throws(Refusal) { try await session.client.connect() } catch {
      guard error.code == .noSupervisor || isRefusedBySystem(error) else { throw error }
      guard try isStartWanted(error) else { throw error }
      if !session.isJSON { await session.output.writeLines(["Starting Roost."]) }
      try await start()
      isStarted = true
    }
    try await awaitWorkers()
    await tell(
      SetupJSON.Supervisor(isStarted: isStarted),
      ["Roost is running" + (isStarted ? ". 'roost status' shows how it is." : " already.")])
  }

  /// Whether it was the Roost of the system that refused this user, who is in none of its groups and can have another.
  private func isRefusedBySystem(_ refusal: Refusal) -> Bool {
    let named = options.general.socket ?? ProcessEnvironment.current()["ROOST_SOCKET"] ?? ""
    return refusal.code == .notPermitted && named.isEmpty
  }

  private func isStartWanted(_ refusal: Refusal) throws(Refusal) -> Bool {
    if let start = options.start { return start }
    guard isAsking else {
      leaveForUsage(
        "Roost is not running here, and there is no terminal to ask at: --start starts it. \(refusal.message)")
    }
    return try Question.isYes("Roost is not running here. Start it now?")
  }

  private func start() async throws(Refusal) {
    if options.config == nil, await run("/usr/bin/systemctl", ["--user", "cat", "roost.service"]).code == 0 {
      let started = await run("/usr/bin/systemctl", ["--user", "start", "roost.service"])
      guard started.code == 0 else {
        throw Self.notStarted("systemd could not start it", started.lines, "journalctl --user -u roost")
      }
      return try await connect(whileRunning: nil)
    }
    let program = OwnProgram.directory + "/roostd"
    guard access(program, X_OK) == 0 else {
      throw Self.notStarted("there is no roostd beside this program, at \(program)", [], nil)
    }
    let words = try SetupOutput()
    var arguments = [program, "--quiet"]
    if let config = options.config { arguments += ["--config", config] }
    let ending = Ending()
    do throws(LoopFault) {
      _ = try ChildProcess(
        path: "/usr/bin/setsid", arguments: arguments, environment: Self.environment,
        descriptors: [nil, words.descriptor, words.descriptor]
      ) { ending.exit = $0 }
    } catch {
      throw Self.notStarted("\(error)", [], nil)
    }
    try await connect { () throws(Refusal) in
      guard let exit = ending.exit else { return }
      let reason = exit.signal != 0 ? "it ended by signal \(exit.signal)" : "it ended with exit code \(exit.code)"
      throw Self.notStarted(reason, words.lines, nil)
    }
  }

  /// How a program ended that was started.
  private final class Ending {
    var exit: ChildExit?
  }

  /// Connects as soon as the socket is there.
  private func connect(whileRunning check: (() throws(Refusal) -> Void)?) async throws(Refusal) {
    let end = EventLoop.process.now.advanced(milliseconds: Self.startMilliseconds)
    while true {
      try check?()
      do throws(Refusal) { return try await session.client.connect() } catch {
        guard EventLoop.process.now < end else {
          throw Refusal(
            .noSupervisor,
            "Roost was started and does not answer. If it has its socket elsewhere, name it: --socket PATH. "
              + error.message, outcome: .done)
        }
      }
      await EventLoopActor.sleep(milliseconds: Self.lookMilliseconds)
    }
  }

  /// Waits until the workers are ready that the next steps need.
  private func awaitWorkers() async throws(Refusal) {
    let end = EventLoop.process.now.advanced(milliseconds: Self.startMilliseconds)
    while true {
      let status = try await session.client.request(
        SupervisorMethod.status, StatusRequest(), options: .idempotent(ttlMilliseconds: Timeout.reading.milliseconds))
      let away = Self.roles.sorted().compactMap { role in
        let workers = status.workers.filter { $0.role == role }
        return workers.isEmpty
          ? "no worker has the role \(role) in supervisor.conf" : WaitingText.need(workers)
      }
      guard let first = away.first else { return }
      guard EventLoop.process.now < end else {
        throw Refusal(.unavailable, "setup needs a worker that is not there: \(first)", outcome: .notStarted)
      }
      await EventLoopActor.sleep(milliseconds: Self.lookMilliseconds)
    }
  }

  // MARK: Programs

  /// Runs a program to its end.
  private func run(_ path: String, _ arguments: [String]) async -> (code: Int64, lines: [String]) {
    do throws(Refusal) {
      let words = try SetupOutput()
      let ending = await withCheckedContinuation { (continuation: CheckedContinuation<ChildExit?, Never>) in
        do throws(LoopFault) {
          _ = try ChildProcess(
            path: path, arguments: arguments, environment: Self.environment,
            descriptors: [nil, words.descriptor, words.descriptor]
          ) { continuation.resume(returning: $0) }
        } catch {
          // Without the program there is nothing that it could start.
          continuation.resume(returning: nil)
        }
      }
      return (ending.map { $0.signal == 0 ? $0.code : -1 } ?? -1, words.lines)
    } catch {
      return (-1, [error.message])
    }
  }

  private static var environment: [String] { ProcessEnvironment.current().map { "\($0.key)=\($0.value)" } }

  private static func notStarted(_ reason: String, _ words: [String], _ command: String?) -> Refusal {
    let said = words.isEmpty ? "" : "\n" + words.joined(separator: "\n")
    let more = command.map { "\n\($0) tells more" } ?? ""
    return Refusal(.noSupervisor, "Roost could not be started: \(reason)\(said)\(more)", outcome: .notStarted)
  }
}

/// The output of a program that this one starts: a file without a name, whose end is read.
final class SetupOutput {
  let descriptor: Int32

  /// The most bytes of the output's end that are read.
  private static let byteCountMaximum = 4_096
  /// The most lines that are shown.
  private static let lineMaximum = 10

  init() throws(Refusal) {
    let directory = ProcessEnvironment.current()["TMPDIR"] ?? "/tmp"
    var path = Array("\(directory)/roost-setup-XXXXXX".utf8CString)
    descriptor = mkstemp(&path)
    guard descriptor >= 0 else {
      throw Refusal(.failed, "mkstemp in \(directory): \(String(cString: strerror(errno)))", outcome: .notStarted)
    }
    unlink(path)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
  }

  deinit { close(descriptor) }

  /// The last lines.
  var lines: [String] {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_size > 0 else { return [] }
    var bytes = [UInt8](repeating: 0, count: Self.byteCountMaximum)
    let count = pread(descriptor, &bytes, bytes.count, max(0, status.st_size - Self.byteCountMaximum))
    let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    return text.split(separator: "\n").suffix(Self.lineMaximum).map(String.init)
  }
}
