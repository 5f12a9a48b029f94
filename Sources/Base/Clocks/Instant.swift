/// A point on the machine's monotonic clock (`CLOCK_MONOTONIC`), in nanoseconds.
///
/// Every interval in Roost is measured on this clock: restarts, time to live and back-off must not move when the wall
/// clock is set. Machines without I/O take the instant as a parameter, so their tests control the time. Wall time is
/// for display only.
public struct Instant: Comparable, Hashable, Sendable {
  /// Nanoseconds since an arbitrary origin, the same for all processes of one boot.
  public var nanoseconds: UInt64

  /// Makes an instant from a reading of the monotonic clock.
  @inlinable
  public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

  /// Order in time.
  @inlinable
  public static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

  /// The instant a number of milliseconds later; stays at the end of time instead of wrapping.
  @inlinable
  public func advanced(milliseconds: UInt64) -> Instant {
    let (product, overflowed) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
    let (sum, carried) = nanoseconds.addingReportingOverflow(product)
    return Instant(nanoseconds: overflowed || carried ? .max : sum)
  }

  /// The instant a number of nanoseconds later; stays at the end of time instead of wrapping.
  @inlinable
  public func advanced(nanoseconds count: UInt64) -> Instant {
    let (sum, carried) = nanoseconds.addingReportingOverflow(count)
    return Instant(nanoseconds: carried ? .max : sum)
  }

  /// Whole milliseconds from `earlier` to this instant; 0 when `earlier` is not earlier.
  @inlinable
  public func milliseconds(since earlier: Instant) -> UInt64 {
    nanoseconds > earlier.nanoseconds ? (nanoseconds - earlier.nanoseconds) / 1_000_000 : 0
  }
}
