internal import CLinux
internal import Glibc

/// The wall clock (`CLOCK_REALTIME`): for what is kept with events and told to people. It jumps when somebody sets it,
/// so no interval is measured by it; `SystemClock` is for those.
public enum WallClock {
  /// Nanoseconds since 1970; 0 before.
  public static var nanoseconds: UInt64 {
    var time = timespec()
    let result = clock_gettime(CLOCK_REALTIME, &time)
    precondition(result == 0, "every kernel has a wall clock")
    return UInt64(clamping: time.tv_sec) * 1_000_000_000 + UInt64(clamping: time.tv_nsec)
  }

  /// Milliseconds since 1970.
  public static var milliseconds: Int64 { Int64(nanoseconds / 1_000_000) }

  /// Seconds since 1970.
  public static var seconds: Int64 { Int64(nanoseconds / 1_000_000_000) }
}
