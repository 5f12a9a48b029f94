import Addresses
import Contracts
import Frames
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTPTypes
import NIOPosix
import PushRequests
import Synchronization

// HTTP by HummingbirdCore, without its router: the target is read byte for byte (`PushTarget`).
//
// A request has ten seconds from its first line to its last byte, and a connection a minute between requests, so that
// who sends a byte a second has no more of us than who sends none.

/// The server.
final class PushDoor: Sendable {
  private let front: PushFront
  private let group: MultiThreadedEventLoopGroup
  private let stops = Mutex<[@Sendable () async -> Void]>([])
  private let log: Logger

  /// Most bytes of a request's head.
  private static let headByteCountMaximum = 8 << 10
  private static let fieldCountMaximum = 64
  private static let threadMaximum = 4

  init(_ front: PushFront, _ log: Logger) {
    self.front = front
    self.log = log
    group = MultiThreadedEventLoopGroup(numberOfThreads: min(max(1, System.coreCount), Self.threadMaximum))
  }

  /// Listens.
  ///
  /// - Returns: where, with the port that was chosen where none was given.
  func open(_ address: ListenAddress, security: DoorCertificate?, connectionMaximum: Int) async throws -> String {
    let plain = HTTP1Channel(
      responder: { [front] request, writer, channel in
        try await Self.respond(to: request, writer, from: channel.remoteAddress, front)
      },
      configuration: .init(
        additionalChannelHandlers: [RequestDeadlines()], idleTimeout: nil,
        httpDecoderConfiguration: .init(
          maxHeaderFieldSize: Self.headByteCountMaximum, maxHeaderListSize: Self.headByteCountMaximum,
          maxHeaderFieldCount: Self.fieldCountMaximum)))
    guard let security else { return try await run(plain, at: address, connectionMaximum) }
    return try await run(RenewedTLSChannel(base: plain, certificate: security), at: address, connectionMaximum)
  }

  /// Takes no new connections, and lets those that are at work finish.
  func close() async {
    for stop in stops.withLock({ $0 }) { await stop() }
    // It fails only when it was stopped before.
    try? await group.shutdownGracefully()
  }

  private func run(
    _ channel: some ServerChildChannel, at address: ListenAddress, _ connectionMaximum: Int
  ) async throws -> String {
    let (bound, told) = AsyncStream.makeStream(of: Result<String, any Error>.self)
    let server = Server(
      childChannelSetup: channel,
      configuration: ServerConfiguration(
        address: .hostname(address.host.description, port: Int(address.port)),
        availableConnectionsDelegate: .maximum(connectionMaximum, logger: log)),
      onServerRunning: { channel in
        let place = channel.localAddress
        told.yield(.success("\(place?.ipAddress ?? "")|\(place?.port ?? 0)"))
      }, eventLoopGroup: group, logger: log)
    let task = Task {
      do { try await server.run() } catch { told.yield(.failure(error)) }
    }
    for await result in bound {
      let place = try result.get()
      stops.withLock {
        $0.append {
          // It fails only when it was stopped before.
          try? await server.shutdownGracefully()
          task.cancel()
        }
      }
      let parts = place.split(separator: "|")
      let host = String(parts.first ?? "")
      return (host.contains(":") ? "[\(host)]" : host) + ":" + (parts.last ?? "")
    }
    throw CancellationError()
  }

  // MARK: Requests

  @concurrent private static func respond(
    to request: Request, _ writer: consuming ResponseWriter, from peer: NIOCore.SocketAddress?, _ front: PushFront
  ) async throws {
    let method = request.method.rawValue
    let target = request.head.path ?? ""
    let maximum = front.bodyMaximum(method: method, target: target)
    let (body, isWhole) = try await collect(request, maximum)
    var fields = request.headers.map { HeaderField($0.name.rawName, $0.value) }
    if let authority = request.head.authority { fields.append(HeaderField("host", authority)) }
    let reply = await front.answer(
      FrontRequest(
        method: method, target: target, fields: fields, body: isWhole ? body : nil,
        peer: peer?.ipAddress.flatMap { IPAddress($0)?.unmapped }))
    FaultPoint.pass(.replying, "\(method) \(target)")
    try await write(reply, writer, method: method, closes: !isWhole)
    FaultPoint.pass(.replied, "\(method) \(target)")
  }

  /// The body, as far as it may go.
  private static func collect(_ request: Request, _ maximum: Int) async throws -> (body: [UInt8], isWhole: Bool) {
    if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > maximum { return ([], false) }
    var body: [UInt8] = []
    for try await part in request.body {
      guard body.count + part.readableBytes <= maximum else { return ([], false) }
      body.append(contentsOf: part.readableBytesView)
    }
    return (body, true)
  }

  @concurrent private static func write(
    _ reply: FrontReply, _ writer: consuming ResponseWriter, method: String, closes: Bool
  ) async throws {
    var fields = HTTPFields()
    fields[.contentType] = "application/json"
    fields[.contentLength] = "\(reply.body.count)"
    fields[.date] = HTTPDate.text(WallTime.seconds)
    fields[.cacheControl] = "no-store"
    if closes { fields[.connection] = "close" }
    for field in reply.fields {
      if let name = HTTPField.Name(field.name) { fields[name] = field.value }
    }
    let head = HTTPResponse(status: .init(code: reply.status), headerFields: fields)
    var body = try await writer.writeHead(head)
    if method != "HEAD" { try await body.write(ByteBuffer(bytes: reply.body)) }
    try await body.finish(nil)
    // Who has more to say than is read is not listened to any longer.
    if closes { throw TooMuch() }
  }

  private struct TooMuch: Error {}
}

/// Ends connections that take too long over a request, or over the next one.
final class RequestDeadlines: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  private var timer: Scheduled<Void>?
  private var answersDue = 0

  /// From a request's head to its last byte.
  private static let bodyTime = TimeAmount.seconds(10)
  /// From the connection, or the last answer, to the head of the next request.
  private static let headTime = TimeAmount.seconds(60)
  /// From a request's last byte to the end of its answer.
  private static let answerTime = TimeAmount.seconds(60)

  func handlerAdded(context: ChannelHandlerContext) { set(Self.headTime, context) }

  func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

  func channelInactive(context: ChannelHandlerContext) {
    timer?.cancel()
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head:
      answersDue += 1
      set(Self.bodyTime, context)
    case .end: set(Self.answerTime, context)
    case .body: break
    }
    context.fireChannelRead(data)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if case .end = unwrapOutboundIn(data) {
      answersDue -= 1
      if answersDue <= 0 { set(Self.headTime, context) }
    }
    context.write(data, promise: promise)
  }

  private func set(_ time: TimeAmount, _ context: ChannelHandlerContext) {
    timer?.cancel()
    timer = context.eventLoop.assumeIsolated().scheduleTask(in: time) { context.close(promise: nil) }
  }
}
