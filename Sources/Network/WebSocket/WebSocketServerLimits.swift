/// What a server may hold, and what happens above a limit.
public struct WebSocketServerLimits: Sendable, Hashable {
  /// Connections at a time, in every state. Above it a connection is answered 503 and closed. Each takes a descriptor.
  public var connectionsMaximum = 10_000
  /// Connections at a time from one network (see `SocketAddress.network`). Above it: 503. Nil: only the limit of all.
  public var connectionsPerNetworkMaximum: Int?
  /// Connections at a time whose clients have not authenticated (``WebSocketAdmission/outside(milliseconds:)``). Above
  /// it the oldest of them is cut; it is also cut when clients inside need the place.
  public var outsideMaximum: Int { max(1, connectionsMaximum / Self.outsideDivisor) }
  /// The part of the connections that those outside get, as a divisor.
  static let outsideDivisor = 8
  /// Bytes of one message of theirs; enough for an AUTH. Above it the connection is closed with 1009.
  public var outsideMessageByteCountMaximum = 16 << 10
  /// Bytes that all of them hold of incomplete messages. Above it the connection that adds to them is closed (1013).
  public var outsideReceivingByteCountMaximum = 4 << 20
  /// Connections at a time whose request has not arrived. Above it the oldest of them is cut, because an honest client
  /// needs only a moment.
  public var handshakesMaximum = 256
  /// Connections at a time that are being answered 503. Above it they are cut without an answer.
  public var turnedAwayMaximum = 64
  /// Bytes that all WebSockets together hold of incomplete messages. Above it the connection that adds to them is
  /// closed (1013). Output that is not read has no common limit: see ``WebSocketLimits/pendingByteCountMaximum``.
  public var receivingByteCountMaximum = 64 << 20
  /// The time for TLS and the head, in milliseconds. After it: 408, or nothing if nothing has arrived.
  public var handshakeMilliseconds: UInt64 = 10_000
  /// The time for an answer that comes later. After it: 504.
  public var answerMilliseconds: UInt64 = 10_000
  /// The time for the client to take an answer.
  public var writeMilliseconds: UInt64 = 10_000
  /// The time after that for the client to close.
  public var lingerMilliseconds: UInt64 = 2_000
  /// The wait that a 503 asks of the client, in seconds.
  public var retryAfterSeconds = 10
  /// What each WebSocket may hold.
  public var connection = WebSocketLimits()
  /// The deadlines of each step of a WebSocket; those for dialling are not used.
  public var deadlines = WebSocketDeadlines()

  /// Limits for a server of ten thousand connections that are mostly idle.
  public init() { deadlines.messageMilliseconds = Self.messageMilliseconds }

  /// A client on a slow line sends 64 KiB in this time.
  private static let messageMilliseconds: UInt64 = 30_000
}

/// Counts of a server, which only grow.
public struct WebSocketServerCounts: Sendable, Hashable {
  /// Connections that the kernel accepted.
  public var accepted = 0
  /// Connections that became WebSockets.
  public var upgraded = 0
  /// Requests answered in plain HTTP, including refusals of invalid ones.
  public var answered = 0
  /// Connections above a limit: answered 503, or cut.
  public var turnedAway = 0
  /// Connections outside that were displaced by others.
  public var displaced = 0
  /// Connections whose request did not arrive in time, or that were the oldest of too many such.
  public var late = 0
  /// TLS handshakes that failed.
  public var unencrypted = 0
}
