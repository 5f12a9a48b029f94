internal import Clocks
internal import Contracts
internal import EventLoop
internal import Frames
internal import Glibc
internal import Recordings
internal import RoostClient

/// The program of a replay, with the environment that a managed worker has.
struct ReplayProgram {
  var command: [String]
  var variables: [String: String]
  /// A directory made for this replay; nil when the caller named one.
  var temporaryDirectory: String?

  /// The program with the worker's variables. It never has the state directory of the running worker: a replay repeats
  /// requests, and nothing that they do may happen twice.
  init(
    _ recording: Recording, command: [String], sandbox: String?, passedVariables: [String], stateDirectory: String?
  ) throws(Refusal) {
    let opening = recording.opening
    self.command = command
    let own = ProcessEnvironment.current()
    variables = own.filter { opening.environment.contains($0.key) || passedVariables.contains($0.key) }
    variables["ROOST_WORKER"] = opening.worker
    variables["ROOST_GENERATION"] = "\(opening.generation)"
    variables["ROOST_INSTANCE"] = "replay"
    variables["ROOST_SANDBOX"] = sandbox ?? opening.sandbox
    variables["SWIFT_BACKTRACE"] = "enable=no"
    // As roostd does.
    for (entry, variable) in FileVariables.names {
      if case .string(let path)? = recording.settings?[entry], !path.isEmpty { variables[variable] = path }
    }
    if !command[0].contains("/") {
      guard let path = Self.path(of: command[0], own["PATH"] ?? "/usr/bin:/bin") else {
        throw Refusal(.failed, "there is no program '\(command[0])' on PATH", outcome: .notStarted)
      }
      self.command[0] = path
    }
    guard access(self.command[0], X_OK) == 0 else {
      let reason = String(cString: strerror(errno))
      throw Refusal(.failed, "cannot run \(self.command[0]): \(reason)", outcome: .notStarted)
    }
    if let stateDirectory {
      variables["ROOST_STATE"] = stateDirectory
    } else {
      let made = try Self.makeDirectory(own["TMPDIR"] ?? "/tmp")
      temporaryDirectory = made
      variables["ROOST_STATE"] = made
    }
  }

  private static func path(of name: String, _ search: String) -> String? {
    search.split(separator: ":").map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
  }

  private static func makeDirectory(_ parent: String) throws(Refusal) -> String {
    var template = Array("\(parent)/roost-replay-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw Refusal(.failed, "cannot make a directory in \(parent): \(String(cString: strerror(errno)))")
    }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

/// The I/O of a replay: the program, its bus, and the clock.
@EventLoopActor
final class ReplayRunner {
  private var replay: Replay
  private var program: ReplayProgram?
  private var child: ChildProcess?
  private var bus: ByteStream?
  private var ending: (text: String, isClean: Bool)?
  /// Raised when the program has exited.
  private let hasExited = Signal()
  private let reader = FrameReader(lengthMaximum: FrameReader.lengthCeiling)
  private let timer = LoopTimer()
  private var result: ReplayReport?
  private var waiter: CheckedContinuation<Void, Never>?

  /// How long a program may run after its bus was closed before it is killed.
  private static let leaveMilliseconds: UInt64 = 2_000
  /// A program that closes its bus is usually about to exit: how long to wait for its exit code.
  private static let exitCodeMilliseconds: UInt64 = 1_000

  init(_ replay: Replay) { self.replay = replay }

  /// Starts the program; the replay begins with its HELLO.
  func start(_ program: ReplayProgram) throws(Refusal) {
    self.program = program
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
      throw Refusal(.failed, "cannot make a bus: \(String(cString: strerror(errno)))", outcome: .notStarted)
    }
    defer { close(ends[1]) }
    do throws(LoopFault) {
      let bus = try ByteStream(descriptor: ends[0])
      self.bus = bus
      bus.inputLimit = FrameReader.lengthCeiling + FrameHeader.byteCount + (256 << 10)
      bus.onInput = { [unowned self] in received($0) }
      bus.onEnd = { [unowned self] _ in busEnded() }
      // The program's output goes to standard error: standard output is for the result of the replay.
      child = try ChildProcess(
        path: program.command[0], arguments: Array(program.command.dropFirst()),
        environment: program.variables.map { "\($0.key)=\($0.value)" }.sorted(),
        descriptors: [STDIN_FILENO, STDERR_FILENO, STDERR_FILENO, ends[1]]
      ) { [unowned self] exit in exited(exit) }
      bus.startReading()
    } catch { throw Refusal(.failed, "\(error)", outcome: .notStarted) }
    setTimer()
  }

  /// The result of the replay, once it is over.
  func report() async -> ReplayReport {
    while true {
      if let result { return result }
      await withCheckedContinuation { waiter = $0 }
    }
  }

  /// Closes the program's bus and waits for it to exit; kills it after a short time, unless the caller is patient.
  /// Removes its directory if it left nothing there.
  func end(isPatient: Bool) async {
    timer.cancel()
    bus?.flush()
    // Closes this half only: if the whole bus closed before its last messages are read, the program would see a
    // failure.
    if let bus, !bus.isClosed { shutdown(bus.descriptor, Int32(SHUT_WR)) }
    let deadline = EventLoop.process.now.advanced(milliseconds: Self.leaveMilliseconds)
    await hasExited.wait(until: isPatient ? nil : deadline) { child?.isRunning != true }
    kill()
    await hasExited.wait { child?.isRunning != true }
    bus?.close()
    if let directory = program?.temporaryDirectory, rmdir(directory) != 0 {
      let text = "roost: what the program has written to its state is in \(directory)\n"
      _ = text.withCString { write(STDERR_FILENO, $0, strlen($0)) }
    }
  }

  /// Kills the program.
  func kill() { child?.signal(SIGKILL) }

  // MARK: Inputs

  private func received(_ bytes: UnsafeMutableRawBufferPointer) -> Int {
    var used = 0
    while result == nil {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[used...])
      do throws(FrameViolation) {
        guard case .frame(let header, let payload) = try reader.next(in: rest) else { return used }
        used += header.frameByteCount
        perform(replay.received(header, Array(payload), now: EventLoop.process.now))
      } catch {
        perform(replay.programEnded("it broke the protocol: \(error.message)", isClean: false))
      }
    }
    return bytes.count
  }

  private func busEnded() {
    timer.cancel()
    EventLoopActor.task { [self] in
      let deadline = EventLoop.process.now.advanced(milliseconds: Self.exitCodeMilliseconds)
      await hasExited.wait(until: deadline) { ending != nil }
      perform(replay.programEnded(ending?.text ?? "it has closed its bus", isClean: ending?.isClean ?? true))
    }
  }

  private func exited(_ exit: ChildExit) {
    let text = exit.signal != 0 ? "killed by signal \(exit.signal)" : "exit code \(exit.code)"
    ending = (text, exit.signal == 0 && exit.code == 0)
    hasExited.raise()
  }

  private func setTimer() {
    guard let deadline = replay.deadline else {
      timer.cancel()
      return
    }
    timer.set(at: deadline) { [unowned self] in
      perform(replay.timerFired(now: EventLoop.process.now))
    }
  }

  // MARK: Actions

  private func perform(_ actions: [Replay.Action]) {
    for action in actions {
      switch action {
      case .send(let header, let payload): send(header, payload)
      case .finished(let report):
        result = report
        waiter?.resume()
        waiter = nil
      }
    }
    setTimer()
  }

  private func send(_ header: FrameHeader, _ payload: [UInt8]) {
    bus?.write(byteCount: FrameHeader.byteCount + payload.count) { bytes in
      guard let base = bytes.baseAddress else { return }
      header.write(to: base)
      payload.withUnsafeBytes { source in
        if let start = source.baseAddress {
          (base + FrameHeader.byteCount).copyMemory(from: start, byteCount: source.count)
        }
      }
    }
  }
}
