// Decides when each request is sent, and over which connection: the sender without its sockets.
//
// One connection takes new streams. There may be others that take none and still owe answers, for example after a
// GOAWAY. A request waits until the first has a free stream, is then in flight, and ends once. A request that the
// origin has certainly not acted on (it refused the stream, or left it out when it sent GOAWAY) returns to the front of
// the queue, as often as the settings allow.
//
// When no connection can be made, all waiting requests fail immediately, and so do requests that come during the pause
// that follows. The caller has a queue that survives a crash, and other platforms to serve, so requests should not wait
// here. After the pause, the first new request begins another attempt.
internal import Clocks
internal import DequeModule

struct SendingMachine {
  /// What the shell must do, in this order.
  enum Action: Equatable {
    /// Resolve the name and begin this connection.
    case connect(Int)
    /// Write the request's frames.
    case start(request: Int, connection: Int, stream: Int)
    /// Reset a stream whose answer is no longer needed.
    case cancel(connection: Int, stream: Int)
    /// Send a PING.
    case ping(Int)
    /// End a connection; the shell reports no further events of it to the machine.
    case close(Int)
    /// Report the outcome to the caller.
    case finish(request: Int, Ending)
  }

  /// The outcome of a request. The shell holds the answer, if there is one.
  enum Ending: Equatable {
    case answered
    case notSent(HTTP2NotSent)
    case unknown(HTTP2Doubt)
  }

  struct Request {
    let submitted: Instant
    var deadline: Instant
    var resendCount = 0
    /// The connection on which it is in flight; nil while it waits.
    var connection: Int?
    var stream = 0
  }

  let settings: HTTP2SenderSettings
  var actions: [Action] = []
  var counters = HTTP2SenderCounters()
  var connections: [Int: SendingConnection] = [:]
  /// The connection that takes new streams, or will when it is ready.
  var current: Int?
  private(set) var isClosed = false
  private var requests: [Int: Request] = [:]
  /// Waiting requests in their order; some entries may be void.
  private var queue: Deque<Int> = []
  private var waitingCount = 0
  /// The deadlines of requests.
  private var deadlines = Deadlines<Instant, Int>(voidMinimum: 2 * sweepThreshold)
  private var lastConnection = 0
  private var failureCount = 0
  private var notBefore = Instant(nanoseconds: 0)
  private var lastReason = ""
  private var generator: SeededGenerator

  init(_ settings: HTTP2SenderSettings, seed: UInt64) {
    self.settings = settings
    generator = SeededGenerator(seed: seed)
  }

  /// The counters, with the present numbers of requests.
  var report: HTTP2SenderCounters {
    var counters = counters
    counters.waiting = waitingCount
    counters.inFlight = requests.count - waitingCount
    return counters
  }

  /// Returns the actions that are due, and removes them.
  mutating func takeActions() -> [Action] {
    defer { actions.removeAll(keepingCapacity: true) }
    return actions
  }

  // MARK: Inputs of the caller

  /// A caller submits a request, with a number that was never used before.
  mutating func submitted(_ request: Int, timeoutMilliseconds: UInt64, at now: Instant) {
    if isClosed { return actions.append(.finish(request: request, .notSent(.closed))) }
    guard waitingCount < settings.waitingMaximum else {
      return actions.append(.finish(request: request, .notSent(.queueFull)))
    }
    if current == nil, failureCount > 0, now < notBefore {
      let pause = HTTP2NotSent.unreachable(
        reason: lastReason, retryAfterMilliseconds: max(1, notBefore.milliseconds(since: now)))
      return actions.append(.finish(request: request, .notSent(pause)))
    }
    let deadline = now.advanced(milliseconds: timeoutMilliseconds)
    requests[request] = Request(submitted: now, deadline: deadline)
    deadlines.add(request, at: deadline)
    queue.append(request)
    waitingCount += 1
    proceed(at: now)
  }

  /// The owner closes the sender: waiting requests fail, and requests in flight may finish before their deadlines.
  mutating func closed(at now: Instant) {
    isClosed = true
    failWaiting(.closed)
    if let current { retire(current, at: now) }
  }

  // MARK: Outcomes of requests

  /// A whole answer came, or as much of it as the sender keeps.
  mutating func answered(_ connection: Int, stream: Int, at now: Instant) {
    guard let request = connections[connection]?.streams.removeValue(forKey: stream) else { return }
    connections[connection]?.answered(at: now)
    failureCount = 0
    counters.answers += 1
    finish(request, .answered)
    settle(connection, at: now)
  }

  /// The origin reset a stream, or the stream ended without a valid answer.
  mutating func streamReset(_ connection: Int, stream: Int, code: UInt32, at now: Instant) {
    guard let request = connections[connection]?.streams.removeValue(forKey: stream) else { return }
    counters.resets += 1
    if code == SendingConnection.refusedStream {
      resend(request)
    } else {
      finish(request, .unknown(.reset(code: code)))
    }
    settle(connection, at: now)
  }

  // Puts a request that the origin has certainly not acted on before all waiting ones.
  mutating func resend(_ request: Int) {
    guard let count = requests[request]?.resendCount else { return }
    guard count < settings.resendMaximum, !isClosed else { return finish(request, .notSent(.refused)) }
    requests[request]?.connection = nil
    requests[request]?.resendCount = count + 1
    counters.resent += 1
    queue.prepend(request)
    waitingCount += 1
  }

  mutating func finish(_ request: Int, _ ending: Ending) {
    guard let known = requests.removeValue(forKey: request) else { return }
    if known.connection == nil { waitingCount -= 1 }
    actions.append(.finish(request: request, ending))
    sweep()
  }

  // Entries of requests that have ended or left the queue stay until their turn. This removes them before they are the
  // majority.
  private mutating func sweep() {
    if queue.count > 2 * waitingCount + Self.sweepThreshold {
      queue.removeAll { requests[$0] == nil || requests[$0]?.connection != nil }
    }
    deadlines.removeVoid { [requests] _, request in requests[request] != nil }
  }

  /// The number of entries held, valid and void.
  var rememberedCount: Int { queue.count + deadlines.count }

  // Below this number of entries a sweep costs more than the memory.
  private static let sweepThreshold = 1_024

  mutating func failWaiting(_ reason: HTTP2NotSent) {
    while let request = queue.popFirst() {
      if requests[request]?.connection == nil { finish(request, .notSent(reason)) }
    }
  }

  // MARK: Filling connections

  /// Fills free streams, and begins a connection if one is needed and the pause is over.
  mutating func proceed(at now: Instant) {
    if current == nil, waitingCount > 0, now >= notBefore { beginConnection(at: now) }
    guard let current else { return }
    // Changed in place: a copy of the connection would copy all its streams each time.
    while connections[current]?.hasFreeStream(settings) == true, let request = nextWaiting(),
      let stream = connections[current]?.open(for: request)
    {
      requests[request]?.connection = current
      requests[request]?.stream = stream
      waitingCount -= 1
      counters.streamsOpened += 1
      actions.append(.start(request: request, connection: current, stream: stream))
    }
    if let count = connections[current]?.openedCount, count >= settings.streamsPerConnectionMaximum {
      retire(current, at: now)
      proceed(at: now)
    }
  }

  private mutating func nextWaiting() -> Int? {
    while let request = queue.popFirst() {
      if let known = requests[request], known.connection == nil { return request }
    }
    return nil
  }

  private mutating func beginConnection(at now: Instant) {
    lastConnection += 1
    connections[lastConnection] = SendingConnection(begunAt: now)
    current = lastConnection
    counters.connectsBegun += 1
    notBefore = now.advanced(milliseconds: settings.connectSpacingMilliseconds)
    actions.append(.connect(lastConnection))
  }

  /// A connection could not be made, or was lost before its first answer: begins a pause from a window that doubles.
  mutating func failed(_ reason: String, at now: Instant) {
    let base = settings.retryBaseMilliseconds
    // 2^20 times any base is beyond any ceiling, and far from overflow.
    let window = BackOff.window(
      base: base, ceiling: settings.retryCeilingMilliseconds, failureCount: failureCount)
    let pause = window / 2 + UInt64.random(in: 0...(window / 2), using: &generator)
    failureCount += 1
    lastReason = reason
    notBefore = max(notBefore, now.advanced(milliseconds: pause))
    failWaiting(.unreachable(reason: reason, retryAfterMilliseconds: max(1, notBefore.milliseconds(since: now))))
  }

  // MARK: Time

  /// When `timerFired` is due; nil if not before the next input.
  var nextInstant: Instant? {
    var next = deadlines.first
    for connection in connections.values { next = earlier(next, connection.nextInstant(settings)) }
    if current == nil, waitingCount > 0 { next = earlier(next, notBefore) }
    return next
  }

  private func earlier(_ left: Instant?, _ right: Instant?) -> Instant? {
    guard let left, let right else { return left ?? right }
    return min(left, right)
  }

  /// It is `nextInstant` or later.
  mutating func timerFired(at now: Instant) {
    while let (_, request) = deadlines.popDue(at: now) { expire(request, at: now) }
    for number in connections.keys.sorted() { look(after: number, at: now) }
    proceed(at: now)
  }

  private mutating func expire(_ request: Int, at now: Instant) {
    guard let known = requests[request] else { return }
    guard let connection = known.connection else {
      finish(request, .notSent(.timedOut))
      if let current { giveUpSilent(current, since: known.submitted, at: now) }
      return
    }
    connections[connection]?.streams.removeValue(forKey: known.stream)
    actions.append(.cancel(connection: connection, stream: known.stream))
    finish(request, .unknown(.timedOut))
    giveUpSilent(connection, since: known.submitted, at: now)
    settle(connection, at: now)
  }

  /// A connection that has answered nothing for the whole time of a request gets no further requests, even if it
  /// answers PING: the program that answers PING may not be the one that answers requests.
  private mutating func giveUpSilent(_ number: Int, since start: Instant, at now: Instant) {
    guard number == current, connections[number]?.isSilent(since: start) == true else { return }
    counters.lastEnd = "no answers"
    retire(number, at: now)
  }
}
