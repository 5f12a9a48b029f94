public import Bus
internal import Clocks
public import Contracts
public import EventLoop
public import Frames
internal import Glibc
public import LinuxSystem
public import Logging

// The skeleton of every worker: main, sandbox, greeting, settings, readiness, drain, end.
//
// A worker's own program is one function that sets it up and returns; after that it works through the methods that it
// serves and the topics that it receives. It does not know whether roostd or a person started it.
//
// The end, in every case within seconds: DRAIN or SIGTERM → finish what is in flight, until the deadline → GOODBYE,
// exit 0. The bus ends without GOODBYE → the supervisor is gone, no request can be answered, exit 69.

/// A running worker.
@EventLoopActor
public final class Worker {
  /// The name in `supervisor.conf`, or the one given on the command line.
  public let name: String
  /// The connection to the hub.
  public let bus: BusConnection
  /// The worker's settings from `supervisor.conf`.
  public private(set) var settings: JSONValue
  /// Called with new settings after `roost reload`.
  public var onSettings: (@EventLoopActor (JSONValue) -> Void)?
  /// Called when the worker must finish; it should begin nothing new.
  public var onDrain: (@EventLoopActor () -> Void)?
  /// Whether work is under way that the bus does not know; a draining worker waits for it, until its deadline.
  public var isBusy: (@EventLoopActor () -> Bool)?
  /// Called at the very end when the worker has finished in order: files are closed here. Not called when it dies in
  /// another way.
  public var onEnd: (@EventLoopActor () -> Void)?
  /// Called within ``clockMilliseconds`` after the wall clock was set, by `WallClockWatch.thresholdSeconds` or more:
  /// requests with dates must be repeated.
  public var onClockSet: (@EventLoopActor () -> Void)? { didSet { watchClock() } }
  /// Called within ``clockMilliseconds`` after the machine has run again, when it was suspended for more than
  /// `SuspendDetector.threshold`: connections may be dead without a sign of it.
  public var onSuspendEnd: (@EventLoopActor () -> Void)? { didSet { watchClock() } }
  /// The worker's own log.
  public let log: Logger

  /// Answers one request. Its error is the caller's refusal.
  typealias Handler = @EventLoopActor (BusRequest) async throws(Refusal) -> BusPayload?

  private var handlers: [String: Handler] = [:]
  /// Whether the worker must finish.
  public private(set) var isDraining = false
  private var drainTimer = LoopTimer()
  private let clockTimer = LoopTimer()
  private var clock = WallClockWatch(wall: WallClock.seconds, now: EventLoop.process.now)
  private var suspends = SuspendDetector(
    monotonic: EventLoop.process.now, bootNanoseconds: SystemClock.bootNanoseconds())
  private var signals: [SignalWatcher] = []

  /// How long a worker that receives a signal may take to finish what is in flight.
  static let signalDrainMilliseconds: UInt32 = 2_000
  /// How often the worker checks whether the wall clock was set, and whether the machine was suspended.
  public nonisolated static let clockMilliseconds: UInt64 = 5_000
  /// How often a draining worker checks whether it has finished.
  private static let drainLookMilliseconds: UInt64 = 10

  init(name: String, bus: BusConnection) {
    self.name = name
    self.bus = bus
    settings = bus.welcome.configuration ?? .object([:])
    log = Logger(label: "worker")
  }

  /// Registers the handler of a method by name. A handler that answers later returns nil.
  func handle(_ method: String, _ handler: @escaping Handler) {
    precondition(handlers[method] == nil, "\(method) has one handler")
    handlers[method] = handler
  }

  /// The settings of the worker's role; absent ones have their defaults.
  public func settings<Settings: WorkerSettings>(of type: Settings.Type) throws(Refusal) -> Settings {
    try Settings(reading: settings)
  }

  /// Reads the settings into a type.
  public func settings<Value: Decodable>(as type: Value.Type) throws(Refusal) -> Value {
    try JSONPayload.decode(type, from: JSONPayload.encode(settings))
  }

  // MARK: Life

  func begin() throws(LoopFault) {
    bus.onRequest = { [unowned self] in received($0) }
    bus.onDrain = { [unowned self] in drain(milliseconds: $0) }
    bus.onEnd = { [unowned self] in busEnded($0) }
    bus.onConfiguration = { [unowned self] in receivedConfiguration($0) }
    for number in [SIGTERM, SIGINT] {
      signals.append(try SignalWatcher(number) { [unowned self] in drain(milliseconds: Self.signalDrainMilliseconds) })
    }
    if let levels = bus.welcome.logLevels { LogLevels.set(levels) }
    bus.start()
  }

  private func received(_ request: BusRequest) {
    guard let handler = handlers[request.method] else {
      request.refuse(
        Refusal(.unknownMethod, "\(name) does not serve \(request.method)", outcome: .notStarted))
      return
    }
    guard LogLevels.isDebugWanted(in: Self.requestLog.label) else {
      EventLoopActor.task { await Self.handle(request, by: handler) }
      return
    }
    EventLoopActor.task {
      let began = EventLoop.process.now
      Self.requestLog.debug("\(request.method) begins", metadata: ["bytes": "\(request.payload.bytes.count)"])
      let end = await Self.handle(request, by: handler)
      Self.requestLog.debug(
        "\(request.method) \(end)", metadata: ["milliseconds": "\(EventLoop.process.now.milliseconds(since: began))"])
    }
  }

  /// The log of requests, each at its beginning and its end, without what is in them.
  private static let requestLog = Logger(label: "requests")

  /// Handles a request; the end in words.
  @discardableResult
  private static func handle(_ request: BusRequest, by handler: Handler) async -> String {
    do throws(Refusal) {
      guard let payload = try await handler(request) else { return "is answered later" }
      request.respond(payload)
      return "is answered"
    } catch {
      request.refuse(error)
      return "is refused: \(error.code)"
    }
  }

  private func receivedConfiguration(_ value: JSONValue) {
    if case .object(let words)? = value["logLevels"] {
      LogLevels.set(words.compactMapValues { if case .string(let word) = $0 { word } else { nil } })
    }
    if let settings = value["settings"] {
      self.settings = settings
      onSettings?(settings)
    }
  }

  private func drain(milliseconds: UInt32) {
    guard !isDraining else { return }
    isDraining = true
    log.debug("finishing", metadata: ["milliseconds": "\(milliseconds)", "in-hand": "\(bus.servingCount)"])
    onDrain?()
    lookWhetherDrained(until: EventLoop.process.now.advanced(milliseconds: UInt64(milliseconds)))
  }

  private func lookWhetherDrained(until deadline: Instant) {
    if bus.servingCount == 0 && isBusy?() != true || EventLoop.process.now >= deadline {
      onEnd?()
      bus.leave()
      exit(0)
    }
    drainTimer.set(afterMilliseconds: Self.drainLookMilliseconds) { [unowned self] in
      lookWhetherDrained(until: deadline)
    }
  }

  private func watchClock() {
    guard !isDraining, onClockSet != nil || onSuspendEnd != nil else { return clockTimer.cancel() }
    clockTimer.set(afterMilliseconds: Self.clockMilliseconds) { [unowned self] in
      let now = EventLoop.process.now
      if let onSuspendEnd, let slept = suspends.slept(monotonic: now, bootNanoseconds: SystemClock.bootNanoseconds()) {
        log.notice("the machine was suspended", metadata: ["seconds": "\(slept.components.seconds)"])
        onSuspendEnd()
      }
      if let onClockSet, let seconds = clock.step(wall: WallClock.seconds, now: now) {
        log.notice(
          "the clock was set \(seconds < 0 ? "back" : "forward"): what is asked for by date is asked for again",
          metadata: ["seconds": "\(seconds.magnitude)"])
        onClockSet()
      }
      watchClock()
    }
  }

  private func busEnded(_ refusal: Refusal) {
    if !isDraining { log.warning("the bus ended", metadata: ["why": "\(refusal.message)"]) }
    exit(isDraining ? 0 : ExitCode.unavailable)
  }

  // MARK: Main

  /// Exit codes that tell the supervisor how to treat an end.
  public enum ExitCode {
    /// The settings are wrong: do not restart before they change.
    public static let configuration: Int32 = 78
    /// Something that the worker needs is missing: back off, without counting.
    public static let unavailable: Int32 = 69
  }

  /// The window of a worker that answers requests and makes few of its own.
  public nonisolated static var standardWindow: Window { Window(frames: 256, bytes: 4 << 20) }

  /// Runs a worker: the complete main function of a worker's program.
  ///
  /// - Parameters:
  ///   - role: its role on the bus. It serves all methods that Contracts declares for it: each gets its handler by
  ///     `serve` in `setUp`.
  ///   - window: what the hub may send to it before it has handled what arrived.
  ///   - profile: the sandbox for this role, given the environment.
  ///   - setUp: prepares everything; the worker is READY when it returns. An error ends the process: with code 69 if it
  ///     is `unavailable`, so that waiting may help, otherwise with 78, and a person must act.
  public nonisolated static func main(
    role: Role, window: Window = standardWindow, profile: ([String: String]) -> SandboxProfile,
    setUp: @escaping @Sendable @EventLoopActor (Worker) async throws(Refusal) -> Void
  ) -> Never {
    let options = WorkerOptions.read(role: role.name)
    // Before the first thread: Landlock applies only to threads that start later.
    var profile = profile(options.environment)
    if case .attached = options.transport { profile.mayConnectUnixSockets = true }
    let sandbox = enterSandbox(profile, options)
    LoggingSystem.bootstrap { LineLogHandler(category: $0) }
    EventLoopActor.task { await start(role, window, options, sandbox, setUp) }
    EventLoop.process.run()
    exit(0)
  }

  private nonisolated static func enterSandbox(_ profile: SandboxProfile, _ options: WorkerOptions) -> String {
    let requirement = Sandbox.Requirement(rawValue: options.sandbox) ?? .try
    do throws(SystemFault) { return try Sandbox.apply(profile, requirement: requirement).description } catch {
      say("the sandbox is required and cannot be had: \(error)")
      exit(ExitCode.configuration)
    }
  }

  private static func start(
    _ role: Role, _ window: Window, _ options: WorkerOptions, _ sandbox: String,
    _ setUp: @Sendable @EventLoopActor (Worker) async throws(Refusal) -> Void
  ) async {
    let worker: Worker
    do throws(Refusal) {
      worker = Worker(name: options.name, bus: try await join(role, window, options, sandbox))
    } catch {
      say("cannot join the bus: \(error.message) (\(error.code))")
      exit(Self.refusesForGood.contains(error.code) ? ExitCode.configuration : ExitCode.unavailable)
    }
    living = worker
    do throws(LoopFault) { try worker.begin() } catch {
      say("\(error)")
      exit(71)
    }
    do throws(Refusal) { try await setUp(worker) } catch {
      worker.log.error("cannot start", metadata: ["why": "\(error.message)"])
      exit(error.code == .unavailable ? ExitCode.unavailable : ExitCode.configuration)
    }
    for method in BuiltInMethods.served(by: role).map(\.name) where worker.handlers[method] == nil {
      preconditionFailure("\(role.name) declares \(method) and has no handler for it")
    }
    worker.bus.sendReady()
    if case .attached = options.transport {
      say("\(worker.name) is on the bus as \(role.name); Ctrl-C gives the place back")
    }
  }

  /// Refusals of the greeting that every further attempt would repeat; all others may pass, such as a hub that was too
  /// slow or is gone.
  private static let refusesForGood: Set<RefusalCode> = [
    .badToken, .notPermitted, .nameTaken, .badVersion, .badLength, .badPayload, .unknownType, .unknownFlags,
    .forgedSource, .outOfTurn,
  ]

  /// The one worker of this process, kept as long as the process lives.
  private static var living: Worker?

  private static func join(
    _ role: Role, _ window: Window, _ options: WorkerOptions, _ sandbox: String
  ) async throws(Refusal) -> BusConnection {
    let stream: ByteStream
    switch options.transport {
    case .managed:
      do throws(LoopFault) { stream = try ByteStream(descriptor: 3) } catch {
        throw Refusal(.noSupervisor, "\(error)")
      }
    case .attached(let socket):
      stream = try await BusSocket.connect(path: socket, environment: options.environment)
    }
    var hello = Hello(name: options.name, role: role.name)
    hello.generation = options.generation
    hello.token = options.token
    hello.pid = getpid()
    hello.version = RoostVersion.text
    hello.methods = BuiltInMethods.served(by: role).map(\.name)
    hello.sandbox = sandbox
    hello.window = window
    return try await BusConnection.open(
      stream, greeting: hello, deadline: EventLoop.process.now.advanced(milliseconds: 10_000))
  }

  private nonisolated static func say(_ text: String) {
    _ = (text + "\n").withCString { write(STDERR_FILENO, $0, strlen($0)) }
  }
}
