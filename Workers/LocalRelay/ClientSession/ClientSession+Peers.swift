internal import Clocks
internal import Cryptography
public import Nostr

// PUBLICATIONS and its answer: another Roost of the same owner says what it has published, and asks the same.

extension ClientSession {
  /// Exchanges under way at a time.
  private static let exchangeMaximum = 4

  mutating func receivedPublications(
    _ id: String, _ body: Range<Int>, _ environment: ClientEnvironment, at now: Instant
  ) -> [ClientAction] {
    guard isPeer else { return refusedExchange(id, "restricted: PUBLICATIONS is answered at the path /peer only") }
    if let refusal = refusal(environment) {
      refusedCount += 1
      return challenged() + [closed(id, refusal)]
    }
    guard mayAsk(at: now) else {
      return refusedExchange(id, "rate-limited: at most \(limits.requestsPerSecond) requests a second are answered")
    }
    guard exchanges.count < Self.exchangeMaximum else {
      return refusedExchange(id, "rate-limited: at most \(Self.exchangeMaximum) exchanges are under way at a time")
    }
    let work = begin()
    exchanges[work] = id
    return [.exchange(work, body: body, accounts: shown.intersection(environment.accounts))]
  }

  private mutating func refusedExchange(_ id: String, _ why: String) -> [ClientAction] {
    refusedCount += 1
    return counted([closed(id, RelayReason(why))])
  }

  /// What was published here is known, as a JSON object.
  public mutating func exchanged(_ work: ClientWork, _ body: [UInt8]) -> [ClientAction] {
    guard let id = exchanges.removeValue(forKey: work), !isOver else { return [] }
    return [.send(RelayMessage.writePublications(body, subscription: id))]
  }

  /// An exchange has failed; `reason` is a word, a colon and a sentence.
  public mutating func exchangeFailed(_ work: ClientWork, _ reason: RelayReason) -> [ClientAction] {
    guard let id = exchanges.removeValue(forKey: work), !isOver else { return [] }
    return [closed(id, reason)]
  }
}
