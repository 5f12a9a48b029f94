internal import Contracts
internal import Cryptography
public import Nostr

// What a customer is told, in the end or of the price.

extension ProviderMachine {
  /// A word is signed.
  ///
  /// - Parameters:
  ///   - id: the request.
  ///   - event: the signed event, JSON.
  ///   - eventID: its id.
  ///   - now: seconds since 1970.
  public mutating func composed(
    _ id: EventID, _ event: [UInt8], id eventID: EventID, at now: Int64
  ) -> [ServingAction] {
    guard let request = entries[id]?.request, request.outgoing == nil else { return [] }
    switch request.state {
    case .running:
      return change(id, then: .publish(id, event)) {
        $0.state = .answering
        $0.result = eventID
        $0.outgoing = event
      }
    case .failed, .paymentRequired:
      guard !request.isTold else { return [] }
      return change(id, then: .publish(id, event)) { $0.outgoing = event }
    case .waiting, .answering, .answered, .cancelled: return []
    }
  }

  /// A word cannot be signed, ever: the signer does not allow it, or it does not fit into an event.
  public mutating func couldNotCompose(_ id: EventID, _ reason: String, at now: Int64) -> [ServingAction] {
    guard let request = entries[id]?.request, request.outgoing == nil else { return [] }
    switch request.state {
    case .running: return fail(id, reason, at: now)
    case .paymentRequired:
      unpaidCount -= 1
      return fail(id, reason, at: now)
    case .failed: return change(id) { $0.isTold = true }
    case .waiting, .answering, .answered, .cancelled: return []
    }
  }

  /// The outgoing event of a request was taken by whoever publishes it, or refused by him for good.
  public mutating func published(_ id: EventID, at now: Int64) -> [ServingAction] {
    guard let request = entries[id]?.request, request.outgoing != nil else { return [] }
    return change(id) {
      $0.outgoing = nil
      $0.isTold = true
      if $0.state == .answering { $0.end(.answered, at: now) }
    }
  }

  /// Time has passed: whoever has not paid, or whose time is over, is not waited for.
  public mutating func timePassed(at now: Int64) -> [ServingAction] {
    var actions: [ServingAction] = []
    for (id, entry) in entries where entry.request.state == .paymentRequired {
      if entry.isOver(at: now) {
        actions += withdrawBill(of: id, "its time was over before it was paid", at: now)
      } else if entry.request.takenAt + rules.paymentSeconds <= now {
        actions += withdrawBill(of: id, "it was not paid in time", at: now)
      }
    }
    return actions + startWaiting(at: now) + lookAgain(at: now)
  }

  /// A stranger's bill for which there is no room ends an older one.
  mutating func makeWay(for customer: PublicKey, at now: Int64) -> [ServingAction] {
    guard isStranger(customer), let id = room.billGivingWay(to: customer, rules) else { return [] }
    return withdrawBill(of: id, "it was not paid, and newer requests need its place", at: now)
  }

  /// Ends a request that was not paid. Whoever has the bill is told that it holds no more; of a bill that is still on
  /// its way nothing is said at all.
  mutating func withdrawBill(of id: EventID, _ reason: String, at now: Int64) -> [ServingAction] {
    guard let request = entries[id]?.request else { return [] }
    unpaidCount -= 1
    guard !request.isTold else { return fail(id, reason, at: now) }
    return change(id) {
      $0.outgoing = nil
      $0.isTold = true
      $0.reason = reason
      $0.end(.failed, at: now)
    }
  }
}
