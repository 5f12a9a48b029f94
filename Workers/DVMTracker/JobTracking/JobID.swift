/// The id of a job here: 16 lower-case hexadecimal digits, chosen at random.
public struct JobID: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The number.
  public let number: UInt64

  /// The id with this number.
  public init(_ number: UInt64) { self.number = number }

  /// Reads 16 lower-case hexadecimal digits; nil for anything else.
  public init?(_ text: String) {
    let digits = Set("0123456789abcdef".utf8)
    guard text.utf8.count == 16, text.utf8.allSatisfy(digits.contains), let number = UInt64(text, radix: 16) else {
      return nil
    }
    self.number = number
  }

  /// The digits.
  public var description: String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// Ordered by number.
  public static func < (left: JobID, right: JobID) -> Bool { left.number < right.number }
}
