/// What one connection may hold, and what happens beyond.
public struct WebSocketLimits: Sendable, Hashable {
  /// Bytes of one received message, all its fragments together, and inflated if it was compressed. Beyond: the
  /// connection is closed with 1009. At least 125.
  public var messageByteCountMaximum: Int
  /// Bytes that may wait to be sent. Beyond: `send` throws `output-full`.
  public var pendingByteCountMaximum: Int

  /// Whether the other side may compress what it sends (permessage-deflate). A server may keep its window: from its
  /// first compressed message on that takes up to 40 KB here for as long as the connection stands. A client may not.
  public var offersCompression: Bool
  /// A server's only: messages of so many bytes and more are compressed for clients that have agreed to it. Nil:
  /// nothing is, which is right wherever no wire is narrow.
  public var packedByteCountMinimum: Int?
  /// Whether only addresses of the internet are dialled: for a name that comes from somebody who need not mean well.
  /// What the name resolves to counts, each address for itself. If none is left: `private-address`.
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

  /// Bytes beyond the pending bound for what the protocol itself sends: pongs, pings, the close. A peer that makes us
  /// answer more pings than it reads is cut there.
  static let controlAllowance = 64 << 10
}

/// How long each step may take, in milliseconds.
public struct WebSocketDeadlines: Sendable, Hashable {
  /// Looking the name up.
  public var nameLookupMilliseconds: UInt64
  /// Connecting to any of its addresses, all attempts together.
  public var connectMilliseconds: UInt64
  /// The TLS handshake, and again the upgrade.
  public var handshakeMilliseconds: UInt64
  /// Waiting for the answer to our close frame.
  public var closeMilliseconds: UInt64
  /// Silence after which a ping is sent; 0 for never.
  public var pingIntervalMilliseconds: UInt64
  /// Silence after that ping which ends the connection.
  public var pongMilliseconds: UInt64
  /// The period in which a message that has begun must end, or grow by 64 KiB; then the connection is closed with
  /// 1008. 0 for no bound, which is right towards servers of one's own choice.
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

/// Where to connect, and what to ask for there.
public struct WebSocketEndpoint: Sendable, Hashable, CustomStringConvertible {
  /// A name or an address, without brackets.
  public var host: String
  /// The port.
  public var port: UInt16
  /// Whether TLS stands in between (`wss`).
  public var isSecure: Bool
  /// The path and query to ask for, beginning with `/`.
  public var requestTarget: String

  /// An endpoint; a relay's follows from its URL.
  public init(host: String, port: UInt16, isSecure: Bool, requestTarget: String = "/") {
    self.host = host
    self.port = port
    self.isSecure = isSecure
    self.requestTarget = requestTarget
  }

  /// The value of the `Host` field: without the port if that is the scheme's own.
  public var hostField: String {
    let name = host.contains(":") ? "[\(host)]" : host
    return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
  }

  /// `ws://127.0.0.1:7777/`.
  public var description: String {
    "\(isSecure ? "wss" : "ws")://\(host.contains(":") ? "[\(host)]" : host):\(port)\(requestTarget)"
  }
}
