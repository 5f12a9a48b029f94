/// What one client of the local relay may hold and do. What is told to clients is told by NIP-11, too.
public struct ClientLimits: Sendable, Hashable {
  /// Subscriptions at a time.
  public var subscriptionMaximum = 256
  /// Filters of one REQ or COUNT; the store's own bound is 64.
  public var filterMaximum = 32
  /// Ids, authors, kinds and tag values of all filters of one REQ or COUNT, together.
  public var valueMaximum = 10_000
  /// The same of all subscriptions of a connection.
  public var standingValueMaximum = 50_000
  /// Most stored events that one filter brings; a larger `limit`, or none, counts as this.
  public var eventMaximum = 100_000
  /// Counts under way at a time.
  public var countMaximum = 16
  /// Reconciliations under way at a time (NIP-77).
  public var reconciliationMaximum = 8
  /// Bytes of one event: beyond it `invalid`.
  public var eventByteCountMaximum = 512 << 10

  /// Events a second in the long run; above it `rate-limited`.
  public var eventsPerSecond = 20_000
  /// Events at once before the rate counts.
  public var eventBurst = 40_000
  /// REQ, COUNT and NEG-OPEN a second in the long run; above it `rate-limited`.
  public var requestsPerSecond = 500
  /// Of these at once before the rate counts.
  public var requestBurst = 2_000

  /// Events that wait for the store; with more of them nothing is read from the client.
  public var waitingEventMaximum = 2_048
  /// Bytes of those.
  public var waitingEventByteCountMaximum = 4 << 20

  /// Keys that may authenticate on one connection.
  public var authenticationMaximum = 16
  /// AUTH messages that come to nothing, and messages that are none of NIP-01's, before the connection is closed.
  public var faultMaximum = 100

  /// The limits above.
  public init() {}
}
