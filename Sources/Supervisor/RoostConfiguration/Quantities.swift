/// Numbers of bytes as people write them. Units are binary, and only binary: `KiB` is 1,024 bytes, and the ambiguous
/// `KB` is refused.
enum ByteSize {
  static let expected = "a size such as \"64KiB\" or \"1 MiB\", or a whole number of bytes"

  private static let units: [(name: String, byteCount: Int)] = [
    ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1),
  ]

  static func parse(_ text: String) throws(Complaints) -> Int {
    let (digits, unit) = Quantity.split(text)
    guard let number = Int(digits) else { throw Complaints("\"\(text)\" is not \(expected)") }
    guard let scale = units.first(where: { $0.name == unit }) else {
      let nearest = units.first { $0.name.lowercased().prefix(1) == unit.lowercased().prefix(1) }
      throw Complaints(
        "\"\(text)\" is not \(expected); the units are B, KiB, MiB and GiB",
        nearest: nearest.flatMap { unit.isEmpty ? nil : digits + $0.name })
    }
    let (bytes, overflows) = number.multipliedReportingOverflow(by: scale.byteCount)
    guard !overflows else { throw Complaints("\"\(text)\" is more than can be counted") }
    return bytes
  }

  /// The size in the largest unit that divides it.
  static func text(_ bytes: Int) -> String {
    for unit in units where bytes >= unit.byteCount && bytes.isMultiple(of: unit.byteCount) {
      return unit.byteCount == 1 ? "\(bytes) bytes" : "\(bytes / unit.byteCount)\(unit.name)"
    }
    return "\(bytes) bytes"
  }
}

/// Durations as people write them, in whole milliseconds.
enum TimeSpan {
  static let expected = "a duration, a string such as \"500ms\", \"10s\", \"2m\" or \"1h\""

  private static let units: [(name: String, milliseconds: Int)] = [
    ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1),
  ]

  static func parse(_ text: String) throws(Complaints) -> Duration {
    let (digits, unit) = Quantity.split(text)
    guard let number = Int(digits), let scale = units.first(where: { $0.name == unit }) else {
      throw Complaints("\"\(text)\" is not \(expected); the units are ms, s, m and h")
    }
    let (milliseconds, overflows) = number.multipliedReportingOverflow(by: scale.milliseconds)
    guard !overflows, milliseconds <= Int.max / 2 else { throw Complaints("\"\(text)\" is more than can be counted") }
    return .milliseconds(milliseconds)
  }

  /// Whole milliseconds: a configured duration has no fraction of one, and fits into 64 bits.
  static func milliseconds(_ duration: Duration) -> Int {
    let (seconds, attoseconds) = duration.components
    return Int(seconds) * 1_000 + Int(attoseconds / 1_000_000_000_000_000)
  }

  /// The duration for people, in its two largest units and rounded up: `16h 35m`.
  static func spoken(_ duration: Duration) -> String {
    let count = milliseconds(duration)
    guard let place = units.firstIndex(where: { count >= $0.milliseconds }), place + 1 < units.count,
      units[place].milliseconds > 1_000
    else { return text(duration) }
    let (larger, smaller) = (units[place], units[place + 1])
    let total = (count + smaller.milliseconds - 1) / smaller.milliseconds
    let ratio = larger.milliseconds / smaller.milliseconds
    let rest = total % ratio == 0 ? "" : " \(total % ratio)\(smaller.name)"
    return "\(total / ratio)\(larger.name)\(rest)"
  }

  /// The shortest duration, not below this one, that is a whole number of its largest unit, as the file writes it:
  /// `17h`.
  static func above(_ duration: Duration) -> String {
    let count = milliseconds(duration)
    guard let unit = units.first(where: { count >= $0.milliseconds }) else { return text(duration) }
    return "\((count + unit.milliseconds - 1) / unit.milliseconds)\(unit.name)"
  }

  /// The duration in the largest unit that divides it.
  static func text(_ duration: Duration) -> String {
    let count = milliseconds(duration)
    if count == 0 { return "0s" }
    for unit in units where count.isMultiple(of: unit.milliseconds) {
      return "\(count / unit.milliseconds)\(unit.name)"
    }
    return "\(count)ms"
  }
}

/// What sizes and durations share.
private enum Quantity {
  /// The digits (and a sign, so that a complaint can mention it) and the unit; one blank may be between them.
  static func split(_ text: String) -> (digits: String, unit: String) {
    let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == "-") }
    var unit = text[digits.endIndex...]
    if unit.hasPrefix(" ") { unit = unit.dropFirst() }
    return (String(digits), String(unit))
  }
}
