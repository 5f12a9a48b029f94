// Dates as HTTP writes them (RFC 9110, 5.6.7): one form out, three in. No calendar of the system is asked, no zone, no
// language: the days are counted (Howard Hinnant, "chrono-compatible low-level date algorithms").

/// A point in time in the three forms of HTTP.
public enum HTTPDate {
  private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
  private static let longDays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
  /// The last second of the year 9999.
  private static let secondsMaximum: Int64 = 253_402_300_799

  /// `Sun, 06 Nov 1994 08:49:37 GMT`.
  ///
  /// - Parameter unixSeconds: of the years 1970 to 9999; what lies outside is written as the nearest of them.
  public static func text(_ unixSeconds: Int64) -> String {
    let seconds = min(max(unixSeconds, 0), secondsMaximum)
    let (day, time) = (seconds / 86_400, seconds % 86_400)
    let date = civil(day)
    func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(days[Int((day + 4) % 7)]), \(two(date.day)) \(months[Int(date.month - 1)]) \(date.year) "
      + "\(two(time / 3_600)):\(two(time / 60 % 60)):\(two(time % 60)) GMT"
  }

  /// Unix seconds of a date in any of the three forms: `Sun, 06 Nov 1994 08:49:37 GMT`,
  /// `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov 6 08:49:37 1994`. Nil for anything else, a day that is not in its month
  /// among it, and for years before 1970. Whether the day of the week is right is not asked.
  ///
  /// - Parameters:
  ///   - text: one date, at most 40 bytes.
  ///   - now: Unix seconds; a year of two digits is the one that lies at most 50 years ahead.
  public static func seconds(_ text: String, now: Int64) -> Int64? {
    guard text.utf8.count <= 40, text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else { return nil }
    let words = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    if words.count == 6, words[0].hasSuffix(","), days.contains(String(words[0].dropLast())), words[5] == "GMT" {
      return seconds(year: number(words[3], 4), month: words[2], day: number(words[1], 2), time: words[4])
    }
    if words.count == 4, words[0].hasSuffix(","), longDays.contains(String(words[0].dropLast())), words[3] == "GMT" {
      let date = words[1].split(separator: "-", omittingEmptySubsequences: false).map(String.init)
      guard date.count == 3, let short = number(date[2], 2) else { return nil }
      return seconds(year: fullYear(short, now: now), month: date[1], day: number(date[0], 2), time: words[2])
    }
    // A day of one digit has a blank before it, which makes an empty word.
    guard words.count == 5 || words.count == 6 && words[2].isEmpty, days.contains(words[0]) else { return nil }
    let day = words.count == 6 ? number(words[3], 1) : number(words[2], 2)
    return seconds(year: number(words[words.count - 1], 4), month: words[1], day: day, time: words[words.count - 2])
  }

  private static func seconds(year: Int64?, month: String, day: Int64?, time: String) -> Int64? {
    let parts = time.split(separator: ":", omittingEmptySubsequences: false).map { number(String($0), 2) }
    guard let year, year >= 1970, let month = months.firstIndex(of: month), let day, parts.count == 3,
      let hour = parts[0], let minute = parts[1], let second = parts[2], hour < 24, minute < 60, second <= 60
    else { return nil }
    let date = (year: year, month: Int64(month + 1), day: day)
    let dayNumber = dayNumber(date)
    // A day that its month has not comes back as one of another month.
    guard day >= 1, civil(dayNumber) == date else { return nil }
    // A leap second is the second before it.
    return dayNumber * 86_400 + hour * 3_600 + minute * 60 + min(second, 59)
  }

  private static func number(_ text: String, _ digitCount: Int) -> Int64? {
    guard text.utf8.count == digitCount, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int64(text)
  }

  private static func fullYear(_ short: Int64, now: Int64) -> Int64 {
    let thisYear = civil(min(max(now, 0), secondsMaximum) / 86_400).year
    let year = thisYear / 100 * 100 + short
    return year > thisYear + 50 ? year - 100 : year
  }

  // MARK: Days since 1970-01-01

  private static func dayNumber(_ date: (year: Int64, month: Int64, day: Int64)) -> Int64 {
    // Years begin with March, so that a leap day is the last day of one.
    let year = date.month <= 2 ? date.year - 1 : date.year
    let (era, yearOfEra) = (year / 400, year % 400)
    let dayOfYear = (153 * ((date.month + 9) % 12) + 2) / 5 + date.day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

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

/// The field `Retry-After` of somebody else's answer (RFC 9110, 10.2.3).
public enum RetryAfter {
  /// Seconds to wait: of a number of seconds or of a date; at least 1, at most `maximum`. Nil for what is neither.
  public static func seconds(_ text: String, now: Int64, maximum: Int64 = 86_400) -> Int64? {
    precondition(maximum >= 1, "somebody waits at least a second")
    if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      return min(max(Int64(text) ?? maximum, 1), maximum)
    }
    guard let date = HTTPDate.seconds(text, now: now) else { return nil }
    return min(max(date - now, 1), maximum)
  }
}
