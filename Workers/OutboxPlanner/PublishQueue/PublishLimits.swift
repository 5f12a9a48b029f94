/// How much the queue may hold, and how often it may try. Each wait is chosen at random below a window that doubles
/// with each failure.
public struct PublishLimits: Sendable, Hashable {
  /// Publications under way; the shell refuses further ones (`full`).
  public var publicationMaximum = 100_000
  /// Events in flight to all relays together; further ones wait.
  public var inFlightMaximum = 256
  /// Events in flight to one relay; further ones wait.
  public var relayInFlightMaximum = 16

  /// How often a relay may report a failure (`error:`) before it is given up for this event: about five hours.
  public var failureMaximum = 48
  /// How often an event is sent to a relay that does not answer, or whose connection ends before the answer, until the
  /// relay is given up for this event: about two hours. A planner that restarts counts from 0.
  public var unansweredMaximum = 24
  /// How many attempts are made to reach a foreign relay: about four minutes. Own relays are tried until the event
  /// expires.
  public var foreignMaximum = 8
  /// Relays whose pace is remembered; above this number, the paces that were least recently used are forgotten.
  public var paceMaximum = 4_096
  /// How often a relay may refuse an event without a known reason.
  public var rejectionMaximum = 5
  /// How often a relay may refuse an event because the sender has not authenticated.
  public var authorizationMaximum = 3

  /// The first window after a failure (`error:`) or a refusal without a known reason, in milliseconds.
  public var rejectionBaseMilliseconds: UInt64 = 5_000
  /// The first window when the relay requires authentication, or the account is locked.
  public var authorizationBaseMilliseconds: UInt64 = 30_000
  /// The first window after an attempt whose outcome is unknown.
  public var unsettledBaseMilliseconds: UInt64 = 1_000
  /// The first window after a relay could not be reached.
  public var unreachableBaseMilliseconds: UInt64 = 2_000
  /// The first window after a relay answered `rate-limited`.
  public var limitedBaseMilliseconds: UInt64 = 2_000
  /// The first window after no connector was available.
  public var absentBaseMilliseconds: UInt64 = 500
  /// The largest window while no connector is available: connectors restart within seconds.
  public var absentCeilingMilliseconds: UInt64 = 10_000
  /// The largest window in all other cases.
  public var ceilingMilliseconds: UInt64 = 900_000
  /// The longest wait that remains after a start. The ledger has wall times, and the clock may have been set since.
  public var restoredCeilingMilliseconds: UInt64 = 60_000
  /// The shortest wait.
  public var spacingMilliseconds: UInt64 = 250

  /// The default limits.
  public init() {}
}
