import NIOCore
import NIOHTTP1

/// A connection over HTTP/1.1, one request after another.
final class PlainLine: ChannelInboundHandler, FakeLine {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let world: FakeWorld
  /// Nil: the control port.
  private let service: Service?
  private let number: Int
  private var context: ChannelHandlerContext?
  private var arrival: Arrival?
  /// Whether the answer at hand is the last one of the connection.
  private var isLast = false

  init(_ world: FakeWorld, _ service: Service?, _ number: Int) {
    self.world = world
    self.service = service
    self.number = number
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    if let service { world.opened(number, service, self) }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    if service != nil { world.ended(number) }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      var arrival = Arrival(
        service: service ?? .apns, connection: number, stream: 0, milliseconds: world.milliseconds)
      arrival.method = head.method.rawValue
      arrival.path = head.uri
      arrival.headers = head.headers.map { ($0.name.lowercased(), $0.value) }
      self.arrival = arrival
      isLast = !head.isKeepAlive
    case .body(let bytes):
      guard let count = arrival?.body.count else { return }
      arrival?.body += bytes.readableBytesView.prefix(StreamLine.bodyByteCountMaximum - count)
    case .end:
      guard let arrival else { return }
      self.arrival = nil
      if service == nil {
        answer(0, ControlDesk.reply(to: arrival, world), pause: nil)
      } else {
        world.received(arrival, self)
      }
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  // MARK: What the world wants

  func answer(_ stream: Int, _ reply: Reply, pause: Int64?) {
    guard let context else { return }
    var headers = HTTPHeaders(reply.headers)
    headers.add(name: "content-length", value: String(reply.body.count))
    let head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: reply.status), headers: headers)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    guard let pause else {
      context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: reply.body)))), promise: nil)
      return finish()
    }
    trickle(reply.body[...], pause)
  }

  private func trickle(_ body: ArraySlice<UInt8>, _ pause: Int64) {
    guard let context else { return }
    guard let first = body.first else { return finish() }
    context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: [first])))), promise: nil)
    context.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(pause)) {
      self.trickle(body.dropFirst(), pause)
    }
  }

  private func finish() {
    context?.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    if isLast { context?.close(promise: nil) }
  }

  func reset(_ stream: Int, isRefusal: Bool) { context?.close(promise: nil) }
  func sayGoodbye(last: Int, reason: String) { context?.close(promise: nil) }
  func allow(_ streamMaximum: Int) {}
  func cut() { context?.close(promise: nil) }
}
