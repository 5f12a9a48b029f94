import Clocks
import Nostr
import RelaySession
import Testing

@Suite struct PublishTests {
  @Test("An OK answers every publish of its event, and the event goes out once")
  func shared() {
    let bench = Bench()
    bench.connect()
    bench.publish(1, event: 7)
    bench.publish(2, event: 7)
    bench.publish(3, event: 8)
    #expect(bench.taken().filter { text($0).hasPrefix(#"["EVENT","#) }.count == 2)
    bench.receive(.ok(id: Bench.id(7), isAccepted: true, reason: RelayReason("")))
    #expect(
      bench.taken() == [
        .answer(PublishKey(1), isAccepted: true, reason: RelayReason("")),
        .answer(PublishKey(2), isAccepted: true, reason: RelayReason("")),
      ])
    bench.receive(.ok(id: Bench.id(7), isAccepted: true, reason: RelayReason("")))
    bench.receive(.ok(id: Bench.id(9), isAccepted: true, reason: RelayReason("")))
    #expect(bench.taken().isEmpty && bench.session.counters.strayMessages == 2)
    #expect(bench.session.publishCount == 1)
  }

  @Test("On disconnect a sent event is unknown, a sent request safe to repeat, and what waited goes out next time")
  func disconnected() {
    var limits = SessionLimits()
    limits.sentEventMaximum = 1
    let bench = Bench(limits: limits, slots: 1)
    bench.connect()
    bench.publish(1, event: 1, milliseconds: 900_000)
    bench.publish(2, event: 2, milliseconds: 900_000)
    bench.request(1, milliseconds: 900_000)
    bench.request(2, milliseconds: 900_000)
    _ = bench.taken()
    bench.apply { $0.disconnected(reason: "reset by peer", at: $1) }
    let actions = bench.taken()
    #expect(actions.count == 2)
    for action in actions {
      switch action {
      case .failRequest(let key, let failure):
        #expect(key == RequestKey(1) && failure.code == .disconnected && failure.outcome == .notStarted)
      case .failPublish(let key, let failure):
        #expect(key == PublishKey(1) && failure.code == .disconnected && failure.outcome == .unknown)
        #expect(failure.message.contains("reset by peer"))
      default: Issue.record("\(action)")
      }
    }
    bench.connect()
    let sent = bench.taken().map(text).filter { !$0.isEmpty }
    #expect(
      sent.count == 2 && sent.contains { $0.hasPrefix(#"["EVENT""#) } && sent.contains { $0.hasPrefix(#"["REQ""#) })
  }

  @Test("A publish fails at its own deadline: unknown when sent, not started when not")
  func deadlines() {
    let bench = Bench()
    bench.publish(1, event: 1, milliseconds: 500)
    bench.publish(2, event: 1, milliseconds: 5_000)
    bench.advance(milliseconds: 500)
    guard case .failPublish(PublishKey(1), let failure)? = bench.taken().last else {
      Issue.record("not failed")
      return
    }
    #expect(failure.code == .relayUnreachable && failure.outcome == .notStarted)
    bench.apply { $0.connected(attempt: 1, at: $1) }
    #expect(bench.taken().count == 1)
    bench.advance(milliseconds: 5_000)
    guard case .failPublish(PublishKey(2), let late)? = bench.taken().last else {
      Issue.record("not failed")
      return
    }
    #expect(late.code == .timedOut && late.outcome == .unknown)
  }

  @Test("Events in flight are bounded by number and bytes; one larger than the bound goes alone")
  func bounds() {
    var limits = SessionLimits()
    limits.sentEventByteCountMaximum = 1_000
    limits.waitingEventByteCountMaximum = 10_000
    let bench = Bench(limits: limits)
    bench.connect()
    for event in 1...4 { bench.publish(UInt64(event), event: event, byteCount: event == 3 ? 5_000 : 400) }
    func sent() -> Int { bench.taken().filter { text($0).hasPrefix(#"["EVENT""#) }.count }
    #expect(sent() == 2)
    bench.receive(.ok(id: Bench.id(1), isAccepted: true, reason: RelayReason("")))
    #expect(sent() == 0)
    bench.receive(.ok(id: Bench.id(2), isAccepted: true, reason: RelayReason("")))
    #expect(sent() == 1)
    bench.publish(9, event: 9, byteCount: 9_999)
    guard case .failPublish(PublishKey(9), let failure)? = bench.taken().last else {
      Issue.record("not refused")
      return
    }
    #expect(failure.code == .full)
    bench.apply { $0.publishCancelled(PublishKey(4), at: $1) }
    bench.receive(.ok(id: Bench.id(3), isAccepted: true, reason: RelayReason("")))
    #expect(sent() == 0 && bench.session.publishCount == 0)
  }
}
