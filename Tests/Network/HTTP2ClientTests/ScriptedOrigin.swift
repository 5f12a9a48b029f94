import Addresses
import HTTP2Client
import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix
import NIOSSL
import Synchronization
import TestSupport

/// An HTTP/2 server on a port of loopback whose every frame a test may decide.
final class ScriptedOrigin: Sendable {
  /// What the server does by itself when the test's script says nothing.
  struct Manners: Sendable {
    var isSecure = true
    var protocols = ["h2"]
    var certificate = "good"
    /// SETTINGS_MAX_CONCURRENT_STREAMS at first; nil: not said.
    var streamMaximum: Int? = 100
    var windowByteCount = 65_535
    /// Whether it answers at all: if not, it takes connections and never sends a byte.
    var isSilent = false
  }

  /// A whole request.
  struct Arrival: Sendable {
    var connection: Int
    var stream: Int
    var headers: [String: String] = [:]
    var body: [UInt8] = []
  }

  /// Decides about a whole request; on the server's thread.
  typealias Script = @Sendable (Arrival, OriginConnection) -> Void

  /// Answers 200 to everybody.
  static let yes: Script = { arrival, connection in connection.answer(arrival.stream, 200) }

  struct State {
    var arrivals: [Arrival] = []
    var connections: [OriginConnection] = []
    var pings = 0
    var resets: [Int] = []
  }

  let state = Mutex(State())
  let port: UInt16
  private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  private let channel: any Channel

  init(_ manners: Manners = Manners(), script: @escaping Script = ScriptedOrigin.yes) async throws {
    let tls = try manners.isSecure ? Self.context(manners) : nil
    let holder = Holder()
    channel = try await ServerBootstrap(group: group)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          guard !manners.isSilent, let origin = holder.box.withLock({ $0 }) else { return }
          let pipeline = channel.pipeline.syncOperations
          if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
          var settings: HTTP2Settings = [
            HTTP2Setting(parameter: .initialWindowSize, value: manners.windowByteCount)
          ]
          if let maximum = manners.streamMaximum {
            settings.append(HTTP2Setting(parameter: .maxConcurrentStreams, value: maximum))
          }
          try pipeline.addHandlers([
            NIOHTTP2Handler(mode: .server, initialSettings: settings),
            OriginConnection.Handler(origin, windowByteCount: manners.windowByteCount, script),
          ])
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    port = UInt16(channel.localAddress?.port ?? 0)
    self.holder = holder
    holder.box.withLock { $0 = self }
  }

  private let holder: Holder

  /// Breaks the circle between the server and its initialiser.
  private final class Holder: Sendable {
    let box = Mutex<ScriptedOrigin?>(nil)
  }

  private static func context(_ manners: Manners) throws -> NIOSSLContext {
    let path = try TestCertificates.path(manners.certificate)
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: try NIOSSLCertificate.fromPEMFile(path).map { .certificate($0) },
      privateKey: .privateKey(try NIOSSLPrivateKey(file: path, format: .pem)))
    configuration.applicationProtocols = manners.protocols
    return try NIOSSLContext(configuration: configuration)
  }

  func stop() async {
    holder.box.withLock { $0 = nil }
    try? await group.shutdownGracefully()
  }

  var arrivals: [Arrival] { state.withLock { $0.arrivals } }
  var connectionCount: Int { state.withLock { $0.connections.count } }
}

/// One connection of the server. Frames may be sent from any thread.
final class OriginConnection: Sendable {
  let number: Int
  let channel: any Channel

  init(number: Int, channel: any Channel) {
    self.number = number
    self.channel = channel
  }

  func send(_ frames: [HTTP2Frame]) {
    for frame in frames { channel.write(frame, promise: nil) }
    channel.flush()
  }

  func answer(_ stream: Int, _ status: Int, _ headers: [(String, String)] = [], body: [UInt8] = []) {
    let fields = HPACKHeaders([(":status", String(status))] + headers)
    let id = HTTP2StreamID(stream)
    let head = HTTP2Frame(streamID: id, payload: .headers(.init(headers: fields, endStream: body.isEmpty)))
    if body.isEmpty { return send([head]) }
    let data = HTTP2Frame.FramePayload.Data(data: .byteBuffer(ByteBuffer(bytes: body)), endStream: true)
    send([head, HTTP2Frame(streamID: id, payload: .data(data))])
  }

  func reset(_ stream: Int, _ code: HTTP2ErrorCode) {
    send([HTTP2Frame(streamID: HTTP2StreamID(stream), payload: .rstStream(code))])
  }

  func sayGoodbye(last: Int, _ code: HTTP2ErrorCode = .noError, debug: String? = nil) {
    let payload = HTTP2Frame.FramePayload.goAway(
      lastStreamID: HTTP2StreamID(last), errorCode: code, opaqueData: debug.map { ByteBuffer(string: $0) })
    send([HTTP2Frame(streamID: .rootStream, payload: payload)])
  }

  func allow(_ streamMaximum: Int) {
    let setting = HTTP2Setting(parameter: .maxConcurrentStreams, value: streamMaximum)
    send([HTTP2Frame(streamID: .rootStream, payload: .settings(.settings([setting])))])
  }

  func cut() { channel.close(promise: nil) }

  /// Reads the frames of one connection.
  final class Handler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    private let origin: ScriptedOrigin
    private let windowByteCount: Int
    private let script: ScriptedOrigin.Script
    private var connection: OriginConnection?
    private var partial: [Int: ScriptedOrigin.Arrival] = [:]

    init(_ origin: ScriptedOrigin, windowByteCount: Int, _ script: @escaping ScriptedOrigin.Script) {
      self.origin = origin
      self.windowByteCount = windowByteCount
      self.script = script
    }

    func handlerAdded(context: ChannelHandlerContext) {
      let channel = context.channel
      connection = origin.state.withLock { state in
        let connection = OriginConnection(number: state.connections.count, channel: channel)
        state.connections.append(connection)
        return connection
      }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let frame = unwrapInboundIn(data)
      let stream = Int(frame.streamID)
      switch frame.payload {
      case .headers(let headers):
        var arrival = ScriptedOrigin.Arrival(connection: connection?.number ?? 0, stream: stream)
        for header in headers.headers { arrival.headers[header.name] = header.value }
        partial[stream] = arrival
        if headers.endStream { complete(stream) }
      case .data(let data):
        if case .byteBuffer(let bytes) = data.data { partial[stream]?.body += bytes.readableBytesView }
        if data.endStream { complete(stream) }
      case .ping(_, let isAnswer): origin.state.withLock { $0.pings += isAnswer ? 0 : 1 }
      case .rstStream: origin.state.withLock { $0.resets.append(stream) }
      default: break
      }
    }

    private func complete(_ stream: Int) {
      guard let arrival = partial.removeValue(forKey: stream), let connection else { return }
      origin.state.withLock { $0.arrivals.append(arrival) }
      script(arrival, connection)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      guard let changed = event as? NIOHTTP2WindowUpdatedEvent, let size = changed.inboundWindowSize else { return }
      let isConnection = changed.streamID == .rootStream
      let full = isConnection ? 65_535 : windowByteCount
      guard size < full / 2, isConnection || partial[Int(changed.streamID)] != nil else { return }
      let update = HTTP2Frame.FramePayload.windowUpdate(windowSizeIncrement: full - size)
      context.writeAndFlush(wrapOutboundOut(HTTP2Frame(streamID: changed.streamID, payload: update)), promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
  }
}
