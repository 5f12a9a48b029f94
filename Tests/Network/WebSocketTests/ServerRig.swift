import Clocks
import EventLoop
import TestSupport
import Testing

@testable import WebSocket

/// A server on a port of its own, with what it was told and what it does.
@EventLoopActor
final class ServerRig: WebSocketServerDelegate {
  /// One WebSocket, as the server sees it.
  @EventLoopActor
  final class Visitor {
    let connection: WebSocketConnection
    let head: HTTPRequestHead
    var texts: [String] = []
    var byteCounts: [Int] = []
    var ends: [WebSocketEnd] = []
    var onMessage: (@EventLoopActor (UnsafeRawBufferPointer) -> Void)?

    init(_ connection: WebSocketConnection, _ head: HTTPRequestHead) {
      self.connection = connection
      self.head = head
    }

    func start() {
      connection.start { [unowned self] _, bytes in
        texts.append(bytes.count < 1_000 ? String(decoding: bytes, as: UTF8.self) : "long")
        byteCounts.append(bytes.count)
        onMessage?(bytes)
      } onEnd: { [unowned self] end in
        ends.append(end)
      }
    }

    /// Sends back what comes.
    func echo() {
      onMessage = { [unowned self] bytes in
        do { try connection.send(text: bytes) } catch { Issue.record("\(error)") }
      }
    }
  }

  var visitors: [Visitor] = []
  private(set) var heads: [HTTPRequestHead] = []
  private(set) var faults: [LoopFault] = []
  private(set) var port: UInt16 = 0
  var decision: @EventLoopActor (HTTPRequestHead) -> HTTPDecision = { _ in .upgrade() }
  /// Who has to show itself first: by default nobody.
  var admission: @EventLoopActor (HTTPRequestHead) -> WebSocketAdmission = { _ in .inside }
  /// Called with each new WebSocket; starts it.
  var onOpened: @EventLoopActor (Visitor) -> Void = { $0.start() }
  private var made: WebSocketServer?

  init(_ limits: WebSocketServerLimits = WebSocketServerLimits(), security: (any ServerSecurity)? = nil) throws {
    let server = WebSocketServer(delegate: self, limits: limits)
    made = server
    let address = try #require(SocketAddress(literal: "127.0.0.1", port: 0))
    port = try server.listen(on: address, security: security)
  }

  var server: WebSocketServer {
    guard let made else { preconditionFailure("the rig has its server") }
    return made
  }

  func answer(to head: HTTPRequestHead, from peer: SocketAddress) -> HTTPDecision {
    heads.append(head)
    return decision(head)
  }

  func admission(of head: HTTPRequestHead, from peer: SocketAddress) -> WebSocketAdmission { admission(head) }

  func opened(_ connection: WebSocketConnection, for head: HTTPRequestHead, from peer: SocketAddress) {
    let visitor = Visitor(connection, head)
    visitors.append(visitor)
    onOpened(visitor)
  }

  func accepting(failedBy fault: LoopFault) { faults.append(fault) }

  /// Lets go of all WebSockets, and listens no more.
  func close() {
    server.close()
    visitors = []
  }

  var endpoint: WebSocketEndpoint {
    WebSocketEndpoint(host: "127.0.0.1", port: port, isSecure: false, requestTarget: "/inbox?a=b")
  }

  /// Our own client.
  func dial(
    _ limits: WebSocketLimits = WebSocketLimits(), deadlines: WebSocketDeadlines = WebSocketDeadlines()
  ) async throws -> (Client, Visitor) {
    let client = Client(try await WebSocketConnection.connect(to: endpoint, limits: limits, deadlines: deadlines))
    client.start()
    return (client, try #require(visitors.last))
  }

  /// A client that sends what a test gives it.
  func raw() async throws -> RawClient {
    let address = try #require(SocketAddress(literal: "127.0.0.1", port: port))
    let deadline = EventLoop.process.now.advanced(milliseconds: 20_000)
    return RawClient(try await ByteStream.connect(to: address, deadline: deadline))
  }

  /// One that has been upgraded.
  func rawUpgraded(extensions: String? = nil) async throws -> (RawClient, Visitor) {
    let client = try await raw()
    client.send(RawClient.request(extensions: extensions))
    try await eventually("the 101") { client.hasHead }
    return (client, try #require(visitors.last))
  }
}

/// A client of bytes.
@EventLoopActor
final class RawClient {
  let stream: ByteStream
  private(set) var input: [UInt8] = []
  private(set) var hasEnded = false
  private(set) var endFault: LoopFault?

  init(_ stream: ByteStream) {
    self.stream = stream
    stream.onInput = { [weak self] bytes in
      self?.input += bytes
      return bytes.count
    }
    stream.onEnd = { [weak self] fault in
      self?.hasEnded = true
      self?.endFault = fault
    }
    stream.startReading()
  }

  nonisolated static func request(extensions: String? = nil) -> String {
    "GET /raw HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
      + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
      + (extensions.map { "Sec-WebSocket-Extensions: \($0)\r\n" } ?? "") + "\r\n"
  }

  func send(_ bytes: [UInt8]) { bytes.withUnsafeBytes { stream.write($0) } }
  func send(_ text: String) { send(Array(text.utf8)) }

  /// Byte by byte, a turn of the loop between.
  func trickle(_ bytes: [UInt8]) async {
    for byte in bytes {
      send([byte])
      stream.flush()
      await Task.yield()
    }
  }

  var text: String { String(decoding: input, as: UTF8.self) }
  var hasHead: Bool { text.contains("\r\n\r\n") }
  var status: Int? { text.split(separator: " ").dropFirst().first.flatMap { Int($0) } }

  /// The frames behind the 101.
  var frames: [Frame] {
    var rest = Array(input.dropFirst(text.range(of: "\r\n\r\n").map { text[..<$0].utf8.count } ?? input.count))
    var frames: [Frame] = []
    while let frame = Frame(taking: &rest) { frames.append(frame) }
    return frames
  }
}

extension String {
  /// The end of the first occurrence.
  fileprivate func range(of part: String) -> String.Index? { firstRange(of: part)?.upperBound }
}

extension Frame {
  /// As a client sends it.
  var masked: [UInt8] {
    var copy = self
    copy.mask = [0x12, 0x34, 0x56, 0x78]
    return copy.bytes
  }
}
