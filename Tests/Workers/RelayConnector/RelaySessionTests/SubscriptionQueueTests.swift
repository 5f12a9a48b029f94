import Clocks
import Cryptography
import Nostr
import TestSupport
import Testing

@testable import RelaySession

/// The queue of requests at one relay, through the session.
@Suite("What waits for a subscription")
struct SubscriptionQueueTests {
  private func failures(_ actions: [SessionAction]) -> [UInt64: WorkFailure] {
    actions.reduce(into: [:]) { failures, action in
      if case .failRequest(let key, let failure) = action { failures[key.rawValue] = failure }
    }
  }

  @Test("Backfill leaves a place for live interests and one for single events")
  func reserved() {
    let bench = Bench(slots: 5)
    bench.connect()
    for key in 1...6 { bench.request(UInt64(key), .stored, .backfill) }
    #expect(bench.session.subscriptionCount == 3 && bench.session.queuedCount == 3)
    bench.request(7, .live, .live)
    bench.request(8, .stored, .single)
    #expect(bench.session.subscriptionCount == 5)
    bench.request(9, .live, .live)
    #expect(bench.session.subscriptionCount == 5)
  }

  @Test("Of two places a page of old events has the one that a live interest leaves")
  func shared() {
    let bench = Bench(slots: 2)
    bench.connect()
    bench.request(1, .stored, .backfill)
    bench.request(2, .stored, .backfill)
    #expect(bench.session.subscriptionCount == 1, "one stays free for live interests")
    bench.request(3, .live, .live)
    bench.apply { $0.requestCancelled(RequestKey(1), at: $1) }
    bench.apply { $0.requestCancelled(RequestKey(2), at: $1) }
    bench.request(4, .stored, .backfill)
    #expect(Set(bench.session.requests.keys.values.map(\.rawValue)) == [3, 4])
  }

  @Test("When a place is free, live interests go first, then single events, then backfill")
  func order() {
    let bench = Bench(slots: 1)
    bench.connect()
    bench.request(1, .stored, .backfill)
    bench.request(2, .stored, .backfill)
    bench.request(3, .stored, .single)
    bench.request(4, .live, .live)
    var order: [UInt64] = []
    for _ in 0..<4 {
      guard let name = bench.subscriptions.last, let key = bench.session.requests.keys[name] else { break }
      order.append(key.rawValue)
      bench.apply { $0.requestCancelled(key, at: $1) }
    }
    #expect(order == [1, 4, 3, 2])
  }

  @Test("Scenario 17: a full queue drops the newest of the lowest class for a higher one, and refuses others")
  func full() {
    let bench = Bench(slots: 1)
    bench.connect()
    bench.request(1, .live, .live)
    for key in 2...21 { bench.request(UInt64(key), .stored, .backfill) }
    #expect(bench.session.queuedCount == 20)
    _ = bench.taken()
    bench.request(22, .stored, .backfill)
    #expect(failures(bench.taken()).keys.sorted() == [22])
    bench.request(23, .stored, .single)
    #expect(failures(bench.taken()).keys.sorted() == [21])
    for key in 24...43 { bench.request(UInt64(key), .live, .live) }
    _ = bench.taken()
    bench.request(44, .live, .live)
    #expect(failures(bench.taken()).keys.sorted() == [44], "a live interest is never dropped for another")
    // Live interests do not keep out the others: 18 pages wait, a single event, and one more.
    bench.request(45, .stored, .single)
    #expect(failures(bench.taken()).keys.sorted() == [20])
    for key in 24...43 { bench.apply { $0.requestCancelled(RequestKey(UInt64(key)), at: $1) } }
    bench.apply { $0.requestCancelled(RequestKey(1), at: $1) }
    bench.request(46, .stored, .single)
    #expect(bench.session.subscriptionCount == 1 && bench.session.queuedCount == 20)
    for _ in 0..<21 {
      bench.receive(.endOfStoredEvents(subscription: bench.subscriptions.last ?? "", completeness: .unstated))
      bench.advance(milliseconds: 50)
    }
    #expect(bench.session.requestCount == 0, "nothing is stuck")
  }

  @Test("What waits for a free subscription for 30 s is refused, and what waits for the connection is not")
  func expiry() throws {
    let bench = Bench(slots: 1)
    bench.request(1, .live, .live, milliseconds: 1_000_000)
    bench.request(2, .stored, .single, milliseconds: 1_000_000)
    bench.advance(milliseconds: 60_000)
    #expect(failures(bench.taken()).isEmpty)
    bench.connect()
    bench.advance(milliseconds: 29_999)
    #expect(failures(bench.taken()).isEmpty)
    bench.advance(milliseconds: 1)
    let failure = try #require(failures(bench.taken())[2])
    #expect(failure.code == .noSlot && failure.message.contains("within 30 s: 1 are open, of 1"))
  }

  @Test("While a relay is held back no time of waiting for a subscription passes")
  func heldBack() {
    let bench = Bench(slots: 1)
    bench.connect()
    bench.request(1, .live, .live, milliseconds: 1_000_000)
    bench.request(2, .stored, .single, milliseconds: 1_000_000)
    bench.apply { $0.deliveryStalled(at: $1) }
    bench.advance(milliseconds: 40_000)
    bench.apply { $0.deliveryResumed(at: $1) }
    bench.advance(milliseconds: 29_000)
    #expect(failures(bench.taken()).isEmpty)
    bench.advance(milliseconds: 1_001)
    #expect(failures(bench.taken())[2]?.code == .noSlot)
  }

  @Test("The only subscription of a relay is lent by a live interest that has what was stored")
  func lending() {
    let bench = Bench(slots: 1)
    bench.connect()
    bench.request(1, .live, .live)
    bench.request(2, .stored, .single, milliseconds: 1_000_000)
    #expect(bench.subscriptions.count == 1, "not before")
    _ = bench.taken()
    bench.receive(.endOfStoredEvents(subscription: bench.subscriptions[0], completeness: .unstated))
    #expect(failures(bench.taken())[1]?.code == .full)
    #expect(bench.subscriptions.count == 2 && bench.session.subscriptionCount == 1)
  }

  @Test("A greeting that names a bound is no refusal, and what refusals taught is forgotten at a retry")
  func greeting() {
    let bench = Bench()
    bench.connect()
    bench.request(1, .live, .live)
    bench.receive(.notice(RelayReason("Welcome! Max subscriptions: 50, max message size 64 KB, rate limit 10/min")))
    #expect(bench.session.policy == RelayPolicy())
    bench.receive(.notice(RelayReason("error: too many subscriptions")))
    #expect(bench.session.policy.subscriptions.value == 1)
    bench.apply { $0.retryRequested(at: $1) }
    #expect(bench.session.policy == RelayPolicy())
  }

  @Test("A connection an hour after the last refusal begins without what was learned, and an earlier one with it")
  func learnedForAnHour() {
    for (milliseconds, isKept) in [(3_500_000, true), (3_700_000, false)] as [(UInt64, Bool)] {
      let bench = Bench()
      bench.connect()
      bench.request(1, .live, .live)
      bench.receive(.notice(RelayReason("error: too many subscriptions")))
      bench.apply { $0.disconnected(reason: "gone", at: $1) }
      bench.apply { $0.closeRequested(at: $1) }
      bench.advance(milliseconds: milliseconds)
      bench.connect()
      #expect((bench.session.policy.subscriptions.source == .learned) == isKept)
    }
  }

  @Test("rate-limited in a NOTICE wears off by itself, and a burst that is refused counts once")
  func rateWearsOff() {
    let bench = Bench(slots: 100)
    bench.connect()
    for key in 1...20 { bench.request(UInt64(key), .stored, .single) }
    for name in bench.subscriptions.prefix(10) {
      bench.receive(.closed(subscription: name, reason: RelayReason("rate-limited: slow down")))
    }
    #expect(bench.session.policy.spacing == 100)
    bench.receive(.notice(RelayReason("rate-limited: slow down")))
    bench.advance(milliseconds: 120_000)
    #expect(bench.session.policy.spacing == RelayPolicy.spacingMilliseconds)
  }

  @Test("Many live interests that wait for the pace do not keep out a single event")
  func paceAndSingles() {
    let bench = Bench(slots: 60)
    bench.connect()
    for key in 1...40 { bench.request(UInt64(key), .live, .live) }
    _ = bench.taken()
    bench.request(99, .stored, .single)
    #expect(failures(bench.taken()).isEmpty)
  }

  @Test("Requests go to a relay as fast as 20 a second, and slower after rate-limited")
  func pace() {
    let bench = Bench(slots: 100)
    bench.connect()
    for key in 1...20 { bench.request(UInt64(key), .stored, .single) }
    bench.request(21, .stored, .single)
    #expect(bench.subscriptions.count == 20)
    bench.advance(milliseconds: 50)
    #expect(bench.subscriptions.count == 21)
    bench.receive(.closed(subscription: bench.subscriptions[0], reason: RelayReason("rate-limited: slow down")))
    #expect(bench.taken().contains(.reportPolicy) && bench.session.policy.spacing == 100)
    bench.advance(milliseconds: 5_000)
    for key in 30...34 { bench.request(UInt64(key), .stored, .single) }
    #expect(bench.subscriptions.count == 22, "no bursts any longer")
    bench.advance(milliseconds: 400)
    #expect(bench.subscriptions.count == 26)
    bench.advance(milliseconds: 60_000)
    #expect(bench.session.policy.spacing == 50)
  }

  @Test("A refusal of one subscription, in CLOSED or NOTICE, lowers the places to those that are open")
  func tooMany() {
    let bench = Bench()
    bench.connect()
    for key in 1...12 { bench.request(UInt64(key), .live, .live) }
    bench.receive(
      .closed(subscription: bench.subscriptions[11], reason: RelayReason("error: too many concurrent REQs")))
    #expect(bench.session.policy.subscriptions == .init(value: 11, source: .learned))
    for name in bench.subscriptions[0..<10] {
      bench.receive(.endOfStoredEvents(subscription: name, completeness: .unstated))
    }
    bench.receive(.notice(RelayReason("ERROR: too many subscriptions")))
    #expect(bench.session.policy.subscriptions.value == 10)
  }

  @Test("A request that is larger than the relay takes is refused with both numbers")
  func tooLarge() throws {
    let bench = Bench()
    bench.say { $0.messageByteCountMaximum = 1_024 }
    bench.connect()
    let filter = Filter(ids: (0..<40).map { Bench.id($0) })
    let filters = try #require(RawFilters(matchingSomething: [filter]))
    bench.apply {
      $0.requestStarted(RequestKey(1), filters, .stored, .single, deadline: $1.advanced(milliseconds: 9_000), at: $1)
    }
    let failure = try #require(failures(bench.taken())[1])
    #expect(failure.code == .tooLarge && failure.message.hasSuffix("bytes, and ws://relay.example.com takes 1024"))
    #expect(bench.session.requestCount == 0)
  }

  @Test("Where the document says that it is wanted, the account authenticates before the first request")
  func authenticationAhead() throws {
    let alice = try #require(PublicKey(String(repeating: "1", count: 64)))
    let bench = Bench()
    bench.say { $0.requiresAuthentication = true }
    bench.connect()
    bench.receive(.authentication(challenge: "c"))
    bench.request(1, .live, .live, account: alice)
    bench.request(2, .live, .live)
    #expect(bench.subscriptions.count == 1, "one without an account is sent")
    bench.sign(alice, "c")
    bench.receive(.ok(id: Bench.authentication, isAccepted: true, reason: RelayReason("")))
    #expect(bench.subscriptions.count == 2)
  }

  @Test("A relay that says so and sends no challenge gets the request all the same")
  func authenticationNotMeant() throws {
    let alice = try #require(PublicKey(String(repeating: "1", count: 64)))
    let bench = Bench()
    bench.say { $0.requiresAuthentication = true }
    bench.connect()
    bench.request(1, .live, .live, account: alice)
    #expect(bench.subscriptions.isEmpty)
    bench.advance(milliseconds: SessionLimits().authenticationMilliseconds)
    #expect(bench.subscriptions.count == 1 && failures(bench.taken()).isEmpty)
  }

  @Test("An event beyond a published bound is not sent, and fails at once")
  func publish() throws {
    let bench = Bench()
    bench.say { $0.tagMaximum = 2 }
    bench.connect()
    let measures = EventMeasures(byteCount: 300, tagCount: 3, contentLength: 1, proofOfWork: 0, createdAt: 0)
    _ = bench.taken()
    bench.apply {
      $0.publishStarted(
        PublishKey(1), event: Array("{}".utf8), id: Bench.id(1), measures: measures,
        deadline: $1.advanced(milliseconds: 9_000), at: $1)
    }
    guard case .failPublish(PublishKey(1), let failure)? = bench.taken().first else {
      Issue.record("not refused")
      return
    }
    #expect(failure.code == .outOfBounds && failure.message.hasSuffix("it has 3 tags, and the relay takes 2"))
  }
}
