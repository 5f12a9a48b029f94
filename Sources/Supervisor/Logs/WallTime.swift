internal import LinuxSystem

/// A reading of the wall clock, for people: a stamp on lines and letters, never used for measuring.
public struct WallTime: Sendable, Hashable, Comparable {
  /// Milliseconds since the beginning of 1970, UTC, without leap seconds.
  public var milliseconds: Int64

  /// That many milliseconds since 1970.
  public init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// The time of the machine's clock.
  public static var now: WallTime { WallTime(milliseconds: WallClock.milliseconds) }

  /// Orders by time.
  public static func < (left: WallTime, right: WallTime) -> Bool { left.milliseconds < right.milliseconds }

  /// RFC 3339 in UTC with milliseconds: `2026-03-01T12:00:00.000Z`. A year outside 0 … 9999, which the format cannot
  /// write, becomes the nearest instant inside.
  public var text: String {
    let parts = self.parts
    return "\(parts.date[0])-\(parts.date[1])-\(parts.date[2])T\(parts.time[0]):\(parts.time[1]):\(parts.time[2])"
      + ".\(parts.time[3])Z"
  }

  /// The same without punctuation, so that texts sort like times and can be names of files: `20260301T120000000`.
  public var compactText: String {
    let parts = self.parts
    return parts.date.joined() + "T" + parts.time.joined()
  }

  private static let firstMilliseconds: Int64 = -62_167_219_200_000
  private static let lastMilliseconds: Int64 = 253_402_300_799_999

  /// The digits of date and time of day. The calendar is computed on years that begin in March: then the leap day is a
  /// year's last, and a month's first day is a linear function of its number.
  private var parts: (date: [String], time: [String]) {
    let clamped = min(max(milliseconds, Self.firstMilliseconds), Self.lastMilliseconds)
    let dayMilliseconds: Int64 = 86_400_000
    // Counted from 1 March of the year 0, which is its 61st day, plus one era of 400 years, so that it is never
    // negative.
    let daysInEra: Int64 = 146_097
    let shifted = (clamped - Self.firstMilliseconds) / dayMilliseconds - 60 + daysInEra
    let rest = (clamped - Self.firstMilliseconds) % dayMilliseconds
    let day = shifted % daysInEra
    let yearOfEra = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365
    let dayOfYear = day - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    let year = (shifted / daysInEra - 1) * 400 + yearOfEra + (month >= 10 ? 1 : 0)
    let dayOfMonth = dayOfYear - (153 * month + 2) / 5 + 1
    return (
      [Self.digits(year, 4), Self.digits(month >= 10 ? month - 9 : month + 3, 2), Self.digits(dayOfMonth, 2)],
      [
        Self.digits(rest / 3_600_000, 2), Self.digits(rest / 60_000 % 60, 2), Self.digits(rest / 1_000 % 60, 2),
        Self.digits(rest % 1_000, 3),
      ]
    )
  }

  private static func digits(_ number: Int64, _ count: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, count - text.count)) + text
  }
}
