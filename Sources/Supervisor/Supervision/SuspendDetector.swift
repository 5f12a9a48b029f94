public import Clocks

/// Notices that the machine slept.
///
/// `CLOCK_BOOTTIME` runs through a suspend and `CLOCK_MONOTONIC` does not; when the first has gained on the second, the
/// difference is the sleep. Wall time is no witness: it also moves when somebody sets it.
public struct SuspendDetector: Hashable, Sendable {
  /// A smaller gain is the noise of reading two clocks one after the other, or a sleep too short to matter.
  public static let threshold = Duration.seconds(5)

  private var ahead: UInt64

  /// Starts with a reading of both clocks.
  public init(monotonic: Instant, bootNanoseconds: UInt64) {
    ahead = Self.lead(of: bootNanoseconds, over: monotonic)
  }

  /// Takes the next reading of both clocks and says how long the machine slept since the last one that told of a sleep;
  /// nil when it was not more than ``threshold``. Take the monotonic clock first: a pause between the two readings must
  /// not look like a gain that is lost again.
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
