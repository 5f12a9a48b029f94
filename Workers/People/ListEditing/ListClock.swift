/// When the next version of a list is dated: later than the newest one, and never ahead of the clock.
public enum ListClock {
  /// The time of the next version, or how long to wait for it.
  public enum Next: Hashable, Sendable {
    /// Its `created_at`.
    case at(Int64)
    /// The newest version is of this second, or a few ahead: ask again after so many milliseconds.
    case wait(milliseconds: Int64)
  }

  /// Longest wait, in seconds; a newest version that is dated further ahead is a fault.
  public static let waitSecondsMaximum: Int64 = 5

  /// When the next version is dated.
  ///
  /// - Parameters:
  ///   - newest: `created_at` of the newest version; nil without one.
  ///   - nowMilliseconds: since 1970.
  /// - Throws: `ahead` if the newest version is dated too far ahead.
  public static func next(after newest: Int64?, nowMilliseconds: Int64) throws(ListFault) -> Next {
    let now = nowMilliseconds / 1_000
    guard let newest, newest >= now else { return .at(now) }
    guard newest - now < waitSecondsMaximum else { throw .ahead(seconds: newest - now) }
    return .wait(milliseconds: (newest + 1) * 1_000 - nowMilliseconds)
  }

  /// `59 minutes`
  static func span(_ seconds: Int64) -> String {
    let (count, unit): (Int64, String) =
      switch seconds {
      case ..<120: (seconds, "second")
      case ..<7_200: (seconds / 60, "minute")
      case ..<172_800: (seconds / 3_600, "hour")
      default: (seconds / 86_400, "day")
      }
    return "\(count) \(unit)\(count == 1 ? "" : "s")"
  }
}
