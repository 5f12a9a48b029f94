/// The header `Retry-After` (RFC 9110, 10.2.3): seconds, or a date.
public enum RetryAfter {
  /// The longest wait that is accepted, an hour: a server that says 10^9 is not given up for 31 years.
  public static let secondsMaximum: Int64 = 3_600

  /// The wait in milliseconds, 1 s to an hour; nil for a text that is neither a number nor a date.
  ///
  /// - Parameters:
  ///   - text: the header's value.
  ///   - unixMilliseconds: now, for a date.
  public static func milliseconds(_ text: String, unixMilliseconds: Int64) -> UInt64? {
    let bytes = Array(text.utf8.drop { $0 == 0x20 || $0 == 0x09 }.prefix(64))
    let digits = bytes.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    let rest = bytes.dropFirst(digits.count)
    if !digits.isEmpty, rest.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) {
      let seconds = digits.reduce(Int64(0)) { min(secondsMaximum, $0 * 10 + Int64($1 - UInt8(ascii: "0"))) }
      return bounded(seconds * 1_000)
    }
    return unixSeconds(ofDate: String(decoding: bytes, as: UTF8.self)).map { bounded($0 * 1_000 - unixMilliseconds) }
  }

  private static func bounded(_ milliseconds: Int64) -> UInt64 {
    UInt64(min(max(milliseconds, 1_000), secondsMaximum * 1_000))
  }

  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// Seconds since 1970 of a date such as `Sun, 06 Nov 1994 08:49:37 GMT`, the only form that a server may send; else
  /// nil.
  static func unixSeconds(ofDate text: String) -> Int64? {
    let words = text.split(separator: " ")
    guard words.count == 6, words[0].utf8.count == 4, words[0].hasSuffix(","), words[5] == "GMT",
      let day = number(words[1], 1...31, digitCount: 2), let month = months.firstIndex(of: String(words[2])),
      let year = number(words[3], 1970...9999, digitCount: 4)
    else { return nil }
    let clock = words[4].split(separator: ":", omittingEmptySubsequences: false)
    guard clock.count == 3, let hour = number(clock[0], 0...23, digitCount: 2),
      let minute = number(clock[1], 0...59, digitCount: 2), let second = number(clock[2], 0...60, digitCount: 2)
    else { return nil }
    return days(year: year, month: Int64(month) + 1, day: day) * 86_400 + hour * 3_600 + minute * 60 + second
  }

  private static func number(_ text: Substring, _ range: ClosedRange<Int64>, digitCount: Int) -> Int64? {
    guard text.utf8.count == digitCount, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let value = Int64(text), range.contains(value)
    else { return nil }
    return value
  }

  /// Days since 1970, in the Gregorian calendar. Years are counted from March, so that the leap day is the last of a
  /// year.
  private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    let year = month <= 2 ? year - 1 : year
    let era = year / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }
}
