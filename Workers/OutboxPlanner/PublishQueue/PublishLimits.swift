/// What the queue may hold and how often it may try. Waits are chosen at random below a window that doubles with each
/// failure.
public struct PublishLimits: Sendable, Hashable {
  /// Publications under way; the shell refuses more (`full`).
  public var publicationMaximum = 100_000
  /// Events sent and not answered yet, to all relays together; the others wait.
  public var inFlightMaximum = 256
  /// Events sent to one relay and not answered yet; the others wait.
  public var relayInFlightMaximum = 16

  /// How often a relay may say that it has failed before it is given up for this event: some five hours.
  public var failureMaximum = 48
  /// How often an event is sent to a relay that does not answer, or whose connection ends before it does, until it is
  /// given up: some two hours. A planner that starts again counts from the beginning.
  public var unansweredMaximum = 24
  /// How often it is tried to reach a relay that others have named: some four minutes. One's own are tried until the
  /// event expires.
  public var foreignMaximum = 8
  /// Relays whose pace is remembered; above that those go that were not used for longest.
  public var paceMaximum = 4_096
  /// How often it may refuse without a known reason.
  public var rejectionMaximum = 5
  /// The same where it wants to know who sends it.
  public var authorizationMaximum = 3

  /// First window after either, in milliseconds.
  public var rejectionBaseMilliseconds: UInt64 = 5_000
  /// The same where it wants to know who sends it, or he is locked.
  public var authorizationBaseMilliseconds: UInt64 = 30_000
  /// First window after an attempt of which nobody knows the end.
  public var unsettledBaseMilliseconds: UInt64 = 1_000
  /// First window after a relay could not be reached.
  public var unreachableBaseMilliseconds: UInt64 = 2_000
  /// First window after a relay said `rate-limited`.
  public var limitedBaseMilliseconds: UInt64 = 2_000
  /// First window after no connector was there.
  public var absentBaseMilliseconds: UInt64 = 500
  /// Largest of that one: connectors come back within seconds.
  public var absentCeilingMilliseconds: UInt64 = 10_000
  /// Largest window of all others.
  public var ceilingMilliseconds: UInt64 = 900_000
  /// Longest wait that is left after a start, whatever the ledger says in a time of a clock that may have been set
  /// since.
  public var restoredCeilingMilliseconds: UInt64 = 60_000
  /// Shortest wait.
  public var spacingMilliseconds: UInt64 = 250

  /// The limits above.
  public init() {}
}
