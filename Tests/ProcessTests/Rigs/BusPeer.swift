import Frames
import Glibc
import TestSupport

/// A peer of the bus at byte level: one connection, blocking where it says so, with every answer counted.
///
/// It keeps to the protocol by itself (credit in both directions, increasing ids), and lets a test break it by
/// ``sendBytes(_:)``.
final class BusPeer {
  /// A frame as it came.
  struct Frame {
    var header: FrameHeader
    var payload: [UInt8]
    var text: String { String(decoding: payload, as: UTF8.self) }
  }

  /// The end of a request.
  struct Answer {
    var terminal: Frame
    var parts: [Frame]

    var isResponse: Bool { terminal.header.type == .response }
    var text: String { terminal.text }
    /// Why not, if it is an ERROR.
    var refusal: Refusal? { isResponse ? nil : try? JSONPayload.decode(Refusal.self, from: terminal.payload) }
  }

  let descriptor: Int32
  private(set) var welcome: Welcome?
  /// Why the hub cut the connection.
  private(set) var fatal: Refusal?
  /// Whether the connection has ended.
  private(set) var isEnded = false
  /// Terminal answers by request: a second one would be counted here.
  private(set) var terminalCounts: [UInt64: Int] = [:]
  /// Acknowledgements of our EVENTs: ACK or NACK by id.
  private(set) var acknowledgements: [UInt64: Frame] = [:]

  /// Events of topics, in the order they came.
  private(set) var topicEvents: [Frame] = []
  /// What was asked of us, in the order it came; nothing of it is answered.
  private(set) var requests: [Frame] = []

  private var parts: [UInt64: [Frame]] = [:]
  private var answers: [UInt64: Answer] = [:]
  private var input: [UInt8] = []
  private let reader = FrameReader()
  private(set) var lastId: UInt64 = 0
  private var granted = Credit(frames: 0, bytes: 0)
  private var sent = Credit(frames: 0, bytes: 0)
  private var taken = Credit(frames: 0, bytes: 0)

  /// Connects, and greets unless there is nothing to greet with.
  init(socket path: String, hello: Hello? = Hello(name: "test", role: "client")) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8).prefix($0.count - 1)) }
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0 else {
      let code = errno
      // `deinit` runs and closes it: everything is initialised here.
      throw DeadlinePassed(description: "connect to \(path): \(String(cString: strerror(code)))")
    }
    if let hello { try greet(hello) }
  }

  deinit { close(descriptor) }

  private func greet(_ hello: Hello) throws {
    send(FrameHeader(type: .hello), JSONPayload.encode(hello))
    try wait("WELCOME") { self.welcome != nil }
  }

  // MARK: Sending

  /// Sends a frame as it is; credit is the caller's affair.
  func send(_ header: FrameHeader, _ payload: [UInt8] = []) { sendBytes(BusPeer.bytes(header, payload)) }

  /// A frame as it goes over the bus.
  static func bytes(_ header: FrameHeader, _ payload: [UInt8]) -> [UInt8] {
    var header = header
    header.payloadByteCount = payload.count
    var bytes = [UInt8](repeating: 0, count: FrameHeader.byteCount)
    bytes.withUnsafeMutableBytes { if let base = $0.baseAddress { header.write(to: base) } }
    return bytes + payload
  }

  /// Sends any bytes; gives up silently when the other side has closed.
  func sendBytes(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      if count >= 0 { rest = rest.dropFirst(count) } else if errno != EINTR { return }
    }
  }

  /// Whether a frame may be sent now.
  var hasCredit: Bool { sent.frames < granted.frames && sent.bytes < granted.bytes }

  /// The number of a method or topic.
  func number(of method: String) throws -> UInt16 {
    try wait("\(method) in the registry") {
      self.welcome?.registry.methods[method] != nil || self.welcome?.registry.topics[method] != nil
    }
    return welcome?.registry.methods[method]?.number ?? welcome?.registry.topics[method] ?? 0
  }

  /// The header of a new request.
  func request(
    _ method: String, flags: FrameFlags = [], ttlMilliseconds: UInt32 = 0, to destination: Endpoint = .hub,
    type: FrameType = .request
  ) throws -> FrameHeader {
    lastId += 1
    return FrameHeader(
      type: type, flags: flags, destination: destination, id: lastId, ttlMilliseconds: ttlMilliseconds,
      method: try number(of: method))
  }

  /// Sends a request, waiting for credit if there is none; returns its id.
  @discardableResult
  func ask(
    _ method: String, _ payload: String = "{}", flags: FrameFlags = [], ttlMilliseconds: UInt32 = 0,
    to destination: Endpoint = .hub, type: FrameType = .request
  ) throws -> UInt64 {
    let header = try request(method, flags: flags, ttlMilliseconds: ttlMilliseconds, to: destination, type: type)
    try wait("credit") { self.hasCredit }
    spend(payload.utf8.count)
    send(header, Array(payload.utf8))
    return header.id
  }

  /// Notes credit as used, for frames sent by hand.
  func spend(_ byteCount: Int) {
    sent.frames += 1
    sent.bytes += UInt64(byteCount)
  }

  /// Asks, and waits for the answer.
  func call(
    _ method: String, _ payload: String = "{}", flags: FrameFlags = [], ttlMilliseconds: UInt32 = 0,
    to destination: Endpoint = .hub, within seconds: Double = 30
  ) throws -> Answer {
    try answer(
      to: try ask(method, payload, flags: flags, ttlMilliseconds: ttlMilliseconds, to: destination), within: seconds)
  }

  // MARK: Receiving

  /// The answer to a request, once.
  func answer(to id: UInt64, within seconds: Double = 30) throws -> Answer {
    try wait("the answer to request \(id)", within: seconds) { self.answers[id] != nil }
    guard let answer = answers.removeValue(forKey: id) else { throw DeadlinePassed(description: "no answer to \(id)") }
    return answer
  }

  /// The answer if it has come.
  func takeAnswer(to id: UInt64) -> Answer? { answers.removeValue(forKey: id) }

  /// Parts of an answer that came so far.
  func partCount(of id: UInt64) -> Int { parts[id]?.count ?? 0 }

  /// Those parts.
  func parts(of id: UInt64) -> [Frame] { parts[id] ?? [] }

  /// Reads until the condition holds.
  func wait(_ what: String, within seconds: Double = 30, until condition: () -> Bool) throws {
    let end = Monotonic.seconds + seconds
    while !condition() {
      if isEnded {
        throw DeadlinePassed(description: "the connection ended before \(what)\(fatal.map { ": \($0.message)" } ?? "")")
      }
      let left = end - Monotonic.seconds
      guard left > 0 else { throw DeadlinePassed(description: "not within \(seconds) s: \(what)") }
      receive(withinMilliseconds: Int32(left * 1_000) + 1)
    }
  }

  /// Reads until the other side has closed.
  func waitForEnd(within seconds: Double = 30) throws {
    try awaitSoon("the end of the connection", within: seconds) {
      receive(withinMilliseconds: 20)
      return isEnded
    }
  }

  /// Reads what there is, waiting at most so long for the first byte.
  func receive(withinMilliseconds patience: Int32 = 0) {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard !isEnded, poll(&entry, 1, patience) > 0 else { return }
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    let count = read(descriptor, &chunk, chunk.count)
    if count > 0 { input += chunk[..<count] } else if count == 0 || errno != EINTR { isEnded = true }
    while let frame = cut() { take(frame) }
  }

  private func cut() -> Frame? {
    let frame = input.withUnsafeBytes { bytes -> Frame? in
      guard case .frame(let header, let payload)? = try? reader.next(in: bytes) else { return nil }
      return Frame(header: header, payload: Array(payload))
    }
    if let frame { input.removeFirst(frame.header.frameByteCount) }
    return frame
  }

  private func take(_ frame: Frame) {
    let header = frame.header
    if header.type.spendsCredit(flags: header.flags) { grant(frame.payload.count) }
    switch header.type {
    case .welcome:
      welcome = try? JSONPayload.decode(Welcome.self, from: frame.payload)
      if let window = welcome?.window { granted = Credit(frames: window.frames, bytes: window.bytes) }
    case .registry:
      if let registry = try? JSONPayload.decode(Registry.self, from: frame.payload) { welcome?.registry = registry }
    case .credit: if let credit = frame.payload.withUnsafeBytes({ Credit($0) }) { granted = credit }
    case .fatal: fatal = try? JSONPayload.decode(Refusal.self, from: frame.payload)
    case .ack, .nack: acknowledgements[header.re] = frame
    case .event: topicEvents.append(frame)
    case .request: requests.append(frame)
    case .response where header.flags.contains(.more): parts[header.re, default: []].append(frame)
    case .response, .error:
      terminalCounts[header.re, default: 0] += 1
      answers[header.re] = Answer(terminal: frame, parts: parts.removeValue(forKey: header.re) ?? [])
    default: break
    }
  }

  private func grant(_ byteCount: Int) {
    taken.frames += 1
    taken.bytes += UInt64(byteCount)
    let window = Window.standard
    send(
      FrameHeader(type: .credit),
      Credit(frames: taken.frames + window.frames, bytes: taken.bytes + window.bytes).payload)
  }
}

/// The clock that nobody sets.
enum Monotonic {
  static var seconds: Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
