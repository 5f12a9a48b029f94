public import Clocks

/// One moment on both clocks. Waits are measured on the monotonic clock; the ledger and the platforms use wall time.
public struct PushMoment: Hashable, Sendable {
  /// The monotonic clock.
  public var instant: Instant
  /// The wall clock, milliseconds since 1970.
  public var unixMilliseconds: Int64

  /// A reading of both clocks.
  public init(instant: Instant, unixMilliseconds: Int64) {
    self.instant = instant
    self.unixMilliseconds = unixMilliseconds
  }

  /// The wall clock, whole seconds since 1970.
  public var unixSeconds: Int64 { unixMilliseconds / 1_000 }
}
