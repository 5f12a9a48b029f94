internal import Contracts
internal import Cryptography
public import Nostr

// What the customer receives: the answer, or the price.

extension ProviderMachine {
  /// A message for the customer is signed.
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

  /// A message can never be signed: the signer does not allow it, or it does not fit into an event.
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

  /// The store or the planner has accepted the outgoing event of a request, or has refused it for good.
  public mutating func published(_ id: EventID, at now: Int64) -> [ServingAction] {
    guard let request = entries[id]?.request, request.outgoing != nil else { return [] }
    return change(id) {
      $0.outgoing = nil
      $0.isTold = true
      if $0.state == .answering { $0.end(.answered, at: now) }
    }
  }

  /// Time has passed. Ends bills that were not paid in time or have expired, starts waiting requests, and looks up
  /// requests that found no room.
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

  /// Ends an older bill if there is no room for a bill of this stranger.
  mutating func makeWay(for customer: PublicKey, at now: Int64) -> [ServingAction] {
    guard isStranger(customer), let id = room.billGivingWay(to: customer, rules) else { return [] }
    return withdrawBill(of: id, "it was not paid, and newer requests need its place", at: now)
  }

  /// Ends a request that was not paid. A customer that has the bill gets an error, so that it does not pay. If the bill
  /// was not sent yet, the customer gets nothing.
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
