import Clocks
import Cryptography
import Nostr
import RelaySession
import Testing

/// What is kept of what a relay says and does, for its owner.
@Suite struct RemarkTests {
  private func end(_ bench: Bench, _ key: UInt64, _ filters: RawFilters, events: Int) {
    bench.apply {
      $0.requestStarted(
        RequestKey(key), filters, .stored, .single, deadline: $1.advanced(milliseconds: 10_000), at: $1)
    }
    let subscription = bench.subscriptions.last ?? ""
    for _ in 0..<events { bench.receive(.event(subscription: subscription, event: 0..<1)) }
    bench.receive(.endOfStoredEvents(subscription: subscription, completeness: .unstated))
  }

  private func filters(_ kind: UInt16, limit: Int? = nil) throws -> RawFilters {
    try #require(RawFilters(matchingSomething: [Filter(kinds: [kind], limit: limit)]))
  }

  @Test("Refusals, NOTICEs and walls are kept, the last of each kind and how many there were")
  func kinds() throws {
    let bench = Bench()
    bench.connect()
    for number in 0..<3 {
      bench.request(UInt64(number))
      let subscription = try #require(bench.subscriptions.last)
      bench.receive(.closed(subscription: subscription, reason: RelayReason("restricted: \(number)")))
    }
    bench.request(9)
    bench.receive(.closed(subscription: bench.subscriptions[3], reason: RelayReason("auth-required: who?")))
    bench.receive(.notice(RelayReason("hello")))
    bench.publish(1, event: 1)
    bench.receive(.ok(id: Bench.id(1), isAccepted: false, reason: RelayReason("blocked: no")))
    bench.publish(2, event: 2)
    bench.receive(.ok(id: Bench.id(2), isAccepted: false, reason: RelayReason("duplicate: have it")))
    let latest = bench.session.remarks.latest
    #expect(latest[.refusedRequest]?.reason.text == "restricted: 2" && latest[.refusedRequest]?.count == 3)
    #expect(latest[.authWall]?.reason.text == "auth-required: who?" && latest[.authWall]?.count == 1)
    #expect(latest[.notice]?.reason.text == "hello")
    #expect(latest[.refusedEvent]?.reason.text == "blocked: no" && latest[.refusedEvent]?.count == 1)
    #expect(latest[.capped] == nil)
  }

  @Test("A relay whose answers to different questions end at the same round number seems to give no more")
  func capped() throws {
    let bench = Bench()
    bench.connect()
    end(bench, 1, try filters(1), events: 500)
    end(bench, 2, try filters(1), events: 500)
    #expect(bench.session.remarks.latest[.capped] == nil, "the same question has the same answer")
    end(bench, 3, try filters(2, limit: 500), events: 500)
    #expect(bench.session.remarks.latest[.capped] == nil, "it was asked for so many")
    end(bench, 4, try filters(2, limit: 501), events: 500)
    #expect(bench.session.remarks.latest[.capped]?.limit == 500)
    end(bench, 5, try filters(3), events: 700)
    #expect(bench.session.remarks.latest[.capped] == nil, "it was none")
  }

  @Test("CLOSED without an error behind EOSE is no refusal")
  func closedBehindEnd() throws {
    let bench = Bench()
    bench.connect()
    bench.request(1, .live)
    let subscription = try #require(bench.subscriptions.last)
    bench.receive(.endOfStoredEvents(subscription: subscription, completeness: .unstated))
    bench.receive(.closed(subscription: subscription, reason: RelayReason("")))
    #expect(bench.session.remarks.latest.isEmpty && bench.session.counters.refusals == 0)
  }
}
