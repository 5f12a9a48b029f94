internal import Addresses
internal import Clocks
internal import Glibc
internal import NIOCore
internal import NIOHTTP2
internal import NIOPosix
internal import NIOSSL
internal import NIOTLS

/// The authorities that a sender is to trust cannot be used.
public struct HTTP2TrustFault: Error, CustomStringConvertible, Sendable {
  /// The file and the reason.
  public let description: String
}

/// Makes connections: name, TCP, TLS with ALPN, HTTP/2.
struct Dialler: Sendable {
  /// The maximum number of a name's addresses that are tried.
  static let addressMaximum = 4

  let origin: HTTP2Origin
  /// Nil for cleartext.
  let tls: NIOSSLContext?
  let resolve: HTTP2Sender.Resolver
  let loop: any NIOCore.EventLoop

  static func context(_ trust: HTTP2Trust) throws(HTTP2TrustFault) -> NIOSSLContext? {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv12
    configuration.applicationProtocols = ["h2"]
    switch trust {
    case .cleartext: return nil
    case .system: configuration.trustRoots = .default
    case .authorities(let file): configuration.trustRoots = .file(file)
    }
    do { return try NIOSSLContext(configuration: configuration) } catch {
      throw HTTP2TrustFault(description: "no authorities to trust: \(trust): \(describe(error))")
    }
  }

  /// Begins connection `number`. The line itself reports its beginning to the core; the core also learns of its end.
  func dial(_ number: Int, for core: SenderCore) {
    let bound = NIOLoopBound(core, eventLoop: loop)
    Task { [self] in
      let resolution = await resolve(origin)
      loop.execute { resolved(number, resolution, bound) }
    }
  }

  private func resolved(_ number: Int, _ resolution: HTTP2Resolution, _ core: NIOLoopBound<SenderCore>) {
    switch resolution {
    case .forbidden(let reason):
      core.value.line(number) { machine, _ in machine.connectForbidden(number, reason: reason) }
    case .failed(let reason): core.value.lost(number, reason: "no address: \(reason)")
    case .addresses(let all):
      let addresses = tls == nil ? all.filter { $0.scope == .loopback } : all
      guard !addresses.isEmpty else { return core.value.lost(number, reason: "no address that may be dialled") }
      dial(Array(addresses.prefix(Self.addressMaximum))[...], number, core, reason: "")
    }
  }

  private func dial(
    _ addresses: ArraySlice<IPAddress>, _ number: Int, _ core: NIOLoopBound<SenderCore>, reason: String
  ) {
    // The machine may have given up this connection meanwhile.
    guard let connection = core.value.machine.connections[number] else { return }
    guard let address = addresses.first else { return core.value.lost(number, reason: reason) }
    let limit = core.value.machine.settings.connectTimeoutMilliseconds
    let left = Int64(limit - min(limit, core.value.now.milliseconds(since: connection.begunAt)))
    ClientBootstrap(group: loop)
      .channelOption(.socketOption(.so_keepalive), value: 1)
      .channelOption(.tcpOption(.tcp_nodelay), value: 1)
      .connectTimeout(.milliseconds(max(1, left / Int64(addresses.count))))
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try prepare(channel, number, core) }
      }
      .connect(to: socketAddress(address))
      .whenFailure { error in
        dial(addresses.dropFirst(), number, core, reason: describe(error))
      }
  }

  private func socketAddress(_ address: IPAddress) -> NIOCore.SocketAddress {
    do {
      return try NIOCore.SocketAddress(packedIPAddress: ByteBuffer(bytes: address.octets), port: Int(origin.port))
    } catch { preconditionFailure("an address of 4 or 16 bytes is a socket's address: \(error)") }
  }

  private func prepare(_ channel: any Channel, _ number: Int, _ core: NIOLoopBound<SenderCore>) throws {
    let pipeline = channel.pipeline.syncOperations
    let line = ConnectionHandler(number, core.value, origin: origin, channel: channel, isSecure: tls != nil)
    core.value.began(number, line)
    guard let tls else { return try pipeline.addHandlers(Self.handlers(line)) }
    // A name is sent and checked; for an address, the certificate must be for that address.
    let handler = try NIOSSLClientHandler(context: tls, serverHostname: origin.literal == nil ? origin.host : nil)
    try pipeline.addHandlers([handler, ProtocolGate(line)])
  }

  /// Streams of one connection that may end with a reset within a second: more than are opened.
  private static let resetMaximum = 30_000

  static func handlers(_ line: ConnectionHandler) -> [any ChannelHandler] {
    var connection = NIOHTTP2Handler.ConnectionConfiguration()
    connection.initialSettings = [
      HTTP2Setting(parameter: .enablePush, value: 0),
      HTTP2Setting(parameter: .maxHeaderListSize, value: HTTP2Request.headerByteCountMaximum),
    ]
    var stream = NIOHTTP2Handler.StreamConfiguration()
    // An overloaded origin refuses all streams of a full connection at once, more than once; and an origin that answers
    // before it has read the body resets each stream after its answer (RFC 9113, 8.1). It can reset no more streams
    // than were opened, so this limit only bounds the memory for counting them.
    stream.streamResetFrameRateLimit.maximumCount = resetMaximum
    stream.streamResetFrameRateLimit.windowLength = .seconds(1)
    stream.streamErrorRateLimit.maximumCount = resetMaximum
    stream.streamErrorRateLimit.windowLength = .seconds(1)
    return [
      NIOHTTP2Handler(mode: .client, connectionConfiguration: connection, streamConfiguration: stream), line,
    ]
  }
}

/// An error's description, printable and short: it may go to a log, and may quote the far side. Common errors are
/// described in words for a person who wants a connection.
func describe(_ error: any Error) -> String {
  switch error {
  case let error as IOError: lowercased(String(cString: strerror(error.errnoCode)))
  case ChannelError.connectTimeout: "the connection was not taken in time"
  case NIOSSLError.uncleanShutdown: "closed without a goodbye"
  case let error as NIOSSLExtraError where error == .failedToValidateHostname: "its certificate is for another name"
  case NIOSSLError.handshakeFailed(let failure): words(ofHandshake: printable(String(describing: failure)))
  default: printable(String(describing: error))
  }
}

private func words(ofHandshake text: String) -> String {
  if text.contains("CERTIFICATE_VERIFY_FAILED") { return "its certificate is not trusted" }
  if text.contains("WRONG_VERSION_NUMBER") { return "it does not speak TLS" }
  if text.contains("eofDuringHandshake") || text.contains("EOF during handshake") {
    return "closed during the TLS handshake"
  }
  return text
}

/// `Connection refused` in the form for the middle of a sentence.
private func lowercased(_ text: String) -> String { text.prefix(1).lowercased() + text.dropFirst() }

/// Printable characters only, at most 200.
func printable(_ text: String) -> String {
  String(text.prefix(200).map { $0.isASCII && ($0.asciiValue ?? 0) >= 0x20 && $0 != "\u{7F}" ? $0 : " " })
}

/// Waits for the handshake, and starts HTTP/2 if both sides agreed on it.
final class ProtocolGate: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer

  private let line: ConnectionHandler

  init(_ line: ConnectionHandler) { self.line = line }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard case TLSUserEvent.handshakeCompleted(let agreed) = event else {
      return context.fireUserInboundEventTriggered(event)
    }
    guard hasAlternativeName(context) else {
      line.ended("TLS: the certificate has no subject alternative name, and a common name counts for nothing")
      return context.close(promise: nil)
    }
    guard agreed == "h2" else {
      line.ended("the far side does not speak HTTP/2")
      return context.close(promise: nil)
    }
    do {
      let pipeline = context.pipeline.syncOperations
      try pipeline.addHandlers(Dialler.handlers(line), position: .after(self))
      _ = pipeline.removeHandler(context: context)
    } catch { errorCaught(context: context, error: error) }
  }

  // NIOSSL falls back to the common name if there is no other name; RFC 9110, 4.3.4 no longer allows that: an authority
  // vouches for alternative names only.
  private func hasAlternativeName(_ context: ChannelHandlerContext) -> Bool {
    // `try?`: without a TLS handler, or without a certificate, there is no name to trust either.
    let certificate = try? context.pipeline.syncOperations.nioSSL_peerCertificate()
    return certificate.map { !$0._subjectAlternativeNames().isEmpty } ?? false
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    line.ended("TLS: " + describe(error))
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    line.ended("closed during the TLS handshake")
    context.fireChannelInactive()
  }
}
