/// Numbers in a form for people.
public enum Amount {
  /// A duration in its two largest units: `350ms`, `12s`, `2m 5s`, `3h 20m`, `4d 1h`.
  public static func duration(milliseconds: UInt64) -> String {
    if milliseconds < 1_000 { return "\(milliseconds)ms" }
    let seconds = milliseconds / 1_000
    if seconds < 60 { return "\(seconds)s" }
    if seconds < 3_600 { return join(seconds / 60, "m", seconds % 60, "s") }
    if seconds < 86_400 { return join(seconds / 3_600, "h", seconds / 60 % 60, "m") }
    return join(seconds / 86_400, "d", seconds / 3_600 % 24, "h")
  }

  private static func join(_ large: UInt64, _ unit: String, _ small: UInt64, _ smallUnit: String) -> String {
    small == 0 ? "\(large)\(unit)" : "\(large)\(unit) \(small)\(smallUnit)"
  }

  /// Bytes in units of 1,024, with one decimal below 10: `512 B`, `9.4 MiB`, `14 MiB`.
  public static func bytes(_ count: UInt64) -> String {
    if count < 1_024 { return "\(count) B" }
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
    var index = 0
    var divisor: UInt64 = 1_024
    // 1,023.95 and more would be rounded to 1,024 of the unit.
    while index < units.count - 1, count / divisor >= 1_024 {
      divisor *= 1_024
      index += 1
    }
    let tenths = (count / divisor) * 10 + (count % divisor) * 10 / divisor
    return tenths < 100 ? "\(tenths / 10).\(tenths % 10) \(units[index])" : "\(tenths / 10) \(units[index])"
  }

  /// Millisatoshi as satoshi, with at most three decimals: `21 sat`, `1.5 sat`, `0.001 sat`.
  public static func satoshis(_ millisatoshis: Int64) -> String {
    let (whole, rest) = millisatoshis.magnitude.quotientAndRemainder(dividingBy: 1_000)
    let sign = millisatoshis < 0 ? "-" : ""
    guard rest != 0 else { return "\(sign)\(whole) sat" }
    var decimals = String(1_000 + rest).dropFirst()
    while decimals.last == "0" { decimals.removeLast() }
    return "\(sign)\(whole).\(decimals) sat"
  }

  /// `1 worker`, `3 workers`.
  public static func count(_ number: some BinaryInteger, _ noun: String) -> String {
    number == 1 ? "1 \(noun)" : "\(number) \(noun)s"
  }

  /// The same with an irregular plural: `1 person`, `3 people`.
  public static func count(_ number: some BinaryInteger, _ noun: String, _ plural: String) -> String {
    "\(number) \(number == 1 ? noun : plural)"
  }

  /// Reads a duration: a whole number and `ms`, `s`, `m` or `h`, as in `supervisor.conf`. Nil for anything else, and
  /// for more than the 32 bits of milliseconds in a frame (about 49 days).
  public static func milliseconds(reading text: String) -> UInt32? {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    guard let number = UInt64(digits), digits.utf8.count <= 10 else { return nil }
    let factor: UInt64
    switch text.dropFirst(digits.count) {
    case "ms": factor = 1
    case "s": factor = 1_000
    case "m": factor = 60_000
    case "h": factor = 3_600_000
    default: return nil
    }
    return UInt32(exactly: number * factor)
  }
}
