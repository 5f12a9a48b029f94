import Addresses
import Contracts
import Frames
import HTTPTypes
import HummingbirdCore
import LinuxSystem
import Logging
import NIOCore
import NIOHTTPTypes
import NIOPosix
import PushRequests
import Synchronization

// HTTP by HummingbirdCore, without its router: the target is read byte for byte (`PushTarget`). Only HTTP/1.1: ALPN
// offers nothing else, there is no upgrade, and a client that begins with HTTP/2 gets an answer that says so.
// `ConnectionDeadlines` limits how long anything may take.

/// The server.
final class PushServer: Sendable {
  private let front: PushFront
  private let group: MultiThreadedEventLoopGroup
  private let stops = Mutex<[@Sendable () async -> Void]>([])
  /// The addresses at which it listens; nil after `close()`.
  private let open = Mutex<Set<String>?>([])
  private let hasEnded: @Sendable (String, (any Error)?) -> Void
  private let log: Logger
  private let connectionMaximum: Int
  private let table: ConnectionTable

  /// Most bytes of a request's head.
  static let headByteCountMaximum = 8 << 10
  private static let fieldCountMaximum = 64
  private static let threadMaximum = 4
  /// Connections beyond the maximum that may exist for a moment: those that are being closed.
  private static let leavingMaximum = 64

  /// A server.
  ///
  /// - Parameters:
  ///   - front: answers the requests.
  ///   - connectionMaximum: most connections at all addresses together.
  ///   - log: the worker's.
  ///   - hasEnded: called, on any thread, when the server at an address has ended although it was not closed; with the
  ///     reason, if it is known.
  init(
    _ front: PushFront, connectionMaximum: Int, _ log: Logger,
    hasEnded: @escaping @Sendable (String, (any Error)?) -> Void
  ) {
    self.front = front
    self.log = log
    self.hasEnded = hasEnded
    self.connectionMaximum = connectionMaximum
    table = ConnectionTable(maximum: connectionMaximum, proxies: front.rules.proxies)
    group = MultiThreadedEventLoopGroup(numberOfThreads: min(max(1, System.coreCount), Self.threadMaximum))
  }

  /// Listens.
  ///
  /// - Returns: the address, with the port that the system chose if none was given.
  func open(_ address: ListenAddress, security: ListenerCertificate?) async throws -> String {
    let plain = ListenerChannel(
      base: HTTP1Channel(
        responder: { [front] request, writer, channel in
          try await Self.respond(to: request, writer, from: channel, front)
        },
        configuration: .init(
          additionalChannelHandlers: [ConnectionDeadlines(self.table)], idleTimeout: nil,
          httpDecoderConfiguration: .init(
            maxHeaderFieldSize: Self.headByteCountMaximum, maxHeaderListSize: Self.headByteCountMaximum,
            maxHeaderFieldCount: Self.fieldCountMaximum))))
    guard let security else { return try await run(plain, at: address) }
    return try await run(RenewedTLSChannel(base: plain, certificate: security), at: address)
  }

  /// Takes no new connections, and lets those at work finish.
  func close() async {
    open.withLock { $0 = nil }
    for stop in stops.withLock({ $0 }) { await stop() }
    // It fails only if the group was already stopped.
    try? await group.shutdownGracefully()
  }

  private func run(_ channel: some ServerChildChannel, at address: ListenAddress) async throws -> String {
    let (bound, told) = AsyncStream.makeStream(of: Result<String, any Error>.self)
    let server = Server(
      childChannelSetup: channel,
      configuration: ServerConfiguration(
        address: .hostname(address.host.description, port: Int(address.port)),
        availableConnectionsDelegate: .maximum(connectionMaximum + Self.leavingMaximum, logger: log)),
      onServerRunning: { [self] channel in
        let place = channel.localAddress
        open.withLock { _ = $0?.insert("\(address)") }
        told.yield(.success("\(place?.ipAddress ?? "")|\(place?.port ?? 0)"))
      }, eventLoopGroup: group, logger: log)
    let task = Task { [self] in
      var fault: (any Error)?
      do { try await server.run() } catch { fault = error }
      told.yield(.failure(fault ?? CancellationError()))
      told.finish()
      // If the server never ran, the caller of this function gets the fault.
      if open.withLock({ $0?.remove("\(address)") }) != nil { hasEnded("\(address)", fault) }
    }
    for await result in bound {
      let place = try result.get()
      stops.withLock {
        $0.append {
          // It fails only if the server was already stopped.
          try? await server.shutdownGracefully()
          task.cancel()
          // The task of the last connections still uses the event loops after these have closed, so the loops must end
          // after it.
          await task.value
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
    to request: Request, _ writer: consuming ResponseWriter, from channel: any Channel, _ front: PushFront
  ) async throws {
    let method = request.method.rawValue
    let target = request.head.path ?? ""
    let maximum = front.bodyMaximum(method: method, target: target)
    // Only here, and not when the head arrives: requests that were pipelined before it are answered first.
    if mayComeOn(request, maximum) { try await writer.writeInformationalHead(HTTPResponse(status: .continue)) }
    let (body, isWhole) = try await collect(request, maximum)
    var fields = request.headers.map { HeaderField($0.name.rawName, $0.value) }
    if let authority = request.head.authority { fields.append(HeaderField("host", authority)) }
    let reply = await front.answer(
      FrontRequest(
        method: method, target: target, fields: fields, body: isWhole ? body : nil,
        peer: channel.remoteAddress?.ipAddress.flatMap { IPAddress($0)?.unmapped }))
    FaultPoint.pass(.replying, "\(method) \(target)")
    try await write(reply, writer, method: method, closes: !isWhole)
    FaultPoint.pass(.replied, "\(method) \(target)")
    // The rest of a body that is too long is not read.
    if !isWhole { channel.close(mode: .output, promise: nil) }
  }

  /// Whether a client waits for permission to send its body (RFC 9110, 10.1.1), and gets it: a body that is too long is
  /// refused without it.
  private static func mayComeOn(_ request: Request, _ maximum: Int) -> Bool {
    guard let expectation = request.headers[.expect], expectation.lowercased() == "100-continue" else { return false }
    guard let length = request.headers[.contentLength].flatMap({ Int($0) }) else {
      return request.headers[.transferEncoding] != nil
    }
    return length > 0 && length <= maximum
  }

  /// The body, up to its maximum.
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
    // 204 has neither (RFC 9110, 8.6).
    if reply.status != 204 {
      fields[.contentType] = "application/json"
      fields[.contentLength] = "\(reply.body.count)"
    }
    fields[.date] = HTTPDate.text(WallClock.seconds)
    fields[.cacheControl] = "no-store"
    if closes { fields[.connection] = "close" }
    for field in reply.fields {
      if let name = HTTPField.Name(field.name) { fields[name] = field.value }
    }
    let head = HTTPResponse(status: .init(code: reply.status), headerFields: fields)
    var body = try await writer.writeHead(head)
    if method != "HEAD" { try await body.write(ByteBuffer(bytes: reply.body)) }
    try await body.finish(nil)
  }
}
