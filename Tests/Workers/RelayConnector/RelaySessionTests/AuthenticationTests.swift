import Clocks
import Cryptography
import Nostr
import RelaySession
import Testing

/// Showing oneself to a relay (NIP-42), and what waits for it.
@Suite struct AuthenticationTests {
  private static let alice = PublicKey(String(repeating: "1", count: 64))!
  private static let needed = RelayReason("auth-required: who are you?")

  @Test("Scenario 10: a refused REQ and EVENT wait until their account has shown himself, and are sent again once")
  func shown() {
    let bench = Bench()
    bench.connect()
    bench.receive(.authentication(challenge: "c1"))
    bench.request(1, account: Self.alice)
    bench.publish(1, event: 7, account: Self.alice)
    let sent = bench.taken()
    #expect(Bench.challenges(in: sent).isEmpty, "nobody is shown before it is asked for")
    bench.receive(.closed(subscription: bench.subscriptions[0], reason: Self.needed))
    bench.receive(.ok(id: Bench.id(7), isAccepted: false, reason: Self.needed))
    #expect(Bench.challenges(in: bench.taken()) == ["c1"], "the signer is asked once for both")
    bench.sign(Self.alice, "c1")
    #expect(bench.texts().map { $0.prefix(7) } == [#"["AUTH""#])
    bench.receive(.ok(id: Bench.authentication, isAccepted: true, reason: RelayReason("")))
    let again = bench.texts()
    #expect(again.count == 2 && again[0].hasPrefix(#"["REQ","#) && again[1].hasPrefix(#"["EVENT","#))
    #expect(bench.session.authenticatedAccounts == [Self.alice])
    bench.receive(.ok(id: Bench.id(7), isAccepted: true, reason: RelayReason("")))
    #expect(bench.taken() == [.answer(PublishKey(1), isAccepted: true, reason: RelayReason(""))])
  }

  @Test("A throw-away key answers in place of every account, and for work without one; with 'never' nothing does")
  func otherKeys() {
    let key = PublicKey(String(repeating: "2", count: 64))!
    let bench = Bench(shownKey: .throwAway(key))
    bench.connect()
    bench.receive(.authentication(challenge: "c1"))
    bench.request(1)
    bench.publish(1, event: 7, account: Self.alice)
    bench.receive(.closed(subscription: bench.subscriptions[0], reason: Self.needed))
    bench.receive(.ok(id: Bench.id(7), isAccepted: false, reason: Self.needed))
    let asked = bench.taken().filter { if case .authenticate = $0 { true } else { false } }
    #expect(asked == [.authenticate(key, challenge: "c1")], "one key for both")
    bench.sign(key, "c1")
    bench.receive(.ok(id: Bench.authentication, isAccepted: true, reason: RelayReason("")))
    #expect(bench.texts().count == 3 && bench.session.authenticatedAccounts == [key])
    let silent = Bench(shownKey: .never)
    silent.connect()
    silent.receive(.authentication(challenge: "c1"))
    silent.publish(1, event: 7, account: Self.alice)
    _ = silent.taken()
    silent.receive(.ok(id: Bench.id(7), isAccepted: false, reason: Self.needed))
    #expect(silent.taken() == [.answer(PublishKey(1), isAccepted: false, reason: Self.needed)])
    #expect(silent.session.counters.refusalsByClass == [.authentication: 1])
  }

  @Test("Where no account is shown, a protected event fails before anything is sent")
  func hidden() {
    let key = PublicKey(String(repeating: "2", count: 64))!
    for (shown, word) in [(ShownKey.throwAway(key), "throw-away"), (.never, "never")] {
      let bench = Bench(shownKey: shown)
      bench.connect()
      _ = bench.taken()
      bench.publish(1, event: 7, account: Self.alice, isProtected: true)
      guard case .failPublish(PublishKey(1), let failure)? = bench.taken().first else {
        Issue.record("no failure")
        return
      }
      #expect(failure.code == .notShown && failure.outcome == .notStarted)
      #expect(failure.message.contains("'authenticate = \"\(word)\"' in supervisor.conf"))
      #expect(bench.session.publishCount == 0)
    }
  }

  @Test("Scenario 18: who has shown himself and is asked again is told so, and no loop begins")
  func askedAgain() {
    let bench = Bench()
    bench.connect()
    bench.receive(.authentication(challenge: "c1"))
    bench.publish(1, event: 7, account: Self.alice)
    bench.receive(.ok(id: Bench.id(7), isAccepted: false, reason: Self.needed))
    bench.sign(Self.alice, "c1")
    bench.receive(.ok(id: Bench.authentication, isAccepted: true, reason: RelayReason("")))
    _ = bench.taken()
    bench.receive(.ok(id: Bench.id(7), isAccepted: false, reason: Self.needed))
    guard case .failPublish(PublishKey(1), let failure)? = bench.taken().first else {
      Issue.record("no failure")
      return
    }
    #expect(failure.code == .notAuthenticated && failure.outcome == .notStarted)
  }

  @Test("A relay that refuses AUTH fails what waited, and what is refused later at once")
  func refused() {
    let bench = Bench()
    bench.connect()
    bench.receive(.authentication(challenge: "c1"))
    bench.publish(1, event: 7, account: Self.alice)
    bench.receive(.ok(id: Bench.id(7), isAccepted: false, reason: Self.needed))
    bench.sign(Self.alice, "c1")
    bench.receive(.ok(id: Bench.authentication, isAccepted: false, reason: RelayReason("restricted: not you")))
    #expect(bench.failures() == ["ws://relay.example.com refused AUTH: restricted: not you"])
    bench.publish(2, event: 8, account: Self.alice)
    _ = bench.taken()
    bench.receive(.ok(id: Bench.id(8), isAccepted: false, reason: Self.needed))
    #expect(bench.failures() == ["ws://relay.example.com refused AUTH: restricted: not you"])
  }

  @Test("Silence after AUTH is taken for consent, silence before it and a silent signer are failures")
  func silence() {
    let bench = Bench()
    bench.connect()
    bench.publish(1, event: 7, milliseconds: 60_000, account: Self.alice)
    bench.receive(.ok(id: Bench.id(7), isAccepted: false, reason: Self.needed))
    bench.advance(milliseconds: 5_000)
    #expect(bench.failures() == ["ws://relay.example.com has sent no challenge to sign (NIP-42)"])
    bench.receive(.authentication(challenge: "c1"))
    bench.publish(2, event: 8, milliseconds: 60_000, account: Self.alice)
    bench.receive(.ok(id: Bench.id(8), isAccepted: false, reason: Self.needed))
    bench.advance(milliseconds: 5_000)
    #expect(bench.failures() == ["the signer did not answer in time"])
    bench.receive(.authentication(challenge: "c2"))
    bench.publish(3, event: 9, milliseconds: 60_000, account: Self.alice)
    bench.receive(.ok(id: Bench.id(9), isAccepted: false, reason: Self.needed))
    bench.sign(Self.alice, "c2")
    _ = bench.taken()
    bench.advance(milliseconds: 5_000)
    #expect(bench.texts().filter { $0.hasPrefix(#"["EVENT","#) }.count == 1)
  }

  @Test("Whom nobody signs for is asked about again by each later work, on the same connection and without a bound")
  func unsigned() {
    let bench = Bench()
    bench.connect()
    bench.receive(.authentication(challenge: "c1"))
    for number in 1...40 {
      bench.publish(UInt64(number), event: number, account: Self.alice)
      _ = bench.taken()
      bench.receive(.ok(id: Bench.id(number), isAccepted: false, reason: Self.needed))
      #expect(Bench.challenges(in: bench.taken()) == ["c1"])
      let message = "the account alice is locked"
      bench.apply { $0.authenticationFailed(Self.alice, challenge: "c1", message: message, at: $1) }
      guard case .failPublish(_, let failure)? = bench.taken().first else {
        Issue.record("no failure")
        return
      }
      #expect(failure.code == .notSigned && failure.message == "the account alice is locked")
    }
    bench.publish(41, event: 41, account: Self.alice, isProtected: true)
    #expect(Bench.challenges(in: bench.taken()) == ["c1"])
    bench.sign(Self.alice, "c1")
    bench.receive(.ok(id: Bench.authentication, isAccepted: true, reason: RelayReason("")))
    #expect(bench.texts().last?.hasPrefix(#"["EVENT""#) == true)
  }

  @Test("A protected event goes out only where its author has shown himself")
  func protected() {
    let bench = Bench()
    bench.connect()
    bench.publish(1, event: 7, milliseconds: 60_000, account: Self.alice, isProtected: true)
    #expect(bench.texts().isEmpty)
    bench.receive(.authentication(challenge: "c1"))
    bench.sign(Self.alice, "c1")
    #expect(bench.texts().map { $0.prefix(7) } == [#"["AUTH""#])
    bench.receive(.ok(id: Bench.authentication, isAccepted: true, reason: RelayReason("")))
    #expect(bench.texts().map { $0.prefix(8) } == [#"["EVENT""#])
  }

  @Test("A relay that sends no challenge by itself is asked for one, by an event that says nothing")
  func probed() {
    let bench = Bench()
    bench.connect()
    _ = bench.taken()
    bench.publish(1, event: 7, milliseconds: 60_000, account: Self.alice, isProtected: true)
    bench.advance(milliseconds: 999)
    #expect(bench.taken().isEmpty)
    bench.advance(milliseconds: 1)
    #expect(bench.taken() == [.makeProbe])
    bench.publish(2, event: 8, milliseconds: 60_000, account: Self.alice, isProtected: true)
    bench.advance(milliseconds: 1_000)
    #expect(bench.taken().isEmpty, "one is enough")
    bench.probe()
    #expect(bench.texts() == [#"["EVENT",{"probe":1}]"#])
    bench.receive(.authentication(challenge: "c1"))
    bench.receive(.ok(id: Bench.probeID, isAccepted: false, reason: Self.needed))
    bench.sign(Self.alice, "c1")
    _ = bench.taken()
    bench.receive(.ok(id: Bench.authentication, isAccepted: true, reason: RelayReason("")))
    #expect(bench.texts().map { $0.prefix(8) } == [#"["EVENT""#, #"["EVENT""#])
    #expect(bench.session.counters.strayMessages == 0)
  }

  @Test("A relay that takes protected events from anybody gets none, and silence is told as before")
  func exposed() {
    let bench = Bench()
    bench.connect()
    bench.publish(1, event: 7, milliseconds: 60_000, account: Self.alice, isProtected: true)
    bench.advance(milliseconds: 1_000)
    bench.probe()
    _ = bench.taken()
    bench.receive(.ok(id: Bench.probeID, isAccepted: true, reason: RelayReason("")))
    let told = "ws://relay.example.com takes protected events without authentication (it does not keep NIP-70)"
    #expect(bench.failures() == [told])
    bench.publish(2, event: 8, milliseconds: 60_000, account: Self.alice, isProtected: true)
    #expect(bench.failures() == [told])
    let silent = Bench()
    silent.connect()
    silent.publish(1, event: 7, milliseconds: 60_000, account: Self.alice, isProtected: true)
    silent.advance(milliseconds: 1_000)
    silent.probe()
    _ = silent.taken()
    silent.advance(milliseconds: 4_000)
    #expect(silent.failures() == ["ws://relay.example.com has sent no challenge to sign (NIP-42)"])
  }

  @Test("A challenge that comes in time spares the relay the question")
  func challengedInTime() {
    let bench = Bench()
    bench.connect()
    _ = bench.taken()
    bench.publish(1, event: 7, milliseconds: 60_000, account: Self.alice, isProtected: true)
    bench.advance(milliseconds: 500)
    bench.receive(.authentication(challenge: "c1"))
    #expect(Bench.challenges(in: bench.taken()) == ["c1"])
    bench.advance(milliseconds: 1_000)
    #expect(bench.taken().isEmpty)
  }

  @Test("A signature for an earlier challenge is thrown away, and the new challenge signed")
  func overtaken() {
    let bench = Bench()
    bench.connect()
    bench.receive(.authentication(challenge: "c1"))
    bench.publish(1, event: 7, account: Self.alice)
    bench.receive(.ok(id: Bench.id(7), isAccepted: false, reason: Self.needed))
    _ = bench.taken()
    bench.receive(.authentication(challenge: "c2"))
    bench.sign(Self.alice, "c1")
    let actions = bench.taken()
    #expect(Bench.challenges(in: actions) == ["c2"])
    bench.sign(Self.alice, "c2")
    #expect(bench.texts().map { $0.prefix(7) } == [#"["AUTH""#])
  }

  @Test("A new connection knows nobody: what waited is asked anew, and a relay that asks without end is given up")
  func bounded() {
    let bench = Bench()
    bench.connect()
    bench.receive(.authentication(challenge: "c0"))
    bench.publish(1, event: 7, milliseconds: 900_000, account: Self.alice)
    var challenges = 0
    while challenges < 100 {
      bench.receive(.ok(id: Bench.id(7), isAccepted: false, reason: Self.needed))
      let asked = Bench.challenges(in: bench.taken())
      guard let challenge = asked.first else { break }
      challenges += 1
      bench.sign(Self.alice, challenge)
      bench.receive(.ok(id: Bench.authentication, isAccepted: true, reason: RelayReason("")))
      bench.receive(.authentication(challenge: "c\(challenges)"))
    }
    #expect(challenges == SessionLimits().authenticationMaximum)
    #expect(bench.session.publishCount == 0)
    bench.publish(2, event: 8, milliseconds: 900_000, account: Self.alice)
    bench.apply { $0.disconnected(reason: "reset", at: $1) }
    bench.advance(milliseconds: 300_000)
    bench.connect()
    #expect(bench.session.authenticatedAccounts.isEmpty)
  }

  @Test("An event that nobody was to show himself for can be sent again for whoever joins later and would")
  func joined() {
    let bench = Bench()
    bench.connect()
    bench.receive(.authentication(challenge: "c1"))
    bench.publish(1, event: 7)
    bench.publish(2, event: 7, account: Self.alice)
    let first = bench.texts()
    bench.receive(.ok(id: Bench.id(7), isAccepted: false, reason: Self.needed))
    bench.sign(Self.alice, "c1")
    _ = bench.taken()
    bench.receive(.ok(id: Bench.authentication, isAccepted: true, reason: RelayReason("")))
    #expect(bench.texts() == first && first.count == 1, "the same message, whole")
  }

  @Test("What was refused for a message from before the account had shown himself is sent again, once")
  func refusedLate() {
    let bench = Bench()
    bench.connect()
    bench.receive(.authentication(challenge: "c1"))
    bench.request(1, account: Self.alice)
    bench.request(2, account: Self.alice)
    bench.publish(1, event: 7, account: Self.alice)
    bench.receive(.closed(subscription: bench.subscriptions[0], reason: Self.needed))
    bench.sign(Self.alice, "c1")
    bench.advance(milliseconds: 10)
    bench.receive(.ok(id: Bench.authentication, isAccepted: true, reason: RelayReason("")))
    _ = bench.taken()
    bench.receive(.closed(subscription: bench.subscriptions[1], reason: Self.needed))
    #expect(bench.texts().map { $0.prefix(6) } == [#"["REQ""#])
    bench.receive(.ok(id: Bench.id(7), isAccepted: false, reason: Self.needed))
    #expect(bench.texts().map { $0.prefix(8) } == [#"["EVENT""#])
    bench.receive(.ok(id: Bench.id(7), isAccepted: false, reason: Self.needed))
    #expect(bench.failures() == ["ws://relay.example.com accepts AUTH and continues to ask for it"])
  }

  @Test("A failure to sign for an earlier connection ends nothing on this one")
  func failedLate() {
    let bench = Bench()
    bench.connect()
    bench.receive(.authentication(challenge: "c1"))
    bench.publish(1, event: 7, account: Self.alice)
    bench.receive(.ok(id: Bench.id(7), isAccepted: false, reason: Self.needed))
    bench.apply { $0.disconnected(reason: "reset", at: $1) }
    _ = bench.untilAttempt()
    bench.apply { [attempts = bench.attempts] in $0.connected(attempt: attempts.last!.number, at: $1) }
    bench.receive(.authentication(challenge: "c2"))
    bench.receive(.ok(id: Bench.id(7), isAccepted: false, reason: Self.needed))
    _ = bench.taken()
    bench.apply { $0.authenticationFailed(Self.alice, challenge: "c1", message: "the bus was busy", at: $1) }
    #expect(bench.failures().isEmpty)
    bench.apply { $0.authenticationFailed(Self.alice, challenge: "c2", message: "nobody is there", at: $1) }
    #expect(bench.failures() == ["nobody is there"])
  }
}
