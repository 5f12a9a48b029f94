import Clocks
import Cryptography
import Nostr
import Testing

@testable import RelaySession

/// PUBLICATIONS at another Roost of the same owner, through the session.
@Suite("A question to another Roost")
struct PublicationsTests {
  private let bench = Bench()
  private let account = SecretKey.generate().publicKey

  private func ask(_ key: UInt64 = 1, milliseconds: UInt64 = 10_000) {
    bench.apply {
      $0.publicationsAsked(
        RequestKey(key), Array("{\"after\":7}".utf8), account: account,
        deadline: $1.advanced(milliseconds: milliseconds), at: $1)
    }
  }

  private func name(_ texts: [String]) -> String {
    texts.last.flatMap { $0.split(separator: "\"").dropFirst(3).first.map(String.init) } ?? ""
  }

  @Test("has one answer, and nothing is closed")
  func answered() {
    bench.connect()
    _ = bench.taken()
    ask()
    let texts = bench.texts()
    let name = name(texts)
    #expect(texts == [#"["PUBLICATIONS","\#(name)",{"after":7}]"#])
    bench.receive(.publications(subscription: name, body: 3..<9))
    #expect(
      bench.taken() == [
        .deliver(RequestKey(1), event: 3..<9),
        .endStoredEvents(RequestKey(1), completeness: .unstated, isOver: true),
      ])
    #expect(bench.session.subscriptionCount == 0)
    bench.receive(.publications(subscription: name, body: 3..<9))
    #expect(bench.taken().isEmpty, "there is one answer")
  }

  @Test("is sent again when its account has authenticated, and ends with CLOSED")
  func refused() {
    bench.connect()
    bench.receive(.authentication(challenge: "c"))
    _ = bench.taken()
    ask()
    bench.receive(.closed(subscription: name(bench.texts()), reason: RelayReason("auth-required: who are you")))
    #expect(bench.taken().contains(.authenticate(account, challenge: "c")))
    ask(2)
    bench.receive(.closed(subscription: name(bench.texts()), reason: RelayReason("restricted: at /peer only")))
    let failed = bench.taken().contains { if case .failRequest(RequestKey(2), _) = $0 { true } else { false } }
    #expect(failed)
  }

  @Test("An answer of that form to a REQ is no answer")
  func stray() {
    bench.connect()
    bench.request(1, .stored, .single)
    bench.receive(.publications(subscription: name(bench.texts()), body: 3..<9))
    #expect(bench.taken().isEmpty)
  }

  @Test("A relay that sends events of no use without end is left; one of use begins the count again, and so does time")
  func useless() {
    var events = UselessEvents()
    let (half, now) = (UselessEvents.countMaximum / 2, Instant(nanoseconds: 0))
    var told = [events.came(half, at: now), events.came(half - 1, at: now)]
    events.useful()
    let later = now.advanced(milliseconds: UselessEvents.withinMilliseconds + 1)
    told += [events.came(half, at: now), events.came(half, at: later), events.came(half, at: later)]
    told.append(events.came(half, at: later))
    #expect(told == [false, false, false, false, true, false])
    bench.connect()
    _ = bench.taken()
    bench.apply { $0.uselessEventsCame(at: $1) }
    let isCut = bench.taken().contains { if case .close(1_008, _) = $0 { true } else { false } }
    #expect(isCut && bench.session.phase == .closing)
  }
}
