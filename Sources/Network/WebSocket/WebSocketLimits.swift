/// What one connection may hold, and what happens above a limit.
public struct WebSocketLimits: Sendable, Hashable {
  /// Bytes of one received message, all its fragments together, and inflated if it was compressed. Above it the
  /// connection is closed with 1009. At least 125.
  public var messageByteCountMaximum: Int
  /// Bytes that may wait to be sent. Above it `send` throws `output-full`.
  public var pendingByteCountMaximum: Int

  /// Whether the other side may compress what it sends (permessage-deflate). A server may keep its window: from its
  /// first compressed message on, that takes up to 40 KB here for the life of the connection. A client may not.
  public var offersCompression: Bool
  /// For servers only: messages of at least this many bytes are compressed for clients that have agreed to it. Nil: no
  /// message is, which is right if the network is not the bottleneck.
  public var packedByteCountMinimum: Int?
  /// Whether only global addresses are dialled: for a name from a source that may be hostile. The addresses that the
  /// name resolves to decide, each for itself. If no address is left: `private-address`.
  public var dialsGlobalAddressesOnly = false

  /// Limits for a relay's client: events are small, a relay's largest messages stay under half a megabyte.
  public init(
    messageByteCountMaximum: Int = 1 << 20, pendingByteCountMaximum: Int = 4 << 20, offersCompression: Bool = true
  ) {
    precondition(messageByteCountMaximum >= 125, "a control frame of 125 bytes must fit")
    self.messageByteCountMaximum = messageByteCountMaximum
    self.pendingByteCountMaximum = pendingByteCountMaximum
    self.offersCompression = offersCompression
  }

  /// Bytes above the pending limit for what the protocol itself sends: pongs, pings, the close. A peer that causes more
  /// pongs than it reads is cut there.
  static let controlAllowance = 64 << 10
}

/// The deadline of each step, in milliseconds.
public struct WebSocketDeadlines: Sendable, Hashable {
  /// Looking the name up.
  public var nameLookupMilliseconds: UInt64
  /// Connecting to any of its addresses, all attempts together.
  public var connectMilliseconds: UInt64
  /// The TLS handshake, and again the upgrade.
  public var handshakeMilliseconds: UInt64
  /// The wait for the answer to our close frame.
  public var closeMilliseconds: UInt64
  /// The silence after which a ping is sent; 0 for never.
  public var pingIntervalMilliseconds: UInt64
  /// The silence after that ping which ends the connection.
  public var pongMilliseconds: UInt64
  /// The period in which a message that has begun must end, or grow by 64 KiB; otherwise the connection is closed with
  /// 1008. 0 for no limit, which is right towards servers of one's own choice.
  public var messageMilliseconds: UInt64 = 0

  /// Deadlines for relays on the open internet: a NAT forgets an idle connection after a minute or two.
  public init(
    nameLookupMilliseconds: UInt64 = 10_000, connectMilliseconds: UInt64 = 10_000,
    handshakeMilliseconds: UInt64 = 10_000, closeMilliseconds: UInt64 = 2_000,
    pingIntervalMilliseconds: UInt64 = 45_000, pongMilliseconds: UInt64 = 20_000
  ) {
    self.nameLookupMilliseconds = nameLookupMilliseconds
    self.connectMilliseconds = connectMilliseconds
    self.handshakeMilliseconds = handshakeMilliseconds
    self.closeMilliseconds = closeMilliseconds
    self.pingIntervalMilliseconds = pingIntervalMilliseconds
    self.pongMilliseconds = pongMilliseconds
  }
}

/// Where to connect, and what to request there.
public struct WebSocketEndpoint: Sendable, Hashable, CustomStringConvertible {
  /// A name or an address, without brackets.
  public var host: String
  /// The port.
  public var port: UInt16
  /// Whether TLS is used (`wss`).
  public var isSecure: Bool
  /// The path and query to request, beginning with `/`.
  public var requestTarget: String

  /// An endpoint; that of a relay follows from its URL.
  public init(host: String, port: UInt16, isSecure: Bool, requestTarget: String = "/") {
    self.host = host
    self.port = port
    self.isSecure = isSecure
    self.requestTarget = requestTarget
  }

  /// The value of the `Host` field: without the port if it is the scheme's default.
  public var hostField: String {
    let name = host.contains(":") ? "[\(host)]" : host
    return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
  }

  /// `ws://127.0.0.1:7777/`.
  public var description: String {
    "\(isSecure ? "wss" : "ws")://\(host.contains(":") ? "[\(host)]" : host):\(port)\(requestTarget)"
  }
}
