/// The grammar of TOML's dates and times, which is that of RFC 3339.
///
/// The reader recognises dates in order to refuse them with a reason, and so that exactly what is TOML is called TOML.
/// It makes no value of them.
enum TOMLDate {
  /// Whether `text` begins as only a date or a time can: `1979-` or `07:`.
  static func isMeant(by text: ArraySlice<UInt8>) -> Bool { hasShape("dddd-", text) || hasShape("dd:", text) }

  /// Whether `text` has the form of a date and nothing more.
  static func isDate(_ text: ArraySlice<UInt8>) -> Bool { text.count == 10 && hasShape("dddd-dd-dd", text) }

  /// Checks a date (`1979-05-27`), a time (`07:32:00.5`), or both, with or without the offset from UTC.
  static func check(_ text: ArraySlice<UInt8>) throws(TOMLNumber.Complaint) {
    var rest = text
    if hasShape("dddd-", rest) {
      guard hasShape("dddd-dd-dd", rest) else { throw malformed }
      guard isInCalendar(rest) else { throw TOMLNumber.Complaint(reason: "there is no such day") }
      rest = rest.dropFirst(10)
      guard let delimiter = rest.popFirst() else { return }
      guard delimiter | 0x20 == UInt8(ascii: "t") || delimiter == UInt8(ascii: " ") else { throw malformed }
      try checkTime(&rest)
      try checkOffset(&rest)
    } else {
      try checkTime(&rest)
    }
    guard rest.isEmpty else { throw malformed }
  }

  private static let malformed = TOMLNumber.Complaint(
    reason: "this is not a date or a time, such as 1979-05-27T07:32:00Z; text needs quotes")
  private static let outOfRange = TOMLNumber.Complaint(reason: "there is no such time")

  /// `07:32:00`, with any number of digits after a point. Second 60 is a leap second.
  private static func checkTime(_ rest: inout ArraySlice<UInt8>) throws(TOMLNumber.Complaint) {
    guard hasShape("dd:dd:dd", rest) else { throw malformed }
    guard number(rest, 0) <= 23, number(rest, 3) <= 59, number(rest, 6) <= 60 else { throw outOfRange }
    rest = rest.dropFirst(8)
    guard rest.first == UInt8(ascii: ".") else { return }
    rest = rest.dropFirst()
    guard hasShape("d", rest) else { throw malformed }
    rest = rest.drop { TOMLNumber.digit($0, radix: 10) != nil }
  }

  /// `Z` or `+01:30`, if there is one.
  private static func checkOffset(_ rest: inout ArraySlice<UInt8>) throws(TOMLNumber.Complaint) {
    switch rest.first {
    case UInt8(ascii: "Z"), UInt8(ascii: "z"): rest = rest.dropFirst()
    case UInt8(ascii: "+"), UInt8(ascii: "-"):
      rest = rest.dropFirst()
      guard hasShape("dd:dd", rest) else { throw malformed }
      guard number(rest, 0) <= 23, number(rest, 3) <= 59 else { throw outOfRange }
      rest = rest.dropFirst(5)
    default: return
    }
  }

  private static func isInCalendar(_ date: ArraySlice<UInt8>) -> Bool {
    let year = number(date, 0) * 100 + number(date, 2)
    let isLeapYear = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
    let dayCount =
      switch number(date, 5) {
      case 1, 3, 5, 7, 8, 10, 12: 31
      case 4, 6, 9, 11: 30
      case 2: isLeapYear ? 29 : 28
      default: 0
      }
    return dayCount > 0 && (1...dayCount).contains(number(date, 8))
  }

  /// The number in two digits, which the caller has found there.
  private static func number(_ text: ArraySlice<UInt8>, _ place: Int) -> Int {
    text.dropFirst(place).prefix(2).reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
  }

  /// Whether `text` begins with `shape`, in which `d` means a digit.
  private static func hasShape(_ shape: StaticString, _ text: ArraySlice<UInt8>) -> Bool {
    guard text.count >= shape.utf8CodeUnitCount else { return false }
    return shape.withUTF8Buffer { shape in
      zip(shape, text).allSatisfy { $0 == UInt8(ascii: "d") ? TOMLNumber.digit($1, radix: 10) != nil : $0 == $1 }
    }
  }
}
