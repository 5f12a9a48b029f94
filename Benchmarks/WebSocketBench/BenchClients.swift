import Clocks
import EventLoop
import Glibc
import WebSocket

/// What is measured.
enum BenchPlan {
  /// Connections that are held.
  static let connectionCount = 10_000
  /// Bytes of each message: an event with a sentence in it.
  static let messageByteCount = 600
  /// Messages that are sent one way.
  static let floodCount = 1_000_000
}

/// A connection of bytes, as cheap as a client can be: it upgrades, sends one message, and counts what comes.
@EventLoopActor
final class BareClient {
  private(set) var byteCount = 0
  private var awaited = 0
  private var waiting: CheckedContinuation<Void, Never>?
  private let stream: ByteStream

  /// Bytes of the 101 that comes.
  private static let answerByteCount = 129
  /// A server's frame of one message.
  static let frameByteCount = 4 + BenchPlan.messageByteCount

  init(to port: UInt16, target: String) async throws(LoopFault) {
    guard let address = SocketAddress(literal: "127.0.0.1", port: port) else { preconditionFailure("an address") }
    stream = try await ByteStream.connect(
      to: address, deadline: EventLoop.process.now.advanced(milliseconds: 60_000))
    stream.onInput = { [unowned self] bytes in
      byteCount += bytes.count
      if byteCount >= awaited { resume() }
      return bytes.count
    }
    stream.onEnd = { fault in preconditionFailure("the server has left: \(String(describing: fault))") }
    stream.startReading()
    let request =
      "GET \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    Array(request.utf8).withUnsafeBytes { stream.write($0) }
    await bytes(Self.answerByteCount)
  }

  /// Sends one message, masked with nothing but zeros.
  func sendMessage() {
    let length = [UInt8(BenchPlan.messageByteCount >> 8), UInt8(BenchPlan.messageByteCount & 255)]
    let frame = [0x81, 0xFE] + length + [0, 0, 0, 0] + [UInt8](repeating: 0x61, count: BenchPlan.messageByteCount)
    frame.withUnsafeBytes { stream.write($0) }
  }

  /// Waits until so many bytes more have come than were waited for before.
  func bytes(_ count: Int) async {
    awaited += count
    if byteCount >= awaited { return }
    await withCheckedContinuation { waiting = $0 }
  }

  private func resume() {
    let waiting = waiting
    self.waiting = nil
    waiting?.resume()
  }
}

/// The programs of the other process.
@EventLoopActor
enum BenchClients {
  /// Holds connections, each of which has had one message sent back, until standard input ends.
  static func hold(_ port: UInt16) async throws {
    var clients: [BareClient] = []
    for _ in 0..<BenchPlan.connectionCount {
      let client = try await BareClient(to: port, target: "/echo")
      client.sendMessage()
      clients.append(client)
    }
    for client in clients { await client.bytes(BareClient.frameByteCount) }
    say("held")
    await forever()
    withExtendedLifetime(clients) {}
  }

  /// Asks for the flood and says how long it took, in nanoseconds: of bytes only, or with our own client.
  static func drink(_ port: UInt16, isOurs: Bool) async throws {
    if isOurs {
      let connection = try await WebSocketConnection.connect(
        to: WebSocketEndpoint(host: "127.0.0.1", port: port, isSecure: false, requestTarget: "/flood"),
        limits: WebSocketLimits(offersCompression: false))
      let begin = EventLoop.process.now
      var count = 0
      await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
        connection.start { _, _ in
          count += 1
          if count == BenchPlan.floodCount { done.resume() }
        } onEnd: { end in
          preconditionFailure("\(end)")
        }
        do { try connection.send(text: [0x61]) } catch { preconditionFailure("\(error)") }
      }
      say("\(EventLoop.process.now.nanoseconds - begin.nanoseconds)")
      await forever()
      withExtendedLifetime(connection) {}
    } else {
      let client = try await BareClient(to: port, target: "/flood")
      let begin = EventLoop.process.now
      client.sendMessage()
      await client.bytes(BenchPlan.floodCount * BareClient.frameByteCount)
      say("\(EventLoop.process.now.nanoseconds - begin.nanoseconds)")
      await forever()
      withExtendedLifetime(client) {}
    }
  }

  private static func say(_ line: String) {
    print(line)
    fflush(nil)
  }

  /// The parent kills.
  private static func forever() async { await EventLoopActor.sleep(milliseconds: 3_600_000) }
}
