internal import Contracts
internal import Cryptography
internal import Nostr

// When there is room again, the machine looks up the requests that found none, in the order in which they came, and
// only as many as there is room for. It keeps only their ids. So its shell asks the store for the events and passes
// each to `received` again. A request that the store no longer has was deleted meanwhile. If a new request takes the
// room in between, the remembered one keeps its place here and is looked up again later.

extension ProviderMachine {
  /// Most requests in one lookup.
  static let lookUpMaximum = 32

  /// Whether there are requests that found no room and may still be taken up.
  public var hasTurnedAway: Bool { !turnedAway.isEmpty }

  /// The shell has passed on the requests of a ``ServingAction/lookUp(_:)`` that it found.
  ///
  /// - Parameters:
  ///   - isWhole: whether the store has answered completely. Requests that did not come are then forgotten; otherwise
  ///     they are looked up again later.
  ///   - now: seconds since 1970.
  public mutating func lookedUp(isWhole: Bool, at now: Int64) -> [ServingAction] {
    let missing = lookingUp
    lookingUp = []
    guard isWhole else { return [] }
    for id in missing { turnedAway.remove(id) }
    return lookAgain(at: now)
  }

  /// Looks up the requests for which there is room now.
  mutating func lookAgain(at now: Int64) -> [ServingAction] {
    guard !isHolding, lookingUp.isEmpty, !turnedAway.isEmpty else { return [] }
    turnedAway.forget(before: now - rules.ageMaximum)
    var room = room
    var ids: [EventID] = []
    for request in turnedAway.all {
      guard ids.count < Self.lookUpMaximum else { break }
      if room.seat(again: request, isStranger: isStranger(request.customer), rules) { ids.append(request.id) }
    }
    guard !ids.isEmpty else { return [] }
    lookingUp = Set(ids)
    return [.lookUp(ids)]
  }

  /// Passes a request over for this reason, and counts it once. A request that found no room is remembered.
  mutating func passOver(_ event: Event, _ reason: PassedOver) {
    lookingUp.remove(event.id)
    guard reason == .full || reason == .customerFull else {
      if !turnedAway.remove(event.id) { passedOver[reason, default: 0] += 1 }
      return
    }
    guard turnedAway[event.id] == nil else { return }
    passedOver[reason, default: 0] += 1
    turnedAway.add(
      RefusedRequests.Request(
        id: event.id, customer: event.pubkey, isForMoney: isForMoney(event.kind), createdAt: event.createdAt,
        isStranger: isStranger(event.pubkey)),
      rules)
  }

  func isForMoney(_ kind: UInt16) -> Bool { (rules.services[kind]?.priceMillisatoshis ?? 0) > 0 }
}
