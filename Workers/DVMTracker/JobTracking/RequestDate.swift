// Two jobs of the same words that are dated the same second would be one event, and nobody could say whose an answer
// is. So one of them is dated another second. Not an earlier one: providers ask relays for what is dated from now on
// (`since`), and would pass over it. Not by a tag of our own either: everybody reads it, and some programs refuse tags
// that they do not know. A later one is what relays take: they allow clocks to be ahead, most of them by 15 minutes.
// But whoever compares the date with a clock of his own would see the future, so it is a few seconds at most, and who
// finds all of those taken waits.

/// When a request says that it was made.
public enum RequestDate {
  /// How far ahead a request is dated at most, in seconds.
  public static let aheadMaximum: Int64 = 10

  /// The seconds since 1970 that a request may be dated, in the order in which they are tried; when none of them is
  /// free, later.
  public static func candidates(from now: Int64) -> ClosedRange<Int64> { now...now + aheadMaximum }
}
