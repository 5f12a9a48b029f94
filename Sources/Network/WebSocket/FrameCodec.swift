internal import CWslay

// wslay, fed from memory.
//
// wslay pulls: `wslay_event_recv` calls one callback for bytes until it returns none, and other callbacks with what it
// found. Here the bytes are the caller's buffer, so one call to `receive` processes one read. wslay's own buffering of
// messages is off: it allocates the size that a frame's header announces, and an announcement must not cost a megabyte.
// The codec collects chunks itself, and its memory grows with received bytes only.
//
// wslay reads ahead up to 4 KB. When the consumer calls `hold`, messages in bytes that wslay has read already are kept
// in `held` (at most 4 KB of payload by construction); no byte after them is taken until `release`.
//
// If compression was agreed on, a message with RSV1 is collected as it arrives, inflated when it is delivered, and only
// then checked: its size against the bound, a text for UTF-8. A held message is held compressed: 4 KB could be 4 MB.
//
// wslay's context takes 9 KB, most of it two buffers. An idle connection has no context: it is made when bytes arrive,
// and freed after a whole message if it contains nothing worth keeping. That costs some hundred nanoseconds a read, and
// saves 90 MB if ten thousand connections are idle. During a close the context stays, because it knows which frames
// were sent.
//
// Outgoing messages do not go through wslay, which would allocate and copy for them (see FrameWriter). Close frames are
// the exception: wslay must see ours, or it would reply to the peer's reply.
//
// The class knows no socket and no loop. wslay holds its address, unretained, as long as a context lives.

/// RFC 6455 framing in memory, for both roles: bytes to messages, messages to bytes.
final class FrameCodec {
  /// How the framing ended. It never continues after one of these.
  enum Ending: Equatable {
    /// A close frame arrived; the reply is in the output.
    case closedByPeer(code: UInt16, reason: String)
    /// The peer broke the protocol or the limit; our close frame is in the output.
    case violation(code: UInt16)
  }

  /// Called with each message; its bytes are valid during the call.
  var onMessage: ((WebSocketMessageKind, UnsafeRawBufferPointer) -> Void)?
  /// Bytes to be sent; the sender removes them with ``takeOutput()``.
  fileprivate(set) var output: [UInt8] = []
  /// Set once the framing has ended.
  private(set) var ending: Ending?
  /// Whether no input is taken at present.
  private(set) var isHolding = false

  private let role: WebSocketRole
  /// wslay's context; nil while the connection is idle.
  private var context: wslay_event_context_ptr?
  private var messageByteCountMaximum: Int
  private var generator = SystemRandomNumberGenerator()
  private var input = UnsafeRawBufferPointer(start: nil, count: 0)
  private var boundaries: FrameBoundaries
  private var message: [UInt8] = []
  private let packing: FramePacking?
  private var budget: ReceivingBudget?
  /// The bytes that the budget was last given for this connection.
  private var budgetedByteCount = 0
  private let inflater: Inflater?
  /// Whether the current message is compressed.
  private var isCompressed = false
  /// Why this side closed the connection, if it did.
  private var violation: wslay_status_code?
  private var isDataFrame = false
  /// Whether the last frame of a message has not arrived yet.
  private var isInsideMessage = false
  /// The number of messages that have arrived complete.
  private(set) var endedMessageCount: UInt64 = 0
  /// Whether wslay is running further up the call stack.
  private var isReceiving = false
  private var hasClosed = false
  /// Whether our close is in the output; no reply of wslay's may follow it.
  private var hasAnswered = false
  private var isStopped = false
  private var held: [HeldMessage] = []

  private struct HeldMessage {
    let kind: WebSocketMessageKind
    let bytes: [UInt8]
    let isCompressed: Bool
  }

  /// IANA's registry has this code; wslay does not.
  private static let tryAgainLater = wslay_status_code(rawValue: 1013)
  /// The maximum of message memory, in bytes, that is kept for the next message.
  private static let keptByteCount = 64 << 10

  /// A codec for one connection.
  ///
  /// - Parameters:
  ///   - role: which side is ours. A frame with the wrong masking, for either side, is a violation (1002).
  ///   - messageByteCountMaximum: bytes of one message, inflated.
  ///   - compression: the upgrade's agreement on compression of incoming messages, if any.
  ///   - packing: how outgoing messages are compressed, if at all.
  ///   - budget: how much all connections may hold of incomplete messages. Above it this connection is closed (1013).
  init(
    role: WebSocketRole, messageByteCountMaximum: Int, compression: DeflateAgreement? = nil,
    packing: FramePacking? = nil, budget: ReceivingBudget? = nil
  ) {
    self.role = role
    self.budget = budget
    self.messageByteCountMaximum = messageByteCountMaximum
    self.packing = packing
    boundaries = FrameBoundaries(to: role)
    inflater = compression.map { Inflater($0, byteCountMaximum: messageByteCountMaximum) }
  }

  deinit {
    wslay_event_context_free(context)
    _ = budget?.change(from: budgetedByteCount, to: 0)
  }

  private func openContext() -> wslay_event_context_ptr? {
    if let context { return context }
    var callbacks = Self.callbacks
    let pointer = Unmanaged.passUnretained(self).toOpaque()
    let status =
      role == .client
      ? wslay_event_context_client_init(&context, &callbacks, pointer)
      : wslay_event_context_server_init(&context, &callbacks, pointer)
    precondition(status == 0, "wslay could not allocate its context")
    wslay_event_config_set_no_buffering(context, 1)
    wslay_event_config_set_max_recv_msg_length(context, UInt64(receivedByteCountMaximum(isCompressed: inflater != nil)))
    if inflater != nil { wslay_event_config_set_allowed_rsv_bits(context, UInt8(roost_wslay_compressed)) }
    return context
  }

  /// The bytes held of a message, or of another frame, that has begun and is not complete; nil without such a message
  /// or frame.
  var unfinishedByteCount: Int? {
    let hasEnded = ending != nil || violation != nil || isStopped
    guard !hasEnded, isInsideMessage || !boundaries.isBetweenFrames else { return nil }
    return message.count
  }

  /// Sets other bounds from now on, because the client has authenticated. May be called inside ``onMessage``.
  func change(messageByteCountMaximum: Int, budget: ReceivingBudget?) {
    self.messageByteCountMaximum = messageByteCountMaximum
    inflater?.byteCountMaximum = messageByteCountMaximum
    if let context {
      let maximum = receivedByteCountMaximum(isCompressed: inflater != nil)
      wslay_event_config_set_max_recv_msg_length(context, UInt64(maximum))
    }
    // The new budget is charged at the next read.
    _ = self.budget?.change(from: budgetedByteCount, to: 0)
    budgetedByteCount = 0
    self.budget = budget
  }

  /// Frees what an idle connection does not need. wslay requests more bytes only when it has processed everything, so
  /// after a whole message its context is in its initial state.
  private func freeIfIdle() {
    guard !isReceiving, !hasClosed, ending == nil, violation == nil, !isInsideMessage, boundaries.isBetweenFrames
    else { return }
    wslay_event_context_free(context)
    context = nil
    message = []
  }

  /// The maximum of bytes of one message before inflating. Compression makes incompressible data a little longer: 5
  /// bytes for each block, and few peers make blocks of less than 100 bytes.
  private func receivedByteCountMaximum(isCompressed: Bool) -> Int {
    isCompressed ? messageByteCountMaximum + messageByteCountMaximum / 16 + 64 : messageByteCountMaximum
  }

  // MARK: Receiving

  /// Takes bytes from the peer, and calls ``onMessage`` for what they complete.
  ///
  /// - Returns: how many were used: all of them, unless a hold began, or the rest is the beginning of a close frame (at
  ///   most 130 bytes). The caller must give the rest again, with the bytes that follow.
  func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
    if isStopped || ending != nil { return bytes.count }
    if isHolding { return 0 }
    input = bytes
    isReceiving = true
    let status = wslay_event_recv(openContext())
    isReceiving = false
    let rest = input
    input = UnsafeRawBufferPointer(start: nil, count: 0)
    keepToBudget()
    if status != 0 { answerBrokenFrame() }
    sendReplies()
    noticeEnding(hasFailed: status != 0)
    if ending == nil, !isHolding, !isStopped, let close = boundaries.closeFrame(in: rest) { take(close.payload) }
    freeIfIdle()
    return ending == nil ? bytes.count - rest.count : bytes.count
  }

  /// Handles the other side's close: no payload, or a code and a reason in UTF-8. The reply has the same code, or says
  /// what is wrong with the frame.
  private func take(_ close: [UInt8]) {
    let code = close.count >= 2 ? UInt16(close[0]) << 8 | UInt16(close[1]) : nil
    if close.count == 1 || code.map(Self.isCloseCode) == false {
      fail(WSLAY_CODE_PROTOCOL_ERROR)
    } else if !Self.isUTF8(Array(close.dropFirst(2))) {
      fail(WSLAY_CODE_INVALID_FRAME_PAYLOAD_DATA)
    } else {
      wslay_event_queue_close(openContext(), code ?? 0, nil, 0)
    }
    sendReplies()
    let reason = printable(String(decoding: close.dropFirst(2), as: UTF8.self))
    ending =
      violation.map { .violation(code: UInt16($0.rawValue)) } ?? .closedByPeer(code: code ?? 1005, reason: reason)
  }

  /// The codes that a frame may contain: those of RFC 6455 (7.4) and IANA's registry, and those of applications.
  private static func isCloseCode(_ code: UInt16) -> Bool {
    (1000...1014).contains(code) && !(1004...1006).contains(code) || (3000...4999).contains(code)
  }

  /// Charges the budget with what is kept of a message until the next read.
  private func keepToBudget() {
    guard let budget else { return }
    let isWithin = budget.change(from: budgetedByteCount, to: message.count)
    budgetedByteCount = message.count
    guard !isWithin, violation == nil else { return }
    fail(Self.tryAgainLater)
    _ = budget.change(from: budgetedByteCount, to: 0)
    budgetedByteCount = 0
  }

  /// Takes no more input and delivers nothing until ``release()``.
  func hold() { isHolding = true }

  /// Ends a hold, and delivers the messages that wslay had read ahead. A new hold may begin during that.
  func release() {
    isHolding = false
    while !held.isEmpty, !isHolding, !isStopped {
      let next = held.removeFirst()
      deliver(next.kind, next.bytes, isCompressed: next.isCompressed)
    }
    sendReplies()
    freeIfIdle()
  }

  /// Sends wslay's replies: pongs and closes.
  private func sendReplies() {
    if context != nil, !hasAnswered { wslay_event_send(context) }
  }

  /// wslay answers an invalid frame with a close without a code; this writes one that says what was wrong. It is the
  /// last frame, and wslay's own replies are dropped.
  private func answerBrokenFrame() {
    if canSend {
      let code = UInt16(WSLAY_CODE_PROTOCOL_ERROR.rawValue).bigEndian
      withUnsafeBytes(of: code) { FrameWriter.append(.close, $0, mask: nextMask(), to: &output) }
    }
    hasAnswered = true
  }

  /// Whether messages wait for the end of a hold.
  var hasHeldMessages: Bool { !held.isEmpty }

  /// Delivers no further message, whatever arrives; close frames are still read.
  func discardMessages() {
    onMessage = nil
    held = []
    isHolding = false
  }

  /// Ignores all further input.
  func stop() {
    isStopped = true
    onMessage = nil
    held = []
    // During `receive`, the end of that call does this.
    guard !isReceiving else { return }
    message = []
    keepToBudget()
  }

  private func noticeEnding(hasFailed: Bool) {
    guard ending == nil else { return }
    if let violation {
      ending = .violation(code: UInt16(violation.rawValue))
    } else if hasFailed {
      // A broken frame header: wslay has queued a close without a code.
      ending = .violation(code: UInt16(WSLAY_CODE_PROTOCOL_ERROR.rawValue))
    } else if wslay_event_get_read_enabled(context) == 0 {
      ending = .violation(code: wslay_event_get_status_code_sent(context))
    }
  }

  // MARK: Sending

  /// Frames a message; false once a close was sent or the framing has ended.
  func send(_ kind: WebSocketMessageKind, _ bytes: UnsafeRawBufferPointer) -> Bool {
    guard canSend else { return false }
    let opcode = kind == .text ? FrameWriter.Opcode.text : .binary
    if let packing, bytes.count >= packing.byteCountMinimum,
      let packed = packing.deflater.deflate(bytes, windowBits: packing.windowBits)
    {
      packed.withUnsafeBytes { FrameWriter.append(opcode, isCompressed: true, $0, mask: nextMask(), to: &output) }
    } else {
      FrameWriter.append(opcode, bytes, mask: nextMask(), to: &output)
    }
    return true
  }

  /// Frames a ping without a payload.
  func ping() {
    guard canSend else { return }
    FrameWriter.append(.ping, UnsafeRawBufferPointer(start: nil, count: 0), mask: nextMask(), to: &output)
  }

  /// Frames a close; nothing can be sent after it. The reason is cut to 123 bytes.
  func close(code: UInt16, reason: String) {
    guard canSend else { return }
    var text = reason
    while text.utf8.count > 123 { text.removeLast() }
    let bytes = Array(text.utf8)
    hasClosed = true
    wslay_event_queue_close(openContext(), code, bytes, bytes.count)
    wslay_event_send(context)
  }

  /// Returns the bytes to be sent, and removes them.
  func takeOutput() -> [UInt8] {
    defer { output = [] }
    return output
  }

  private var canSend: Bool { !hasClosed && ending == nil && violation == nil && !isStopped }

  private func nextMask() -> UInt32? { role == .client ? generator.next() : nil }

  // MARK: wslay's callbacks

  private static var callbacks: wslay_event_callbacks {
    var callbacks = wslay_event_callbacks()
    callbacks.recv_callback = { context, buffer, capacity, _, pointer in
      codec(pointer).giveInput(to: buffer, capacity, context)
    }
    callbacks.send_callback = { _, bytes, count, _, pointer in
      codec(pointer).output.append(contentsOf: UnsafeBufferPointer(start: bytes, count: count))
      return count
    }
    callbacks.genmask_callback = { _, buffer, count, pointer in
      codec(pointer).fillMask(UnsafeMutableBufferPointer(start: buffer, count: count))
      return 0
    }
    callbacks.on_frame_recv_start_callback = { _, argument, pointer in
      if let argument { codec(pointer).frameBegan(argument.pointee) }
    }
    callbacks.on_frame_recv_chunk_callback = { _, argument, pointer in
      if let argument { codec(pointer).append(argument.pointee) }
    }
    callbacks.on_msg_recv_callback = { _, argument, pointer in
      if let argument { codec(pointer).messageEnded(argument.pointee) }
    }
    return callbacks
  }

  /// A mask is 4 bytes that the author of the payload cannot predict (RFC 6455, 10.3).
  fileprivate func fillMask(_ mask: UnsafeMutableBufferPointer<UInt8>) {
    var random: UInt64 = generator.next()
    for index in mask.indices {
      mask[index] = UInt8(truncatingIfNeeded: random)
      random >>= 8
    }
  }

  fileprivate func giveInput(to buffer: UnsafeMutablePointer<UInt8>?, _ capacity: Int, _ context: OpaquePointer?) -> Int
  {
    let count = isHolding || isStopped ? 0 : boundaries.pass(input, capacity: capacity)
    guard count > 0, let buffer, let start = input.baseAddress else {
      wslay_event_set_error(context, WSLAY_ERR_WOULDBLOCK.rawValue)
      return -1
    }
    UnsafeMutableRawPointer(buffer).copyMemory(from: start, byteCount: count)
    input = UnsafeRawBufferPointer(rebasing: input[count...])
    return count
  }

  fileprivate func frameBegan(_ frame: wslay_event_on_frame_recv_start_arg) {
    // Opcodes from 8 on are control frames, which may come between the fragments of a message.
    isDataFrame = frame.opcode < 8
    guard isDataFrame else { return }
    isInsideMessage = frame.fin == 0
    if UInt32(frame.opcode) != WSLAY_CONTINUATION_FRAME.rawValue {
      isCompressed = inflater != nil && Int(frame.rsv) & roost_wslay_compressed != 0
    }
    let room = receivedByteCountMaximum(isCompressed: isCompressed) - message.count
    if frame.payload_length > UInt64(room) { fail(WSLAY_CODE_MESSAGE_TOO_BIG) }
  }

  /// Stops reading, and queues a close with the reason.
  private func fail(_ code: wslay_status_code) {
    violation = code
    message = []
    held = []
    wslay_event_shutdown_read(openContext())
    wslay_event_queue_close(context, UInt16(code.rawValue), nil, 0)
  }

  fileprivate func append(_ chunk: wslay_event_on_frame_recv_chunk_arg) {
    guard isDataFrame, violation == nil else { return }
    message.append(contentsOf: UnsafeBufferPointer(start: chunk.data, count: chunk.data_length))
  }

  fileprivate func messageEnded(_ argument: wslay_event_on_msg_recv_arg) {
    switch UInt32(argument.opcode) {
    case WSLAY_TEXT_FRAME.rawValue: take(.text)
    case WSLAY_BINARY_FRAME.rawValue: take(.binary)
    default: break
    }
  }

  private func take(_ kind: WebSocketMessageKind) {
    endedMessageCount += 1
    defer { message.removeAll(keepingCapacity: message.capacity <= Self.keptByteCount) }
    if isHolding {
      held.append(HeldMessage(kind: kind, bytes: message, isCompressed: isCompressed))
    } else {
      // The pong for a ping before the message goes before the replies to the message.
      sendReplies()
      deliver(kind, message, isCompressed: isCompressed)
    }
  }

  private func deliver(_ kind: WebSocketMessageKind, _ bytes: [UInt8], isCompressed: Bool) {
    if violation != nil || isStopped || onMessage == nil { return }
    guard isCompressed, let inflater else {
      bytes.withUnsafeBytes { onMessage?(kind, $0) }
      return
    }
    switch inflater.inflated(bytes) {
    case .failure(.overLimit): refuse(WSLAY_CODE_MESSAGE_TOO_BIG)
    case .failure(.malformed): refuse(WSLAY_CODE_PROTOCOL_ERROR)
    case .success(let message):
      if kind == .text, !Self.isUTF8(message) {
        refuse(WSLAY_CODE_INVALID_FRAME_PAYLOAD_DATA)
      } else {
        message.withUnsafeBytes { onMessage?(kind, $0) }
      }
    }
  }

  /// A held message may prove invalid after a later end was seen; the earlier event counts.
  private func refuse(_ code: wslay_status_code) {
    fail(code)
    ending = .violation(code: UInt16(code.rawValue))
  }

  private static func isUTF8(_ bytes: [UInt8]) -> Bool {
    do throws(UTF8.ValidationError) {
      _ = try UTF8Span(validating: bytes.span)
      return true
    } catch {
      return false
    }
  }
}

/// The codec that wslay received as its user data. A C function cannot capture, so this is not a method.
private func codec(_ pointer: UnsafeMutableRawPointer?) -> FrameCodec {
  guard let pointer else { preconditionFailure("wslay passes on what it was given") }
  return Unmanaged<FrameCodec>.fromOpaque(pointer).takeUnretainedValue()
}
