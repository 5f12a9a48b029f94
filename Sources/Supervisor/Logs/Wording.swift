/// Numbers as sentences about logs give them.
enum Wording {
  /// `1 line`, `4,211 lines`.
  static func lines(_ count: UInt64) -> String { count == 1 ? "1 line" : "\(grouped(count)) lines" }

  /// `4,211`.
  static func grouped(_ number: UInt64) -> String {
    var text = ""
    for (index, digit) in String(number).reversed().enumerated() {
      if index > 0 && index.isMultiple(of: 3) { text.append(",") }
      text.append(digit)
    }
    return String(text.reversed())
  }
}
