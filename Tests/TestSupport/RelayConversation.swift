import Clocks
import Glibc
import Synchronization

/// Why a script does not go on.
enum ConversationEnd: Error {
  /// The other side closed, or the relay cut it off.
  case isOver
  /// Nothing came of what the step waited for.
  case waitedInVain
}

/// One connection under its script, on a thread of its own: what the steps of ``RelayStep`` are written in.
///
/// Blocks. Every frame that comes is noted in the visit; a ping and a close are answered, unless the script says
/// ``isDeaf``.
public final class RelayConversation {
  /// The subscription id of the last REQ, COUNT or NEG-OPEN that was read; empty before it.
  public private(set) var subscription = ""
  /// The id of the event in the last EVENT or AUTH that was read; empty before it.
  public private(set) var eventID = ""
  /// Whether pings and closes are left without an answer.
  public var isDeaf = false

  private let shared: ScriptedRelay.Shared
  private let index: Int
  private let descriptor: Int32
  private var input: [UInt8] = []
  private var unread: [String] = []
  private var request: String?
  private var isClosed = false
  private var chunk = [UInt8](repeating: 0, count: 64 << 10)

  init(_ shared: ScriptedRelay.Shared, index: Int, descriptor: Int32) {
    self.shared = shared
    self.index = index
    self.descriptor = descriptor
    // Bytes that a script sends one by one are to travel one by one.
    var yes: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
  }

  /// Does the steps, then listens until the other side leaves.
  func run(_ script: [RelayStep]) {
    defer { shared.leave(index, descriptor) }
    for step in script {
      do { try step.perform(self) } catch {
        shared.note(index) { $0.unfinishedStep = step.description }
        // An answer to who has left would fail, and end the reading of what it said last.
        isDeaf = true
        break
      }
    }
    // Its end is the expected one of its errors.
    do { while !isClosed { try receive(withinMilliseconds: -1) } } catch {}
  }

  // MARK: Receiving

  /// Waits for the whole head of the upgrade request.
  public func readRequest() throws -> String {
    try wait { request != nil }
    return request ?? ""
  }

  /// Waits for a text message with this label, passing over others, and remembers the id in it.
  @discardableResult
  public func expect(_ label: String) throws -> String { try expect(oneOf: [label]).text }

  /// The same for the first message with one of these labels.
  public func expect(oneOf labels: [String]) throws -> (label: String, text: String) {
    while true {
      let text = try next()
      if let label = labels.first(where: { text.hasPrefix("[\"\($0)\"") }) { return (label, text) }
    }
  }

  /// Waits for any text message, and remembers the id in it.
  public func next() throws -> String {
    try wait { !unread.isEmpty }
    let text = unread.removeFirst()
    switch text.split(separator: "\"", maxSplits: 2).dropFirst().first {
    case "EVENT", "AUTH": eventID = Self.value(of: "id", in: text)
    case "REQ", "COUNT", "NEG-OPEN": subscription = Self.second(of: text)
    default: break
    }
    return text
  }

  /// Waits until the test calls ``ScriptedRelay/release(_:)`` with this name.
  public func hold(_ gate: String) throws {
    try wait { shared.state.withLock { $0.released.contains(gate) } }
  }

  /// Reads until the condition holds.
  private func wait(until condition: () -> Bool) throws {
    let end = monotonicNow().advanced(milliseconds: UInt64(ScriptedRelay.patienceSeconds * 1_000))
    while !condition() {
      guard monotonicNow() < end else { throw ConversationEnd.waitedInVain }
      try receive(withinMilliseconds: 10)
    }
  }

  /// Reads what there is; with nothing there it waits so long, or without end for -1.
  private func receive(withinMilliseconds patience: Int32) throws {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&entry, 1, patience) > 0 else { return }
    let count = recv(descriptor, &chunk, chunk.count, 0)
    if count < 0, errno == EINTR { return }
    guard count > 0 else { throw ConversationEnd.isOver }
    input += chunk[..<count]
    if request == nil { takeRequest() }
    if request != nil { while let frame = WebSocketFrame(taking: &input) { try take(frame) } }
  }

  private func takeRequest() {
    let end = Array("\r\n\r\n".utf8)
    guard let start = input.indices.first(where: { input[$0...].starts(with: end) }) else { return }
    let head = String(decoding: input[..<start], as: UTF8.self)
    input.removeFirst(start + end.count)
    request = head
    shared.note(index) { $0.request = head }
  }

  private func take(_ frame: WebSocketFrame) throws {
    shared.note(index) { if $0.frames.count < ScriptedRelay.Visit.frameMaximum { $0.frames.append(frame) } }
    if frame.opcode == 1 { unread.append(frame.text) }
    if isDeaf { return }
    if frame.opcode == 9 { try send(WebSocketFrame(opcode: 10, payload: frame.payload).bytes) }
    if frame.opcode == 8 {
      // After a close of our own it is the answer, and nobody minds one more.
      try send(WebSocketFrame(opcode: 8, payload: frame.payload).bytes)
      hangUp()
    }
  }

  /// `k3v0q.1` of `["REQ","k3v0q.1",…]`. Our own client's messages have no white space and no escapes.
  private static func second(of text: String) -> String {
    String(text.split(separator: "\"", maxSplits: 4, omittingEmptySubsequences: false).dropFirst(3).first ?? "")
  }

  /// The text that stands under a key, the first of that name.
  private static func value(of key: String, in text: String) -> String {
    guard let range = text.firstRange(of: "\"\(key)\":\"") else { return "" }
    return String(text[range.upperBound...].prefix { $0 != "\"" })
  }

  // MARK: Sending

  /// Sends bytes as they are, blocking while the other side takes none.
  public func send(_ bytes: [UInt8]) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw ConversationEnd.isOver }
      rest = rest.dropFirst(count)
    }
  }

  /// Puts the ids of this connection where a text has `$sub` and `$id`.
  public func filled(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "$")) else { return text }
    return text.replacing("$sub", with: subscription).replacing("$id", with: eventID)
  }

  // MARK: Ending

  /// Ends our half of the stream without a word; what the other side still says is read.
  public func hangUp() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Ends the connection by RST.
  public func reset() throws {
    isClosed = true
    shared.leave(index, descriptor, isReset: true)
    throw ConversationEnd.isOver
  }
}
