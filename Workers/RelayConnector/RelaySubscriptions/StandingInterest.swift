public import Cryptography
public import Nostr
public import RelaySession

// One interest at one relay: live events by REQs that stay open, stored ones by a drain. Both are entries of the
// relay's SubscriptionSet; this value knows which, when stored events are to be fetched again, and what to report.
//
//     connection, or a turn's begin ──▶ ask the store what is covered ──▶ drain what is not ──▶ over
//                                            ▲                                  │
//                                            └── meanwhile the connection ended ┘
//
// After each connection, and each time the live REQ was away, what came meanwhile is missing: then stored events are
// fetched again, but only what is not covered.

/// One interest at one relay.
public struct StandingInterest: Sendable {
  /// The filters.
  public let filters: [Filter]
  /// Whether new events are wanted.
  public let isLive: Bool
  /// The account that authenticates if the relay asks for it.
  public let account: PublicKey?
  /// Which stored events are wanted.
  public let depth: Drain.Depth
  /// Whether the relay is asked even for what is covered.
  public let isFresh: Bool

  /// Fetching the stored events.
  public enum Phase: Sendable {
    /// Not begun, since the last time.
    case idle
    /// The store is asked what is covered; the number is that of the round.
    case asking(UInt64)
    /// Under way.
    case draining(Drain)
  }

  /// Where fetching the stored events is.
  public var phase = Phase.idle
  /// The keys of its live REQs.
  public var liveKeys: [String] = []
  /// The number of events that have come, and of pages that have ended.
  public var (eventCount, pageCount): (UInt64, UInt64) = (0, 0)
  /// How fetching ended, the last time.
  public private(set) var outcome: (end: Drain.End, reason: String?)?
  /// What the relay's last refusal of a page was about.
  public var refusal: RefusalClass?
  private var isWantedAgain = false
  private var round: UInt64 = 0
  /// Tells it from an earlier interest with the same key.
  public let generation: UInt64

  /// An interest.
  public init(
    filters: [Filter], isLive: Bool, account: PublicKey?, depth: Drain.Depth, isFresh: Bool, generation: UInt64
  ) {
    self.generation = generation
    self.filters = filters
    self.isLive = isLive
    self.account = account
    self.depth = depth
    self.isFresh = isFresh
  }

  /// Whether the other asks the same.
  public func isSame(as other: StandingInterest) -> Bool {
    filters == other.filters && isLive == other.isLive && account == other.account && depth == other.depth
      && isFresh == other.isFresh
  }

  /// Whether it may match direct messages, which a relay may keep back from those who have not authenticated.
  public var mayBePrivate: Bool {
    filters.contains { filter in
      filter.kinds?.contains { $0 == EventKind.encryptedDirectMessage || EventKind.giftWraps.contains($0) } ?? true
    }
  }

  // MARK: Rounds

  /// Stored events are to be fetched, because there is a connection again or the live REQ was away.
  ///
  /// - Returns: the number of the round, if the store is to be asked now.
  public mutating func fetchWanted() -> UInt64? {
    if depth == .none {
      outcome = (.drained, nil)
      return nil
    }
    // One that is not live is done when it has all.
    if !isLive, outcome?.end == .drained { return nil }
    switch phase {
    case .idle: break
    case .asking: return nil
    case .draining:
      // Pages that wait go out on the new connection by themselves.
      isWantedAgain = isLive
      return nil
    }
    round += 1
    refusal = nil
    // What is missing now is not here yet.
    outcome = nil
    phase = .asking(round)
    return round
  }

  /// Whether the store's answer is for this round.
  public func isAsking(_ number: UInt64) -> Bool {
    if case .asking(number) = phase { return true }
    return false
  }

  /// The drain is over.
  ///
  /// - Returns: whether stored events are to be fetched again.
  public mutating func ended(_ drain: Drain) -> Bool {
    phase = .idle
    outcome = drain.outcome
    defer { isWantedAgain = false }
    return isWantedAgain
  }

  /// It cannot be asked for.
  public mutating func refused(_ reason: String, about refusal: RefusalClass) {
    phase = .idle
    outcome = (.refused, reason)
    self.refusal = refusal
  }

  /// Changes the drain; nothing happens when none is under way.
  public mutating func drain<Result>(_ body: (inout Drain) -> Result) -> Result? {
    guard case .draining(var drain) = phase else { return nil }
    let before = (drain.newCount, drain.pageCount)
    // So that the value is not copied.
    phase = .idle
    let result = body(&drain)
    phase = .draining(drain)
    eventCount += drain.newCount - before.0
    pageCount += drain.pageCount - before.1
    return result
  }

  // MARK: Reports

  /// What is reported of the interest.
  public struct Report: Hashable, Sendable {
    /// Its state.
    public let state: SubscriptionSet.State
    /// How fetching the stored events ended, the last time.
    public let end: Drain.End?
    /// Why not all is here, or why the relay's answer is no longer expected.
    public let reason: String?
    /// The number of events that have come.
    public let events: UInt64
    /// Pages that have ended.
    public let pages: UInt64
  }

  /// The report, from those of its live REQs and from the reason why there is no connection, nil when there is one.
  public func report(live: [SubscriptionSet.Report], whyClosed: String?, isOpen: Bool) -> Report {
    let (state, reason) = state(live, whyClosed, isOpen)
    return Report(state: state, end: outcome?.end, reason: reason, events: eventCount, pages: pageCount)
  }

  private func state(
    _ live: [SubscriptionSet.Report], _ whyClosed: String?, _ isOpen: Bool
  ) -> (SubscriptionSet.State, String?) {
    for report in live { if case .refused = report.state { return (report.state, nil) } }
    if let outcome, outcome.end == .refused, case .idle = phase {
      return (.refused(outcome.reason ?? "", refusal), nil)
    }
    if !isLive, outcome != nil, case .idle = phase { return (outcomeState, outcome?.reason) }
    if !isOpen { return (.waiting(whyClosed), nil) }
    for report in live {
      // One that rests has had its turn, and what it missed is fetched at the next.
      if case .waiting(let reason) = report.state { return (.waiting(reason), nil) }
    }
    guard outcome != nil else { return (.asked, live.lazy.compactMap(\.overdue).first) }
    if let overdue = live.lazy.compactMap(\.overdue).first { return (.asked, overdue) }
    if live.contains(where: { $0.state == .asked }) { return (.asked, nil) }
    return (outcomeState, outcome?.reason)
  }

  /// A relay that was silent may still answer, so that its answer is no longer expected is not the same as an end.
  private var outcomeState: SubscriptionSet.State { outcome?.end == .silent && isLive ? .asked : .stored }
}
