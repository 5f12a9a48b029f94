import Frames
import Glibc

/// Greets, gets ready, and serves; what is done in the middle of it stands in `Worker+Methods.swift`.
struct Worker {
  struct Request {
    var header: FrameHeader
    var payload: [UInt8]
    var order: Order
  }

  let flags: Flags
  var pipe = Pipe()
  var methodNames: [UInt16: String] = [:]
  /// What we may send, and what we have sent.
  var granted = Credit(frames: 0, bytes: 0)
  var sent = Credit(frames: 0, bytes: 0)
  /// Answers of many parts that are under way.
  var flows: [Flow] = []
  /// What may be sent of an answer before the first CREDIT for it.
  var answerWindow = Credit(frames: .max, bytes: .max)
  /// Answers that are due later.
  var later: [(at: UInt64, request: Request)] = []
  /// Requests that came while we waited for credit.
  var waiting: [Request] = []
  /// The keys done, by ledger: what `example.once` keeps.
  var ledgers: [String: [String: Int]] = [:]
  /// The next frame is read so far and no further.
  var armedAt: Int?

  init(_ flags: Flags) { self.flags = flags }

  mutating func run() -> Never {
    greet()
    flags.dieIfAsked(at: .hello)
    awaitWelcome()
    if flags.neverReady { Orphan.sleep() }
    if flags.extendMilliseconds > 0 {
      pipe.send(FrameHeader(type: .extend, ttlMilliseconds: flags.extendMilliseconds))
    }
    usleep(flags.readyAfterMilliseconds * 1_000)
    pipe.send(FrameHeader(type: .ready))
    flags.dieIfAsked(at: .ready)
    while true { turn() }
  }

  private func greet() {
    var hello = Hello(
      name: getenv("ROOST_WORKER").map { String(cString: $0) } ?? "misbehaving-worker", role: flags.greetsAs)
    hello.generation = Flags.generation
    hello.pid = getpid()
    hello.methods = Worker.methods.keys.sorted()
    hello.answerCredit = true
    pipe.send(FrameHeader(type: .hello), JSONPayload.encode(hello))
  }

  private mutating func awaitWelcome() {
    guard let (header, payload) = pipe.next(withinMilliseconds: -1), header.type == .welcome,
      let welcome = try? JSONPayload.decode(Welcome.self, from: payload)
    else { exit(65) }
    granted = Credit(frames: welcome.window.frames, bytes: welcome.window.bytes)
    if let window = welcome.answerWindow { answerWindow = Credit(frames: window.frames, bytes: window.bytes) }
    learn(welcome.registry)
  }

  private mutating func learn(_ registry: Registry) {
    methodNames = Dictionary(registry.methods.map { ($0.value.number, $0.key) }) { first, _ in first }
  }

  private mutating func turn() {
    if !waiting.isEmpty {
      serve(waiting.removeFirst())
      return
    }
    if let at = armedAt {
      pipe.swallow(at)
      Death().die()
    }
    if flags.shouts { shout(byteCount: 64 << 10) }
    if let frame = pipe.next(withinMilliseconds: patience()) { take(frame.header, frame.payload) }
    moveFlows()
    let now = Worker.milliseconds()
    let due = later.filter { $0.at <= now }
    later.removeAll { $0.at <= now }
    for entry in due { answer(entry.request) }
  }

  private func patience() -> Int32 {
    if flags.shouts || flowsCanMove { return 0 }
    guard let next = later.map(\.at).min() else { return -1 }
    let now = Worker.milliseconds()
    return next <= now ? 0 : Int32(clamping: next - now)
  }

  mutating func take(_ header: FrameHeader, _ payload: [UInt8]) {
    switch header.type {
    case .request:
      // What is no order is an order of nothing: echo answers it as well.
      let order = (try? JSONPayload.decode(Order.self, from: payload)) ?? Order()
      waiting.append(Request(header: header, payload: payload, order: order))
    case .cancel:
      later.removeAll { $0.request.header.id == header.re && $0.request.header.source == header.source }
      dropFlow(header)
      refuse(header, Refusal(.cancelled, "cancelled", outcome: .unknown), re: header.re)
    case .event: takeEvent(header, payload)
    case .credit:
      guard let credit = payload.withUnsafeBytes({ Credit($0) }) else { return }
      if header.re == 0 { granted = credit } else { grantFlow(header, credit) }
    case .registry: if let registry = try? JSONPayload.decode(Registry.self, from: payload) { learn(registry) }
    case .drain: flags.dieIfAsked(at: .drain)
    case .ping: pipe.send(FrameHeader(type: .pong, re: header.id))
    default: break
    }
  }

  private mutating func serve(_ request: Request) {
    guard let name = methodNames[request.header.method], let method = Worker.methods[name] else {
      refuse(request.header, Refusal(.unknownMethod, "no such misbehaviour", outcome: .notStarted))
      return
    }
    guard request.header.attempt <= request.order.lives ?? 1 || !method.isOnce else {
      answer(request)
      return
    }
    method.body(&self, request)
  }

  // MARK: Answers

  func answerHeader(_ request: Request, _ type: FrameType = .response) -> FrameHeader {
    FrameHeader(
      type: type, flags: request.header.flags.intersection(.raw), destination: request.header.source,
      re: request.header.id, attempt: request.header.attempt, method: request.header.method)
  }

  /// What was sent comes back, as `example.echo` has it.
  func answer(_ request: Request) { pipe.send(answerHeader(request), request.payload) }

  func answer(_ request: Request, _ text: String) { pipe.send(answerHeader(request), Array(text.utf8)) }

  func refuse(_ header: FrameHeader, _ refusal: Refusal, re: UInt64? = nil) {
    pipe.send(
      FrameHeader(
        type: .error, destination: header.source, re: re ?? header.id, attempt: header.attempt, method: header.method),
      JSONPayload.encode(refusal))
  }

  var hasCredit: Bool { sent.frames < granted.frames && sent.bytes < granted.bytes }

  /// Waits until one more frame of this size may be sent; what else comes is put aside.
  mutating func awaitCredit(byteCount: Int) {
    while !hasCredit {
      if let frame = pipe.next(withinMilliseconds: -1) { take(frame.header, frame.payload) }
    }
    sent.frames += 1
    sent.bytes += UInt64(byteCount)
  }

  func shout(byteCount: Int) {
    let line = Array("the quick brown fox jumps over the lazy dog, as often as anybody reads it\n".utf8)
    let text = (0..<max(1, byteCount / line.count)).flatMap { _ in line }
    _ = write(STDOUT_FILENO, text, text.count)
  }

  static func milliseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000 + UInt64(time.tv_nsec) / 1_000_000
  }
}
