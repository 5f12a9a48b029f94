import Clocks
import Cryptography
import Nostr
import Testing

@testable import RelaySession

/// COUNT (NIP-45), through the session.
@Suite("A question for a number of events")
struct CountTests {
  private let bench = Bench()
  private let account = SecretKey.generate().publicKey

  private func ask(_ key: UInt64 = 1, account: PublicKey? = nil, milliseconds: UInt64 = 5_000) {
    bench.apply {
      $0.countAsked(
        RequestKey(key), Bench.filters, account: account, deadline: $1.advanced(milliseconds: milliseconds), at: $1)
    }
  }

  private func name(_ texts: [String]) -> String {
    texts.last.flatMap { $0.split(separator: "\"").dropFirst(3).first.map(String.init) } ?? ""
  }

  private func failures() -> [RequestKey] {
    bench.taken().compactMap { if case .failRequest(let key, _) = $0 { key } else { nil } }
  }

  @Test("has one answer, and nothing is closed")
  func answered() {
    bench.connect()
    _ = bench.taken()
    ask()
    let texts = bench.texts()
    let name = name(texts)
    #expect(texts.count == 1 && texts[0].hasPrefix(#"["COUNT","\#(name)",{"#))
    bench.receive(.count(subscription: name, count: 7, isApproximate: false, body: 4..<9))
    #expect(
      bench.taken() == [
        .deliver(RequestKey(1), event: 4..<9),
        .endStoredEvents(RequestKey(1), completeness: .unstated, isOver: true),
      ])
    #expect(bench.session.subscriptionCount == 0)
    bench.receive(.count(subscription: name, count: 7, isApproximate: false, body: 4..<9))
    #expect(bench.taken().isEmpty, "there is one answer")
  }

  @Test("is sent again when its account has authenticated, and ends with CLOSED")
  func refused() {
    bench.connect()
    bench.receive(.authentication(challenge: "c"))
    _ = bench.taken()
    ask(account: account)
    bench.receive(.closed(subscription: name(bench.texts()), reason: RelayReason("auth-required: who are you")))
    #expect(bench.taken().contains(.authenticate(account, challenge: "c")))
    ask(2)
    bench.receive(.closed(subscription: name(bench.texts()), reason: RelayReason("unsupported: COUNT")))
    #expect(failures() == [RequestKey(2)])
  }

  @Test("ends with a NOTICE that the message is unknown, or when its time is over; requests do not")
  func unknown() {
    bench.connect()
    bench.request(9)
    ask(1)
    _ = bench.taken()
    bench.receive(.notice(RelayReason("hello")))
    #expect(failures() == [])
    bench.receive(.notice(RelayReason("ERROR: bad msg: unknown cmd")))
    #expect(failures() == [RequestKey(1)])
    ask(2)
    bench.advance(milliseconds: 5_001)
    #expect(failures() == [RequestKey(2)])
    #expect(bench.session.requestCount == 1)
  }

  @Test("A number for a REQ is no answer")
  func stray() {
    bench.connect()
    bench.request(1)
    bench.receive(.count(subscription: name(bench.texts()), count: 7, isApproximate: false, body: 4..<9))
    #expect(bench.taken().isEmpty && bench.session.requestCount == 1)
  }
}
