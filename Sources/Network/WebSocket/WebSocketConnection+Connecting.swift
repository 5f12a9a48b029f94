internal import Addresses
internal import Clocks
public import EventLoop

/// Why a connection between these two ends is unwanted, as the end of a sentence; nil if it is wanted.
public typealias ConnectionObjection = @Sendable (_ peer: SocketAddress, _ local: SocketAddress) -> String?

extension WebSocketConnection {
  /// Connects: name, address, encryption if requested, upgrade; each step within its own deadline.
  ///
  /// The addresses of the host are raced (RFC 8305): at most eight, the families in turn, each 250 ms after the one
  /// before or as soon as one fails, so that an address that drops packets does not cost the others their turn. The
  /// connection does not read until ``start(onMessage:onEnd:)``. A cancelled task gives up while it connects, or
  /// between two steps. `mark` is noted while bytes of the other side are processed, including those of the
  /// handshakes. `objection` is called with the two ends of each connection before a byte is sent: if it returns a
  /// reason, that connection is closed; if no other address can be used, the fault is `unwanted-address`.
  ///
  /// - Throws: a fault that says which step failed, with which server, and what was seen.
  public static func connect(
    to endpoint: WebSocketEndpoint, fields: [HTTPField] = [], limits: WebSocketLimits = WebSocketLimits(),
    deadlines: WebSocketDeadlines = WebSocketDeadlines(), security: (any TransportSecurity)? = nil,
    mark: InputMark? = nil, objection: ConnectionObjection? = nil
  ) async throws(WebSocketFault) -> WebSocketConnection {
    var generator = SystemRandomNumberGenerator()
    let nonce = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
    let handshake = try UpgradeHandshake(
      endpoint, fields: fields, nonce: nonce, offersCompression: limits.offersCompression)
    if endpoint.isSecure, security == nil {
      throw WebSocketFault(.noEncryption, endpoint: "\(endpoint)", detail: "no encryption is available for wss")
    }
    let resolved = try await resolve(endpoint, deadlines)
    let isForeign = limits.dialsGlobalAddressesOnly
    let addresses = isForeign ? try foreignAddresses(resolved, endpoint) : resolved
    let stream = try await reach(addresses, endpoint, deadlines) { stream in
      (isForeign ? foreignObjection(to: stream, endpoint) : nil) ?? self.objection(objection, to: stream, endpoint)
    }
    stream.outputLimit = limits.pendingByteCountMaximum + WebSocketLimits.controlAllowance
    stream.inputMark = mark
    var transport: any ByteTransport = stream
    if endpoint.isSecure, let security {
      let deadline = EventLoop.process.now.advanced(milliseconds: deadlines.handshakeMilliseconds)
      transport = try await security.secure(stream, to: endpoint, deadline: deadline)
    }
    let exchange = UpgradeExchange(transport, handshake, endpoint)
    try await exchange.run(withinMilliseconds: deadlines.handshakeMilliseconds)
    if Task.isCancelled {
      transport.close()
      throw cancelled(endpoint)
    }
    return WebSocketConnection(
      transport, role: .client, endpoint: endpoint, limits: limits, deadlines: deadlines,
      compression: exchange.compression)
  }

  private static func cancelled(_ endpoint: WebSocketEndpoint) -> WebSocketFault {
    WebSocketFault(.cancelled, endpoint: "\(endpoint)", detail: "given up while connecting")
  }

  private static func resolve(
    _ endpoint: WebSocketEndpoint, _ deadlines: WebSocketDeadlines
  ) async throws(WebSocketFault) -> [SocketAddress] {
    let result = await firstValue(withinMilliseconds: deadlines.nameLookupMilliseconds) {
      do throws(LoopFault) {
        return Result<[SocketAddress], LoopFault>.success(
          try await SocketAddress.resolve(host: endpoint.host, port: endpoint.port))
      } catch {
        return .failure(error)
      }
    }
    if Task.isCancelled { throw cancelled(endpoint) }
    switch result {
    case .success(let addresses) where !addresses.isEmpty: return addresses
    case .success:
      throw WebSocketFault(.nameLookup, endpoint: "\(endpoint)", detail: "\(endpoint.host) has no address")
    case .failure(let fault):
      throw WebSocketFault(.nameLookup, endpoint: "\(endpoint)", detail: fault.description, cause: fault)
    case nil:
      let milliseconds = deadlines.nameLookupMilliseconds
      throw WebSocketFault(
        .nameLookup, endpoint: "\(endpoint)", detail: "\(endpoint.host) was not found within \(milliseconds) ms")
    }
  }

  /// The addresses that lead to the internet, and not to this machine or its networks. Exactly these are dialled: the
  /// name is not looked up again.
  private static func foreignAddresses(
    _ addresses: [SocketAddress], _ endpoint: WebSocketEndpoint
  ) throws(WebSocketFault) -> [SocketAddress] {
    let reach = ForeignReach.present()
    let allowed = addresses.filter { $0.objection(in: reach) == nil }
    if allowed.isEmpty, let objection = addresses.first?.objection(in: reach) {
      throw WebSocketFault(
        .privateAddress, endpoint: "\(endpoint)", detail: "\(endpoint.host) resolves to \(objection)")
    }
    return allowed
  }

  /// This machine may have received the address while it was dialled.
  private static func foreignObjection(to stream: ByteStream, _ endpoint: WebSocketEndpoint) -> AddressRace.Failure? {
    guard let peer = stream.peerAddress, let local = stream.localAddress,
      let reason = peer.objection(in: ForeignReach.present(), from: local)
    else { return nil }
    return AddressRace.Failure(code: .privateAddress, detail: "\(endpoint.host) leads to \(reason)")
  }

  private static func objection(
    _ objection: ConnectionObjection?, to stream: ByteStream, _ endpoint: WebSocketEndpoint
  ) -> AddressRace.Failure? {
    guard let objection, let peer = stream.peerAddress, let local = stream.localAddress,
      let reason = objection(peer, local)
    else { return nil }
    let led = peer.host == endpoint.host ? "" : "\(endpoint.host) leads to \(peer): "
    return AddressRace.Failure(code: .unwantedAddress, detail: led + reason)
  }

  /// A connection to the first of the addresses that takes one and to which there is no objection.
  static func reach(
    _ addresses: [SocketAddress], _ endpoint: WebSocketEndpoint, _ deadlines: WebSocketDeadlines,
    objection: @escaping @EventLoopActor (ByteStream) -> AddressRace.Failure?
  ) async throws(WebSocketFault) -> ByteStream {
    let end = EventLoop.process.now.advanced(milliseconds: deadlines.connectMilliseconds)
    let race = AddressRace(addresses, until: end)
    return try await AddressDialler(race, objection: objection).winner("\(endpoint)")
  }

  /// The value of `work`, or nil if it takes longer. The work itself is not interrupted; its value is then dropped.
  private static func firstValue<Value: Sendable>(
    withinMilliseconds milliseconds: UInt64, _ work: @escaping @Sendable @EventLoopActor () async -> Value
  ) async -> Value? {
    let timer = LoopTimer()
    defer { timer.cancel() }
    return await withCheckedContinuation { continuation in
      let once = Once<Value>(continuation)
      timer.set(afterMilliseconds: milliseconds) { once.resume(nil) }
      EventLoopActor.task { once.resume(await work()) }
    }
  }
}

/// A continuation with several possible resumers: the first wins.
@EventLoopActor
private final class Once<Value: Sendable> {
  private var continuation: CheckedContinuation<Value?, Never>?

  init(_ continuation: CheckedContinuation<Value?, Never>) { self.continuation = continuation }

  func resume(_ value: Value?) {
    continuation?.resume(returning: value)
    continuation = nil
  }
}

/// The upgrade over a transport: sends the request, passes the response to the machine, and leaves the bytes after the
/// head unread in the transport.
@EventLoopActor
private final class UpgradeExchange {
  private let transport: any ByteTransport
  private var handshake: UpgradeHandshake
  private let endpoint: WebSocketEndpoint
  private var outcome: Once<WebSocketFault>?
  private let timer = LoopTimer()

  /// The compression that the server has accepted.
  var compression: DeflateAgreement? { handshake.compression }

  init(_ transport: any ByteTransport, _ handshake: UpgradeHandshake, _ endpoint: WebSocketEndpoint) {
    self.transport = transport
    self.handshake = handshake
    self.endpoint = endpoint
  }

  /// Returns when the connection is a WebSocket; otherwise closes the transport and throws.
  func run(withinMilliseconds milliseconds: UInt64) async throws(WebSocketFault) {
    let fault: WebSocketFault? = await withCheckedContinuation { continuation in
      outcome = Once(continuation)
      transport.onInput = { [unowned self] bytes in receive(UnsafeRawBufferPointer(bytes)) }
      transport.onEnd = { [unowned self] fault in
        let detail = fault.map { "\($0)" } ?? "the other side closed the connection without answering the upgrade"
        end(.cut, detail, cause: fault)
      }
      timer.set(afterMilliseconds: milliseconds) { [unowned self] in
        end(.timedOut, "no answer to the upgrade within \(milliseconds) ms")
      }
      handshake.request.withUnsafeBytes { transport.write($0) }
      transport.startReading()
    }
    timer.cancel()
    transport.onInput = nil
    transport.onEnd = nil
    if let fault {
      transport.close()
      throw fault
    }
    if transport.isClosed {
      throw WebSocketFault(.cut, endpoint: "\(endpoint)", detail: "the connection ended right after the upgrade")
    }
  }

  private func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
    // Bytes that arrive after the outcome, in the same turn, stay in the transport.
    guard outcome != nil else { return 0 }
    do throws(UpgradeRefusal) {
      let (used, isUpgraded) = try handshake.receive(bytes)
      if isUpgraded {
        transport.stopReading()
        outcome?.resume(nil)
        outcome = nil
      }
      return used
    } catch {
      end(.upgradeRefused, error.description, refusal: error)
      return bytes.count
    }
  }

  private func end(
    _ code: WebSocketFault.Code, _ detail: String, cause: LoopFault? = nil, refusal: UpgradeRefusal? = nil
  ) {
    outcome?.resume(
      WebSocketFault(code, endpoint: "\(endpoint)", detail: detail, cause: cause, refusal: refusal))
    outcome = nil
  }
}
