internal import Contracts
internal import Cryptography
internal import DequeModule
public import Nostr

// Which request runs next, and how its work ends.

extension ProviderMachine {
  /// The work on a request has ended.
  public mutating func finished(_ id: EventID, _ outcome: ServingOutcome, at now: Int64) -> [ServingAction] {
    guard entries[id]?.request.state == .running, running.contains(id) else { return [] }
    release(id)
    switch outcome {
    case .done(let content): return [.compose(id, .result(content))] + startWaiting(at: now)
    case .failed(let reason): return fail(id, reason, at: now) + startWaiting(at: now)
    }
  }

  /// The work on a request could not start in this process, and no part of it has run. The request goes back to the
  /// front of the queue, and nothing else starts until the next process.
  public mutating func putBack(_ id: EventID) -> [ServingAction] {
    isHolding = true
    guard entries[id]?.request.state == .running, running.contains(id) else { return [] }
    release(id)
    waiting.prepend(id)
    return change(id) { $0.state = .waiting }
  }

  mutating func lineUp(_ id: EventID) {
    guard let customer = entries[id]?.request.customer else { return }
    let own = max(round, lastRounds[customer] ?? 0) + 1
    lastRounds[customer] = own
    entries[id]?.round = own
    waiting.append(id)
  }

  /// Starts the requests that may start; a kind whose places are all taken is skipped.
  mutating func startWaiting(at now: Int64) -> [ServingAction] {
    var actions: [ServingAction] = []
    while !isHolding, running.count < rules.concurrentMaximum, let place = nextPlace(at: now) {
      let id = waiting.remove(at: place)
      guard let entry = entries[id] else { continue }
      if entry.isOver(at: now) {
        actions += fail(id, "its time was over before its turn came", at: now)
      } else if rules.services[entry.request.kind] == nil {
        actions += fail(id, "jobs of kind \(entry.request.kind) are no longer done here", at: now)
      } else {
        hold(id)
        round = max(round, entry.round)
        actions += change(id, then: .run(id)) { $0.state = .running }
      }
    }
    return actions
  }

  /// The index in the queue of the next request: of the customers with the fewest running requests, the first one of
  /// the lowest round. A request that only has to be ended, because it has expired or its kind is no longer served,
  /// needs no place and is next wherever it is.
  func nextPlace(at now: Int64) -> Int? {
    var next: (place: Int, rank: (held: Int, round: UInt64))?
    for (place, id) in waiting.enumerated() {
      guard let entry = entries[id], let service = rules.services[entry.request.kind], !entry.isOver(at: now) else {
        return place
      }
      guard runningCount(kind: entry.request.kind) < service.concurrentMaximum else { continue }
      let rank = (held: runningByCustomer[entry.request.customer] ?? 0, round: entry.round)
      if let best = next?.rank, best <= rank { continue }
      next = (place, rank)
    }
    return next?.place
  }

  mutating func hold(_ id: EventID) {
    guard let entry = entries[id], running.insert(id).inserted else { return }
    runningByKind[entry.request.kind, default: 0] += 1
    runningByCustomer[entry.request.customer, default: 0] += 1
    seat(entry)
  }

  mutating func release(_ id: EventID) {
    guard let entry = entries[id], running.remove(id) != nil else { return }
    runningByKind.countDown(entry.request.kind)
    runningByCustomer.countDown(entry.request.customer)
    seat(entry)
  }
}
