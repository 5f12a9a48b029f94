import Addresses
import Bus
import Clocks
import Contracts
import EventLoop
import Frames
import Nostr
import NostrContracts
import RelayDials
import RelaySession
import WorkerKit

/// One `relay.count` under way.
struct CountInFlight {
  let request: BusRequest
  let link: RelayLink
  /// Whether only others name the relay.
  let isForeign: Bool
  /// What the relay has answered.
  var answer: Answer?

  /// The object of a COUNT (NIP-45).
  struct Answer: Decodable {
    let count: Int
    let approximate: Bool?
  }
}

// How many events a relay has, by its word (NIP-45).

extension Connector {
  func count(_ request: BusRequest, _ wanted: RelayCount) throws(Refusal) -> RelayCounted? {
    let filter = try Filter.one(argument: wanted.filter, named: "filter")
    if try handsOver(request, about: wanted.relay) { return nil }
    let url = try resolve(wanted.relay)
    let account = try wanted.account.map { text throws(Refusal) in try Self.account(text) }
    guard let filters = RawFilters(matchingSomething: [filter]) else {
      return RelayCounted(relay: url.text, count: 0, isApproximate: false)
    }
    guard counts.count < RelayCount.countMaximum else {
      throw Refusal(.full, "\(counts.count) counts are under way already", outcome: .notStarted)
    }
    let link = try link(url)
    let key = RequestKey(newKey())
    let isForeign = wanted.isForeign ?? false
    counts[key] = CountInFlight(request: request, link: link, isForeign: isForeign)
    noteWork(at: link, for: .lookUp)
    if !isForeign { link.noteOwnWish() }
    request.accept()
    request.onCancel = { [unowned self] in
      link.tell { session, now in session.requestCancelled(key, at: now) }
      countEnded(key) { $0.refuse(Refusal(.cancelled, "cancelled by the caller", outcome: .done)) }
    }
    let patience = patience(for: request)
    link.tell { session, now in
      session.countAsked(key, filters, account: account, deadline: now.advanced(milliseconds: patience), at: now)
    }
    return nil
  }

  /// The relay's number; false when the key is no count's.
  func countAnswered(_ key: RequestKey, _ body: UnsafeRawBufferPointer) -> Bool {
    guard counts[key] != nil else { return false }
    // `try?`: what is no such object leaves the count without an answer, which refuses it.
    counts[key]?.answer = try? JSONPayload.decode(CountInFlight.Answer.self, from: Array(body))
    return true
  }

  /// A count is over; false when the key is no count's.
  func countOver(_ key: RequestKey) -> Bool {
    guard let count = counts[key] else { return false }
    countEnded(key) { request in
      guard let answer = count.answer, answer.count >= 0 else {
        return request.refuse(
          Refusal(.badPayload, "\(count.link.url) answered the COUNT without a number", outcome: .done))
      }
      request.respond(
        to: RelayMethod.count,
        RelayCounted(
          relay: count.link.url.text, count: answer.count, isApproximate: answer.approximate ?? false))
    }
    return true
  }

  /// A count has failed; false when the key is no count's.
  func countFailed(_ key: RequestKey, _ failure: WorkFailure) -> Bool {
    guard counts[key] != nil else { return false }
    countEnded(key) { $0.refuse(Refusal(failure)) }
    return true
  }

  private func countEnded(_ key: RequestKey, _ answer: (BusRequest) -> Void) {
    guard let count = counts.removeValue(forKey: key) else { return }
    count.request.onCancel = nil
    answer(count.request)
    settle(count.link)
  }
}
