/// How relays are asked for an interest.
public struct FetchManner: Hashable, Sendable {
  /// Whether all since each filter's `since` is wanted, whatever its limit.
  public let isDeep: Bool
  /// Whether relays outside the groups are dialled for it after everything else.
  public let isBackfill: Bool
  /// Whether it shares no REQ with another interest, so that what comes for it can be counted.
  public let isAlone: Bool
  /// Whether the relays must send their stored events even if the store has them. Then it shares no REQ either.
  let isFresh: Bool

  /// A manner.
  public init(isDeep: Bool = false, isBackfill: Bool = false, isAlone: Bool = false, isFresh: Bool = false) {
    (self.isDeep, self.isBackfill, self.isAlone, self.isFresh) = (isDeep, isBackfill, isAlone, isFresh)
  }

  /// The manner of an observe.
  public static let standard = FetchManner()

  /// What tells REQs of different manners apart, beside the number of an interest that shares none; empty for
  /// ``standard``.
  var marks: [String] { (isDeep ? ["deep"] : []) + (isBackfill ? ["backfill"] : []) }
}
