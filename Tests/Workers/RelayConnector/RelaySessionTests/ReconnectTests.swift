import Clocks
import Nostr
import RelaySession
import TestSupport
import Testing

@Suite struct ReconnectTests {
  @Test("Waits are jittered in a window that doubles from one second to five minutes")
  func windows() {
    var waits: [[UInt64]] = Array(repeating: [], count: 14)
    for seed in 1...300 {
      let bench = Bench(seed: UInt64(seed))
      bench.apply { $0.openRequested(at: $1) }
      for failure in 0..<14 {
        bench.fail()
        waits[failure].append(bench.untilAttempt())
      }
    }
    for (failure, waits) in waits.enumerated() {
      let window = min(300_000, 1_000 << UInt64(failure))
      let mean = waits.reduce(0, +) / UInt64(waits.count)
      #expect(waits.allSatisfy { $0 >= 250 && $0 <= window }, "window \(window)")
      #expect(mean > window * 4 / 10 && mean < window * 65 / 100, "mean \(mean) of window \(window)")
    }
  }

  @Test("Failures are forgotten after a minute of standing, and not before")
  func stable() {
    func meanWait(afterStanding milliseconds: UInt64) -> UInt64 {
      var sum: UInt64 = 0
      for seed in 1...60 {
        let bench = Bench(seed: UInt64(seed))
        for _ in 0..<10 {
          bench.connect()
          bench.advance(milliseconds: milliseconds)
          bench.apply { $0.disconnected(reason: "gone", at: $1) }
        }
        sum += bench.untilAttempt()
      }
      return sum / 60
    }
    #expect(meanWait(afterStanding: 60_000) < 1_100)
    #expect(meanWait(afterStanding: 59_000) > 60_000)
  }

  @Test("After a suspend an open relay is pinged, and dialled again at once when its connection ends, but only then")
  func suspended() {
    let bench = Bench()
    for _ in 0..<8 {
      bench.apply { $0.openRequested(at: $1) }
      _ = bench.untilAttempt()
      bench.fail()
    }
    bench.connect()
    bench.advance(milliseconds: 1_000)
    _ = bench.taken()
    bench.apply { $0.suspendEnded(at: $1) }
    #expect(bench.taken() == [.checkConnection(withinMilliseconds: 10_000)])
    bench.advance(milliseconds: 10_500)
    let before = bench.attempts.count
    bench.apply { $0.disconnected(reason: "no answer to a ping within 10000 ms", at: $1) }
    #expect(bench.attempts.count == before + 1 && bench.attempts.last?.at == bench.now, "without a wait")
    bench.apply { [bench] in $0.connected(attempt: bench.attempts.last!.number, at: $1) }
    bench.apply { $0.disconnected(reason: "gone", at: $1) }
    #expect(bench.session.phase == .waiting, "the new connection was made after the suspend")
    #expect(bench.untilAttempt() <= 1_000, "failures from before are forgotten")
  }

  @Test("A connection that outlives a suspend has the usual back-off later, and one cut after a refusal has its own")
  func suspendedBefore() {
    let bench = Bench()
    bench.connect()
    bench.apply { $0.suspendEnded(at: $1) }
    bench.advance(milliseconds: 15_000)
    bench.apply { $0.disconnected(reason: "gone", at: $1) }
    #expect(bench.session.phase == .waiting)
    let refused = Bench()
    refused.connect()
    refused.publish(1)
    refused.receive(.ok(id: Bench.id(0), isAccepted: false, reason: RelayReason("rate-limited: enough")))
    refused.apply { $0.suspendEnded(at: $1) }
    refused.apply { $0.disconnected(reason: "cut", at: $1) }
    #expect(refused.untilAttempt() >= 2_000)
  }

  @Test("A wait for the back-off ends with a suspend, but not what the relay has asked for")
  func suspendedWait() {
    let bench = Bench()
    bench.apply { $0.openRequested(at: $1) }
    bench.fail(isNameFailure: true)
    bench.apply { $0.suspendEnded(at: $1) }
    #expect(bench.session.phase == .connecting)
    let failure = ConnectFailure(message: "503", retryAfterMilliseconds: 60_000)
    bench.apply { [bench] in $0.connectFailed(attempt: bench.attempts.last!.number, failure, at: $1) }
    bench.apply { $0.suspendEnded(at: $1) }
    #expect(bench.session.phase == .waiting && bench.untilAttempt() >= 60_000)
    let idle = Bench()
    idle.apply { $0.suspendEnded(at: $1) }
    #expect(idle.session.phase == .idle && idle.attempts.isEmpty)
  }

  @Test("A wait for the back-off ends when a person waits, but not what the relay has asked for, nor a postponement")
  func awaited() {
    let bench = Bench()
    for _ in 0..<8 {
      bench.apply { $0.openRequested(at: $1) }
      _ = bench.untilAttempt()
      bench.fail()
    }
    let before = bench.attempts.count
    bench.apply { $0.backOffEnded(at: $1) }
    #expect(bench.session.phase == .connecting && bench.attempts.count == before + 1)
    bench.fail()
    #expect(bench.untilAttempt() <= 1_000, "the back-off begins again")
    let failure = ConnectFailure(message: "503", retryAfterMilliseconds: 60_000)
    bench.apply { [bench] in $0.connectFailed(attempt: bench.attempts.last!.number, failure, at: $1) }
    bench.apply { $0.backOffEnded(at: $1) }
    #expect(bench.session.phase == .waiting && bench.untilAttempt() >= 60_000)
    let idle = Bench()
    idle.apply { $0.backOffEnded(at: $1) }
    #expect(idle.session.phase == .idle && idle.attempts.isEmpty)
  }

  @Test("Refusals are counted by what they are about, and the counts add up")
  func refusals() {
    let bench = Bench()
    bench.connect()
    let reasons = ["rate-limited: slow", "blocked: no", "rate-limited: slow", "pow: 20", "what?", "restricted: no"]
    for (number, reason) in reasons.enumerated() {
      bench.publish(UInt64(number), event: number)
      bench.receive(.ok(id: Bench.id(number), isAccepted: false, reason: RelayReason(reason)))
    }
    bench.request(1)
    bench.receive(.closed(subscription: bench.subscriptions[0], reason: RelayReason("error: too many subscriptions")))
    let counters = bench.session.counters
    #expect(
      counters.refusalsByClass == [
        .rate: 2, .blocked: 1, .invalid: 1, .unknown: 1, .restricted: 1, .subscriptions: 1,
      ])
    #expect(counters.refusalsByClass.values.reduce(0, +) == counters.refusals)
  }

  @Test("A name that is not found waits in the ceiling's window at once")
  func names() {
    var sum: UInt64 = 0
    for seed in 1...100 {
      let bench = Bench(seed: UInt64(seed))
      bench.apply { $0.openRequested(at: $1) }
      bench.fail("no such name", isNameFailure: true)
      sum += bench.untilAttempt()
    }
    #expect(sum / 100 > 100_000 && sum / 100 < 200_000)
  }

  @Test("Work in the middle of a back-off dials at once, unless an attempt was just made")
  func demand() {
    let bench = Bench()
    bench.apply { $0.openRequested(at: $1) }
    bench.fail(isNameFailure: true)
    bench.advance(milliseconds: 200)
    bench.request(1, milliseconds: 60_000)
    #expect(bench.session.phase == .waiting && bench.attempts.count == 1)
    bench.advance(milliseconds: 300)
    #expect(bench.session.phase == .connecting && bench.attempts.count == 2)
  }

  @Test("A connection that is cut after refusals is made again after seconds, more each time, work or no work")
  func cutAfterRefusals() throws {
    let bench = Bench()
    for cut in 0..<12 {
      bench.apply { $0.openRequested(at: $1) }
      _ = bench.untilAttempt()
      bench.apply { [bench] in $0.connected(attempt: bench.attempts.last!.number, at: $1) }
      bench.publish(UInt64(cut), event: cut)
      bench.receive(.ok(id: Bench.id(cut), isAccepted: false, reason: RelayReason("rate-limited: enough")))
      bench.publish(UInt64(100 + cut), event: 100 + cut)
      bench.apply { $0.disconnected(reason: "cut", at: $1) }
      _ = bench.taken()
      bench.publish(UInt64(200 + cut), event: 200 + cut)
      let failure = try #require(bench.taken().compactMap(\.failure).last)
      let least = min(2_000 << UInt64(cut), 300_000)
      #expect(failure.code == .relayUnreachable && failure.retryAfterMilliseconds ?? 0 >= least)
      let wait = bench.untilAttempt()
      #expect(wait >= least && wait <= least * 3 / 2 + 2, "\(cut): \(wait)")
    }
    bench.apply { $0.retryRequested(at: $1) }
  }

  @Test("Without a refusal in the last minute a cut is one like any other: waiting work dials at once")
  func cutWithoutRefusal() {
    let bench = Bench()
    bench.connect()
    bench.publish(1, event: 1)
    bench.receive(.ok(id: Bench.id(1), isAccepted: false, reason: RelayReason("invalid: no")))
    bench.advance(milliseconds: 60_000)
    bench.apply { $0.disconnected(reason: "restarting", at: $1) }
    bench.publish(2, event: 2)
    #expect(bench.untilAttempt() <= 250)
  }

  @Test("An attempt that fails ends what waits for it, with its reason; the standing wish goes on trying")
  func failFast() {
    let bench = Bench()
    bench.apply { $0.openRequested(at: $1) }
    bench.request(1, milliseconds: 60_000)
    bench.publish(2, milliseconds: 60_000)
    _ = bench.taken()
    bench.fail("connection refused by 127.0.0.1:7777")
    let failures = bench.taken().compactMap(\.failure)
    #expect(failures.count == 2 && bench.session.requestCount == 0 && bench.session.publishCount == 0)
    for failure in failures {
      #expect(failure.code == .relayUnreachable && failure.outcome == .notStarted)
      #expect(failure.message.hasSuffix("cannot be reached: connection refused by 127.0.0.1:7777"))
      #expect(failure.retryAfterMilliseconds == 500)
    }
    #expect(bench.untilAttempt() <= 1_000 && bench.attempts.count == 2)
  }

  @Test("While no attempt is allowed soon, new work is told at once what the last one came to, and when to ask again")
  func failAtOnce() {
    let bench = Bench()
    for _ in 0..<4 {
      bench.advance(milliseconds: 20_000)
      bench.request(1, milliseconds: 60_000)
      bench.fail("refused")
    }
    let before = bench.attempts.count
    _ = bench.taken()
    bench.advance(milliseconds: 1_000)
    bench.request(2, milliseconds: 60_000)
    bench.publish(3, milliseconds: 60_000)
    let failures = bench.taken().compactMap(\.failure)
    #expect(failures.map(\.code) == [.relayUnreachable, .relayUnreachable])
    #expect(failures.map(\.retryAfterMilliseconds) == [3_000, 3_000])
    #expect(failures.allSatisfy { $0.message.hasSuffix(": refused") } && bench.attempts.count == before)
    bench.advance(milliseconds: 2_500)
    bench.request(4, milliseconds: 60_000)
    #expect(bench.taken().isEmpty, "half a second is worth the wait")
    bench.advance(milliseconds: 500)
    #expect(bench.attempts.count == before + 1)
  }

  @Test("Requests without end to a dead relay dial ever more rarely, never in a loop")
  func storm() {
    let bench = Bench()
    for round in 0..<6_000 {
      bench.request(UInt64(round), milliseconds: 90)
      bench.advance(milliseconds: 100)
      if bench.session.phase == .connecting { bench.fail() }
    }
    #expect(bench.attempts.count > 40 && bench.attempts.count < 80, "\(bench.attempts.count) attempts in ten minutes")
    let failures = bench.taken().filter { if case .failRequest = $0 { true } else { false } }
    #expect(failures.count >= 5_999)
  }

  @Test("Work at a relay that turns out to be our own fails with that word, also while the next attempt is not due")
  func ownRelay() {
    let bench = Bench()
    bench.request(1)
    let failure = ConnectFailure(message: "that is us", isOwnRelay: true, retryAfterMilliseconds: 60_000)
    bench.apply { $0.connectFailed(attempt: 1, failure, at: $1) }
    bench.request(2)
    bench.publish(3)
    let failures = bench.taken().compactMap(\.failure)
    #expect(failures.count == 3)
    #expect(failures.first?.message == "\(bench.session.url) is not dialled: that is us")
    #expect(
      failures.allSatisfy { $0.code == .ownRelay && $0.outcome == .notStarted && $0.retryAfterMilliseconds == nil })
    bench.apply { $0.retryRequested(at: $1) }
    bench.request(4)
    bench.advance(milliseconds: 1_000)
    bench.fail("refused")
    #expect(bench.taken().compactMap(\.failure).map(\.code) == [.relayUnreachable], "another time it leads elsewhere")
  }

  @Test("Retry-After is kept even by waiting work, up to an hour; a person may override it")
  func retryAfter() {
    let bench = Bench()
    bench.apply { $0.openRequested(at: $1) }
    let failure = ConnectFailure(message: "503", retryAfterMilliseconds: 999_999_999)
    bench.apply { $0.connectFailed(attempt: 1, failure, at: $1) }
    bench.advance(milliseconds: 3_590_000)
    _ = bench.taken()
    bench.request(1, milliseconds: 10_000_000)
    #expect(bench.taken().compactMap(\.failure).map(\.retryAfterMilliseconds) == [10_000])
    #expect(bench.attempts.count == 1)
    bench.apply { $0.retryRequested(at: $1) }
    #expect(bench.attempts.count == 2)
    bench.apply { $0.connectFailed(attempt: 2, failure, at: $1) }
    bench.advance(milliseconds: 3_600_000)
    #expect(bench.attempts.count == 3)
  }

  @Test("Closing fails all work, and a connection that arrives too late is dropped")
  func closing() {
    let bench = Bench()
    bench.request(1)
    bench.publish(1)
    _ = bench.taken()
    bench.apply { $0.closeRequested(at: $1) }
    let actions = bench.taken()
    #expect(actions.count == 3 && actions.last == .abandonConnect(attempt: 1))
    bench.apply { $0.connected(attempt: 1, at: $1) }
    #expect(bench.taken() == [.abandonConnect(attempt: 1)] && bench.session.phase == .idle)
    bench.connect()
    bench.request(2)
    bench.publish(2)
    _ = bench.taken()
    bench.apply { $0.closeRequested(at: $1) }
    guard bench.actions.count == 3, case .failPublish(_, let failure) = bench.actions[1] else {
      Issue.record("\(bench.actions)")
      return
    }
    #expect(failure.outcome == .unknown && bench.actions[2] == .close(code: 1000, reason: ""))
    bench.request(3)
    bench.receive(.event(subscription: bench.subscriptions[0], event: 0..<2))
    bench.apply { $0.disconnected(reason: "closed", at: $1) }
    bench.advance(milliseconds: 1_000)
    #expect(bench.session.phase == .connecting, "what was asked meanwhile is still wanted")
  }

  @Test("A relay that does not speak Nostr is closed, and dialled again with a penalty")
  func garbage() {
    let bench = Bench()
    bench.connect()
    bench.request(1)
    _ = bench.taken()
    for _ in 0..<99 { bench.apply { $0.receivedGarbage(byteCount: 9, at: $1) } }
    #expect(bench.taken().isEmpty)
    bench.receive(.unknown(label: "HELLO"))
    let actions = bench.taken()
    #expect(actions.contains { if case .close(1008, _) = $0 { true } else { false } })
    #expect(actions.contains { if case .failRequest = $0 { true } else { false } })
    bench.apply { $0.disconnected(reason: "closed", at: $1) }
    #expect(bench.session.phase == .waiting && bench.session.counters.garbage == 100)
  }

  @Test("Notices and challenges are reported; the challenge goes with its connection")
  func reports() {
    let bench = Bench()
    bench.connect()
    _ = bench.taken()
    bench.receive(.notice(RelayReason("hello")))
    bench.receive(.authentication(challenge: "c"))
    #expect(bench.taken() == [.reportNotice(RelayReason("hello")), .reportChallenge("c")])
    #expect(bench.session.challenge == "c")
    bench.apply { $0.disconnected(reason: "gone", at: $1) }
    #expect(bench.session.challenge == nil)
  }

  @Test("Of a relay that talks without end little is passed on, and how much was left out is told")
  func remarks() {
    let bench = Bench()
    bench.connect()
    _ = bench.taken()
    for number in 0..<1_000 { bench.receive(.notice(RelayReason("\(number)"))) }
    #expect(bench.taken().count == 10)
    for number in 0..<1_000 { bench.receive(.authentication(challenge: "\(number)")) }
    let challenges = bench.taken()
    #expect(challenges.count == 10 && challenges.first == .reportChallenge("0"), "NOTICEs hide no challenge")
    bench.advance(milliseconds: 60_000)
    _ = bench.taken()
    bench.receive(.notice(RelayReason("again")))
    #expect(bench.taken() == [.reportLeftOut(.notice, 990), .reportNotice(RelayReason("again"))])
    bench.receive(.authentication(challenge: "1000"))
    #expect(bench.taken() == [.reportLeftOut(.challenge, 990), .reportChallenge("1000")])
    #expect(bench.session.counters.notices == 1_001 && bench.session.challenge == "1000")
  }

  @Test(
    "In any weather each request and publish ends exactly once, and by its deadline",
    arguments: seeds(40))
  func weather(seed: UInt64) {
    var limits = SessionLimits()
    limits.sentEventMaximum = 3
    var weather = Weather(bench: Bench(limits: limits, slots: 3, seed: seed), seed: seed)
    for _ in 0..<3_000 {
      weather.step()
      weather.look()
    }
  }
}

/// A session to which anything happens, and what it owes.
private struct Weather {
  let bench: Bench
  let seed: UInt64
  private var generator: SeededGenerator
  /// What was asked and has not ended, with its deadline.
  private var due: [SessionAction.Work: Instant] = [:]
  private var nextKey: UInt64 = 0

  init(bench: Bench, seed: UInt64) {
    self.bench = bench
    self.seed = seed
    generator = SeededGenerator(seed: seed)
  }

  /// One thing happens.
  mutating func step() {
    nextKey += 1
    let milliseconds = UInt64.random(in: 1...4_000, using: &generator)
    let deadline = bench.now.advanced(milliseconds: milliseconds)
    switch Int.random(in: 0..<12, using: &generator) {
    case 0, 1:
      due[.request(RequestKey(nextKey))] = deadline
      bench.request(nextKey, milliseconds: milliseconds)
    case 2, 3:
      due[.publish(PublishKey(nextKey))] = deadline
      bench.publish(nextKey, event: Int.random(in: 0..<40, using: &generator), milliseconds: milliseconds)
    case 4:
      if case .request(let key)? = due.keys.randomElement(using: &generator) {
        due[.request(key)] = nil
        bench.apply { $0.requestCancelled(key, at: $1) }
      }
    case 5...7: changeConnection(isLost: milliseconds % 3 == 0)
    case 8...10: hear()
    default: bench.advance(milliseconds: UInt64.random(in: 0...900, using: &generator))
    }
    if bench.session.phase == .closing { bench.apply { $0.disconnected(reason: "closed", at: $1) } }
  }

  private mutating func changeConnection(isLost: Bool) {
    if bench.session.phase == .connecting, !isLost {
      if Bool.random(using: &generator) { bench.connect() } else { bench.fail() }
    } else if bench.session.phase == .open, isLost {
      bench.apply { $0.disconnected(reason: "storm", at: $1) }
    }
  }

  /// The relay says something, or the session is closed for good.
  private mutating func hear() {
    switch Int.random(in: 0..<180, using: &generator) {
    case 0: bench.apply { $0.closeRequested(at: $1) }
    case 1..<90:
      let id = Bool.random(using: &generator) ? nil : Bench.id(Int.random(in: 0..<40, using: &generator))
      bench.receive(.ok(id: id, isAccepted: Bool.random(using: &generator), reason: RelayReason("")))
    default:
      let name = bench.subscriptions.suffix(5).randomElement(using: &generator) ?? ""
      bench.receive(.endOfStoredEvents(subscription: name, completeness: .unstated))
    }
  }

  /// What has ended was due, once; what is due has its deadline before it, or a timer that has come.
  mutating func look() {
    for work in bench.taken().compactMap(\.endedWork) {
      #expect(due.removeValue(forKey: work) != nil, "seed \(seed): \(work) ended twice, or was never asked")
    }
    #expect(due.values.allSatisfy { $0 > bench.now || bench.timer.map { $0 <= bench.now } ?? false }, "seed \(seed)")
    #expect(due.count == bench.session.requestCount + bench.session.publishCount, "seed \(seed)")
  }
}

extension SessionAction {
  enum Work: Hashable {
    case request(RequestKey)
    case publish(PublishKey)
  }

  /// What it tells of work that came to nothing.
  var failure: WorkFailure? {
    switch self {
    case .failRequest(_, let failure), .failPublish(_, let failure): failure
    default: nil
    }
  }

  /// Whose end this action is.
  var endedWork: Work? {
    switch self {
    case .endStoredEvents(let key, _, isOver: true), .failRequest(let key, _): .request(key)
    case .answer(let key, _, _), .failPublish(let key, _): .publish(key)
    default: nil
    }
  }
}
