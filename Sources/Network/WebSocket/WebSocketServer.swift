public import Clocks
public import EventLoop

// A server of WebSockets, which answers plain HTTP on the same port.
//
// A connection: accepted → TLS, if the port has it → its head → the delegate's decision → a WebSocket, or an answer and
// a farewell. It counts until its transport is closed, in every state, because descriptors are the scarce resource.
//
// Every limit has its answer. Too many connections: 503 and a Retry-After, for a limited number at a time, so that
// turning clients away costs little. Too many connections that say nothing: the oldest is cut, so that a flood of
// silent connections keeps no client out, as it would if the newest were turned away. No descriptors: the listener
// pauses (see StreamListener), and connections wait in the kernel.
//
// Clients that must authenticate first are outside (see OutsideShare): they have a part of the connections, a small
// limit for a message, a receiving budget of their own, and a time limit. So whatever they do, clients inside find
// room.
//
// All clients share the reading of a turn (see ReadShare): a client that floods delays the others only by milliseconds.
//
// The delegate owns the WebSockets. Closing the server does not close them.

/// Listens, reads requests, asks its delegate for decisions, and passes WebSockets to it.
@EventLoopActor
public final class WebSocketServer {
  /// What has happened so far.
  public private(set) var counts = WebSocketServerCounts()
  /// Connections at present, WebSockets and all others.
  public private(set) var connectionCount = 0

  /// Connections whose clients have not authenticated.
  public var outsideCount: Int { outside.count }
  /// When a connection was last turned away, and when one outside was last displaced; nil: never.
  public private(set) var turnedAwayAt: Instant?
  /// See ``turnedAwayAt``.
  public private(set) var displacedAt: Instant?

  private weak var delegate: (any WebSocketServerDelegate)?
  private let limits: WebSocketServerLimits
  private var listeners: [StreamListener] = []
  private var networks: [[UInt8]: Int] = [:]
  private var arrivals: [UInt64: Arrival] = [:]
  private var nextNumber: UInt64 = 0
  /// No arrival has a lower number.
  private var oldestNumber: UInt64 = 0
  private var turnedAwayCount = 0
  private let deflater = Deflater()
  private let readShare = ReadShare()
  private let budget: ReceivingBudget
  private let outsideBudget: ReceivingBudget
  private var outside: OutsideShare
  private var outsiders: [UInt64: Outsider] = [:]
  private let tooMany: [UInt8]

  /// A server that does not listen yet. The delegate is not retained.
  public init(delegate: any WebSocketServerDelegate, limits: WebSocketServerLimits = WebSocketServerLimits()) {
    self.delegate = delegate
    self.limits = limits
    budget = ReceivingBudget(byteCountMaximum: limits.receivingByteCountMaximum)
    outsideBudget = ReceivingBudget(byteCountMaximum: limits.outsideReceivingByteCountMaximum)
    outside = OutsideShare(maximum: limits.outsideMaximum)
    let retryAfter = HTTPField("Retry-After", "\(limits.retryAfterSeconds)")
    tooMany = HTTPAnswer(status: 503, text: "there are too many connections", fields: [retryAfter]).bytes()
  }

  isolated deinit { close() }

  /// Listens on an address, with or without TLS; may be called for several.
  ///
  /// - Returns: the port, which the kernel has chosen if `address` has port 0.
  @discardableResult
  public func listen(
    on address: SocketAddress, security: (any ServerSecurity)? = nil
  ) throws(LoopFault) -> UInt16 {
    let listener = try StreamListener(address: address) { [weak self] stream in
      if let self { accepted(stream, security) } else { stream.close() }
    }
    listener.onFault = { [weak self] fault in self?.delegate?.accepting(failedBy: fault) }
    listeners.append(listener)
    return listener.port ?? address.port
  }

  /// Stops listening, and cuts connections whose request has not arrived. WebSockets continue, and answers are
  /// completed.
  public func close() {
    for listener in listeners { listener.close() }
    listeners = []
    let cut = arrivals.values
    arrivals = [:]
    for arrival in cut { arrival.cut(isLate: false) }
  }

  // MARK: Arrivals

  private func accepted(_ stream: ByteStream, _ security: (any ServerSecurity)?) {
    counts.accepted += 1
    guard let peer = stream.peerAddress else {
      stream.close()
      return
    }
    stream.keepsOutputMemory = false
    stream.readShare = readShare
    stream.outputLimit = limits.connection.pendingByteCountMaximum + WebSocketLimits.controlAllowance
    if connectionCount >= limits.connectionsMaximum {
      if let oldest = outside.takeOldest() { displace(oldest) } else { cutOldestArrival() }
    }
    guard connectionCount < limits.connectionsMaximum, mayEnter(peer) else {
      turnAway(stream, isEncrypted: security != nil)
      return
    }
    connectionCount += 1
    makeRoom()
    let user = stream.localAddress.flatMap { delegate?.user(of: peer, at: $0) }
    let number = nextNumber
    nextNumber += 1
    arrivals[number] = Arrival(stream, security: security, milliseconds: limits.handshakeMilliseconds) {
      [weak self] outcome in
      guard let self else {
        outcome.close()
        return
      }
      arrivals[number] = nil
      handle(outcome, from: peer, user, isSecure: security != nil)
    }
  }

  /// Counts one more connection of a network, if the limit allows it.
  private func mayEnter(_ peer: SocketAddress) -> Bool {
    guard let maximum = limits.connectionsPerNetworkMaximum else { return true }
    let count = networks[peer.network] ?? 0
    if count >= maximum { return false }
    networks[peer.network] = count + 1
    return true
  }

  private func left(_ peer: SocketAddress, outside number: UInt64? = nil) {
    connectionCount -= 1
    if let number { leaveOutside(number) }
    guard limits.connectionsPerNetworkMaximum != nil, let count = networks[peer.network] else { return }
    networks[peer.network] = count == 1 ? nil : count - 1
  }

  private func makeRoom() {
    if arrivals.count >= limits.handshakesMaximum { cutOldestArrival() }
  }

  private func cutOldestArrival() {
    while oldestNumber < nextNumber {
      let oldest = arrivals[oldestNumber]
      oldestNumber += 1
      if let oldest { return oldest.cut(isLate: true) }
    }
  }

  private func turnAway(_ stream: ByteStream, isEncrypted: Bool) {
    counts.turnedAway += 1
    turnedAwayAt = EventLoop.process.now
    // A handshake would cost more than the whole answer.
    guard !isEncrypted, turnedAwayCount < limits.turnedAwayMaximum else {
      stream.close()
      return
    }
    turnedAwayCount += 1
    Farewell(
      tooMany, on: stream, writeMilliseconds: limits.lingerMilliseconds, lingerMilliseconds: limits.lingerMilliseconds
    ) { [weak self] in self?.turnedAwayCount -= 1 }
  }

  // MARK: Answers

  private func handle(_ outcome: Arrival.Outcome, from peer: SocketAddress, _ user: UInt32?, isSecure: Bool) {
    switch outcome {
    case .cut(let isLate):
      if isLate { counts.late += 1 }
      left(peer)
    case .unencrypted:
      counts.unencrypted += 1
      left(peer)
    case .refused(let refusal, let transport):
      if refusal == .late { counts.late += 1 }
      // Honest clients write valid heads.
      respond(HTTPAnswer(refusal), isHead: false, on: transport, peer, .outside(milliseconds: nil))
    case .head(var head, let transport):
      head.user = user
      transport.onEnd = nil
      transport.onInput = nil
      decide(head, from: peer, on: transport, isSecure: isSecure)
    }
  }

  private func decide(
    _ head: HTTPRequestHead, from peer: SocketAddress, on transport: any ByteTransport, isSecure: Bool
  ) {
    let isHead = head.method == "HEAD"
    let admission = delegate?.admission(of: head, from: peer) ?? .inside
    let unavailable = HTTPAnswer(status: 503, text: "the server is stopping")
    switch delegate?.answer(to: head, from: peer) ?? .respond(unavailable) {
    case .respond(let answer): respond(answer, isHead: isHead, on: transport, peer, admission)
    case .upgrade(let fields): upgrade(head, fields, from: peer, on: transport, isSecure: isSecure, admission)
    case .later(let begin):
      let late = LateAnswer(limits.answerMilliseconds) { [weak self] answer in
        if let self { respond(answer, isHead: isHead, on: transport, peer, admission) } else { transport.close() }
      }
      begin(HTTPResponder { late.send($0) })
    }
  }

  private func respond(
    _ answer: HTTPAnswer, isHead: Bool, on transport: any ByteTransport, _ peer: SocketAddress,
    _ admission: WebSocketAdmission
  ) {
    counts.answered += 1
    let number = admission == .inside ? nil : enterOutside()
    let farewell = Farewell(
      answer.bytes(isHead: isHead), on: transport, writeMilliseconds: limits.writeMilliseconds,
      lingerMilliseconds: limits.lingerMilliseconds
    ) { [weak self] in self?.left(peer, outside: number) }
    if let number { cut(number) { [weak farewell] in farewell?.finish() } }
  }

  private func upgrade(
    _ head: HTTPRequestHead, _ fields: [HTTPField], from peer: SocketAddress, on transport: any ByteTransport,
    isSecure: Bool, _ admission: WebSocketAdmission
  ) {
    let acceptance: UpgradeAcceptance
    do throws(HTTPRequestRefusal) {
      acceptance = try UpgradeAcceptance(
        head, fields: fields, allowsCompression: limits.connection.offersCompression)
    } catch {
      respond(HTTPAnswer(error), isHead: head.method == "HEAD", on: transport, peer, admission)
      return
    }
    counts.upgraded += 1
    acceptance.response.withUnsafeBytes { transport.write($0) }
    var bounds = limits.connection
    if admission != .inside {
      bounds.messageByteCountMaximum = min(bounds.messageByteCountMaximum, limits.outsideMessageByteCountMaximum)
    }
    let connection = WebSocketConnection(
      transport, role: .server,
      endpoint: WebSocketEndpoint(host: peer.host, port: peer.port, isSecure: isSecure, requestTarget: head.target),
      limits: bounds, deadlines: limits.deadlines, compression: acceptance.compression?.reading,
      packing: packing(acceptance.compression), budget: admission == .inside ? budget : outsideBudget)
    let number = admission == .inside ? nil : enterOutside()
    connection.onGone = { [weak self] in self?.left(peer, outside: number) }
    if let number { keepOutside(connection, number, admission) }
    delegate?.opened(connection, for: head, from: peer)
  }

  // MARK: Outside

  /// How a connection that is outside is cut, and its time limit.
  private struct Outsider {
    var cut: @EventLoopActor () -> Void
    var timer: LoopTimer?
  }

  private func enterOutside() -> UInt64 {
    let (number, displaced) = outside.enter()
    displace(displaced)
    return number
  }

  private func leaveOutside(_ number: UInt64) {
    outside.leave(number)
    outsiders[number] = nil
  }

  private func displace(_ number: UInt64?) {
    guard let number, let outsider = outsiders.removeValue(forKey: number) else { return }
    counts.displaced += 1
    displacedAt = EventLoop.process.now
    outsider.cut()
  }

  /// Sets how a connection that is outside is cut from now on.
  private func cut(_ number: UInt64, by body: @escaping @EventLoopActor () -> Void) {
    guard outside.contains(number) else { return }
    outsiders[number] = Outsider(cut: body)
  }

  private func keepOutside(_ connection: WebSocketConnection, _ number: UInt64, _ admission: WebSocketAdmission) {
    connection.onAdmitted = { [weak self, weak connection] in
      guard let self else { return }
      leaveOutside(number)
      connection?.change(messageByteCountMaximum: limits.connection.messageByteCountMaximum, budget: budget)
    }
    connection.onFarewell = { [weak self] farewell in
      self?.cut(number) { [weak farewell] in farewell?.finish() }
    }
    cut(number) { [weak connection] in connection?.displace() }
    guard case .outside(let milliseconds?) = admission else { return }
    let timer = LoopTimer()
    outsiders[number]?.timer = timer
    timer.set(afterMilliseconds: milliseconds) { [weak connection] in
      connection?.close(code: 1008, reason: "the client did not show itself (AUTH) in time")
    }
  }

  private func packing(_ compression: AcceptedDeflate?) -> FramePacking? {
    guard let compression, let minimum = limits.connection.packedByteCountMinimum else { return nil }
    return FramePacking(
      deflater: deflater, windowBits: compression.sendingWindowBits ?? 15, byteCountMinimum: minimum)
  }
}

/// An answer that comes later, within a time limit.
@EventLoopActor
private final class LateAnswer {
  private let timer = LoopTimer()
  private var body: (@EventLoopActor (HTTPAnswer) -> Void)?

  init(_ milliseconds: UInt64, _ body: @escaping @EventLoopActor (HTTPAnswer) -> Void) {
    self.body = body
    timer.set(afterMilliseconds: milliseconds) { self.send(HTTPAnswer(status: 504, text: "no answer came in time")) }
  }

  func send(_ answer: HTTPAnswer) {
    timer.cancel()
    let body = body
    self.body = nil
    body?(answer)
  }
}

extension Arrival.Outcome {
  /// Closes an outcome that has no receiver.
  @EventLoopActor
  fileprivate func close() {
    switch self {
    case .head(_, let transport), .refused(_, let transport): transport.close()
    case .cut, .unencrypted: break
    }
  }
}
