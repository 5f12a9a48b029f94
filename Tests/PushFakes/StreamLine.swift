import Frames
import NIOCore
import NIOHPACK
import NIOHTTP2

/// A connection over HTTP/2.
final class StreamLine: ChannelInboundHandler, FakeLine {
  typealias InboundIn = HTTP2Frame
  typealias OutboundOut = HTTP2Frame

  /// Bytes of a request that are kept: more than any service takes, so that it can refuse them in its own words.
  static let bodyByteCountMaximum = 1 << 20
  private static let windowLowMark = 32_768
  private static let windowByteCount = 65_535

  private let world: FakeWorld
  private let service: Service
  private let number: Int
  private var context: ChannelHandlerContext?
  private var partial: [Int: Arrival] = [:]
  private var open: Set<Int> = []
  private var lastWanted = Int.max

  init(_ world: FakeWorld, _ service: Service, _ number: Int) {
    self.world = world
    self.service = service
    self.number = number
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    world.opened(number, service, self)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    world.ended(number)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    let stream = Int(frame.streamID)
    switch frame.payload {
    case .headers(let headers) where partial[stream] == nil && !open.contains(stream):
      guard stream <= lastWanted else { return }
      open.insert(stream)
      world.sawOpen(open.count, service)
      begin(stream, headers.headers)
      if headers.endStream { complete(stream) }
    case .headers(let headers): if headers.endStream { complete(stream) }
    case .data(let data):
      if case .byteBuffer(let bytes) = data.data, let count = partial[stream]?.body.count {
        partial[stream]?.body += bytes.readableBytesView.prefix(Self.bodyByteCountMaximum - count)
      }
      if data.endStream { complete(stream) }
    case .settings(.ack): world.acknowledged(service)
    default: break
    }
  }

  private func begin(_ stream: Int, _ headers: HPACKHeaders) {
    var arrival = Arrival(service: service, connection: number, stream: stream, milliseconds: world.milliseconds)
    for header in headers {
      switch header.name {
      case ":method": arrival.method = header.value
      case ":path": arrival.path = header.value
      default: arrival.headers.append((header.name, header.value))
      }
    }
    partial[stream] = arrival
  }

  private func complete(_ stream: Int) {
    if let arrival = partial.removeValue(forKey: stream) { world.received(arrival, self) }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case let closed as StreamClosedEvent:
      open.remove(Int(closed.streamID))
      partial[Int(closed.streamID)] = nil
      closeWhenDone()
    case let changed as NIOHTTP2WindowUpdatedEvent:
      guard let size = changed.inboundWindowSize, size < Self.windowLowMark else { return }
      guard changed.streamID == .rootStream || partial[Int(changed.streamID)] != nil else { return }
      send(Int(changed.streamID), .windowUpdate(windowSizeIncrement: Self.windowByteCount - size))
    default: context.fireUserInboundEventTriggered(event)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if error is NIOHTTP2Errors.StreamError || error is NIOHTTP2Errors.NoSuchStream { return }
    context.close(promise: nil)
  }

  private func send(_ stream: Int, _ payload: HTTP2Frame.FramePayload) {
    context?.writeAndFlush(wrapOutboundOut(HTTP2Frame(streamID: HTTP2StreamID(stream), payload: payload)), promise: nil)
  }

  // MARK: What the world wants

  func answer(_ stream: Int, _ reply: Reply, pause: Int64?) {
    guard open.contains(stream) else { return }
    let headers = HPACKHeaders([(":status", String(reply.status))] + reply.headers)
    send(stream, .headers(.init(headers: headers, endStream: reply.body.isEmpty)))
    if reply.body.isEmpty { return }
    if let pause { return trickle(stream, reply.body[...], pause) }
    send(stream, .data(.init(data: .byteBuffer(ByteBuffer(bytes: reply.body)), endStream: true)))
  }

  private func trickle(_ stream: Int, _ body: ArraySlice<UInt8>, _ pause: Int64) {
    guard open.contains(stream), let context, let first = body.first else { return }
    let rest = body.dropFirst()
    send(stream, .data(.init(data: .byteBuffer(ByteBuffer(bytes: [first])), endStream: rest.isEmpty)))
    context.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(pause)) { self.trickle(stream, rest, pause) }
  }

  func reset(_ stream: Int, isRefusal: Bool) { send(stream, .rstStream(isRefusal ? .refusedStream : .internalError)) }

  func cut() { context?.close(promise: nil) }

  func sayGoodbye(last: Int, reason: String) {
    lastWanted = min(lastWanted, last)
    let debug = ByteBuffer(bytes: JSONPayload.encode(JSONValue.object(["reason": .string(reason)])))
    let goodbye = HTTP2Frame.FramePayload.goAway(
      lastStreamID: HTTP2StreamID(lastWanted), errorCode: .noError, opaqueData: debug)
    send(0, goodbye)
    closeWhenDone()
  }

  // Streams that are left behind are over; others may still be answered. Not at once: the goodbye may be on its way.
  private func closeWhenDone() {
    guard lastWanted < .max, !open.contains(where: { $0 <= lastWanted }), let context else { return }
    context.eventLoop.assumeIsolated().execute { context.close(promise: nil) }
  }

  func allow(_ streamMaximum: Int) {
    send(0, .settings(.settings([HTTP2Setting(parameter: .maxConcurrentStreams, value: streamMaximum)])))
  }
}
