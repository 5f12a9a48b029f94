internal import CLinux
internal import Glibc

/// The kernel's clocks, in nanoseconds. Wall time is not included: no interval may be measured by it.
public enum SystemClock {
  /// Time that passes while the machine is awake (`CLOCK_MONOTONIC`): for all intervals and deadlines.
  public static func monotonicNanoseconds() -> UInt64 { read(CLOCK_MONOTONIC) }

  /// Time that also passes while the machine sleeps (`CLOCK_BOOTTIME`). Its difference to the monotonic clock grows by
  /// exactly the time slept: a jump means that the machine was suspended in between, and no watchdog may act because of
  /// it.
  public static func bootNanoseconds() -> UInt64 { read(CLOCK_BOOTTIME) }

  private static func read(_ clock: clockid_t) -> UInt64 {
    var time = timespec()
    let result = clock_gettime(clock, &time)
    precondition(result == 0, "both clocks exist in every kernel since 2.6.39")
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
