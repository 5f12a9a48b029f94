import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

// HTTP/1.0 has neither `Host` nor `Expect` (RFC 9112, 3.2; RFC 9110, 10.1.1), and after the codec the version of a
// request is unknown. So before the codec its heads get the form that HTTP/1.1 would have.

/// Adds an empty Host to a head of HTTP/1.0 that has none, and removes an expectation.
final class EarlierVersion: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .head(var head) = unwrapInboundIn(data), head.version == .http1_0 else {
      return context.fireChannelRead(data)
    }
    head.headers.remove(name: "Expect")
    if !head.headers.contains(name: "Host") { head.headers.add(name: "Host", value: "") }
    context.fireChannelRead(wrapInboundOut(.head(head)))
  }
}

/// Hummingbird's connection with ``EarlierVersion`` in it: the handlers that the library lets one add are after the
/// codec.
struct ListenerChannel: ServerChildChannel {
  let base: HTTP1Channel

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
    base.setup(channel: channel, logger: logger).flatMapThrowing { value in
      let pipeline = channel.pipeline.syncOperations
      let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
      try pipeline.addHandler(EarlierVersion(), position: .after(decoder))
      return value
    }
  }

  func handle(value: HTTP1Channel.Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}
