internal import Bus
internal import Clocks
public import EventLoop
public import Frames
internal import Glibc

// What an application uses to talk to Roost.
//
// One object for the life of the application. It connects over the supervisor's socket and greets as a client. When the
// connection is lost (a restarted supervisor), it reconnects and resumes: subscriptions are made again, requests that
// the caller called idempotent are repeated under a new id, and all others fail with an unknown outcome. A request that
// may have run is repeated only when the caller said that this does no harm.
//
// Limits: requests under way, subscriptions, repeats and every wait have a limit in `ClientSettings`. Credit holds a
// stream of parts back: parts that the application does not read stay with the worker that produces them.
//
// Rejected: a queue of requests on disk. Roost's workers commit before they answer "accepted"; a second queue in the
// application would be a second source of truth.

/// A connection to Roost that reconnects automatically.
///
/// ```swift
/// import EventLoop
/// import RoostClient
///
/// RoostClient.run(ClientSettings(name: "example")) { roost throws(Refusal) in
///   try await roost.connect()
///   let relays = try await roost.request(
///     "relay.list", as: RelayStates.self, options: .idempotent(ttlMilliseconds: 5_000))
///   print(relays.relays.map(\.relay))
///   let events = try await roost.stream("relay.request", json: RelayRequest(limit: 10))
///   while let event = try await events.next() { print(String(decoding: event.bytes, as: UTF8.self)) }
/// }
/// ```
///
/// An application with a main loop of its own calls `EventLoop.process.run()` on a thread and starts its Roost work
/// with `EventLoopActor.task`.
@EventLoopActor
public final class RoostClient {
  /// How it connects, and its limits.
  public let settings: ClientSettings
  /// The state of its connection to the supervisor.
  public private(set) var connectionState = ConnectionState.idle
  /// Called at each change of ``connectionState``.
  public var onConnectionState: (@EventLoopActor (ConnectionState) -> Void)?
  /// The hub's latest registry of methods and members; nil without a connection.
  public var registry: Registry? { session?.bus.registry }
  /// The maximum size of a frame on the present connection, as the length field counts it; nil without a connection.
  var frameLimit: Int? { session?.bus.welcome.frameLimit }
  /// Requests under way.
  public internal(set) var requestCount = 0

  private(set) var session: LiveSession?
  var subscriptions: [String: [TopicSubscription]] = [:]
  private var backoff: BackOff
  private var generator = SystemRandomNumberGenerator()
  private let retryTimer = LoopTimer()
  private var waiters: [SessionWaiter] = []
  private var isConnecting = false
  private var wasConnected = false

  /// A client that connects at the first call that needs a connection, or by ``connect()``.
  public init(_ settings: ClientSettings) {
    self.settings = settings
    backoff = settings.backoff
  }

  isolated deinit { session?.bus.leave() }

  // MARK: Connecting

  /// Connects now.
  ///
  /// - Throws: why the first attempt failed: `no-supervisor` with every path tried. Once it has succeeded, the client
  ///   reconnects by itself after a lost connection.
  public func connect() async throws(Refusal) {
    if session != nil { return }
    if case .closed(let refusal) = connectionState { throw closedRefusal(refusal) }
    if isConnecting {
      _ = try await liveSession(until: patienceEnd())
      return
    }
    isConnecting = true
    retryTimer.cancel()
    change(.connecting)
    do throws(Refusal) { adopt(try await open()) } catch {
      isConnecting = false
      if wasConnected || !waiters.isEmpty { attemptFailed(error) } else { change(.idle) }
      throw error
    }
  }

  /// Leaves the bus permanently. Calls under way fail.
  public func close() { close(nil) }

  private func close(_ refusal: Refusal?) {
    if case .closed = connectionState { return }
    retryTimer.cancel()
    change(.closed(refusal))
    let leaving = session
    session = nil
    if let leaving {
      leaving.ended(Refusal(.disconnected, "this side has left the bus"))
      leaving.bus.leave()
    }
    let reason = closedRefusal(refusal)
    for waiter in waiters { waiter.finish(.failure(reason)) }
    waiters = []
    for subscription in subscriptions.values.joined() { subscription.ended(reason) }
    subscriptions = [:]
  }

  private func closedRefusal(_ refusal: Refusal?) -> Refusal {
    refusal ?? Refusal(.disconnected, "this client was closed", outcome: .notStarted)
  }

  private func change(_ state: ConnectionState) {
    connectionState = state
    onConnectionState?(state)
  }

  private func open() async throws(Refusal) -> LiveSession {
    let stream = try await BusSocket.connect(path: settings.socket, environment: settings.environment)
    var hello = Hello(name: settings.name, role: "client")
    hello.pid = getpid()
    hello.version = settings.version
    let now = EventLoop.process.now
    let bus = try await BusConnection.open(
      stream, greeting: hello, deadline: now.advanced(milliseconds: settings.greetingMilliseconds))
    return LiveSession(bus: bus, since: EventLoop.process.now)
  }

  /// Starts to use a new connection, unless the client was closed meanwhile.
  private func adopt(_ fresh: LiveSession) {
    isConnecting = false
    if case .closed = connectionState {
      fresh.bus.leave()
      return
    }
    session = fresh
    wasConnected = true
    fresh.bus.onEvent = { [weak self] in self?.received($0) }
    fresh.bus.onGap = { [weak self] topic, dropped in self?.receivedGap(topic, dropped) }
    fresh.bus.onEnd = { [weak self, weak fresh] refusal in
      guard let fresh else { return }
      fresh.ended(refusal)
      self?.lost(fresh, refusal)
    }
    fresh.bus.start()
    guard fresh.ending == nil else { return }
    change(.connected(Endpoint(rawValue: fresh.bus.welcome.endpoint)))
    guard session === fresh else { return }
    resumeSubscriptions(on: fresh)
    let waiting = waiters
    waiters = []
    for waiter in waiting { waiter.finish(.success(fresh)) }
  }

  private func lost(_ ended: LiveSession, _ refusal: Refusal) {
    guard session === ended else { return }
    session = nil
    backoff.lasted(milliseconds: EventLoop.process.now.milliseconds(since: ended.since))
    attemptFailed(refusal)
  }

  /// Refusals that a supervisor will repeat at every attempt.
  private static let finalCodes: Set<RefusalCode> = [.badToken, .notPermitted, .badVersion, .denied]

  private func attemptFailed(_ refusal: Refusal) {
    isConnecting = false
    if case .closed = connectionState { return }
    if Self.finalCodes.contains(refusal.code) {
      close(refusal)
      return
    }
    let wait = backoff.next(using: &generator)
    retryTimer.set(afterMilliseconds: wait) { [weak self] in self?.attempt() }
    change(.waiting(milliseconds: wait, because: refusal))
  }

  private func attempt() {
    guard session == nil, !isConnecting else { return }
    if case .closed = connectionState { return }
    isConnecting = true
    change(.connecting)
    EventLoopActor.task { [weak self] in
      guard let self else { return }
      do throws(Refusal) { adopt(try await open()) } catch { attemptFailed(error) }
    }
  }

  // MARK: Waiting for a connection

  func patienceEnd() -> Instant { EventLoop.process.now.advanced(milliseconds: settings.patienceMilliseconds) }

  /// The present connection, or the next one if it comes before `deadline`.
  func liveSession(until deadline: Instant) async throws(Refusal) -> LiveSession {
    if let session { return session }
    if case .closed(let refusal) = connectionState { throw closedRefusal(refusal) }
    guard waiters.count < settings.requestMaximum + settings.subscriptionMaximum else {
      throw Refusal(.full, "\(waiters.count) calls wait for the supervisor already", outcome: .notStarted)
    }
    if !isConnecting, !retryTimer.isSet { attempt() }
    let waiter = SessionWaiter()
    waiters.append(waiter)
    waiter.timer.set(at: deadline) { [weak self, weak waiter] in
      // A strong reference: only the list keeps the waiter.
      guard let waiter else { return }
      self?.giveUp(waiter, self?.unconnectedRefusal() ?? Refusal(.disconnected, "the client is gone"))
    }
    let result = await withTaskCancellationHandler {
      await waiter.result()
    } onCancel: {
      let refusal = Refusal(.cancelled, "the caller wants no more", outcome: .notStarted)
      EventLoopActor.task { self.giveUp(waiter, refusal) }
    }
    return try result.get()
  }

  private func giveUp(_ waiter: SessionWaiter, _ refusal: Refusal) {
    waiters.removeAll { $0 === waiter }
    waiter.finish(.failure(refusal))
  }

  private func unconnectedRefusal() -> Refusal {
    guard case .waiting(_, let reason) = connectionState else {
      return Refusal(.noSupervisor, "the supervisor did not answer in time", outcome: .notStarted)
    }
    var refusal = reason
    refusal.outcome = .notStarted
    return refusal
  }
}

/// A call that waits for a connection; finished once.
@EventLoopActor
private final class SessionWaiter {
  let timer = LoopTimer()
  private var continuation: CheckedContinuation<Result<LiveSession, Refusal>, Never>?
  private var outcome: Result<LiveSession, Refusal>?

  /// Waits until it is finished. Call it only once.
  func result() async -> Result<LiveSession, Refusal> {
    if let outcome { return outcome }
    return await withCheckedContinuation { continuation = $0 }
  }

  func finish(_ result: Result<LiveSession, Refusal>) {
    guard outcome == nil else { return }
    outcome = result
    timer.cancel()
    continuation?.resume(returning: result)
    continuation = nil
  }
}
