/// Notices that the wall clock was set.
///
/// A filter with a date (`since`) that was computed from a wrong clock is wrong too: events dated by the correct clock
/// may lie before it or after it. So the owner of such a subscription repeats it when the clock was set. The monotonic
/// clock is the reference. It does not count while the machine sleeps, so a sleep looks like a step forward, and
/// repeating a subscription then does no harm.
public struct WallClockWatch: Hashable, Sendable {
  /// Smaller steps come from normal clock synchronization, and filters with a date allow for them.
  public static let thresholdSeconds: Int64 = 30

  /// Seconds by which the wall clock is ahead of the monotonic one.
  private var ahead: Int64

  /// Starts with a reading of both clocks.
  ///
  /// - Parameters:
  ///   - wall: seconds since 1970.
  ///   - now: the instant.
  public init(wall: Int64, now: Instant) { ahead = Self.lead(wall, now) }

  /// Takes the next reading of both clocks. Returns by how many seconds the wall clock was set, positive for forward
  /// and negative for back; nil if it was not set. Small steps add up until they are reported.
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
