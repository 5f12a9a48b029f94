import Glibc

/// The wall clock.
enum WallTime {
  /// Milliseconds since 1970.
  static var milliseconds: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }

  /// Seconds since 1970.
  static var seconds: Int64 { milliseconds / 1_000 }
}
