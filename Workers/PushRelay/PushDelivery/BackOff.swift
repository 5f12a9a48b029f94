/// Waits that double.
enum BackOff {
  /// Doublings after which a window grows no more, whatever its ceiling.
  static let doublingMaximum = 20

  /// At random, from half the window to all of it.
  static func milliseconds(
    base: UInt64, ceiling: UInt64, failureCount: Int, using generator: inout some RandomNumberGenerator
  ) -> UInt64 {
    let (doubled, overflowed) = base.multipliedReportingOverflow(by: 1 << UInt64(min(failureCount, doublingMaximum)))
    let window = max(2, min(overflowed ? ceiling : doubled, ceiling))
    return UInt64.random(in: (window / 2)...window, using: &generator)
  }
}
