import Glibc
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL
import NIOTLS

/// Listens for one service on a free port of loopback.
struct FakeServer: Sendable {
  /// The only address that is ever bound: nobody else's notifications shall end here.
  static let host = "127.0.0.1"

  let loop: any EventLoop
  let world: NIOLoopBound<FakeWorld>
  /// Nil: the control port, without TLS.
  let service: Service?
  let tls: NIOSSLContext

  static func context(certificate path: String) throws -> NIOSSLContext {
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: try NIOSSLCertificate.fromPEMFile(path).map { .certificate($0) },
      privateKey: .privateKey(try NIOSSLPrivateKey(file: path, format: .pem)))
    configuration.minimumTLSVersion = .tlsv12
    configuration.applicationProtocols = ["h2", "http/1.1"]
    return try NIOSSLContext(configuration: configuration)
  }

  /// Binds; the port.
  func listen(port: Int = 0) throws -> Int {
    let bootstrap = ServerBootstrap(group: loop)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in channel.eventLoop.makeCompletedFuture { try prepare(channel) } }
    let channel = try bootstrap.bind(host: Self.host, port: port).wait()
    return channel.localAddress?.port ?? 0
  }

  private func prepare(_ channel: any Channel) throws {
    let pipeline = channel.pipeline.syncOperations
    guard let service else {
      try pipeline.configureHTTPServerPipeline()
      return try pipeline.addHandler(PlainLine(world.value, nil, 0))
    }
    let number = world.value.began(service)
    // What is taken and never served has no handlers: its bytes go nowhere.
    let kind = world.value.moods[service]?.kind ?? .normal
    if kind == .blackHole { return }
    if kind.isOfConnections { return try pipeline.addHandler(RudeLine(kind)) }
    try pipeline.addHandlers([NIOSSLServerHandler(context: tls), ProtocolChoice(world.value, service, number)])
  }
}

/// A connection that comes to nothing.
final class RudeLine: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let kind: Mood.Kind

  init(_ kind: Mood.Kind) { self.kind = kind }

  func channelActive(context: ChannelHandlerContext) {
    switch kind {
    case .halfClosed: context.close(mode: .output, promise: nil)
    case .garbage:
      context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "220 smtp.example ESMTP\r\n")), promise: nil)
    default:
      // Without lingering an end is a reset.
      guard let socket = context.channel as? any SocketOptionProvider else { return context.close(promise: nil) }
      socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).assumeIsolated().whenComplete { _ in
        context.close(promise: nil)
      }
    }
  }
}

/// Begins HTTP/2 or HTTP/1.1: as agreed on in the handshake, else as the first bytes have it.
final class ProtocolChoice: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer

  private static let preface = Array("PRI * HTTP/2.0".utf8)

  private let world: FakeWorld
  private let service: Service
  private let number: Int
  private var isAgreed = false
  private var held = ByteBuffer()

  init(_ world: FakeWorld, _ service: Service, _ number: Int) {
    self.world = world
    self.service = service
    self.number = number
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard case TLSUserEvent.handshakeCompleted(let agreed) = event else {
      return context.fireUserInboundEventTriggered(event)
    }
    world.shookHands(service)
    if let agreed { begin(context, isHTTP2: agreed == "h2") }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var bytes = unwrapInboundIn(data)
    if isAgreed { return context.fireChannelRead(data) }
    held.writeBuffer(&bytes)
    let seen = Array(held.readableBytesView.prefix(Self.preface.count))
    guard seen.count == Self.preface.count || !Self.preface.starts(with: seen) else { return }
    begin(context, isHTTP2: seen == Self.preface)
  }

  private func begin(_ context: ChannelHandlerContext, isHTTP2: Bool) {
    isAgreed = true
    do {
      let pipeline = context.pipeline.syncOperations
      if isHTTP2 {
        let settings: HTTP2Settings = [
          HTTP2Setting(parameter: .maxConcurrentStreams, value: world.initialStreamMaximum(service)),
          HTTP2Setting(parameter: .maxHeaderListSize, value: 1 << 15),
        ]
        try pipeline.addHandlers([
          NIOHTTP2Handler(mode: .server, initialSettings: settings), StreamLine(world, service, number),
        ])
      } else {
        try pipeline.configureHTTPServerPipeline()
        try pipeline.addHandler(PlainLine(world, service, number))
      }
      if held.readableBytes > 0 { context.fireChannelRead(NIOAny(held)) }
      _ = pipeline.removeHandler(context: context)
    } catch { context.close(promise: nil) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
