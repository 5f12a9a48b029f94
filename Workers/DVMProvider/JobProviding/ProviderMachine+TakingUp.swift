internal import Contracts
public import Cryptography
internal import DequeModule
public import Nostr

// What comes in: requests, and deletions that cancel them.

extension ProviderMachine {
  /// A request has come; its signature is verified.
  ///
  /// - Parameters:
  ///   - event: the request.
  ///   - recipients: the providers that it names (`p`); empty: any provider may take it.
  ///   - now: seconds since 1970.
  /// - Returns: nothing if the request is passed over, which is counted.
  public mutating func received(_ event: Event, recipients: [PublicKey], at now: Int64) -> [ServingAction] {
    if let reason = objection(to: event, recipients, now) {
      passOver(event, reason)
      return []
    }
    turnedAway.remove(event.id)
    lookingUp.remove(event.id)
    guard let service = rules.services[event.kind] else { return [] }
    known.insert(event.id)
    lastNumber += 1
    let request = ServedRequest(
      number: lastNumber, id: event.id, kind: event.kind, customer: event.pubkey, takenAt: now, state: .waiting,
      request: event.json)
    enter(Entry(request: request, expiration: event.expiration))
    guard service.priceMillisatoshis == 0 else {
      unpaidCount += 1
      let word = ServingWord.paymentRequired(service.priceMillisatoshis)
      return makeWay(for: event.pubkey, at: now)
        + change(event.id, then: .compose(event.id, word)) { $0.state = .paymentRequired }
    }
    lineUp(event.id)
    // If the request can start at once, one transaction records that it was taken up and that it runs.
    let begun = startWaiting(at: now)
    return begun.contains(.record(event.id)) ? begun : change(event.id) { _ in } + begun
  }

  /// A deletion by `author`, whose signature is verified, names these requests.
  public mutating func cancelled(_ ids: [EventID], by author: PublicKey, at now: Int64) -> [ServingAction] {
    var actions: [ServingAction] = []
    for id in ids {
      guard let entry = entries[id] else {
        if !known.contains(id) {
          if cancellations.count >= Self.cancellationMaximum { cancellations = [:] }
          cancellations[id] = author
          if turnedAway[id]?.customer == author { turnedAway.remove(id) }
        }
        continue
      }
      guard entry.request.customer == author else { continue }
      switch entry.request.state {
      case .waiting: waiting.removeAll { $0 == id }
      case .paymentRequired: unpaidCount -= 1
      case .running:
        release(id)
        actions.append(.stop(id))
      case .answering, .answered, .failed, .cancelled: continue
      }
      actions += change(id) { $0.end(.cancelled, at: now) }
    }
    return actions + startWaiting(at: now)
  }

  func objection(to event: Event, _ recipients: [PublicKey], _ now: Int64) -> PassedOver? {
    // An answer is never a request, whatever kinds are served: a provider that took it for one would answer its own
    // answers.
    guard EventKind.jobRequests.contains(event.kind), let service = rules.services[event.kind] else {
      return .notServed
    }
    guard !known.contains(event.id) else { return .known }
    guard recipients.contains(provider) || recipients.isEmpty else { return .addressedToOthers }
    guard rules.takesOpenRequests || !recipients.isEmpty else { return .open }
    guard rules.serves(event.pubkey, accounts: accounts) else { return .customerNotServed }
    guard event.createdAt >= max(now - rules.ageMaximum, notBefore) else { return .old }
    guard event.createdAt <= now + ServingRules.aheadMaximum else { return .future }
    guard !event.isExpired(at: now) else { return .expired }
    guard cancellations[event.id] != event.pubkey else { return .cancelled }
    guard isStranger(event.pubkey) else { return room.objection(rules) }
    return service.priceMillisatoshis > 0
      ? room.objection(toBillOf: event.pubkey, rules) : room.objection(toStranger: event.pubkey, rules)
  }

  func isStranger(_ customer: PublicKey) -> Bool {
    rules.customers == .anyone && !accounts.contains(customer)
  }
}
