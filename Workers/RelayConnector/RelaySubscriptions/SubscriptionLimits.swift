/// How many subscriptions are open at a relay, and how often one is sent again after the relay closed it.
public struct SubscriptionLimits: Sendable, Hashable {
  /// How long a live interest keeps its subscription after EOSE while another one waits for one.
  public var turnMilliseconds: UInt64 = 60_000
  /// The most interests that are not live at a time: the pages of stored events.
  public var pageMaximum = 8
  /// How often an interest is sent again after CLOSED, over all reasons.
  public var retryMaximum = 5
  /// How long after the last CLOSED the retries count again from zero, at the next connection. A relay that closes
  /// connections does not renew them by that.
  public var retryMemoryMilliseconds: UInt64 = 600_000
  /// The first wait after `rate-limited`; each further one is twice as long.
  public var rateLimitMilliseconds: UInt64 = 1_000
  /// How often an interest is sent again after `rate-limited`.
  public var rateLimitMaximum = 3
  /// The wait after `error`.
  public var errorMilliseconds: UInt64 = 2_000
  /// How often an interest is sent again after `error`.
  public var errorMaximum = 1
  /// The wait after CLOSED without a word, or with one that is not standardised.
  public var otherMilliseconds: UInt64 = 5_000
  /// How often an interest is sent again after such a CLOSED.
  public var otherMaximum = 2
  /// The first wait of a live interest after a CLOSED behind EOSE that names no error; each further one is twice as
  /// long.
  public var closedMilliseconds: UInt64 = 5_000
  /// The longest of these waits, without the random addition. If a subscription was open this long after EOSE, its
  /// waits start at the first again.
  public var closedCeilingMilliseconds: UInt64 = 300_000
  /// The wait when the session takes no more requests.
  public var fullMilliseconds: UInt64 = 1_000
  /// The first wait when an account cannot sign, doubled each time: the account may be locked for long.
  public var unsignedMilliseconds: UInt64 = 30_000
  /// The longest of these waits, without the random addition.
  public var unsignedCeilingMilliseconds: UInt64 = 300_000
  /// How long a relay may send nothing for a subscription before the connector stops waiting for its EOSE.
  public var patienceMilliseconds: UInt64 = 30_000

  /// The limits above.
  public init() {}
}
