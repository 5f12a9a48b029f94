internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP2

/// One connection: turns requests into frames, and frames into answers.
///
/// It works on frames and has no channel for each stream: a request is two frames and an answer a few more, and the
/// machine itself must choose the stream numbers, because the outcome of a request depends on them.
final class ConnectionHandler: ChannelInboundHandler, SendingChannel {
  typealias InboundIn = HTTP2Frame
  typealias OutboundOut = HTTP2Frame

  let isSecure: Bool
  private let number: Int
  private let core: SenderCore
  private let origin: HTTP2Origin
  private let channel: any Channel
  private var context: ChannelHandlerContext?
  private var answers: [Int: Partial] = [:]
  private var hasSettings = false
  private var isOver = false
  private var error: String?

  private struct Partial {
    var answer: HTTP2Answer?
    /// Whether the whole request has been written, so that the end of the answer is the end of the stream.
    var isRequestWritten = false
  }

  /// The size of a flow-control window, in bytes, below which the far side gets more.
  private static let windowLowMark = 32_768
  /// The initial window of both sides (RFC 9113, 6.9.2).
  private static let windowByteCount = 65_535
  /// The bytes of a goodbye's text that are examined.
  private static let debugByteCountMaximum = 512
  /// RFC 9113 lets an origin leave the number of streams unlimited.
  private static let streamMaximumUnsaid = Int(Int32.max)

  init(_ number: Int, _ core: SenderCore, origin: HTTP2Origin, channel: any Channel, isSecure: Bool) {
    self.number = number
    self.channel = channel
    self.core = core
    self.origin = origin
    self.isSecure = isSecure
  }

  /// Reports to the core, once, that nothing more will come.
  func ended(_ reason: String) {
    guard !isOver else { return }
    isOver = true
    core.lost(number, reason: reason)
  }

  // MARK: Writing

  func start(_ stream: Int, _ request: HTTP2Request) {
    guard let context else { return }
    var headers = HPACKHeaders()
    headers.add(name: ":method", value: request.method)
    headers.add(name: ":scheme", value: isSecure ? "https" : "http")
    headers.add(name: ":authority", value: origin.description)
    // A path identifies one receiver: it does not belong in the header table, here or at an intermediary.
    headers.add(name: ":path", value: request.path, indexing: .neverIndexed)
    for header in request.headers {
      headers.add(
        name: header.name, value: header.value, indexing: header.isRepeated ? .indexable : .neverIndexed)
    }
    if !request.body.isEmpty { headers.add(name: "content-length", value: String(request.body.count)) }
    let id = HTTP2StreamID(stream)
    let isBodiless = request.body.isEmpty
    answers[stream] = Partial(isRequestWritten: isBodiless)
    let head = HTTP2Frame.FramePayload.Headers(headers: headers, endStream: isBodiless)
    context.write(wrapOutboundOut(HTTP2Frame(streamID: id, payload: .headers(head))), promise: nil)
    guard !isBodiless else { return }
    let body = HTTP2Frame.FramePayload.Data(
      data: .byteBuffer(context.channel.allocator.buffer(bytes: request.body)), endStream: true)
    let written = context.eventLoop.makePromise(of: Void.self)
    written.futureResult.assumeIsolated().whenSuccess { [weak self] in self?.answers[stream]?.isRequestWritten = true }
    context.write(wrapOutboundOut(HTTP2Frame(streamID: id, payload: .data(body))), promise: written)
  }

  func cancel(_ stream: Int) {
    answers[stream] = nil
    write(stream, .rstStream(.cancel))
  }

  func ping() { write(0, .ping(HTTP2PingData(withInteger: 0), ack: false)) }

  func flush() { context?.flush() }

  func close() {
    isOver = true
    // Without a context the connection is still in its TCP or TLS handshake.
    guard let context else { return channel.close(promise: nil) }
    write(0, .goAway(lastStreamID: .rootStream, errorCode: .noError, opaqueData: nil))
    context.flush()
    context.close(promise: nil)
  }

  private func write(_ stream: Int, _ payload: HTTP2Frame.FramePayload) {
    context?.write(wrapOutboundOut(HTTP2Frame(streamID: HTTP2StreamID(stream), payload: payload)), promise: nil)
  }

  // MARK: Reading

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    if context.channel.isActive { core.opened(self) }
  }

  func channelActive(context: ChannelHandlerContext) { core.opened(self) }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelInactive(context: ChannelHandlerContext) {
    ended(error ?? "the origin closed the connection")
    self.context = nil
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // The fault of one stream ends that stream only, and also arrives as that stream's end.
    if error is NIOHTTP2Errors.StreamError || error is NIOHTTP2Errors.NoSuchStream { return }
    self.error = describe(error)
    context.close(promise: nil)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isOver else { return }
    let frame = unwrapInboundIn(data)
    let stream = Int(frame.streamID)
    core.line(number) { $0.received(number, at: $1) }
    switch frame.payload {
    case .settings(.settings(let settings)): receive(settings)
    case .headers(let headers): receive(headers, stream)
    case .data(let data): receive(data, stream)
    case .goAway(let last, let code, let debug): receiveGoodbye(last: Int(last), code, debug)
    default: break
    }
  }

  private func receive(_ settings: HTTP2Settings) {
    let said = settings.last { $0.parameter == .maxConcurrentStreams }?.value
    if !hasSettings {
      hasSettings = true
      core.line(number) { $0.connected(number, streamMaximum: said ?? Self.streamMaximumUnsaid, at: $1) }
    } else if let said {
      core.line(number) { $0.streamMaximumChanged(number, to: said, at: $1) }
    }
  }

  private func receive(_ headers: HTTP2Frame.FramePayload.Headers, _ stream: Int) {
    guard answers[stream] != nil else { return }
    if answers[stream]?.answer == nil, let status = headers.headers.first(name: ":status").flatMap(Int.init) {
      // An interim answer (100 to 199) is not the answer.
      guard status >= 200 else { return }
      let fields = headers.headers.filter { !$0.name.hasPrefix(":") }.map { HTTP2Header($0.name, $0.value) }
      answers[stream]?.answer = HTTP2Answer(status: status, headers: fields)
    }
    if headers.endStream { completed(stream) }
  }

  private func receive(_ data: HTTP2Frame.FramePayload.Data, _ stream: Int) {
    guard case .byteBuffer(let bytes) = data.data, let count = answers[stream]?.answer?.body.count else { return }
    let room = HTTP2Answer.bodyByteCountMaximum - count
    answers[stream]?.answer?.body += bytes.readableBytesView.prefix(room)
    if bytes.readableBytes > room {
      answers[stream]?.answer?.isBodyCut = true
      completed(stream, isWhole: false)
    } else if data.endStream {
      completed(stream)
    }
  }

  // An answer that arrives before the whole request was taken also ends the request.
  private func completed(_ stream: Int, isWhole: Bool = true) {
    guard let partial = answers.removeValue(forKey: stream), let answer = partial.answer else { return }
    if !isWhole || !partial.isRequestWritten {
      write(stream, .rstStream(.cancel))
      context?.flush()
    }
    core.answered(number, stream: stream, answer)
  }

  private func receiveGoodbye(last: Int, _ code: HTTP2ErrorCode, _ debug: ByteBuffer?) {
    var reason = SendingMachine.goodbyeWithoutReason
    if code != .noError { reason += " with error \(code.networkCode)" }
    if let debug, debug.readableBytes > 0 { reason += ": " + (Self.word(of: debug) ?? "for no reason that is a word") }
    core.line(number) { [reason] in $0.goAway(number, lastStream: last, reason: reason, at: $1) }
  }

  /// `Shutdown` of `{"reason":"Shutdown"}`, as APNs sends it: 1 to 48 letters. Other text is not repeated: it may
  /// contain a token, or be a whole page.
  static func word(of debug: ByteBuffer) -> String? {
    let text = String(decoding: debug.readableBytesView.prefix(debugByteCountMaximum), as: UTF8.self)
    guard let name = text.firstRange(of: "\"reason\"") else { return nil }
    let value = text[name.upperBound...].drop { $0 == " " || $0 == ":" }
    let word = value.dropFirst().prefix { $0.isASCII && $0.isLetter }
    guard value.first == "\"", (1...48).contains(word.count), value.dropFirst(word.count + 1).first == "\"" else {
      return nil
    }
    return String(word)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case let closed as StreamClosedEvent:
      let stream = Int(closed.streamID)
      guard answers.removeValue(forKey: stream) != nil else { return }
      let code = UInt32(truncatingIfNeeded: closed.reason?.networkCode ?? 0)
      core.line(number) { $0.streamReset(number, stream: stream, code: code, at: $1) }
    case let changed as NIOHTTP2WindowUpdatedEvent: refill(changed, context)
    default: context.fireUserInboundEventTriggered(event)
    }
  }

  private func refill(_ changed: NIOHTTP2WindowUpdatedEvent, _ context: ChannelHandlerContext) {
    guard let size = changed.inboundWindowSize, size < Self.windowLowMark else { return }
    guard changed.streamID == .rootStream || answers[Int(changed.streamID)] != nil else { return }
    write(Int(changed.streamID), .windowUpdate(windowSizeIncrement: Self.windowByteCount - size))
    context.flush()
  }
}
