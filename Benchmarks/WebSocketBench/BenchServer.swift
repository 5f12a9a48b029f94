import EventLoop
import Glibc
import WebSocket

/// Keeps WebSockets, sends back what comes to `/echo`, and to `/flood` as many messages as there are to be.
@EventLoopActor
final class BenchServer: WebSocketServerDelegate {
  private var server: WebSocketServer?
  private var connections: [WebSocketConnection] = []
  private(set) var port: UInt16 = 0
  private let message = [UInt8](repeating: UInt8(ascii: "a"), count: BenchPlan.messageByteCount)

  /// Bytes that may wait before nothing more is sent.
  private static let highWater = 256 << 10

  init() throws(LoopFault) {
    var limits = WebSocketServerLimits()
    limits.connectionsMaximum = BenchPlan.connectionCount + 100
    let made = WebSocketServer(delegate: self, limits: limits)
    guard let address = SocketAddress(literal: "127.0.0.1", port: 0) else { preconditionFailure("it is an address") }
    port = try made.listen(on: address)
    server = made
  }

  func answer(to head: HTTPRequestHead, from peer: SocketAddress) -> HTTPDecision { .upgrade() }

  func accepting(failedBy fault: LoopFault) { preconditionFailure("\(fault)") }

  func opened(_ connection: WebSocketConnection, for head: HTTPRequestHead, from peer: SocketAddress) {
    connections.append(connection)
    let isFlood = head.path == "/flood"
    connection.start { [unowned self, unowned connection] _, bytes in
      if isFlood { flood(connection) } else { send(on: connection, bytes) }
    } onEnd: { _ in
    }
  }

  /// Sends one message to everybody, and waits until all of them have been taken.
  func tellAll() async {
    message.withUnsafeBytes { bytes in for connection in connections { send(on: connection, bytes) } }
    repeat { await EventLoopActor.sleep(milliseconds: 20) } while connections.contains { $0.pendingByteCount > 0 }
  }

  private func send(on connection: WebSocketConnection, _ bytes: UnsafeRawBufferPointer) {
    do { try connection.send(text: bytes) } catch { preconditionFailure("\(error)") }
  }

  private func flood(_ connection: WebSocketConnection) {
    var sentCount = 0
    let message = message
    let more: @EventLoopActor () -> Void = { [unowned self, unowned connection] in
      connection.together {
        message.withUnsafeBytes { bytes in
          while sentCount < BenchPlan.floodCount, connection.pendingByteCount < Self.highWater {
            send(on: connection, bytes)
            sentCount += 1
          }
        }
      }
    }
    connection.onDrained = more
    more()
  }
}
