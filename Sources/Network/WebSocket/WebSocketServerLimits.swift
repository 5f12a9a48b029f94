/// What a server may hold, and what happens beyond.
public struct WebSocketServerLimits: Sendable, Hashable {
  /// Connections at a time, whatever they are at. Beyond: one is answered 503 and closed. Each takes a descriptor.
  public var connectionsMaximum = 10_000
  /// Connections at a time from one network (see `SocketAddress.network`). Beyond: 503. Nil: no bound but the other.
  public var connectionsPerNetworkMaximum: Int?
  /// Connections at a time whose clients have not shown themselves (``WebSocketAdmission/outside(milliseconds:)``).
  /// Beyond: the oldest of them is cut; so it is when those inside need all that is left.
  public var outsideMaximum: Int { max(1, connectionsMaximum / Self.outsideDivisor) }
  /// The part of the connections that those outside get.
  static let outsideDivisor = 8
  /// Bytes of one message of theirs; enough for an AUTH. Beyond: closed with 1009.
  public var outsideMessageByteCountMaximum = 16 << 10
  /// Bytes that all of them hold of messages that have not come whole. Beyond: the one that adds to them is closed
  /// (1013).
  public var outsideReceivingByteCountMaximum = 4 << 20
  /// Connections at a time that have not said what they want. Beyond: the oldest of them is cut, since whoever means
  /// well needs a moment only.
  public var handshakesMaximum = 256
  /// Connections at a time that are told 503. Beyond: cut without a word.
  public var turnedAwayMaximum = 64
  /// Bytes that all WebSockets together hold of messages that have not come whole. Beyond: the one that adds to them is
  /// closed (1013). What is sent and not read has no common bound: see ``WebSocketLimits/pendingByteCountMaximum``.
  public var receivingByteCountMaximum = 64 << 20
  /// Time for TLS and the head, in milliseconds. After it: 408, or nothing where nothing came.
  public var handshakeMilliseconds: UInt64 = 10_000
  /// Time for an answer that comes later. After it: 504.
  public var answerMilliseconds: UInt64 = 10_000
  /// Time for the client to take an answer.
  public var writeMilliseconds: UInt64 = 10_000
  /// Time for the client to close after that.
  public var lingerMilliseconds: UInt64 = 2_000
  /// What a client is told to wait after a 503, in seconds.
  public var retryAfterSeconds = 10
  /// What each WebSocket may hold.
  public var connection = WebSocketLimits()
  /// How long each step of a WebSocket may take; the dialling ones are not used.
  public var deadlines = WebSocketDeadlines()

  /// Limits for a server of ten thousand connections that are idle for the most part.
  public init() { deadlines.messageMilliseconds = Self.messageMilliseconds }

  /// A client on a slow line sends 64 KiB in it.
  private static let messageMilliseconds: UInt64 = 30_000
}

/// What has come to a server, in numbers that only grow.
public struct WebSocketServerCounts: Sendable, Hashable {
  /// Connections that the kernel had.
  public var accepted = 0
  /// Those that became WebSockets.
  public var upgraded = 0
  /// Requests answered in plain HTTP, refusals of bad ones among them.
  public var answered = 0
  /// Connections beyond a bound: told 503, or cut.
  public var turnedAway = 0
  /// Connections outside that gave way to others.
  public var displaced = 0
  /// Connections that did not say in time what they want, or were the oldest of too many such.
  public var late = 0
  /// TLS handshakes that came to nothing.
  public var unencrypted = 0
}
