internal import Contracts
internal import Cryptography
internal import Nostr

// Room has come: what was turned away is looked up, as much of it as there is room for, the first one first. Only ids
// are kept, so whoever runs the desk asks the store for the requests, and lets them come once more. What the store does
// not have any more was deleted meanwhile. A place that somebody else takes in between is no harm: such a request keeps
// its place here, and is looked up again when the next one is free.

extension ProviderMachine {
  /// Requests that are looked up at a time.
  static let lookUpMaximum = 32

  /// Whether there are requests for which there was no room, and which may be taken up still.
  public var hasTurnedAway: Bool { !turnedAway.isEmpty }

  /// The requests of a ``ServingAction/lookUp(_:)`` have come, as far as they are there.
  ///
  /// - Parameters:
  ///   - isWhole: whether those that have not come are not there; else they are looked up another time.
  ///   - now: seconds since 1970.
  public mutating func lookedUp(isWhole: Bool, at now: Int64) -> [ServingAction] {
    let missing = lookingUp
    lookingUp = []
    guard isWhole else { return [] }
    for id in missing { turnedAway.remove(id) }
    return lookAgain(at: now)
  }

  /// Looks up what there is room for now.
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

  /// A request is not taken up, for this reason. It is counted once.
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
