public import Clocks

/// Counts the events of a relay that are of no use, one after the other: those that were not asked for, and those that
/// their authors did not sign. A relay may send nothing else without end.
public struct UselessEvents: Sendable {
  /// So many within ``withinMilliseconds``, with none of use between them, are too many.
  public static let countMaximum = 20_000
  /// After this time the count begins again.
  public static let withinMilliseconds: UInt64 = 600_000

  /// Events since the last that was of use.
  public private(set) var count = 0
  private var since: Instant?

  /// None yet.
  public init() {}

  /// An event came that was of use.
  public mutating func useful() { count = 0 }

  /// Events came that were of no use.
  ///
  /// - Returns: whether there are too many; then the count begins again.
  public mutating func came(_ new: Int, at now: Instant) -> Bool {
    if since.map({ now.milliseconds(since: $0) > Self.withinMilliseconds }) ?? true { (count, since) = (0, now) }
    count += new
    guard count >= Self.countMaximum else { return false }
    (count, since) = (0, nil)
    return true
  }
}
