public import EventLoop

// A WebSocket, a client's or a server's: a transport, the framing, and three clocks (ping, pong, close).
//
// Life: connected, not reading → `start` → open ⇄ paused → closing (our close frame is out) → over. `onEnd` comes
// exactly once, unless `abort` was called. The consumer that made the connection holds it; releasing it is an `abort`,
// at the end of the current read if that happens inside `onMessage`.
//
// Back-pressure. `pauseReading` stops the socket itself: the kernel's buffer fills, the relay's TCP window closes, and
// the data waits at the relay and not here. Nothing is delivered while paused; bytes that were read already (one read
// of the transport, and 4 KB inside wslay) wait unparsed. Pongs are not read during a pause either, so the time of the
// other side's silence does not run (see Liveness).
//
// A close by the peer, or a violation, in bytes that were read before a pause is handled after it, following the
// messages that came before it.
//
// Output is written once a turn of the loop, however many messages were sent in it. `together` avoids copying them one
// by one, and under TLS lets them share records. `pendingByteCount` is what waits, and `onDrained` reports when nothing
// does: a consumer with much to send stops at a limit of its own and continues at `onDrained`.
//
// A message that has begun must make progress (see MessageClock): it holds memory that all connections of a server
// share.
//
// Outside. A server may give a client less until it has authenticated; `admit` gives it the rest.
//
// The end. A client closes. A server that sends the last bytes, after a violation or in reply to a close, waits for a
// moment until they were read (see Farewell): a client that is still sending would otherwise see a reset and not the
// reason.

/// The kind of a message.
public enum WebSocketMessageKind: Sendable {
  /// UTF-8, checked.
  case text
  /// Any bytes.
  case binary
}

/// One open WebSocket connection (RFC 6455): of a client, by
/// ``connect(to:fields:limits:deadlines:security:mark:objection:)``, or of a ``WebSocketServer``. The other side may
/// compress what it sends (RFC 7692). A client sends uncompressed; a server compresses what it sends if
/// ``WebSocketLimits/packedByteCountMinimum`` says so.
@EventLoopActor
public final class WebSocketConnection {
  /// The other side: the server that was dialled; or the client's address and port, with the target that it requested.
  public let endpoint: WebSocketEndpoint
  /// Called when ``pendingByteCount`` has fallen to 0; see `ByteStream`. Never inside a call of the consumer.
  public var onDrained: (@EventLoopActor () -> Void)?
  /// Called when the protocol itself has answered input, such as a ping: that output waits as well.
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
  /// Called once the transport is closed; for a server that may be after `onEnd`.
  var onGone: (@EventLoopActor () -> Void)?
  /// Called when a server begins to send its last bytes, which takes a moment.
  var onFarewell: (@EventLoopActor (Farewell) -> Void)?
  /// Set while the client is outside.
  var onAdmitted: (@EventLoopActor () -> Void)?
  private var isPaused = false
  /// Whether outgoing messages wait for the end of a ``together(_:)``.
  private var isGathering = false
  private var isReceiving = false
  private var liveness: Liveness
  private var messageClock: MessageClock
  /// While a message is unfinished.
  private var messageTimer: LoopTimer?
  /// An end that came before `start`, which has the callback.
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

  /// The client has authenticated: from now on it has the same limits as the others. Does nothing for a client that is
  /// inside.
  public func admit() {
    let callback = onAdmitted
    onAdmitted = nil
    callback?()
  }

  /// Sets other bounds of messages from now on.
  func change(messageByteCountMaximum: Int, budget: ReceivingBudget?) {
    codec.change(messageByteCountMaximum: messageByteCountMaximum, budget: budget)
  }

  /// Cuts the connection, because its place is needed, with a close frame that the client sees if it reads at once.
  func displace() {
    if isOpen {
      codec.discardMessages()
      codec.close(code: 1013, reason: "others need the place; show yourself (AUTH) at once")
      sendOutput()
    }
    finish(.closed(code: 1013))
  }

  // MARK: Receiving

  /// Begins to deliver messages, first those that came with the upgrade. Call it once.
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

  /// Delivers nothing and reads nothing until ``resumeReading()``: TCP slows the other side down. May be called before
  /// ``start(onMessage:onEnd:)`` and inside `onMessage`.
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

  /// Continues, first with the bytes that were read before the pause. Messages may be delivered before this returns.
  public func resumeReading() {
    guard isPaused else { return }
    isPaused = false
    if isOpen {
      liveness.resumed(at: EventLoop.process.now)
      setLivenessTimer()
      messageClock.resumed(at: EventLoop.process.now)
      setMessageTimer()
    }
    // Inside `onMessage` the loop that called it continues anyway.
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

  /// Sends the framing's output, and handles its end, unless messages before that end still wait.
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
  /// - Throws: `output-full` above the limit, `closed` if the connection has ended or is closing.
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

  /// Runs `body`, and passes on its messages together: for many messages to one other side.
  public func together<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
    if isGathering { return try body() }
    isGathering = true
    defer {
      isGathering = false
      sendOutput()
    }
    return try body()
  }

  /// The maximum of gathered bytes: enough for a buffer of the transport, or several records of TLS.
  private static let gatheredByteCountMaximum = 64 << 10

  private func sendOutput() {
    if codec.output.isEmpty { return }
    codec.takeOutput().withUnsafeBytes { transport.write($0) }
  }

  // MARK: Liveness

  /// Makes sure that the other side is still there, because the machine was suspended: sends a ping, and ends the
  /// connection with `unresponsive` if nothing comes within `milliseconds` after it. What had arrived before does not
  /// count, and while reading is paused the time does not run. Does nothing before ``start(onMessage:onEnd:)``.
  public func check(withinMilliseconds milliseconds: UInt64) {
    guard isOpen else { return }
    let now = EventLoop.process.now
    liveness.checked(withinMilliseconds: milliseconds, at: now)
    if isPaused { liveness.paused(at: now) }
    setLivenessTimer()
  }

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
      finish(.unresponsive(milliseconds: liveness.awaitedMilliseconds))
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

  /// Most connections are idle, and have no timer for this.
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

  /// Begins to close: no further message is delivered or sent, and `onEnd` comes when the other side has answered, or
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
    // The answer is read even if reading was paused; messages before it are dropped.
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
