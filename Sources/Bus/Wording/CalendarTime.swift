/// Seconds since 1970 as a date in UTC, by the rule of the calendar, without a table or a locale.
public enum CalendarTime {
  /// `2025-11-21 12:30:05`; seconds outside the years 1970 to 9999 as a plain number.
  public static func text(_ seconds: Int64) -> String {
    guard (0..<253_402_300_800).contains(seconds) else { return "\(seconds)" }
    let (days, rest) = (seconds / 86_400, seconds % 86_400)
    // Years that begin in March have the leap day at the end.
    let shifted = days + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * month + 2) / 5 + 1
    let year = yearOfEra + era * 400 + (month >= 10 ? 1 : 0)
    func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(year)-\(two(month < 10 ? month + 3 : month - 9))-\(two(day)) "
      + "\(two(rest / 3_600)):\(two(rest / 60 % 60)):\(two(rest % 60))"
  }

  /// Reads a time that a person typed: seconds since 1970, a duration before now (`30s`, `45m`, `2h`, `3d`, `1w`), or a
  /// day in UTC with an optional time of day (`2025-11-21`, `2025-11-21T12:30:05`, optionally followed by `Z`).
  ///
  /// - Returns: seconds since 1970; nil for anything else, and for a time before 1970.
  public static func seconds(reading text: String, now: Int64) -> Int64? {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    guard !digits.isEmpty, digits.utf8.count <= 12, let number = Int64(digits) else { return nil }
    let units: [Substring: Int64] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800]
    let unit = text.dropFirst(digits.count)
    if unit.isEmpty { return number }
    if let factor = units[unit] {
      let (span, isTooLong) = number.multipliedReportingOverflow(by: factor)
      return isTooLong || span > now ? nil : now - span
    }
    return date(text)
  }

  private static func date(_ text: String) -> Int64? {
    let whole = text.hasSuffix("Z") ? text.dropLast() : text[...]
    let parts = whole.split(omittingEmptySubsequences: false) { $0 == "T" || $0 == " " }
    guard parts.count <= 2, let day = numbers(parts[0], "-", [4, 2, 2]), let days = days(day[0], day[1], day[2]) else {
      return nil
    }
    guard parts.count == 2 else { return days * 86_400 }
    guard let time = numbers(parts[1], ":", [2, 2, 2]) ?? numbers(parts[1], ":", [2, 2]),
      time[0] < 24, time.dropFirst().allSatisfy({ $0 < 60 })
    else { return nil }
    return days * 86_400 + time[0] * 3_600 + time[1] * 60 + (time.count > 2 ? time[2] : 0)
  }

  /// Numbers with these numbers of digits, and a separator between them.
  private static func numbers(_ text: Substring, _ separator: Character, _ widths: [Int]) -> [Int64]? {
    let parts = text.split(separator: separator, omittingEmptySubsequences: false)
    guard parts.count == widths.count else { return nil }
    var numbers: [Int64] = []
    for (part, width) in zip(parts, widths) {
      guard part.utf8.count == width, part.utf8.allSatisfy({ $0 &- 0x30 < 10 }), let number = Int64(part) else {
        return nil
      }
      numbers.append(number)
    }
    return numbers
  }

  /// Days from 1970 to a date; nil for a date that does not exist.
  private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64? {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let lengths: [Int64] = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    guard year >= 1_970, (1...12).contains(month), (1...lengths[Int(month - 1)]).contains(day) else { return nil }
    // As above: years that begin in March.
    let shifted = month > 2 ? year : year - 1
    let yearOfEra = shifted % 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return shifted / 400 * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }
}
