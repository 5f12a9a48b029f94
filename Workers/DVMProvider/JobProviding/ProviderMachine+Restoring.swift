internal import Contracts
internal import Cryptography
internal import Nostr

// After a start: what the last process has left unfinished.

extension ProviderMachine {
  /// Takes over a request that the last process has left unsettled. The caller does this first, in the order of the
  /// requests' numbers, and then calls ``timePassed(at:)``, which starts waiting requests: so those that were running
  /// get their places first.
  public mutating func restored(_ request: ServedRequest, expiration: Int64?, at now: Int64) -> [ServingAction] {
    let id = request.id
    known.insert(id)
    enter(Entry(request: request, expiration: expiration))
    if request.state == .paymentRequired { return restoredBill(request, at: now) }
    if let outgoing = request.outgoing { return [.publish(id, outgoing)] }
    switch request.state {
    case .waiting:
      lineUp(id)
      return []
    case .running:
      guard let service = rules.services[request.kind], service.isRepeatable else {
        return fail(id, "interrupted: the provider was stopped while it worked on this", at: now)
      }
      // The ledger can have more requests in the state `running` than may run at a time: a request keeps that state
      // after its work until its result is signed.
      guard running.count < rules.concurrentMaximum, runningCount(kind: request.kind) < service.concurrentMaximum else {
        lineUp(id)
        return change(id) { $0.state = .waiting }
      }
      hold(id)
      return [.run(id)]
    case .failed: return [.compose(id, .error(request.reason ?? "it has failed"))]
    case .paymentRequired, .answering, .answered, .cancelled:
      leave(id)
      return []
    }
  }

  /// A bill is valid as long as its kind is served for money.
  mutating func restoredBill(_ request: ServedRequest, at now: Int64) -> [ServingAction] {
    let id = request.id
    unpaidCount += 1
    guard let price = rules.services[request.kind]?.priceMillisatoshis else {
      return withdrawBill(of: id, "jobs of kind \(request.kind) are no longer done here", at: now)
    }
    guard price > 0 else {
      unpaidCount -= 1
      lineUp(id)
      return change(id) {
        $0.state = .waiting
        $0.outgoing = nil
        $0.isTold = false
      }
    }
    if let outgoing = request.outgoing { return [.publish(id, outgoing)] }
    return request.isTold ? [] : [.compose(id, .paymentRequired(price))]
  }
}
