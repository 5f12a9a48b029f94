/// The grammar of TOML's numbers, except `inf` and `nan`.
enum TOMLNumber {
  /// Why a text is not a number; without a reason if it does not look like one.
  struct Complaint: Error, Hashable {
    var reason: String?
  }

  /// The value of `1_000`, `0xff`, `-1.5e3`.
  ///
  /// Integers that do not fit into 64 bits and numbers that are not finite are refused.
  static func value(of text: ArraySlice<UInt8>) throws(Complaint) -> TOMLDocument.Kind {
    let sign = text.first.flatMap { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") ? $0 : nil }
    let body = sign == nil ? text : text.dropFirst()
    guard let first = body.first, digit(first, radix: 10) != nil else {
      let isFraction =
        body.first == UInt8(ascii: ".") && body.dropFirst().first.map { digit($0, radix: 10) != nil } == true
      throw Complaint(reason: isFraction ? "digits are missing" : nil)
    }
    if let radix = radix(of: body) {
      guard sign == nil else { throw Complaint(reason: "no sign may stand before a number of this form") }
      let digits = try digits(of: body.dropFirst(2), radix: radix)
      guard let value = Int(digits, radix: radix) else { throw tooGreat }
      return .integer(value)
    }
    let parts = body.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 | 0x20 == UInt8(ascii: "e") }
    let mantissa = parts[0].split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
    var number = sign.map { String(UnicodeScalar($0)) } ?? ""
    let whole = try digits(of: mantissa[0], radix: 10)
    guard whole.utf8.count == 1 || whole.utf8.first != UInt8(ascii: "0") else {
      throw Complaint(reason: "no zero may stand before a number")
    }
    number += whole
    if mantissa.count == 1, parts.count == 1 {
      guard let value = Int(number) else { throw tooGreat }
      return .integer(value)
    }
    if mantissa.count == 2 { number += "." + (try digits(of: mantissa[1], radix: 10)) }
    if parts.count == 2 { number += "e" + (try exponent(parts[1])) }
    guard let value = Double(number), value.isFinite else {
      throw Complaint(reason: "the number is too great for 64 bits")
    }
    return .number(value)
  }

  private static let tooGreat = Complaint(reason: "the integer does not fit into 64 bits")

  private static func radix(of body: ArraySlice<UInt8>) -> Int? {
    guard body.count >= 2, body[body.startIndex] == UInt8(ascii: "0") else { return nil }
    switch body[body.startIndex + 1] {
    case UInt8(ascii: "x"): return 16
    case UInt8(ascii: "o"): return 8
    case UInt8(ascii: "b"): return 2
    default: return nil
    }
  }

  private static func exponent(_ text: ArraySlice<UInt8>) throws(Complaint) -> String {
    guard let sign = text.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else {
      return try digits(of: text, radix: 10)
    }
    return String(UnicodeScalar(sign)) + (try digits(of: text.dropFirst(), radix: 10))
  }

  /// The digits without the underscores, each of which must be between two digits.
  private static func digits(of text: ArraySlice<UInt8>, radix: Int) throws(Complaint) -> String {
    guard !text.isEmpty else { throw Complaint(reason: "digits are missing") }
    var result: [UInt8] = []
    var isBehindDigit = false
    for byte in text {
      if byte == UInt8(ascii: "_") {
        guard isBehindDigit else { throw misplacedUnderscore }
        isBehindDigit = false
      } else {
        guard digit(byte, radix: radix) != nil else { throw Complaint() }
        result.append(byte)
        isBehindDigit = true
      }
    }
    guard isBehindDigit else { throw misplacedUnderscore }
    return String(decoding: result, as: UTF8.self)
  }

  private static let misplacedUnderscore = Complaint(reason: "an underscore must stand between two digits")

  /// The value of an ASCII digit; nil if it is not a digit of this radix.
  static func digit(_ byte: UInt8, radix: Int) -> Int? {
    let value: Int
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): value = Int(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): value = Int(byte - UInt8(ascii: "a")) + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): value = Int(byte - UInt8(ascii: "A")) + 10
    default: return nil
    }
    return value < radix ? value : nil
  }
}
