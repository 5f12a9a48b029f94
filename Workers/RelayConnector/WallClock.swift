import Glibc

/// The wall clock: for what is told to people and kept with events, never for an interval.
enum WallClock {
  /// Nanoseconds since 1970.
  static var nanoseconds: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return UInt64(clamping: time.tv_sec) * 1_000_000_000 + UInt64(clamping: time.tv_nsec)
  }

  /// Seconds since 1970.
  static var seconds: Int64 { Int64(clamping: nanoseconds / 1_000_000_000) }
}
