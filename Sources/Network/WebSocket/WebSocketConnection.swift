public import EventLoop

// A WebSocket, a client's or a server's: a transport, the framing, and three clocks (ping, pong, close).
//
// Life: connected, not reading → `start` → open ⇄ paused → closing (our close frame is out) → over. `onEnd` comes
// exactly once, unless `abort` was called. Whoever made the connection holds it; letting go of it is `abort`, at the
// end of the present read when that happens inside `onMessage`.
//
// Back-pressure. `pauseReading` stops the socket itself: the kernel's buffer fills, the relay's TCP window closes, and
// the relay, not we, holds what it wants to send. Nothing is delivered while paused; what had been read already (one
// read of the transport, and 4 KB inside wslay) waits unparsed. While paused nobody looks for pongs, since nobody reads
// them: the time of the other side's silence stands still (see Liveness).
//
// A close by the peer, or a violation, in bytes that were read before a pause is handled after it, behind the messages
// that came before it.
//
// Output goes out once a turn of the loop, however many messages were sent in it; `together` saves their copying one by
// one, and under TLS makes them share records. `pendingByteCount` is what waits, `onDrained` tells when nothing does:
// whoever has much to send stops at a count of his own and continues when he is told.
//
// A message that has begun must go on (see MessageClock): it holds memory that all connections of a server share.
//
// Outside. A server may give a client less until it has shown itself; `admit` gives it the rest.
//
// The end. A client closes. A server that has the last word, after a violation or in answer to a close, waits for a
// moment until it was read (see Farewell), since a client that is still sending would otherwise hear of a reset and not
// of the reason.

/// What a message is.
public enum WebSocketMessageKind: Sendable {
  /// UTF-8, checked.
  case text
  /// Anything.
  case binary
}

/// One open WebSocket connection (RFC 6455): of a client, by
/// ``connect(to:fields:limits:deadlines:security:mark:objection:)``, or of a ``WebSocketServer``. The other side may
/// compress what it sends (RFC 7692). What a client sends goes as it is; what a server sends is compressed if
/// ``WebSocketLimits/packedByteCountMinimum`` says so.
@EventLoopActor
public final class WebSocketConnection {
  /// With whom: the server that was dialled; or the client's address and port, with the target that it asked for.
  public let endpoint: WebSocketEndpoint
  /// Called when ``pendingByteCount`` has come down to 0; see `ByteStream`. Never inside a call of the consumer's.
  public var onDrained: (@EventLoopActor () -> Void)?
  /// Called when the protocol itself has answered what came, a ping for one: that counts as waiting as well.
  public var onReplied: (@EventLoopActor () -> Void)?

  private enum State { case idle, open, closing(code: UInt16), over }
  private var state = State.idle
  private let role: WebSocketRole
  private let transport: any ByteTransport
  private let codec: FrameCodec
  private let limits: WebSocketLimits
  private let deadlines: WebSocketDeadlines
  private let timer = LoopTimer()
  private var onMessage: (@EventLoopActor (WebSocketMessageKind, UnsafeRawBufferPointer) -> Void)?
  private var onEnd: (@EventLoopActor (WebSocketEnd) -> Void)?
  /// Called once the transport is closed, which for a server may be after `onEnd`.
  var onGone: (@EventLoopActor () -> Void)?
  /// Called when a server's last words have begun, which take a moment.
  var onFarewell: (@EventLoopActor (Farewell) -> Void)?
  /// Set while the client is outside.
  var onAdmitted: (@EventLoopActor () -> Void)?
  private var isPaused = false
  /// Whether what is sent waits for the end of a ``together(_:)``.
  private var isGathering = false
  private var isReceiving = false
  private var liveness: Liveness
  private var messageClock: MessageClock
  /// While a message is unfinished.
  private var messageTimer: LoopTimer?
  /// An end that came before anyone could be told.
  private var earlyEnd: WebSocketEnd?

  init(
    _ transport: any ByteTransport, role: WebSocketRole, endpoint: WebSocketEndpoint, limits: WebSocketLimits,
    deadlines: WebSocketDeadlines, compression: DeflateAgreement? = nil, packing: FramePacking? = nil,
    budget: ReceivingBudget? = nil
  ) {
    self.role = role
    self.transport = transport
    self.endpoint = endpoint
    self.limits = limits
    self.deadlines = deadlines
    liveness = Liveness(
      intervalMilliseconds: deadlines.pingIntervalMilliseconds, pongMilliseconds: deadlines.pongMilliseconds)
    messageClock = MessageClock(periodMilliseconds: deadlines.messageMilliseconds)
    codec = FrameCodec(
      role: role, messageByteCountMaximum: limits.messageByteCountMaximum, compression: compression, packing: packing,
      budget: budget)
    transport.onInput = { [weak self] bytes in self?.receive(UnsafeRawBufferPointer(bytes)) ?? bytes.count }
    transport.onEnd = { [weak self] fault in self?.transportEnded(fault) }
    transport.onDrained = { [weak self] in self?.onDrained?() }
  }

  isolated deinit { abort() }

  /// The client has shown itself: from now on it has what others have. Nothing happens for one that is inside.
  public func admit() {
    let callback = onAdmitted
    onAdmitted = nil
    callback?()
  }

  /// From now on other bounds of messages hold.
  func change(messageByteCountMaximum: Int, budget: ReceivingBudget?) {
    codec.change(messageByteCountMaximum: messageByteCountMaximum, budget: budget)
  }

  /// Cuts the connection, since its place is needed, with a close that is read if the client reads at once.
  func displace() {
    if isOpen {
      codec.discardMessages()
      codec.close(code: 1013, reason: "others need the place; show yourself (AUTH) at once")
      sendOutput()
    }
    finish(.closed(code: 1013))
  }

  // MARK: Receiving

  /// Begins to deliver messages, those that came with the upgrade first. Call it once.
  ///
  /// A message's bytes are valid during the call only. `onEnd` is called once, last; it and `onMessage` may be called
  /// before this returns.
  public func start(
    onMessage: @escaping @EventLoopActor (WebSocketMessageKind, UnsafeRawBufferPointer) -> Void,
    onEnd: @escaping @EventLoopActor (WebSocketEnd) -> Void
  ) {
    if let earlyEnd {
      self.earlyEnd = nil
      onEnd(earlyEnd)
    }
    guard case .idle = state else { return }
    state = .open
    self.onMessage = onMessage
    self.onEnd = onEnd
    codec.onMessage = { [unowned self] kind, bytes in self.onMessage?(kind, bytes) }
    liveness.started(at: EventLoop.process.now)
    if isPaused { liveness.paused(at: EventLoop.process.now) } else { setLivenessTimer() }
    if !isPaused {
      transport.startReading()
      transport.offerRest()
    }
  }

  /// Delivers nothing and reads nothing until ``resumeReading()``: the other side is held back by TCP. May be called
  /// before ``start(onMessage:onEnd:)`` and inside `onMessage`.
  public func pauseReading() {
    if case .closing = state { return }
    if !isPaused, isOpen {
      liveness.paused(at: EventLoop.process.now)
      timer.cancel()
      messageClock.paused(at: EventLoop.process.now)
      setMessageTimer()
    }
    isPaused = true
    codec.hold()
    transport.stopReading()
  }

  /// Goes on: first with what had been read before the pause. Messages may be delivered before this returns.
  public func resumeReading() {
    guard isPaused else { return }
    isPaused = false
    if isOpen {
      liveness.resumed(at: EventLoop.process.now)
      setLivenessTimer()
      messageClock.resumed(at: EventLoop.process.now)
      setMessageTimer()
    }
    // Inside `onMessage` the loop that called it goes on by itself.
    if isReceiving {
      codec.release()
      if isOpen { transport.startReading() }
      return
    }
    goOn()
  }

  private var isOpen: Bool {
    if case .open = state { true } else { false }
  }

  private func goOn() {
    guard isOpen else { return }
    isReceiving = true
    codec.release()
    isReceiving = false
    settle()
    if isOpen, !isPaused {
      transport.startReading()
      transport.offerRest()
    }
  }

  private func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
    if liveness.heard(at: EventLoop.process.now), isOpen { setLivenessTimer() }
    isReceiving = true
    let endedBefore = codec.endedMessageCount
    let used = codec.receive(bytes)
    isReceiving = false
    noteUnfinished(hasEnded: codec.endedMessageCount != endedBefore)
    let hasReplied = !codec.output.isEmpty
    settle()
    if case .over = state { return bytes.count }
    if hasReplied { onReplied?() }
    return used
  }

  /// Sends what the framing wants sent, and notices its end, unless messages before that end still wait.
  private func settle() {
    sendOutput()
    guard let ending = codec.ending, !isPaused else { return }
    switch (ending, state) {
    case (_, .over), (_, .idle): return
    case (_, .closing(let code)): finish(.closed(code: code))
    case (.closedByPeer(let code, let reason), .open): finish(.closedByPeer(code: code, reason: reason))
    case (.violation(let code), .open): finish(.violation(code: code))
    }
  }

  // MARK: Sending

  /// Bytes that wait: for the end of the turn, or for the other side to read.
  public var pendingByteCount: Int { transport.pendingByteCount + codec.output.count }

  /// Sends a text message; `bytes` are UTF-8 and are copied.
  ///
  /// - Throws: `output-full` beyond the limit, `closed` when it is too late.
  public func send(text bytes: UnsafeRawBufferPointer) throws(WebSocketFault) {
    switch state {
    case .idle, .open: break
    case .closing, .over: throw WebSocketFault(.closed, endpoint: "\(endpoint)", detail: "the connection is closed")
    }
    let pending = pendingByteCount
    guard pending + bytes.count <= limits.pendingByteCountMaximum else {
      throw WebSocketFault(
        .outputFull, endpoint: "\(endpoint)",
        detail: "\(pending) bytes wait to be sent; at most \(limits.pendingByteCountMaximum) may")
    }
    guard codec.send(.text, bytes) else {
      throw WebSocketFault(.closed, endpoint: "\(endpoint)", detail: "the connection is closing")
    }
    if !isGathering || codec.output.count >= Self.gatheredByteCountMaximum { sendOutput() }
  }

  /// Sends a text message of UTF-8 bytes.
  public func send(text: [UInt8]) throws(WebSocketFault) {
    let result = text.withUnsafeBytes { bytes -> Result<Void, WebSocketFault> in
      do throws(WebSocketFault) {
        return .success(try send(text: bytes))
      } catch {
        return .failure(error)
      }
    }
    try result.get()
  }

  /// Does `body`, and hands on together what it sends: for many messages to one other side.
  public func together<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
    if isGathering { return try body() }
    isGathering = true
    defer {
      isGathering = false
      sendOutput()
    }
    return try body()
  }

  /// Bytes that are gathered: what fills a buffer of the transport's, or some records of TLS.
  private static let gatheredByteCountMaximum = 64 << 10

  private func sendOutput() {
    if codec.output.isEmpty { return }
    codec.takeOutput().withUnsafeBytes { transport.write($0) }
  }

  // MARK: Liveness

  private func setLivenessTimer() {
    guard let due = liveness.due else {
      timer.cancel()
      return
    }
    timer.set(at: due) { [weak self] in self?.livenessTimerFired() }
  }

  private func livenessTimerFired() {
    guard isOpen else { return }
    switch liveness.timerFired(at: EventLoop.process.now) {
    case .nothing: break
    case .ping:
      codec.ping()
      sendOutput()
    case .end:
      finish(.unresponsive(milliseconds: deadlines.pongMilliseconds))
      return
    }
    setLivenessTimer()
  }

  // MARK: Unfinished messages

  private func noteUnfinished(hasEnded: Bool) {
    let now = EventLoop.process.now
    guard isOpen, messageClock.received(heldByteCount: codec.unfinishedByteCount, hasEnded: hasEnded, at: now) else {
      return
    }
    if isPaused { messageClock.paused(at: now) }
    setMessageTimer()
  }

  /// Most connections are idle, and have no timer for it.
  private func setMessageTimer() {
    guard let due = messageClock.due else {
      messageTimer = nil
      return
    }
    let timer = messageTimer ?? LoopTimer()
    messageTimer = timer
    timer.set(at: due) { [weak self] in self?.messageTimerFired() }
  }

  private func messageTimerFired() {
    guard isOpen else { return }
    if messageClock.timerFired(at: EventLoop.process.now) {
      close(code: 1008, reason: "a message was begun and not ended in time")
    } else {
      setMessageTimer()
    }
  }

  // MARK: Ending

  /// Begins to close: no message is delivered or sent any more, and `onEnd` comes when the other side has answered, or
  /// when ``WebSocketDeadlines/closeMilliseconds`` have passed. `reason` is cut to 123 bytes. Before
  /// ``start(onMessage:onEnd:)`` the connection is cut, and `onEnd` comes with the start.
  public func close(code: UInt16 = 1000, reason: String = "") {
    switch state {
    case .closing, .over: return
    case .idle:
      finish(.closed(code: code))
      return
    case .open: break
    }
    state = .closing(code: code)
    codec.discardMessages()
    codec.close(code: code, reason: reason)
    sendOutput()
    timer.set(afterMilliseconds: deadlines.closeMilliseconds) { [weak self] in self?.finish(.closed(code: code)) }
    // The answer is read even where reading was paused; messages in front of it are dropped.
    isPaused = false
    transport.startReading()
    if !isReceiving { transport.offerRest() }
  }

  /// Cuts the connection at once, without a close frame and without `onEnd`.
  public func abort() {
    onEnd = nil
    finish(.closed(code: 1006))
    earlyEnd = nil
  }

  private func transportEnded(_ fault: LoopFault?) {
    if case .closing(let code) = state {
      finish(.closed(code: code))
      return
    }
    finish(fault.map { .failed($0) } ?? .endOfStream)
  }

  private func finish(_ end: WebSocketEnd) {
    if case .over = state { return }
    if case .idle = state { earlyEnd = end }
    state = .over
    let callback = onEnd
    onEnd = nil
    onMessage = nil
    onDrained = nil
    onReplied = nil
    onAdmitted = nil
    codec.stop()
    timer.cancel()
    messageTimer = nil
    leave(after: end)
    callback?(end)
  }

  private func leave(after end: WebSocketEnd) {
    let gone = onGone
    onGone = nil
    let farewellBegan = onFarewell
    onFarewell = nil
    switch (role, end) {
    case (.server, .violation), (.server, .closedByPeer):
      let farewell = Farewell(
        on: transport, writeMilliseconds: deadlines.closeMilliseconds, lingerMilliseconds: deadlines.closeMilliseconds
      ) { gone?() }
      farewellBegan?(farewell)
    default:
      transport.flushAndClose()
      gone?()
    }
  }
}
