public import Clocks
public import Cryptography
public import Nostr

// COUNT (NIP-45): a question with one answer, a number. It waits, authenticates and fails as a stored request does.
//
// Relays without NIP-45 answer with CLOSED, with a NOTICE, or not at all. A NOTICE names no question, so it ends the
// counts that have no answer yet, and only if it reads like an answer to an unknown message.

extension RelaySession {
  /// Asks how many events match a filter. The object of the answer is delivered like an event, and ends the request;
  /// all else is as for a stored request.
  ///
  /// - Parameters:
  ///   - key: the caller's name for it; it must be free.
  ///   - filters: what is counted.
  ///   - account: the account that authenticates if the relay asks for it.
  ///   - deadline: until when the answer must be here.
  ///   - now: the present.
  public mutating func countAsked(
    _ key: RequestKey, _ filters: RawFilters, account: PublicKey?, deadline: Instant, at now: Instant
  ) -> [SessionAction] {
    var request = Requests.Request(
      filters: filters, mode: .stored, kind: .single, account: shownKey.key(for: account),
      allowance: Allowance(until: deadline, at: now))
    request.isCount = true
    return begin(key, request, at: now)
  }

  mutating func receivedCount(
    _ subscription: String, _ body: Range<Int>, _ byteCount: Int, at now: Instant
  ) -> [SessionAction] {
    guard let key = requests.keys[subscription], requests.all[key]?.isCount == true else {
      return countUnclaimed(subscription, byteCount, at: now)
    }
    _ = requests.remove(key)
    return settled(
      [.deliver(key, event: body), .endStoredEvents(key, completeness: .unstated, isOver: true)], at: now)
  }

  /// Ends the counts that a NOTICE answers.
  mutating func failCounts(after notice: RelayReason, _ actions: inout [SessionAction]) {
    let counts = requests.keys.values.filter { requests.all[$0]?.isCount == true }
    guard !counts.isEmpty, ReconciliationNotice.isAnswer(notice, besides: "count") else { return }
    for key in counts.sorted(by: { $0.rawValue < $1.rawValue }) {
      _ = requests.remove(key)
      let words = String(notice.text.prefix(limits.keptNoticeLengthMaximum))
      actions.append(
        .failRequest(
          key, WorkFailure(.closedByRelay, "\(url) answered the COUNT with a NOTICE: \(words)", reason: notice)))
    }
  }
}
