internal import CLinux
internal import Glibc

/// The kernel's clocks, in nanoseconds. Wall time is not among them: no interval may be measured by it.
public enum SystemClock {
  /// Time that passes while the machine is awake (`CLOCK_MONOTONIC`): for all intervals and deadlines.
  public static func monotonicNanoseconds() -> UInt64 { read(CLOCK_MONOTONIC) }

  /// Time that passes also while the machine sleeps (`CLOCK_BOOTTIME`). The difference to the monotonic clock grows by
  /// exactly the time slept: a jump in it tells that a suspend lies in between, and that no watchdog may bite for it.
  public static func bootNanoseconds() -> UInt64 { read(CLOCK_BOOTTIME) }

  private static func read(_ clock: clockid_t) -> UInt64 {
    var time = timespec()
    let result = clock_gettime(clock, &time)
    precondition(result == 0, "both clocks exist in every kernel since 2.6.39")
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
