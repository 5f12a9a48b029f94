import Addresses
import HTTPTypes
import LinuxSystem
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import PushAdmission
import PushRequests
import Synchronization

// How long each phase of a connection may last, and whether the connection may stay.
//
//     opening ─▶ head ─▶ body ─▶ answer ─▶ idle ─▶ head …
//      10 s      10 s    10 s     60 s     60 s             every one of them ends in ─▶ ending, 5 s
//
// A received byte does not restart a time: a client that sends one byte a second gets no more time than one that sends
// none. The TLS handshake is part of the opening. While a connection is opening or idle, or its head arrives, it may be
// closed to make room for a new one; if there is no such connection, one whose body arrives (`ConnectionAdmission`).

/// The connections, for the threads of HTTP.
final class ConnectionTable: Sendable {
  private struct Contents {
    var book: ConnectionAdmission
    var channels: [UInt64: any Channel] = [:]
  }

  private let contents: Mutex<Contents>
  private let proxies: ProxyTrust

  init(maximum: Int, proxies: ProxyTrust) {
    contents = Mutex(Contents(book: ConnectionAdmission(maximum: maximum)))
    self.proxies = proxies
  }

  /// Adds a connection; nil if there is no room for it.
  func enter(_ channel: any Channel) -> UInt64? {
    let peer = channel.remoteAddress?.ipAddress.flatMap { IPAddress($0)?.unmapped }
    // A trusted proxy brings the requests of many clients, so its address must not count.
    let address = peer.flatMap { proxies.isTrusted($0) ? nil : $0 }
    let (number, leaving): (UInt64?, (any Channel)?) = contents.withLock { contents in
      switch contents.book.enter(from: address) {
      case .admitted(let number):
        contents.channels[number] = channel
        return (number, nil)
      case .admittedInstead(let number, let other):
        contents.channels[number] = channel
        return (number, contents.channels.removeValue(forKey: other))
      case .refused: return (nil, nil)
      }
    }
    leaving?.close(promise: nil)
    return number
  }

  func wait(_ number: UInt64) { contents.withLock { $0.book.wait(number) } }

  func arrive(_ number: UInt64) { contents.withLock { $0.book.arrive(number) } }

  func work(_ number: UInt64) { contents.withLock { $0.book.work(number) } }

  func leave(_ number: UInt64) {
    contents.withLock { contents in
      contents.book.leave(number)
      contents.channels[number] = nil
    }
  }
}

/// Ends a connection that takes too long, and answers what is not HTTP.
final class ConnectionDeadlines: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  private enum Phase {
    /// From the connection to the first byte of the first request.
    case opening
    /// From the first byte of a request to the end of its head.
    case head
    /// From there to the request's last byte.
    case body
    /// From there to the end of the answer.
    case answer
    /// From there to the first byte of the next request.
    case idle
    /// Nothing more is answered. What still arrives is read and discarded for a moment: if a socket is closed with
    /// unread bytes, the client loses an answer that it has not read yet.
    case ending

    var time: TimeAmount {
      switch self {
      case .opening, .head, .body: .seconds(10)
      case .answer, .idle: .seconds(60)
      case .ending: .seconds(5)
      }
    }
  }

  private let table: ConnectionTable
  private var number: UInt64?
  private var phase = Phase.opening
  private var timer: Scheduled<Void>?
  private var answersDue = 0

  init(_ table: ConnectionTable) { self.table = table }

  // MARK: Begin and end

  func handlerAdded(context: ChannelHandlerContext) {
    if context.channel.isActive { begin(context) }
  }

  func channelActive(context: ChannelHandlerContext) {
    begin(context)
    context.fireChannelActive()
  }

  func handlerRemoved(context: ChannelHandlerContext) { end() }

  func channelInactive(context: ChannelHandlerContext) {
    end()
    context.fireChannelInactive()
  }

  private func begin(_ context: ChannelHandlerContext) {
    guard number == nil else { return }
    number = table.enter(context.channel)
    if number == nil { context.close(promise: nil) } else { enter(.opening, context) }
  }

  private func end() {
    timer?.cancel()
    if let number { table.leave(number) }
  }

  // MARK: Requests and answers

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard phase != .ending else { return }
    switch unwrapInboundIn(data) {
    case .head:
      answersDue += 1
      // A connection that still owes an answer stays at work.
      if let number, answersDue == 1 { table.arrive(number) }
      enter(.body, context)
    case .end:
      if let number, answersDue > 0 { table.work(number) }
      enter(answersDue > 0 ? .answer : .idle, context)
    case .body: break
    }
    context.fireChannelRead(data)
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    if phase == .opening || phase == .idle { enter(.head, context) }
    context.fireChannelReadComplete()
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if case .end = unwrapOutboundIn(data) {
      answersDue -= 1
      if answersDue <= 0, phase != .ending {
        enter(.idle, context)
        if let number { table.wait(number) }
      }
    }
    context.write(data, promise: promise)
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    if mode == .output, phase != .ending { enter(.ending, context) }
    context.close(mode: mode, promise: promise)
  }

  // MARK: What is not HTTP

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard phase != .ending else { return }
    // An answer that is due goes first; then the server behind this handler reports the fault again.
    guard let fault = error as? HTTPParserError, answersDue <= 0 else { return context.fireErrorCaught(error) }
    refuse(fault, context)
  }

  private func refuse(_ fault: HTTPParserError, _ context: ChannelHandlerContext) {
    let (status, message): (HTTPResponse.Status, String) =
      switch fault {
      case .headerOverflow:
        (.requestHeaderFieldsTooLarge, "the request's head is larger than \(PushServer.headByteCountMaximum) bytes")
      case .invalidVersion, .paused: (.httpVersionNotSupported, "this relay speaks HTTP/1.1, and no other version")
      default: (.badRequest, "this is no request of HTTP/1.1")
      }
    let body = PushRefusal(.invalidRequest, message).body
    var fields = HTTPFields()
    fields[.contentType] = "application/json"
    fields[.contentLength] = "\(body.count)"
    fields[.date] = HTTPDate.text(WallClock.seconds)
    fields[.connection] = "close"
    enter(.ending, context)
    context.write(wrapOutboundOut(.head(HTTPResponse(status: status, headerFields: fields))), promise: nil)
    context.write(wrapOutboundOut(.body(ByteBuffer(bytes: body))), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    context.close(mode: .output, promise: nil)
  }

  private func enter(_ phase: Phase, _ context: ChannelHandlerContext) {
    self.phase = phase
    timer?.cancel()
    timer = context.eventLoop.assumeIsolated().scheduleTask(in: phase.time) { context.close(promise: nil) }
  }
}
