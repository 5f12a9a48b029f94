import Bus
import Clocks
import Contracts
import EventLoop
import Frames
import Nostr
import RelayDials
import RelaySession
import WorkerKit

/// One `relay.publications` under way.
struct PublicationsInFlight {
  let request: BusRequest
  let link: RelayLink
  /// The object of the answer, once it is here.
  var answer: [UInt8]?
}

// What another Roost of the same owner has published, by the message PUBLICATIONS at its local relay.

extension Connector {
  /// The most of these calls at a time.
  private static let exchangeMaximum = 64

  func publications(_ request: BusRequest, _ wanted: RelayPublications) throws(Refusal) -> PublishedNews? {
    if try handsOver(request, about: wanted.relay) { return nil }
    let url = try resolve(wanted.relay)
    let account = try Self.account(wanted.account)
    guard exchanges.count < Self.exchangeMaximum else {
      throw Refusal(.full, "\(exchanges.count) exchanges are under way already", outcome: .notStarted)
    }
    let link = try link(url)
    let key = RequestKey(newKey())
    exchanges[key] = PublicationsInFlight(request: request, link: link)
    noteWork(at: link, for: .lookUp)
    link.noteOwnWish()
    request.accept()
    request.onCancel = { [unowned self] in
      link.tell { session, now in session.requestCancelled(key, at: now) }
      exchangeEnded(key) { $0.refuse(Refusal(.cancelled, "cancelled by the caller", outcome: .unknown)) }
    }
    let patience = patience(for: request)
    let body = JSONPayload.encode(wanted.exchange)
    link.tell { session, now in
      session.publicationsAsked(
        key, body, account: account, deadline: now.advanced(milliseconds: patience), at: now)
    }
    return nil
  }

  /// The other's answer; false when the key is no such call's.
  func exchangeAnswered(_ key: RequestKey, _ body: UnsafeRawBufferPointer) -> Bool {
    guard exchanges[key] != nil else { return false }
    exchanges[key]?.answer = Array(body)
    return true
  }

  /// A call is over at the other Roost; false when the key is no such call's.
  func exchangeOver(_ key: RequestKey) -> Bool {
    guard let answer = exchanges[key].map({ $0.answer ?? [] }) else { return false }
    exchangeEnded(key) { request in
      do throws(Refusal) {
        let news = try PublishedNews.read(answer, isRaw: false, of: "the other Roost's answer")
        request.respond(to: RelayMethod.publications, news)
      } catch {
        request.refuse(error)
      }
    }
    return true
  }

  /// A call has failed; false when the key is no such call's.
  func exchangeFailed(_ key: RequestKey, _ failure: WorkFailure) -> Bool {
    guard exchanges[key] != nil else { return false }
    exchangeEnded(key) { $0.refuse(Refusal(failure)) }
    return true
  }

  private func exchangeEnded(_ key: RequestKey, _ answer: (BusRequest) -> Void) {
    guard let exchange = exchanges.removeValue(forKey: key) else { return }
    exchange.request.onCancel = nil
    answer(exchange.request)
    settle(exchange.link)
  }
}
