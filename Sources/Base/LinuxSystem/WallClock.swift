internal import CLinux
internal import Glibc

/// The wall clock (`CLOCK_REALTIME`): for times that are stored with events and shown to people. It jumps when a person
/// or a program sets it, so no interval is measured by it; use `SystemClock` for intervals.
///
/// Tests of what takes days run a process with a shifted clock: `ROOST_WALL_CLOCK_OFFSET` in its environment, whole
/// seconds, is added to the system's time. roostd passes it on only to a worker whose `environment` names it.
public enum WallClock {
  /// Nanoseconds since 1970; 0 before.
  public static var nanoseconds: UInt64 {
    var time = timespec()
    let result = clock_gettime(CLOCK_REALTIME, &time)
    precondition(result == 0, "every kernel has a wall clock")
    return UInt64(clamping: Int64(time.tv_sec) + offsetSeconds) * 1_000_000_000 + UInt64(clamping: time.tv_nsec)
  }

  /// Milliseconds since 1970.
  public static var milliseconds: Int64 { Int64(nanoseconds / 1_000_000) }

  /// Seconds since 1970.
  public static var seconds: Int64 { Int64(nanoseconds / 1_000_000_000) }

  private static let offsetMaximum: Int64 = 100 * 366 * 86_400
  private static let offsetSeconds: Int64 = {
    guard let text = getenv("ROOST_WALL_CLOCK_OFFSET"), let seconds = Int64(String(cString: text)),
      (-offsetMaximum...offsetMaximum).contains(seconds)
    else { return 0 }
    return seconds
  }()
}
