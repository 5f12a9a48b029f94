/// The limits of an `HTTP2Sender`. Times are in milliseconds.
public struct HTTP2SenderSettings: Sendable, Hashable {
  /// From the look-up of the name to the origin's SETTINGS.
  public var connectTimeoutMilliseconds: UInt64 = 10_000
  /// The first pause after a connection could not be had, or was lost before its first answer; it doubles each time.
  public var retryBaseMilliseconds: UInt64 = 500
  /// The longest pause. Half of each pause is by chance.
  public var retryCeilingMilliseconds: UInt64 = 60_000
  /// From the beginning of one connection to the next at least: whoever connects often looks like an attack.
  public var connectSpacingMilliseconds: UInt64 = 1_000
  /// Streams at once in a connection, whatever the origin allows.
  public var streamMaximum = 1_000
  /// Whether only one stream is opened until the first answer has come, as APNs wants it with tokens.
  public var startsCautiously = false
  /// Requests that wait for a stream.
  public var waitingMaximum = 10_000
  /// Silence of an idle connection until it is asked for a sign of life (PING).
  public var idlePingMilliseconds: UInt64 = 60_000
  /// The same while answers are awaited.
  public var busyPingMilliseconds: UInt64 = 10_000
  /// From a PING to the end of a connection that gives no sign of life.
  public var livenessTimeoutMilliseconds: UInt64 = 10_000
  /// Until a connection without requests is closed.
  public var idleCloseMilliseconds: UInt64 = 3_600_000
  /// Connections that have said goodbye and still owe answers; the oldest is cut off when there are more.
  public var drainingMaximum = 4
  /// How often a request that was surely not acted on is sent again by the sender itself.
  public var resendMaximum = 1
  /// Streams in one connection before another is opened: their numbers end at 2^30.
  public var streamsPerConnectionMaximum = 1 << 29

  /// The defaults.
  public init() {}
}
