/// What one client of the local relay may hold and do. The information document (NIP-11) states the limits that clients
/// should know.
public struct ClientLimits: Sendable, Hashable {
  /// Subscriptions at a time.
  public var subscriptionMaximum = 256
  /// Filters of one REQ or COUNT; the store's own bound is 64.
  public var filterMaximum = 32
  /// Ids, authors, kinds and tag values of all filters of one REQ or COUNT, together.
  public var valueMaximum = 10_000
  /// The same, for all subscriptions of a connection.
  public var standingValueMaximum = 50_000
  /// The most stored events that one filter brings; a larger `limit`, or none, counts as this number.
  public var eventMaximum = 100_000
  /// Counts under way at a time.
  public var countMaximum = 16
  /// Reconciliations under way at a time (NIP-77).
  public var reconciliationMaximum = 8
  /// Bytes of one event; a larger one is `invalid`.
  public var eventByteCountMaximum = 512 << 10

  /// Events a second in the long run; beyond it `rate-limited`.
  public var eventsPerSecond = 20_000
  /// Events at once before the rate applies.
  public var eventBurst = 40_000
  /// REQ, COUNT and NEG-OPEN a second in the long run; beyond it `rate-limited`.
  public var requestsPerSecond = 500
  /// Such messages at once before the rate applies.
  public var requestBurst = 2_000

  /// Events that wait for the store; at this number the relay stops reading from the client.
  public var waitingEventMaximum = 2_048
  /// Bytes of these events, with the same effect.
  public var waitingEventByteCountMaximum = 4 << 20

  /// Keys that may authenticate on one connection.
  public var authenticationMaximum = 16
  /// Messages that are of no use, such as AUTH that fails and messages that cannot be read, before the connection is
  /// closed.
  public var faultMaximum = 100

  /// The limits above.
  public init() {}
}
