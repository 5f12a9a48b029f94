/// Notices that the wall clock was set.
///
/// What was asked for by a date (`since` in a filter) is asked for by a clock that was wrong then: what others date by
/// the right one may lie before it, or behind. Who stands by such a question asks it again when the clock was set. The
/// monotonic clock is the witness; a sleep of the machine, which it does not count, looks like a step forward, and to
/// ask again then does no harm.
public struct WallClockWatch: Hashable, Sendable {
  /// A smaller step is the work of a clock that is kept right, and within what questions by date allow for.
  public static let thresholdSeconds: Int64 = 30

  /// Seconds by which the wall clock is ahead of the monotonic one.
  private var ahead: Int64

  /// Starts with a reading of both clocks.
  ///
  /// - Parameters:
  ///   - wall: seconds since 1970.
  ///   - now: the instant.
  public init(wall: Int64, now: Instant) { ahead = Self.lead(wall, now) }

  /// Takes the next reading of both clocks and says by how many seconds the wall clock was set, forward, or back when
  /// they are less than 0; nil when it was not. Small steps add up until they are told.
  public mutating func step(wall: Int64, now: Instant) -> Int64? {
    let lead = Self.lead(wall, now)
    let (step, isFar) = lead.subtractingReportingOverflow(ahead)
    guard isFar || step.magnitude >= UInt64(Self.thresholdSeconds) else { return nil }
    ahead = lead
    return isFar ? (lead > 0 ? .max : .min) : step
  }

  private static func lead(_ wall: Int64, _ now: Instant) -> Int64 {
    let (lead, isFar) = wall.subtractingReportingOverflow(Int64(now.nanoseconds / 1_000_000_000))
    return isFar ? .min : lead
  }
}
