// Dates in HTTP's form (RFC 9110, 5.6.7), without the system's calendar, time zone or language: the days are counted
// (Howard Hinnant, "chrono-compatible low-level date algorithms"). `RetryAfter` of PushDelivery reads the dates of
// others.

/// A point in time in the form of HTTP.
public enum HTTPDate {
  private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
  /// The last second of the year 9999.
  private static let secondsMaximum: Int64 = 253_402_300_799

  /// `Sun, 06 Nov 1994 08:49:37 GMT`.
  ///
  /// - Parameter unixSeconds: of the years 1970 to 9999; a time outside them is written as the nearest of them.
  public static func text(_ unixSeconds: Int64) -> String {
    let seconds = min(max(unixSeconds, 0), secondsMaximum)
    let (day, time) = (seconds / 86_400, seconds % 86_400)
    let date = civil(day)
    func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(days[Int((day + 4) % 7)]), \(two(date.day)) \(months[Int(date.month - 1)]) \(date.year) "
      + "\(two(time / 3_600)):\(two(time / 60 % 60)):\(two(time % 60)) GMT"
  }

  /// The date `dayNumber` days after 1970-01-01. Years begin in March here, so that a leap day is the last day of a
  /// year.
  private static func civil(_ dayNumber: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = dayNumber + 719_468
    let (era, dayOfEra) = (shifted / 146_097, shifted % 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthIndex = (5 * dayOfYear + 2) / 153
    let month = monthIndex < 10 ? monthIndex + 3 : monthIndex - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * monthIndex + 2) / 5 + 1)
  }
}
