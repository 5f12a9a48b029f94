public import Clocks
public import Cryptography
internal import Nostr

// PUBLICATIONS: a question to another Roost of the same owner, with one answer. It waits, authenticates and fails as a
// stored request does; only the messages differ.

extension RelaySession {
  /// Sends PUBLICATIONS to another Roost of the same owner. The object of its answer is delivered like an event, and
  /// ends the request; all else is as for a stored request.
  ///
  /// - Parameters:
  ///   - key: the caller's name for it; it must be free.
  ///   - body: the object to send, JSON.
  ///   - account: the account that authenticates.
  ///   - deadline: until when the answer must be here.
  ///   - now: the present.
  public mutating func publicationsAsked(
    _ key: RequestKey, _ body: [UInt8], account: PublicKey, deadline: Instant, at now: Instant
  ) -> [SessionAction] {
    guard let filters = RawFilters(matchingSomething: [Filter()]) else {
      preconditionFailure("a filter without conditions matches something")
    }
    var request = Requests.Request(
      filters: filters, mode: .stored, kind: .single, account: shownKey.key(for: account),
      allowance: Allowance(until: deadline, at: now))
    request.publications = body
    return begin(key, request, at: now)
  }

  mutating func receivedPublications(
    _ subscription: String, _ body: Range<Int>, _ byteCount: Int, at now: Instant
  ) -> [SessionAction] {
    guard let key = requests.keys[subscription], requests.all[key]?.publications != nil else {
      return countUnclaimed(subscription, byteCount, at: now)
    }
    _ = requests.remove(key)
    return settled(
      [.deliver(key, event: body), .endStoredEvents(key, completeness: .unstated, isOver: true)], at: now)
  }
}
