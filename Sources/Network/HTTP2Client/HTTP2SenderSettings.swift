/// The limits of an `HTTP2Sender`. Times are in milliseconds.
public struct HTTP2SenderSettings: Sendable, Hashable {
  /// The limit from the look-up of the name to the origin's SETTINGS.
  public var connectTimeoutMilliseconds: UInt64 = 10_000
  /// The first pause after a connection could not be made, or was lost before its first answer; it doubles each time.
  public var retryBaseMilliseconds: UInt64 = 500
  /// The longest pause. Half of each pause is random.
  public var retryCeilingMilliseconds: UInt64 = 60_000
  /// The least time from the start of one connection to the next: an origin takes frequent connections for an attack.
  public var connectSpacingMilliseconds: UInt64 = 1_000
  /// The maximum number of streams open in a connection, whatever the origin allows.
  public var streamMaximum = 1_000
  /// Whether only one stream is opened before the first answer, as APNs requires for tokens.
  public var startsCautiously = false
  /// The maximum number of requests that wait for a stream.
  public var waitingMaximum = 10_000
  /// How long an idle connection may be silent before a PING is sent.
  public var idlePingMilliseconds: UInt64 = 60_000
  /// The same while answers are outstanding.
  public var busyPingMilliseconds: UInt64 = 10_000
  /// The time from a PING to the end of a connection from which nothing has come.
  public var livenessTimeoutMilliseconds: UInt64 = 10_000
  /// The time after which a connection without requests is closed.
  public var idleCloseMilliseconds: UInt64 = 3_600_000
  /// The maximum number of connections that take no new streams and still owe answers; above it the oldest is cut.
  /// is cut.
  public var drainingMaximum = 4
  /// How often the sender itself repeats a request that was certainly not acted on.
  public var resendMaximum = 1
  /// The number of streams in one connection after which another is opened: stream numbers end after 2^30 requests.
  public var streamsPerConnectionMaximum = 1 << 29

  /// The defaults.
  public init() {}
}
