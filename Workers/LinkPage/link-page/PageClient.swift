import Contracts
import EventLoop
import Frames
import JSON
import WebSocket

/// One browser's connection: a request has a number, and its answer has the same.
@EventLoopActor
final class PageClient {
  private let connection: WebSocketConnection
  private let desk: PageDesk
  /// Whether the browser is still in; it counts as a sign of life.
  private let isInside: @EventLoopActor () -> Bool
  private var running = 0

  /// Requests of one browser that are answered at the same time.
  private static let runningMaximum = 32

  private struct Request: Decodable {
    var id: Int64
    var method: String
    var arguments: JSONValue?
  }

  init(_ connection: WebSocketConnection, _ desk: PageDesk, isInside: @escaping @EventLoopActor () -> Bool) {
    self.connection = connection
    self.desk = desk
    self.isInside = isInside
  }

  /// Begins to read; `onEnd` is called once.
  func start(onEnd: @escaping @EventLoopActor () -> Void) {
    connection.start(
      onMessage: { [weak self] kind, bytes in self?.received(kind, bytes) }, onEnd: { _ in onEnd() })
  }

  /// Sends what was not asked for.
  func push(_ text: [UInt8]) { send(text) }

  /// Closes it, with a reason.
  func close(code: UInt16, _ reason: String) { connection.close(code: code, reason: reason) }

  private func received(_ kind: WebSocketMessageKind, _ bytes: UnsafeRawBufferPointer) {
    guard isInside() else { return close(code: 1008, "the page is closed to this browser: type 'roost links open'") }
    guard kind == .text else { return close(code: 1003, "requests are texts") }
    let request: Request
    do throws(Refusal) { request = try JSONPayload.decode(Request.self, from: Array(bytes)) } catch {
      return close(code: 1007, "a request is {\"id\",\"method\",\"arguments\"}")
    }
    guard running < Self.runningMaximum else {
      let refusal = Refusal(.full, "too many requests wait for an answer", outcome: .notStarted)
      return send(PageDesk.refused(request.id, refusal))
    }
    running += 1
    EventLoopActor.task { [self] in
      defer { running -= 1 }
      do throws(Refusal) {
        send(try await desk.answer(request.method, request.arguments, id: request.id))
      } catch { send(PageDesk.refused(request.id, error)) }
    }
  }

  private func send(_ text: [UInt8]) {
    do throws(WebSocketFault) { try connection.send(text: text) } catch {
      // It has ended, or it does not read.
      connection.abort()
    }
  }
}
