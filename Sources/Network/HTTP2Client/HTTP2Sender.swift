// Sends requests to one origin over one lasting HTTP/2 connection, many at a time, as APNs and push services require.
//
// The promise is in the outcome: `notSent` means that the origin has certainly not acted on the request, `unknown` that
// this is not known. So the sender writes nothing before the origin's SETTINGS have arrived, never opens more streams
// than allowed, and reports `unknown` for every request that was handed to a connection and neither answered nor
// refused.
//
// `SendingMachine` decides, without a socket or a clock; this class owns what the machine does not need: callers,
// bodies, connections. All of it is on the thread of an `HTTP2Loop`; `send` may be called from anywhere.
internal import Clocks
internal import NIOCore
internal import NIOSSL

/// A sender of requests to one origin.
public final class HTTP2Sender: Sendable {
  /// Finds the addresses of an origin; called once for each connection.
  public typealias Resolver = @Sendable (HTTP2Origin) async -> HTTP2Resolution

  private let loop: any NIOCore.EventLoop
  private let core: NIOLoopBoundBox<SenderCore>

  /// A sender that connects when the first request comes.
  /// - Throws: `HTTP2TrustFault` if the authorities cannot be read.
  public init(
    origin: HTTP2Origin, settings: HTTP2SenderSettings = HTTP2SenderSettings(), trust: HTTP2Trust = .system,
    on loop: HTTP2Loop, resolve: @escaping Resolver
  ) throws(HTTP2TrustFault) {
    let dialler = Dialler(origin: origin, tls: try Dialler.context(trust), resolve: resolve, loop: loop.next)
    self.loop = dialler.loop
    core = NIOLoopBoundBox.makeBoxSendingValue(SenderCore(dialler, settings), eventLoop: dialler.loop)
  }

  /// Sends a request. The outcome comes at the end of the request's time at the latest.
  public func send(_ request: HTTP2Request) async -> HTTP2Outcome {
    if let fault = request.fault { return .notSent(.malformed(fault)) }
    return await withCheckedContinuation { continuation in
      loop.execute { [core] in core.value.submit(request, continuation) }
    }
  }

  /// What the sender has done so far.
  public func counters() async -> HTTP2SenderCounters {
    await withCheckedContinuation { continuation in
      loop.execute { [core] in continuation.resume(returning: core.value.machine.report) }
    }
  }

  /// Accepts no more requests, ends those that wait, lets those in flight finish in their time, and closes.
  public func close() async {
    await withCheckedContinuation { continuation in
      loop.execute { [core] in core.value.close(continuation) }
    }
  }
}

/// The machine's shell. It is on one event loop.
final class SenderCore {
  private(set) var machine: SendingMachine
  private let dialler: Dialler
  private var callers: [Int: Caller] = [:]
  private var lines: [Int: any SendingChannel] = [:]
  private var lastRequest = 0
  private var timer: Scheduled<Void>?
  private var timerInstant: Instant?
  private var isFlushing = false
  private var isPerforming = false
  private var closing: [CheckedContinuation<Void, Never>] = []

  private struct Caller {
    var request: HTTP2Request
    var continuation: CheckedContinuation<HTTP2Outcome, Never>
    var answer: HTTP2Answer?
  }

  init(_ dialler: Dialler, _ settings: HTTP2SenderSettings) {
    self.dialler = dialler
    machine = SendingMachine(settings, seed: UInt64.random(in: .min ... .max))
  }

  var now: Instant { Instant(nanoseconds: NIODeadline.now().uptimeNanoseconds) }

  func submit(_ request: HTTP2Request, _ continuation: CheckedContinuation<HTTP2Outcome, Never>) {
    lastRequest += 1
    callers[lastRequest] = Caller(request: request, continuation: continuation)
    machine.submitted(lastRequest, timeoutMilliseconds: request.timeoutMilliseconds, at: now)
    perform()
  }

  func close(_ continuation: CheckedContinuation<Void, Never>) {
    closing.append(continuation)
    machine.closed(at: now)
    perform()
  }

  // MARK: Reports from connections

  /// Runs `change` on the machine if the machine still knows the connection, and performs the resulting actions.
  func line(_ number: Int, _ change: (inout SendingMachine, Instant) -> Void) {
    guard lines[number] != nil || machine.connections[number] != nil else { return }
    change(&machine, now)
    perform()
  }

  /// A socket exists; from now on the machine can close it.
  func began(_ number: Int, _ line: any SendingChannel) {
    if machine.connections[number] == nil { line.close() } else { lines[number] = line }
  }

  /// The handshake is over.
  func opened(_ line: any SendingChannel) { machine.counters.handshakes += line.isSecure ? 1 : 0 }

  func answered(_ number: Int, stream: Int, _ answer: HTTP2Answer) {
    guard let request = machine.connections[number]?.streams[stream] else { return }
    callers[request]?.answer = answer
    line(number) { $0.answered(number, stream: stream, at: $1) }
  }

  func lost(_ number: Int, reason: String) {
    let isReady = machine.connections[number]?.isReady == true
    line(number) { machine, now in
      if isReady {
        machine.lost(number, reason: reason, at: now)
      } else {
        machine.connectFailed(number, reason: reason, at: now)
      }
    }
    lines[number] = nil
  }

  // MARK: Actions

  private func perform() {
    // A connection that fails during a write reports that at once; its turn comes when this one is over.
    guard !isPerforming else { return }
    isPerforming = true
    while case let actions = machine.takeActions(), !actions.isEmpty {
      for action in actions { perform(action) }
    }
    isPerforming = false
    setTimer()
    if machine.isClosed, machine.connections.isEmpty {
      for continuation in closing { continuation.resume() }
      closing = []
    }
  }

  private func perform(_ action: SendingMachine.Action) {
    switch action {
    case .connect(let number): dialler.dial(number, for: self)
    case .start(let request, let connection, let stream):
      guard let caller = callers[request] else { return }
      lines[connection]?.start(stream, caller.request)
      flushSoon()
    case .cancel(let connection, let stream):
      lines[connection]?.cancel(stream)
      flushSoon()
    case .ping(let connection):
      lines[connection]?.ping()
      flushSoon()
    case .close(let connection): lines.removeValue(forKey: connection)?.close()
    case .finish(let request, let ending): finish(request, ending)
    }
  }

  private func finish(_ request: Int, _ ending: SendingMachine.Ending) {
    guard let caller = callers.removeValue(forKey: request) else { return }
    switch (ending, caller.answer) {
    case (.answered, .some(let answer)): caller.continuation.resume(returning: .answered(answer))
    case (.answered, .none): preconditionFailure("an answer is kept before the machine hears of it")
    case (.notSent(let reason), _): caller.continuation.resume(returning: .notSent(reason))
    case (.unknown(let reason), _): caller.continuation.resume(returning: .unknown(reason))
    }
  }

  // One write to the socket for everything that is sent in one turn of the loop.
  private func flushSoon() {
    guard !isFlushing else { return }
    isFlushing = true
    dialler.loop.assumeIsolated().execute {
      self.isFlushing = false
      for line in self.lines.values { line.flush() }
    }
  }

  // A timer that fires too early does no harm, so it is only ever moved earlier.
  private func setTimer() {
    guard let next = machine.nextInstant else {
      timer?.cancel()
      (timer, timerInstant) = (nil, nil)
      return
    }
    if let timerInstant, timerInstant <= next { return }
    timer?.cancel()
    timerInstant = next
    let deadline = NIODeadline.uptimeNanoseconds(min(next.nanoseconds, UInt64(Int64.max)))
    timer = dialler.loop.assumeIsolated().scheduleTask(deadline: deadline) {
      (self.timer, self.timerInstant) = (nil, nil)
      self.machine.timerFired(at: self.now)
      self.perform()
    }
  }
}

/// A connection, in the form that the shell uses.
protocol SendingChannel: AnyObject {
  /// Whether it uses TLS.
  var isSecure: Bool { get }
  /// Writes the frames of a request; they leave with the next flush.
  func start(_ stream: Int, _ request: HTTP2Request)
  func cancel(_ stream: Int)
  func ping()
  func flush()
  func close()
}
