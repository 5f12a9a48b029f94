import EventLoop
import Glibc
import TestSupport
import Testing

@testable import WebSocket

/// A server that does what a test tells it, byte by byte: it answers the upgrade as told, and sends frames that may be
/// wrong.
@EventLoopActor
final class ScriptedServer {
  /// One connection, as the server sees it.
  @EventLoopActor
  final class Peer {
    let stream: ByteStream
    /// The request's head once it is whole.
    private(set) var request = ""
    /// Frames that came, unmasked.
    private(set) var frames: [Frame] = []
    /// Whether frames are taken apart and kept; else they are dropped as they come.
    var keepsFrames = true
    private(set) var hasEnded = false
    private var input: [UInt8] = []

    init(_ stream: ByteStream, onRequest: @escaping @EventLoopActor (Peer) -> Void) {
      self.stream = stream
      stream.outputLimit = 512 << 20
      stream.onEnd = { [weak self] _ in self?.hasEnded = true }
      stream.onInput = { [weak self] bytes in
        guard let self, keepsFrames else { return bytes.count }
        input += bytes
        if request.isEmpty, input.suffix(4) == [13, 10, 13, 10] {
          request = String(decoding: input, as: UTF8.self)
          input = []
          onRequest(self)
        }
        if !request.isEmpty { while let frame = Frame(taking: &input) { frames.append(frame) } }
        return bytes.count
      }
      stream.startReading()
    }

    /// The accept key that answers the request.
    var accept: String {
      let line = request.split(separator: "\r\n").first { $0.hasPrefix("Sec-WebSocket-Key: ") } ?? ""
      return AcceptKey.answer(to: String(line.dropFirst("Sec-WebSocket-Key: ".count)))
    }

    func send(_ bytes: [UInt8]) { bytes.withUnsafeBytes { stream.write($0) } }
    func send(_ text: String) { send(Array(text.utf8)) }

    func upgrade(accept: String? = nil, fields: String = "") {
      send(response(accept: accept, fields: fields))
    }

    func response(accept: String? = nil, fields: String = "") -> String {
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nconnection: keep-alive, Upgrade\r\n"
        + "Sec-WebSocket-Accept: \(accept ?? self.accept)\r\n\(fields)\r\n"
    }
  }

  private(set) var peers: [Peer] = []
  private var listener: StreamListener?

  init(onRequest: @escaping @EventLoopActor (Peer) -> Void) throws {
    let address = try #require(SocketAddress(literal: "127.0.0.1", port: 0))
    listener = try StreamListener(address: address) { [weak self] stream in
      self?.peers.append(Peer(stream, onRequest: onRequest))
    }
  }

  func close() {
    listener?.close()
    for peer in peers { peer.stream.close() }
  }

  var endpoint: WebSocketEndpoint {
    WebSocketEndpoint(host: "127.0.0.1", port: listener?.port ?? 0, isSecure: false, requestTarget: "/inbox?a=b")
  }

  func connect(
    limits: WebSocketLimits = WebSocketLimits(), deadlines: WebSocketDeadlines = WebSocketDeadlines()
  ) async throws -> Client {
    Client(try await WebSocketConnection.connect(to: endpoint, limits: limits, deadlines: deadlines))
  }
}

/// The client's side, with what it has been told.
@EventLoopActor
final class Client {
  let connection: WebSocketConnection
  var messages: [[UInt8]] = []
  var kinds: [WebSocketMessageKind] = []
  var ends: [WebSocketEnd] = []
  /// Called after a message was noted.
  var onMessage: (@EventLoopActor () -> Void)?

  init(_ connection: WebSocketConnection) { self.connection = connection }

  func start() {
    connection.start { [unowned self] kind, bytes in
      kinds.append(kind)
      messages.append(Array(bytes))
      onMessage?()
    } onEnd: { [unowned self] end in
      ends.append(end)
    }
  }

  var texts: [String] { messages.map { String(decoding: $0, as: UTF8.self) } }
}

/// A frame, right or wrong.
typealias Frame = WebSocketFrame
