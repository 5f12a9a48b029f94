internal import Clocks
internal import RelaySession

// Who has a subscription when there are fewer than interests.
extension SubscriptionSet {
  /// Live interests that may be open at a time: one subscription stays free for single events, and one for pages of
  /// stored events, which live interests would keep out for good. Of two subscriptions these share one.
  var liveMaximum: Int {
    switch slots {
    case ...1: isPageWanted ? 0 : 1
    case 2: 1
    default: slots - 2
    }
  }

  /// Whether something other than a live interest is to be sent, or is under way.
  private var isPageWanted: Bool {
    entries.values.contains { entry in
      guard !entry.wish.isLive else { return false }
      switch entry.phase {
      case .idle, .started: return true
      case .resting, .pausing, .closed, .done, .refused: return false
      }
    }
  }

  func startedCount(isLive: Bool) -> Int {
    keys.values.count { entries[$0]?.wish.isLive == isLive }
  }

  /// The relay allows fewer than are open: those without EOSE go first, because a relay that refuses by a NOTICE does
  /// not say which it means; of the others the last.
  mutating func giveUpExcess(_ actions: inout [Action], at now: Instant) {
    let excess = startedCount(isLive: true) - liveMaximum
    guard excess > 0 else { return }
    let open = keys.compactMap { request, key -> (request: RequestKey, key: String, hasEnded: Bool)? in
      guard let entry = entries[key], entry.wish.isLive, case .started(_, let hasEnded) = entry.phase else {
        return nil
      }
      return (request, key, hasEnded)
    }
    let order = open.sorted {
      $0.hasEnded == $1.hasEnded ? $0.request.rawValue > $1.request.rawValue : !$0.hasEnded
    }
    for (request, key, _) in order.prefix(excess) { endTurn(request, key, &actions, at: now) }
  }

  mutating func startWaiting(_ actions: inout [Action], at now: Instant) {
    var count = [true: startedCount(isLive: true), false: startedCount(isLive: false)]
    let waiting = entries.filter { $0.value.phase == .idle || $0.value.phase == .resting }
      .sorted { $0.value.number < $1.value.number }
    for (key, entry) in waiting {
      let isLive = entry.wish.isLive
      let maximum = isLive ? liveMaximum : min(limits.pageMaximum, max(1, slots - 2))
      if count[isLive, default: 0] < maximum {
        count[isLive, default: 0] += 1
      } else if !makeRoom(for: entry, &actions, at: now) {
        if entry.reason == nil {
          entries[known: key].reason =
            maximum == 0
            ? "the relay has 1 subscription, and stored events come first"
            : "\(Self.places(maximum)) are open there already"
          actions.append(.changed(key))
        }
        continue
      }
      start(key, entry.wish, &actions)
    }
  }

  mutating func start(_ key: String, _ wish: Subscription, _ actions: inout [Action]) {
    let request = RequestKey(nextKey)
    nextKey += 1
    keys[request] = key
    entries[known: key].phase = .started(request, hasEnded: false)
    entries[known: key].sentAt = nil
    entries[known: key].delivered = 0
    entries[known: key].isOverdue = false
    entries[known: key].reason = nil
    entries[known: key].refusal = nil
    actions += [.start(request, key, wish), .changed(key)]
  }

  /// Ends the turn of the live interest that has had its subscription longest, if that was long enough, for one that
  /// has waited long enough.
  mutating func makeRoom(for entry: Entry, _ actions: inout [Action], at now: Instant) -> Bool {
    guard entry.wish.isLive, turnBegin(of: entry) <= now, let (key, end) = nextTurnEnd, end <= now,
      case .started(let request, _)? = entries[key]?.phase
    else { return false }
    endTurn(request, key, &actions, at: now)
    return true
  }

  mutating func endTurn(_ request: RequestKey, _ key: String, _ actions: inout [Action], at now: Instant) {
    keys[request] = nil
    rest(key, at: now)
    actions += [.cancel(request), .changed(key)]
  }

  /// From when an interest that waits may take another one's subscription: one that rests, after as long as a turn.
  func turnBegin(of entry: Entry) -> Instant {
    entry.phase == .resting
      ? entry.restedAt.advanced(milliseconds: limits.turnMilliseconds) : Instant(nanoseconds: 0)
  }

  /// The live interest whose turn ends first, and when. One that still receives stored events has not had its turn.
  var nextTurnEnd: (key: String, end: Instant)? {
    entries.compactMap { key, entry -> (key: String, end: Instant)? in
      guard entry.wish.isLive, case .started(_, let hasEnded) = entry.phase, hasEnded || entry.isOverdue else {
        return nil
      }
      let since = hasEnded ? entry.endedAt : entry.sentAt ?? entry.lastSign
      return (key, since.advanced(milliseconds: limits.turnMilliseconds))
    }.min { ($0.end, $0.key) < ($1.end, $1.key) }
  }

  /// Gives the subscription of an interest to another one, for a while.
  mutating func rest(_ key: String, at now: Instant) {
    nextNumber += 1
    entries[known: key].restedAt = now
    entries[known: key].number = nextNumber
    entries[known: key].phase = .resting
    entries[known: key].reason = "it takes turns with others: the relay has \(Self.places(liveMaximum)) for them"
  }

  static func places(_ count: Int) -> String { count == 1 ? "1 subscription" : "\(count) subscriptions" }
}
