public import Clocks
public import Cryptography
public import Nostr
public import RelaySession

extension SubscriptionSet {
  /// One interest.
  public struct Subscription: Hashable, Sendable {
    /// The filters.
    public let filters: RawFilters
    /// Whether the subscription continues after EOSE.
    public let isLive: Bool
    /// The account that authenticates if the relay asks for it.
    public let account: PublicKey?
    /// The most events that can match, if the filters name ids; nil when that is unknown.
    public let idCount: Int?
    /// Which of those that wait is sent first.
    public let kind: RequestClass

    /// An interest.
    public init(
      filters: RawFilters, isLive: Bool, account: PublicKey?, idCount: Int? = nil, kind: RequestClass? = nil
    ) {
      self.kind = kind ?? (isLive ? .live : .single)
      self.filters = filters
      self.isLive = isLive
      self.account = account
      self.idCount = idCount
    }
  }

  /// The state of an interest.
  public enum State: Hashable, Sendable {
    /// There is no connection, or no free subscription, or the set waits before a retry. With the reason, if there is
    /// one.
    case waiting(String?)
    /// Sent; EOSE has not come, or the events before it are not committed yet.
    case asked
    /// EOSE came, and all events before it are committed.
    case stored
    /// Not sent again on this connection; or, if the account could not sign, not soon. With what the refusal is about;
    /// nil when the relay did not refuse it.
    case refused(String, RefusalClass?)
  }

  /// What is reported of an interest.
  public struct Report: Hashable, Sendable {
    /// Its state.
    public let state: State
    /// The number of events it has brought.
    public let events: UInt64
    /// While it is `asked`: why its EOSE is no longer expected, although it may still come.
    public let overdue: String?
    /// Whether the relay has sent nothing for too long.
    public let isSilent: Bool
  }

  /// What the shell does, in order.
  public enum Action: Hashable, Sendable {
    /// Start this request at the session, without a deadline, for the interest with this key.
    case start(RequestKey, String, Subscription)
    /// Cancel the request at the session.
    case cancel(RequestKey)
    /// EOSE came for the interest with this key: report `committed` when everything before it is committed.
    case commit(String, RequestKey)
    /// The report of the interest with this key has changed.
    case changed(String)
    /// Call `timerFired` at this instant; it replaces any earlier one.
    case setTimer(Instant)
    /// No `timerFired` is needed.
    case cancelTimer
  }

  struct Entry {
    let wish: Subscription
    /// Its place in the order in which interests get subscriptions.
    var number: UInt64
    var phase = Phase.idle
    /// The request whose EOSE came, until everything before it is committed.
    var committing: RequestKey?
    /// Whether EOSE came, and everything before it was committed, since the interest was made.
    var isStored = false
    /// When the last EOSE came.
    var endedAt = Instant(nanoseconds: 0)
    /// The number of events of the present request.
    var delivered = 0
    /// How often the relay closed it after EOSE, without an error, on this connection.
    var closings = 0
    var events: UInt64 = 0
    var reason: String?
    var retries = Retries()
    /// What the last refusal was about.
    var refusal: RefusalClass?
    /// When the relay last sent CLOSED with an error.
    var refusedAt: Instant?
    /// When the present request was sent last; nil while the session keeps it.
    var sentAt: Instant?
    /// When its turn ended; of an interest that rests.
    var restedAt = Instant(nanoseconds: 0)
    /// How often the account could not sign, on this connection.
    var unsignedCount = 0
    /// When the relay last sent an event for it, or when the request was sent.
    var lastSign = Instant(nanoseconds: 0)
    /// Whether the relay has sent nothing for too long since the request was sent.
    var isOverdue = false
  }

  enum Phase: Hashable {
    /// To be started when there is a connection.
    case idle
    /// Its turn is over: to be started when there is a subscription for it again.
    case resting
    /// To be started at this time.
    case pausing(until: Instant)
    /// Under way.
    case started(RequestKey, hasEnded: Bool)
    /// The relay has closed it after EOSE: to be started again at this time, or never.
    case closed(again: Instant?)
    /// Nothing more can come; the interest is done.
    case done
    /// Not started again on this connection, or not before this time.
    case refused(until: Instant?)
  }
}
