import Clocks
import Nostr
import RelaySession
import Testing

@Suite struct RequestTests {
  @Test("A request dials, goes out when connected, delivers, and closes after EOSE")
  func stored() throws {
    let bench = Bench()
    bench.request(1)
    #expect(bench.taken() == [.connect(attempt: 1)])
    bench.apply { $0.connected(attempt: 1, at: $1) }
    let subscription = try #require(bench.subscriptions.first)
    #expect(subscription.utf8.count <= 15)
    #expect(text(bench.taken().first) == #"["REQ","\#(subscription)",{"kinds":[1]}]"#)
    bench.receive(.event(subscription: subscription, event: 5..<20))
    bench.advance(milliseconds: 43)
    bench.receive(.endOfStoredEvents(subscription: subscription, completeness: .finished))
    let actions = bench.taken()
    #expect(actions.count == 3)
    #expect(actions[0] == .deliver(RequestKey(1), event: 5..<20))
    #expect(actions[1] == .endStoredEvents(RequestKey(1), completeness: .finished, isOver: true))
    #expect(text(actions[2]) == #"["CLOSE","\#(subscription)"]"#)
    #expect(bench.session.counters.events == 1 && bench.session.counters.eventBytes == 15)
    #expect(bench.session.counters.lastLatencyMilliseconds == 43)
    #expect(bench.session.requestCount == 0 && bench.timer == nil)
    // LocalRelay answers a CLOSE with an empty CLOSED.
    bench.receive(.closed(subscription: subscription, reason: RelayReason("")))
    #expect(bench.taken().isEmpty && bench.session.counters.lateMessages == 1)
  }

  @Test("A live request goes on after EOSE and past its deadline, until it is cancelled")
  func live() throws {
    let bench = Bench()
    bench.connect()
    bench.request(1, .live, milliseconds: 1_000)
    let subscription = try #require(bench.subscriptions.first)
    bench.receive(.endOfStoredEvents(subscription: subscription, completeness: .unstated))
    bench.advance(milliseconds: 5_000)
    bench.receive(.event(subscription: subscription, event: 0..<2))
    bench.receive(.endOfStoredEvents(subscription: subscription, completeness: .unstated))
    #expect(
      bench.taken().suffix(2) == [
        .endStoredEvents(RequestKey(1), completeness: .unstated, isOver: false), .deliver(RequestKey(1), event: 0..<2),
      ])
    bench.apply { $0.requestCancelled(RequestKey(1), at: $1) }
    #expect(text(bench.taken().first) == #"["CLOSE","\#(subscription)"]"#)
    bench.receive(.event(subscription: subscription, event: 0..<2))
    bench.receive(.event(subscription: "never-asked", event: 0..<2))
    #expect(bench.taken().isEmpty)
    #expect(bench.session.counters.lateMessages == 2 && bench.session.counters.strayMessages == 1)
    bench.apply { $0.requestCancelled(RequestKey(1), at: $1) }
    #expect(bench.taken().isEmpty, "a cancel that crossed the end is passed over")
  }

  @Test(
    "A relay that does not heed CLOSE is cut after a number of messages or bytes, counted from the last end",
    arguments: [(10, 1), (1, 1_000)])
  func unheededClose(messages: Int, byteCount: Int) throws {
    var limits = SessionLimits()
    limits.unclaimedMaximum = 10
    limits.unclaimedByteCountMaximum = 1_000
    let bench = Bench(limits: limits)
    bench.connect()
    func late() {
      bench.apply {
        $0.received(.event(subscription: bench.subscriptions[0], event: 0..<1), byteCount: byteCount, at: $1)
      }
    }
    bench.request(1)
    bench.receive(.endOfStoredEvents(subscription: bench.subscriptions[0], completeness: .finished))
    for _ in 1..<messages { late() }
    bench.request(2, .live)
    bench.apply { $0.requestCancelled(RequestKey(2), at: $1) }
    bench.request(3, .live)
    for _ in 1..<messages { late() }
    #expect(bench.session.phase == .open, "an end begins the count anew")
    _ = bench.taken()
    late()
    let why = "it sent \(messages) messages, \(messages * byteCount) bytes, of no open subscription"
    #expect(bench.taken().first == .close(code: 1008, reason: why) && bench.session.phase == .closing)
    bench.apply { $0.disconnected(reason: "closed", at: $1) }
    #expect(bench.session.phase == .waiting && bench.session.lastFailure == why)
  }

  @Test("Subscription ids are never used twice, on one connection or on two")
  func names() {
    let bench = Bench()
    for round in 0..<4 {
      bench.connect()
      for index in 0..<500 {
        bench.request(UInt64(round * 1_000 + index))
        bench.advance(milliseconds: RelayPolicy.spacingMilliseconds)
        bench.receive(.endOfStoredEvents(subscription: bench.subscriptions.last ?? "", completeness: .unstated))
      }
      bench.apply { $0.disconnected(reason: "gone", at: $1) }
    }
    #expect(bench.subscriptions.count == 2_000 && Set(bench.subscriptions).count == 2_000)
    #expect(Set(bench.subscriptions.map { $0.prefix(5) }).count == 4)
  }

  @Test("A NOTICE is passed on to whoever has work at the relay, and stands in the failure of what was sent before it")
  func notices() {
    let bench = Bench()
    bench.connect()
    bench.receive(.notice(RelayReason("welcome")))
    bench.request(1, milliseconds: 1_000)
    bench.publish(2, milliseconds: 1_000)
    _ = bench.taken()
    let words = RelayReason("ERROR: bad req:\nfilter item too small")
    bench.receive(.notice(words))
    #expect(
      bench.taken() == [
        .reportNotice(words), .passNotice(.request(RequestKey(1)), words), .passNotice(.publish(PublishKey(2)), words),
      ])
    bench.request(3)
    bench.receive(.closed(subscription: bench.subscriptions[1], reason: RelayReason("error: no")))
    let closed = bench.taken().compactMap(\.failure)
    #expect(closed.map(\.message) == ["ws://relay.example.com closed the subscription: error: no"])
    bench.advance(milliseconds: 1_000)
    let failures = bench.taken().compactMap(\.failure)
    let said = #"; it said meanwhile: "ERROR: bad req: filter item too small""#
    #expect(failures.map(\.code) == [.timedOut, .timedOut] && failures.map(\.outcome) == [.notStarted, .unknown])
    #expect(failures.allSatisfy { $0.message == "ws://relay.example.com did not answer in time" + said })
  }

  @Test("Of what a relay says to people only the last three sentences are kept, and the beginning of each")
  func noticesKept() throws {
    let bench = Bench()
    bench.connect()
    bench.request(1)
    for number in 0..<50 { bench.receive(.notice(RelayReason("\(number)" + String(repeating: "x", count: 900)))) }
    let passed = bench.taken().count { if case .passNotice = $0 { true } else { false } }
    #expect(passed == 10)
    bench.apply { $0.disconnected(reason: "gone", at: $1) }
    let failure = try #require(bench.taken().compactMap(\.failure).first)
    #expect(failure.code == .disconnected && failure.code.rawValue == "relay-disconnected")
    #expect(failure.message.contains("\"47x") && !failure.message.contains("\"46x") && failure.message.count < 800)
  }

  @Test("Scenario 5: CLOSED ends a request with the relay's words")
  func closed() {
    let bench = Bench()
    bench.connect()
    bench.request(1)
    _ = bench.taken()
    bench.receive(.closed(subscription: bench.subscriptions[0], reason: RelayReason("auth-required: who are you?")))
    guard case .failRequest(RequestKey(1), let failure)? = bench.taken().first else {
      Issue.record("not failed")
      return
    }
    #expect(failure.code == .closedByRelay && failure.reason?.word == "auth-required")
    #expect(failure.message.contains("who are you?"))
    #expect(bench.session.counters.refusals == 1)
  }

  @Test("A request whose connection is not made before its deadline fails, and nothing is dialled for it any more")
  func unreachable() {
    let bench = Bench()
    bench.request(1, milliseconds: 3_000)
    _ = bench.taken()
    bench.advance(milliseconds: 3_000)
    let failures = bench.taken().compactMap(\.failure)
    #expect(failures.count == 1)
    #expect(failures.first?.code == .relayUnreachable && failures.first?.outcome == .notStarted)
    #expect(failures.first?.message.contains("not made in time") == true)
    bench.fail("connect to 127.0.0.1:1: connection refused")
    #expect(bench.taken().isEmpty)
    #expect(bench.session.phase == .idle, "without work and without a wish nothing is dialled")
    #expect(bench.timer == nil)
  }

  @Test("A stored request without EOSE fails at its deadline and is closed")
  func silent() {
    let bench = Bench()
    bench.connect()
    bench.request(1, milliseconds: 700)
    _ = bench.taken()
    bench.advance(milliseconds: 699)
    #expect(bench.taken().isEmpty)
    bench.advance(milliseconds: 1)
    let actions = bench.taken()
    #expect(text(actions.first).hasPrefix(#"["CLOSE""#))
    guard case .failRequest(RequestKey(1), let failure)? = actions.last else {
      Issue.record("not failed")
      return
    }
    #expect(failure.code == .timedOut)
  }

  @Test("More requests than subscriptions wait their turn; more than may wait are refused")
  func bounds() {
    var limits = SessionLimits()
    limits.waitingRequestMaximum = 3
    let bench = Bench(limits: limits, slots: 3)
    bench.connect()
    for key in 1...6 { bench.request(UInt64(key)) }
    #expect(bench.subscriptions.count == 2)
    guard case .failRequest(RequestKey(6), let failure)? = bench.taken().last else {
      Issue.record("not refused")
      return
    }
    #expect(failure.code == .full && failure.outcome == .notStarted)
    bench.receive(.endOfStoredEvents(subscription: bench.subscriptions[0], completeness: .unstated))
    #expect(bench.subscriptions.count == 3)
    #expect(bench.session.requestCount == 4)
  }

  @Test("While a relay is held back no time of its silence passes, and afterwards it has what was left")
  func heldBack() {
    let bench = Bench()
    bench.connect()
    bench.request(1, milliseconds: 10_000)
    bench.publish(2, milliseconds: 10_000)
    bench.advance(milliseconds: 9_000)
    bench.apply { $0.deliveryStalled(at: $1) }
    bench.request(3, milliseconds: 10_000)
    _ = bench.taken()
    bench.advance(milliseconds: 600_000)
    #expect(bench.failures().isEmpty && bench.timer == nil)
    bench.apply { $0.deliveryResumed(at: $1) }
    bench.advance(milliseconds: 999)
    #expect(bench.failures().isEmpty)
    bench.advance(milliseconds: 2)
    #expect(bench.failures().count == 2 && bench.session.requestCount == 1, "of the third nine seconds are left")
    bench.advance(milliseconds: 9_000)
    #expect(bench.failures().count == 1)
  }

  @Test("A relay that is held back now and then has no more time in all, and who publishes hears why it is late")
  func heldAgainAndAgain() {
    let bench = Bench()
    bench.connect()
    bench.request(1, milliseconds: 10_000)
    for _ in 0..<10 {
      #expect(bench.failures().isEmpty)
      bench.apply { $0.deliveryStalled(at: $1) }
      bench.advance(milliseconds: 500)
      bench.apply { $0.deliveryResumed(at: $1) }
      bench.advance(milliseconds: 1_001)
    }
    #expect(bench.failures().count == 1, "it was read for ten seconds")
    bench.apply { $0.deliveryStalled(at: $1) }
    let end = bench.now.advanced(milliseconds: 3_000)
    bench.apply {
      $0.publishStarted(
        PublishKey(9), event: [0x20], id: Bench.id(9), deadline: $1.advanced(milliseconds: 2_000), end: end, at: $1)
    }
    bench.advance(milliseconds: 2_999)
    #expect(bench.failures().isEmpty)
    bench.advance(milliseconds: 2)
    let words = bench.failures()
    #expect(words.count == 1 && words[0].contains("was not read in time"), "\(words)")
  }

  @Test("While deliveries are stalled reading is paused, also on the next connection")
  func stalled() {
    let bench = Bench()
    bench.apply { $0.deliveryStalled(at: $1) }
    #expect(bench.taken().isEmpty)
    bench.connect()
    #expect(bench.taken().last == .pauseReading)
    bench.apply { $0.deliveryResumed(at: $1) + $0.deliveryResumed(at: $1) }
    bench.apply { $0.deliveryStalled(at: $1) + $0.deliveryStalled(at: $1) }
    #expect(bench.taken() == [.resumeReading, .pauseReading])
    bench.apply { $0.disconnected(reason: "gone", at: $1) }
    bench.connect()
    #expect(bench.taken().last == .pauseReading)
  }
}
