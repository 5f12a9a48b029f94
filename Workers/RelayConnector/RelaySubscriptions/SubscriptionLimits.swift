/// How many requests stand at a relay, and how often one that it has closed is sent again.
public struct SubscriptionLimits: Sendable, Hashable {
  /// Requests under way at a time; some of the session's subscriptions stay free for those who ask directly.
  public var startedMaximum = 18
  /// How often a wish is sent again after CLOSED on one connection, for whatever reasons.
  public var retryMaximum = 5
  /// First wait after `rate-limited`, doubled each time.
  public var rateLimitMilliseconds: UInt64 = 1_000
  /// How often it is sent again after `rate-limited`.
  public var rateLimitMaximum = 3
  /// Wait after `error`.
  public var errorMilliseconds: UInt64 = 2_000
  /// How often it is sent again after `error`.
  public var errorMaximum = 1
  /// Wait after CLOSED without a word, or with one that is not standardised.
  public var otherMilliseconds: UInt64 = 5_000
  /// How often it is sent again after that.
  public var otherMaximum = 2
  /// First wait after CLOSED behind EOSE that names no error, where what is new is wanted; doubled each time.
  public var closedMilliseconds: UInt64 = 5_000
  /// Longest of these waits, but for what is added by chance. A subscription that has stood so long before it was
  /// closed begins at the first again.
  public var closedCeilingMilliseconds: UInt64 = 300_000
  /// Wait when the session takes no more requests.
  public var fullMilliseconds: UInt64 = 1_000
  /// First wait when nobody can sign for the account of a wish, doubled each time: he may be locked for long.
  public var unsignedMilliseconds: UInt64 = 30_000
  /// Longest of these waits, but for what is added by chance.
  public var unsignedCeilingMilliseconds: UInt64 = 300_000
  /// How long a relay may say nothing at all to a request before its EOSE is not waited for any more.
  public var patienceMilliseconds: UInt64 = 30_000

  /// The limits above.
  public init() {}
}
