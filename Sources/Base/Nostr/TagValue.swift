/// A tag's value, compared byte by byte.
///
/// Swift's `String` treats é and e + accent as equal, which is right for people and wrong here: relays that treated
/// them differently would differ about what a filter matches.
public struct TagValue: Hashable, Sendable, Comparable, CustomStringConvertible, ExpressibleByStringLiteral {
  /// UTF-8.
  public let utf8: [UInt8]

  /// A value of these bytes.
  public init(utf8: [UInt8]) { self.utf8 = utf8 }

  /// The value of this text.
  public init(_ text: String) { utf8 = Array(text.utf8) }

  /// The value of this text.
  public init(stringLiteral text: String) { self.init(text) }

  /// The text.
  public var description: String { String(decoding: utf8, as: UTF8.self) }

  /// The order of the bytes.
  public static func < (left: TagValue, right: TagValue) -> Bool { left.utf8.lexicographicallyPrecedes(right.utf8) }
}

/// The name of a tag that relays index and filters match: one letter, `a`…`z` or `A`…`Z` (NIP-01).
public struct TagLetter: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The ASCII letter.
  public let ascii: UInt8

  /// A letter; nil for any other byte.
  public init?(_ ascii: UInt8) {
    guard (ascii | 0x20) &- 0x61 < 26 else { return nil }
    self.ascii = ascii
  }

  /// The letter of a one-letter name; nil for any other text.
  public init?(_ name: String) {
    guard name.utf8.count == 1, let byte = name.utf8.first else { return nil }
    self.init(byte)
  }

  /// `e`
  public var description: String { String(UnicodeScalar(ascii)) }

  /// In ASCII order.
  public static func < (left: TagLetter, right: TagLetter) -> Bool { left.ascii < right.ascii }
}
