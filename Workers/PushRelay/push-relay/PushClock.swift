import Glibc

/// The wall clock.
///
/// Tests of what takes days run the process with a clock of its own: `ROOST_WALL_CLOCK_OFFSET` in its environment,
/// whole seconds, is added to the system's. roostd passes it on only to a worker whose `environment` names it.
enum PushClock {
  /// Milliseconds since 1970.
  static var milliseconds: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000 + offsetMilliseconds
  }

  /// Seconds since 1970.
  static var seconds: Int64 { milliseconds / 1_000 }

  private static let offsetMaximum: Int64 = 100 * 366 * 86_400
  private static let offsetMilliseconds: Int64 = {
    guard let text = getenv("ROOST_WALL_CLOCK_OFFSET"), let seconds = Int64(String(cString: text)),
      (-offsetMaximum...offsetMaximum).contains(seconds)
    else { return 0 }
    return seconds * 1_000
  }()
}
