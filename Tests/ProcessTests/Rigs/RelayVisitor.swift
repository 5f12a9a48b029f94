import Frames
import Glibc
import LinuxSystem
import TestSupport

/// A client of a relay at the level of bytes: one WebSocket connection, blocking, with everything that came kept in its
/// order. What it sends may be as wrong as a test likes. It offers no compression.
final class RelayVisitor {
  /// What a relay says of an event.
  struct Verdict: Hashable, Sendable {
    /// OK true.
    let isAccepted: Bool
    /// Its reason; may be empty.
    let reason: String
  }

  /// What a relay says to a REQ, up to the end of what is stored or to its refusal.
  struct Found: Hashable, Sendable {
    /// The ids of the events, in their order.
    var ids: [String] = []
    /// The events, in the same order.
    var events: [JSONValue] = []
    /// The reason of a CLOSED; nil for an EOSE.
    var refusal: String?
  }

  /// The head of the answer to the upgrade, without the empty line; a refusal's head and body if there was no upgrade.
  private(set) var head = ""
  /// Messages as they came, each a JSON array.
  private(set) var messages: [[JSONValue]] = []
  /// The code of the relay's close; nil when none came.
  private(set) var closeCode: UInt16?
  /// Whether the connection has ended.
  private(set) var isOver = false
  /// Whether something that was sent was not taken any more.
  private(set) var isCut = false

  private let descriptor: Int32
  private var input: [UInt8] = []
  private var nextName = 0
  private var chunk = [UInt8](repeating: 0, count: 64 << 10)
  private static let patienceSeconds: Double = 30

  /// Connects, and asks for an upgrade.
  ///
  /// - Parameters:
  ///   - port: of 127.0.0.1.
  ///   - path: what is asked for.
  ///   - host: the `Host` that is asked for; 127.0.0.1 with the port without one.
  ///   - fields: further lines of the request's head.
  init(port: UInt16, path: String = "/", host: String? = nil, fields: [String] = []) throws {
    descriptor = try Self.dial(port)
    let lines =
      [
        "GET \(path) HTTP/1.1", "Host: \(host ?? "127.0.0.1:\(port)")", "Upgrade: websocket", "Connection: Upgrade",
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Version: 13",
      ] + fields
    send(bytes: Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8))
    try wait("an answer to the upgrade") { isOver || !head.isEmpty }
    if isOver { head = String(decoding: input, as: UTF8.self) }
  }

  deinit { Descriptors.close(descriptor) }

  /// Whether it was upgraded.
  var isUpgraded: Bool { head.hasPrefix("HTTP/1.1 101 ") }

  /// Sends an HTTP request and gives the whole answer; the request should ask for `Connection: close`.
  static func exchange(port: UInt16, _ request: [String]) throws -> String {
    let descriptor = try dial(port)
    defer { Descriptors.close(descriptor) }
    try Descriptors.writeAll(request.joined(separator: "\r\n") + "\r\n\r\n", to: descriptor)
    var (answer, chunk) = ([UInt8](), [UInt8](repeating: 0, count: 4_096))
    while true {
      var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&entry, 1, Int32(patienceSeconds * 1_000)) > 0 else {
        throw DeadlinePassed(
          description: "the connection is not closed after \(String(decoding: answer, as: UTF8.self))")
      }
      let count = read(descriptor, &chunk, chunk.count)
      guard count > 0 else { return String(decoding: answer, as: UTF8.self) }
      answer += chunk[..<count]
    }
  }

  private static func dial(_ port: UInt16) throws -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else {
      let code = errno
      Descriptors.close(descriptor)
      throw DeadlinePassed(description: "connect to port \(port): \(String(cString: strerror(code)))")
    }
    // Two small messages behind each other would wait for an acknowledgement, 40 ms each time.
    var one: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    return descriptor
  }

  /// A port of 127.0.0.1 that is free now.
  static func freePort() throws -> UInt16 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { Descriptors.close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
      }
    }
    guard result else { throw DeadlinePassed(description: "no free port: \(String(cString: strerror(errno)))") }
    return UInt16(bigEndian: address.sin_port)
  }

  // MARK: Sending

  /// Sends a text message.
  func send(_ text: String) { send(WebSocketFrame.text(text)) }

  /// Sends a frame, masked.
  func send(_ frame: WebSocketFrame) {
    var frame = frame
    frame.mask = [1, 2, 3, 4]
    send(bytes: frame.bytes)
  }

  /// Sends bytes as they are; gives up silently when the other side has closed.
  func send(bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      if count >= 0 { rest = rest.dropFirst(count) } else if errno != EINTR { return isCut = true }
    }
  }

  // MARK: Asking

  /// Sends an event, which has this id, and waits for its OK.
  func publish(_ event: [UInt8], id: String) throws -> Verdict {
    let start = messages.count
    send("[\"EVENT\",\(String(decoding: event, as: UTF8.self))]")
    return try verdict(on: id, from: start)
  }

  /// Waits for the OK of an event, among the messages from an index on.
  func verdict(on id: String, from start: Int = 0) throws -> Verdict {
    let message = try first(from: start, "OK for \(id)") { $0.isLabelled("OK", id) }
    guard message.count == 4, case .bool(let isAccepted) = message[2], case .string(let reason) = message[3] else {
      throw DeadlinePassed(description: "no OK: \(message)")
    }
    return Verdict(isAccepted: isAccepted, reason: reason)
  }

  /// Sends a REQ of these filters, and waits for the end of what is stored, or the refusal. Without a name of the
  /// test's it is closed then.
  func request(_ filters: String..., name: String? = nil) throws -> Found {
    nextName += 1
    defer { if name == nil { close("r\(nextName)") } }
    let name = name ?? "r\(nextName)"
    let start = messages.count
    send("[\"REQ\",\"\(name)\",\(filters.joined(separator: ","))]")
    let end = try first(from: start, "EOSE or CLOSED of \(name)") {
      $0.isLabelled("EOSE", name) || $0.isLabelled("CLOSED", name)
    }
    var found = Found()
    for message in messages[start...] {
      if message == end { break }
      if message.isLabelled("EVENT", name) { found.add(message) }
    }
    if end.first == .string("CLOSED"), end.count > 2, case .string(let reason) = end[2] { found.refusal = reason }
    return found
  }

  /// Ends a subscription.
  func close(_ name: String) { send("[\"CLOSE\",\"\(name)\"]") }

  /// The ids of all events that came under a name, in their order, from an index of messages on.
  func ids(under name: String, from start: Int = 0) -> [String] {
    messages[start...].reduce(into: Found()) { if $1.isLabelled("EVENT", name) { $0.add($1) } }.ids
  }

  /// Sends a message and waits for the first one with this label behind it.
  func ask(_ text: String, _ label: String) throws -> [JSONValue] {
    let start = messages.count
    send(text)
    return try first(from: start, label) { $0.first == .string(label) }
  }

  /// The last challenge that came; nil if none did.
  var challenge: String? {
    for message in messages.reversed() where message.first == .string("AUTH") && message.count > 1 {
      if case .string(let text) = message[1] { return text }
    }
    return nil
  }

  // MARK: Waiting

  /// Reads until the condition holds.
  func wait(_ what: String, within seconds: Double = 30, until condition: () -> Bool) throws {
    try awaitSoon(what, within: seconds) {
      if condition() { return true }
      guard !isOver else {
        throw DeadlinePassed(description: "the relay has left before \(what); the last of it: \(messages.suffix(3))")
      }
      receive()
      return condition()
    }
  }

  private func first(from start: Int, _ what: String, _ isIt: ([JSONValue]) -> Bool) throws -> [JSONValue] {
    var (found, looked): ([JSONValue]?, Int) = (nil, start)
    try wait(what, within: Self.patienceSeconds) {
      found = messages[looked...].first(where: isIt)
      looked = messages.count
      return found != nil
    }
    return found ?? []
  }

  private func receive() {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&entry, 1, 10) > 0 else { return }
    let count = recv(descriptor, &chunk, chunk.count, 0)
    if count < 0, errno == EINTR { return }
    guard count > 0 else { return isOver = true }
    input += chunk[..<count]
    if head.isEmpty { takeHead() }
    guard isUpgraded else { return }
    while let frame = WebSocketFrame(taking: &input) { take(frame) }
  }

  private func takeHead() {
    let end = Array("\r\n\r\n".utf8)
    guard input.starts(with: "HTTP/1.1 101 ".utf8),
      let start = input.indices.first(where: { input[$0...].starts(with: end) })
    else { return }
    head = String(decoding: input[..<start], as: UTF8.self)
    input.removeFirst(start + end.count)
  }

  private func take(_ frame: WebSocketFrame) {
    switch frame.opcode {
    case 1:
      // What is no array would be found missing by whoever waits for it.
      messages.append((try? JSONPayload.decode([JSONValue].self, from: frame.payload)) ?? [.string(frame.text)])
    case 8:
      closeCode = frame.closeCode
      send(WebSocketFrame(opcode: 8, payload: frame.payload))
    case 9: send(WebSocketFrame(opcode: 10, payload: frame.payload))
    default: break
    }
  }
}

extension [JSONValue] {
  fileprivate func isLabelled(_ label: String, _ name: String) -> Bool {
    count > 1 && self[0] == .string(label) && self[1] == .string(name)
  }
}

extension RelayVisitor.Found {
  fileprivate mutating func add(_ message: [JSONValue]) {
    guard message.count == 3, case .string(let id)? = message[2]["id"] else { return }
    ids.append(id)
    events.append(message[2])
  }
}
