internal import Clocks
internal import Cryptography
public import Nostr

// REQ, COUNT and CLOSE: requests to the store, with limits.

extension ClientSession {
  /// Why a request is refused.
  private enum Objection: Error {
    case said(RelayReason)
    /// The client has not authenticated, and without that it may not use the relay, or may not see what it asked for.
    case unknown(RelayReason)
  }

  /// The refused request, with its name.
  private enum Asked {
    case request(String)
    case reconciliation(String)
  }

  mutating func receivedRequest(
    _ id: String, _ filters: [Filter], _ environment: ClientEnvironment, at now: Instant
  ) -> [ClientAction] {
    // A REQ under a name in use replaces the subscription of that name (NIP-01), even when it is refused.
    let ends = endSubscription(id)
    switch question(filters, environment, at: now) {
    case .failure(let objection): return ends + refused(objection, .request(id))
    case .success(let question):
      let values = Self.valueCount(filters)
      guard subscriptions.count < limits.subscriptionMaximum else {
        let text = "error: \(limits.subscriptionMaximum) subscriptions are open on this connection, and no more may be"
        return ends + refused(.said(RelayReason(text)), .request(id))
      }
      guard standingValueCount + values <= limits.standingValueMaximum else {
        let text = "error: the filters of this connection name more than \(limits.standingValueMaximum) values together"
        return ends + refused(.said(RelayReason(text)), .request(id))
      }
      let work = begin()
      subscriptions[id] = Question(id: id, work: work, valueCount: values)
      names[work] = id
      standingValueCount += values
      return ends + hint(filters) + [.observe(work, question)]
    }
  }

  mutating func receivedCount(
    _ id: String, _ filters: [Filter], _ environment: ClientEnvironment, at now: Instant
  ) -> [ClientAction] {
    switch question(filters, environment, at: now) {
    case .failure(let objection): return refused(objection, .request(id))
    case .success(let question):
      guard counts.count < limits.countMaximum else {
        let text = "rate-limited: \(limits.countMaximum) counts are under way on this connection"
        return refused(.said(RelayReason(text)), .request(id))
      }
      let work = begin()
      counts[work] = Question(id: id, work: work, valueCount: Self.valueCount(filters))
      return hint(filters) + [.count(work, question)]
    }
  }

  mutating func receivedReconciliation(
    _ id: String, _ filter: Filter, _ message: [UInt8], _ environment: ClientEnvironment, at now: Instant
  ) -> [ClientAction] {
    let ends = endReconciliation(id)
    switch question([filter], environment, at: now) {
    case .failure(let objection): return ends + refused(objection, .reconciliation(id))
    case .success(let question):
      guard reconciliations.count < limits.reconciliationMaximum else {
        let text = "blocked: \(limits.reconciliationMaximum) reconciliations are under way on this connection"
        return ends + refused(.said(RelayReason(text)), .reconciliation(id))
      }
      let work = begin()
      reconciliations[id] = Question(id: id, work: work, valueCount: Self.valueCount([filter]))
      reconciliationNames[work] = id
      return ends + hint([filter]) + [.openReconciliation(work, question, message: message)]
    }
  }

  mutating func continueReconciliation(_ id: String, _ message: [UInt8]) -> [ClientAction] {
    guard let work = reconciliations[id]?.work else {
      let reason = RelayReason("closed: there is no reconciliation of this name")
      return counted([.send(RelayMessage.writeReconciliationRefused(subscription: id, reason: reason))])
    }
    return [.continueReconciliation(work, message: message)]
  }

  mutating func endReconciliation(_ id: String) -> [ClientAction] {
    guard let work = reconciliations.removeValue(forKey: id)?.work else { return [] }
    reconciliationNames[work] = nil
    return [.endReconciliation(work)]
  }

  mutating func endSubscription(_ id: String) -> [ClientAction] {
    guard let subscription = subscriptions.removeValue(forKey: id) else { return [] }
    names[subscription.work] = nil
    standingValueCount -= subscription.valueCount
    return [.endObserve(subscription.work)]
  }

  // MARK: What a client may request

  private mutating func question(
    _ filters: [Filter], _ environment: ClientEnvironment, at now: Instant
  ) -> Result<ClientQuery, Objection> {
    func refused(_ text: String) -> Result<ClientQuery, Objection> {
      .failure(.said(RelayReason(text)))
    }
    if let refusal = refusal(environment) { return .failure(.unknown(refusal)) }
    guard mayAsk(at: now) else {
      return refused("rate-limited: at most \(limits.requestsPerSecond) requests a second are answered")
    }
    guard filters.count <= limits.filterMaximum else {
      return refused("invalid: it has \(filters.count) filters; at most \(limits.filterMaximum) are taken")
    }
    guard Self.valueCount(filters) <= limits.valueMaximum else {
      return refused("invalid: its filters name more than \(limits.valueMaximum) values together")
    }
    if shown.isEmpty, filters.allSatisfy({ Self.isAboutWrapsAlone($0) }) {
      let reason = RelayReason("auth-required: gift wraps are shown to their recipients only (NIP-59)")
      return .failure(.unknown(reason))
    }
    // Another Roost has several accounts on one connection: gift wraps must not seem to be missing.
    if isPeer, let stranger = wrapRecipient(filters) {
      return .failure(.unknown(RelayReason("auth-required: gift wraps are shown to \(stranger) only (NIP-59)")))
    }
    let bounded = filters.map { filter in
      var filter = filter
      filter.limit = min(filter.limit ?? limits.eventMaximum, limits.eventMaximum)
      return filter
    }
    return .success(ClientQuery(filters: bounded, recipients: shown.sorted { $0.description < $1.description }))
  }

  /// A recipient whose gift wraps are asked for and who has not authenticated.
  private func wrapRecipient(_ filters: [Filter]) -> String? {
    guard let tag = TagLetter(UInt8(ascii: "p")) else { return nil }
    let named = filters.filter(Self.isAboutWrapsAlone).flatMap { $0.tags[tag] ?? [] }.map(\.description)
    return named.first { text in !shown.contains { "\($0)" == text } }
  }

  private mutating func refused(_ objection: Objection, _ asked: Asked) -> [ClientAction] {
    refusedCount += 1
    switch objection {
    case .said(let reason): return [answer(asked, reason)]
    case .unknown(let reason): return challenged() + [answer(asked, reason)]
    }
  }

  private func answer(_ asked: Asked, _ reason: RelayReason) -> ClientAction {
    switch asked {
    case .request(let id): closed(id, reason)
    case .reconciliation(let id): .send(RelayMessage.writeReconciliationRefused(subscription: id, reason: reason))
    }
  }

  /// If a client that has not authenticated asks for gift wraps among other kinds, it receives the challenge, and an
  /// answer without gift wraps.
  private mutating func hint(_ filters: [Filter]) -> [ClientAction] {
    guard shown.isEmpty else { return [] }
    let asksForWraps = filters.contains { filter in
      filter.kinds?.contains(where: EventKind.giftWraps.contains) ?? false
    }
    return asksForWraps ? challenged() : []
  }

  private static func isAboutWrapsAlone(_ filter: Filter) -> Bool {
    filter.kinds.map { !$0.isEmpty && $0.allSatisfy(EventKind.giftWraps.contains) } ?? false
  }

  static func valueCount(_ filters: [Filter]) -> Int {
    filters.reduce(0) { count, filter in
      let named = (filter.ids?.count ?? 0) + (filter.authors?.count ?? 0) + (filter.kinds?.count ?? 0)
      return count + named + filter.tags.values.reduce(0) { $0 + $1.count }
    }
  }

  // MARK: Results

  /// The client's name for a subscription; nil when it has ended.
  public func subscription(of work: ClientWork) -> String? { names[work] }

  /// All stored events have been sent.
  public mutating func storedEnd(_ work: ClientWork, isComplete: Bool?) -> [ClientAction] {
    guard let id = names[work], subscriptions[id]?.isStoredSent == false else { return [] }
    subscriptions[id]?.isStoredSent = true
    let completeness: RelayMessage.Completeness =
      switch isComplete {
      case nil: .unstated
      case true?: .finished
      case false?: .partial
      }
    return [.send(RelayMessage.writeEndOfStoredEvents(subscription: id, completeness: completeness))]
  }

  /// A subscription has ended, but not by the client; `reason` is a word, a colon and a sentence.
  public mutating func observeEnded(_ work: ClientWork, _ reason: RelayReason) -> [ClientAction] {
    guard let id = names.removeValue(forKey: work), let subscription = subscriptions.removeValue(forKey: id) else {
      return []
    }
    standingValueCount -= subscription.valueCount
    return [closed(id, reason)]
  }

  /// A count is complete.
  public mutating func counted(_ work: ClientWork, _ count: Int) -> [ClientAction] {
    guard let id = counts.removeValue(forKey: work)?.id, !isOver else { return [] }
    return [.send(RelayMessage.writeCount(subscription: id, count: count))]
  }

  /// A count has failed; `reason` is a word, a colon and a sentence.
  public mutating func countFailed(_ work: ClientWork, _ reason: RelayReason) -> [ClientAction] {
    guard let id = counts.removeValue(forKey: work)?.id, !isOver else { return [] }
    return [closed(id, reason)]
  }

  /// The relay's side of a reconciliation has a message.
  public func reconciled(_ work: ClientWork, message: [UInt8]) -> [ClientAction] {
    guard let id = reconciliationNames[work], !isOver else { return [] }
    return [.send(RelayMessage.writeReconciliation(subscription: id, message: message))]
  }

  /// A reconciliation has failed; `reason` is a word, a colon and a sentence.
  public mutating func reconciliationFailed(
    _ work: ClientWork, _ reason: RelayReason, recordCountMaximum: Int? = nil
  ) -> [ClientAction] {
    guard let id = reconciliationNames.removeValue(forKey: work), !isOver else { return [] }
    reconciliations[id] = nil
    return [
      .send(
        RelayMessage.writeReconciliationRefused(
          subscription: id, reason: reason, recordCountMaximum: recordCountMaximum))
    ]
  }
}
