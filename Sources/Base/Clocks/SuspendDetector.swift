/// Notices that the machine was suspended.
///
/// `CLOCK_BOOTTIME` continues during a suspend and `CLOCK_MONOTONIC` does not, so a gain of the first over the second
/// is the length of the suspend. The wall clock cannot show it: it also moves when it is set.
public struct SuspendDetector: Hashable, Sendable {
  /// A smaller gain is the noise of reading two clocks one after the other, or a suspend too short to matter.
  public static let threshold = Duration.seconds(5)

  private var ahead: UInt64

  /// Starts with a reading of both clocks.
  public init(monotonic: Instant, bootNanoseconds: UInt64) {
    ahead = Self.lead(of: bootNanoseconds, over: monotonic)
  }

  /// Takes the next reading of both clocks. Returns how long the machine was suspended since the last reading that
  /// showed a suspend; nil if that was not more than ``threshold``.
  ///
  /// Read the monotonic clock first: a pause between the two readings then looks like a gain in this reading only. In
  /// the other order it would look like a loss, and every later reading would show a gain.
  public mutating func slept(monotonic: Instant, bootNanoseconds: UInt64) -> Duration? {
    let now = Self.lead(of: bootNanoseconds, over: monotonic)
    guard now > ahead else {
      // The last reading was the noisy one.
      ahead = now
      return nil
    }
    let gain = Duration.nanoseconds(Int64(clamping: now - ahead))
    guard gain > Self.threshold else { return nil }
    ahead = now
    return gain
  }

  private static func lead(of boot: UInt64, over monotonic: Instant) -> UInt64 {
    boot > monotonic.nanoseconds ? boot - monotonic.nanoseconds : 0
  }
}
