// Two jobs with equal contents and the same date would be one event, and it would not be clear which job an answer
// belongs to. So one of them gets another date. Not an earlier one: providers ask relays for events from now on
// (`since`), and would miss it. Nor a tag of our own: everyone can read it, and some programs refuse tags that they do
// not know. Relays accept a later date, most of them up to 15 minutes ahead. But a program that compares the date with
// its own clock would see the future. So the date is a few seconds ahead at most, and a job that finds all of these
// taken waits.

/// The date of a request.
public enum RequestDate {
  /// How far ahead a request is dated at most, in seconds.
  public static let aheadMaximum: Int64 = 10

  /// The dates that a request may have, seconds since 1970, in the order in which they are tried; if all are taken, the
  /// request waits.
  public static func candidates(from now: Int64) -> ClosedRange<Int64> { now...now + aheadMaximum }
}
