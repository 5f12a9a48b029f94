public import Clocks
public import Nostr

extension RelaySession {
  /// Which work fails: all, or only what was sent.
  enum Extent { case all, sent }

  /// The relay sent a message of `byteCount` bytes. The ranges in the actions are ranges of that message.
  public mutating func received(_ message: RelayMessage, byteCount: Int, at now: Instant) -> [SessionAction] {
    // Nothing needs what was still on its way when this side closed.
    guard case .open = state else { return [] }
    counters.messages += 1
    counters.messageBytes += UInt64(byteCount)
    switch message {
    case .event(let subscription, let range):
      guard let key = requests.keys[subscription] else {
        return countUnclaimed(subscription, byteCount, at: now)
      }
      counters.events += 1
      counters.eventBytes += UInt64(range.count)
      requests.all[key]?.eventCount += 1
      return [.deliver(key, event: range)]
    case .endOfStoredEvents(let subscription, let completeness):
      return receivedEndOfStored(subscription, completeness, byteCount, at: now)
    case .closed(let subscription, let reason): return receivedClosed(subscription, reason, byteCount, at: now)
    case .ok(let id, let isAccepted, let reason):
      return receivedAuthenticationOK(id, isAccepted: isAccepted, reason, at: now)
        ?? receivedProbeOK(id, isAccepted: isAccepted, at: now)
        ?? receivedOK(id, isAccepted: isAccepted, reason, at: now)
    case .notice(let text): return receivedNotice(text, at: now)
    case .authentication(let challenge):
      return receivedChallenge(challenge, at: now)
    case .count(let subscription, _, _, let body):
      return receivedCount(subscription, body, byteCount, at: now)
    case .reconciliation(let subscription, let message):
      return receivedReconciliation(subscription, message, byteCount, at: now)
    case .reconciliationRefused(let subscription, let reason, let maximum):
      return receivedReconciliationRefusal(
        subscription, reason, recordCountMaximum: maximum, byteCount, at: now)
    case .publications(let subscription, let body):
      return receivedPublications(subscription, body, byteCount, at: now)
    case .unknown: return countGarbage(at: now)
    }
  }

  /// The relay sent a message that cannot be read. Too many of them on one connection end the connection.
  public mutating func receivedGarbage(byteCount: Int, at now: Instant) -> [SessionAction] {
    guard case .open = state else { return [] }
    counters.messages += 1
    counters.messageBytes += UInt64(byteCount)
    return countGarbage(at: now)
  }

  /// Words for people. Some relays answer a REQ that they cannot read with a NOTICE only, so all open work receives it.
  private mutating func receivedNotice(_ text: RelayReason, at now: Instant) -> [SessionAction] {
    counters.notices += 1
    notices.note(text, limits)
    remarks.note(.notice, text, at: now)
    var learned: [SessionAction] = []
    learn(from: text, at: now, &learned)
    failReconciliations(after: text, &learned)
    failCounts(after: text, &learned)
    if !learned.isEmpty { learned = settled(learned, at: now) }
    guard let leftOut = noticeBudget.take(limits, at: now) else { return learned }
    let requests = requests.keys.values.map(\.rawValue).sorted().map { WorkKey.request(RequestKey($0)) }
    let claims = publishes.all.values.filter { $0.sentAt != nil }.flatMap(\.claims).map(\.key.rawValue).sorted()
    let work = requests + claims.map { .publish(PublishKey($0)) }
    return learned + Self.leftOut(.notice, leftOut) + [.reportNotice(text)] + work.map { .passNotice($0, text) }
  }

  static func leftOut(_ kind: RemarkKind, _ count: UInt64) -> [SessionAction] {
    count > 0 ? [.reportLeftOut(kind, count)] : []
  }

  private mutating func countGarbage(at now: Instant) -> [SessionAction] {
    guard case .open(var connection) = state else { return [] }
    counters.garbage += 1
    connection.garbage += 1
    state = .open(connection)
    if connection.garbage < limits.garbageMaximum { return [] }
    return cut("it sent \(connection.garbage) messages that are not Nostr's", at: now)
  }

  /// A message for no request under way: the request has ended, or never existed. A relay that sends nothing else for
  /// long wastes the time of this session, so the session cuts its connection.
  mutating func countUnclaimed(_ subscription: String, _ byteCount: Int, at now: Instant) -> [SessionAction] {
    guard case .open(var connection) = state else { return [] }
    if connection.names.isOwn(subscription) { counters.lateMessages += 1 } else { counters.strayMessages += 1 }
    connection.unclaimed.messages += 1
    connection.unclaimed.bytes += byteCount
    state = .open(connection)
    let (messages, bytes) = connection.unclaimed
    guard messages >= limits.unclaimedMaximum || bytes >= limits.unclaimedByteCountMaximum else { return [] }
    return cut("it sent \(messages) messages, \(bytes) bytes, of no open subscription", at: now)
  }

  /// The relay sends events of no use without end (``UselessEvents``): its connection is cut.
  public mutating func uselessEventsCame(at now: Instant) -> [SessionAction] {
    guard case .open = state else { return [] }
    let count = UselessEvents.countMaximum
    return cut("it sent \(count) events that were not asked for, or that no author signed, and no others", at: now)
  }

  /// The relay sent too many useless messages: closes its connection with 1008, and the back-off grows.
  private mutating func cut(_ why: String, at now: Instant) -> [SessionAction] {
    lastFailure = why
    counters.disconnections += 1
    state = .closing(hasPenalty: true)
    var actions: [SessionAction] = [.close(code: 1008, reason: why)]
    let failure = WorkFailure(.disconnected, "the connection to \(url) was closed: \(why)")
    failAll(requests: .sent, publishes: .sent, failure, &actions)
    return settled(actions, at: now)
  }

  /// Fails the work of that extent. A request is safe to repeat; the outcome of an event that was sent is `unknown`.
  mutating func failAll(
    requests requestExtent: Extent, publishes publishExtent: Extent, _ failure: WorkFailure,
    _ actions: inout [SessionAction]
  ) {
    for (key, request) in requests.all.sorted(by: { $0.key.rawValue < $1.key.rawValue })
    where requestExtent == .all || request.subscription != nil {
      _ = requests.remove(key)
      actions.append(.failRequest(key, failure.adding(said(since: request.noticeMark))))
    }
    let events = publishes.all.filter { publishExtent == .all || $0.value.sentAt != nil }
    var claims: [(key: PublishKey, failure: WorkFailure)] = []
    for id in events.keys {
      guard let publication = publishes.remove(id) else { continue }
      let outcome: WorkOutcome = publication.sentAt == nil ? .notStarted : .unknown
      let own = failure.adding(said(since: publication.noticeMark), outcome)
      claims += publication.claims.map { ($0.key, own) }
    }
    for claim in claims.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      actions.append(.failPublish(claim.key, claim.failure))
    }
  }
}
