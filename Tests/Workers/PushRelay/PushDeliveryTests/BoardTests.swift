import Clocks
import PushDelivery
import Testing

@Suite("The delivery board")
struct BoardTests {
  var board = DeliveryQueue(seed: 1)

  @Test("5: a wake for two devices is two pushes, and ends when both have")
  mutating func twoDevices() {
    let actions = board.accepted(wake(1), for: [device(1), device(2, .android)], at: moment(0))
    #expect(Set(actions.sends.map(\.device.number)) == [1, 2] && Set(actions.sends.map(\.wake.number)) == [1])
    #expect(board.settled(wake: 1, device: 1, .messageFault("x"), at: moment(1)).contains(.ended(wake: 1, device: 1)))
    #expect(board.settled(wake: 1, device: 2, .delivered, at: moment(2)) == [.done(wake: 1, .delivered)])
    #expect(board.settled(wake: 1, device: 2, .delivered, at: moment(2)).isEmpty && board.count == 0)
  }

  @Test("7: a device that does not want the type, or has expired, gets none")
  mutating func capabilities() {
    var choosy = device(1)
    choosy.capabilities = ["wake"]
    var old = device(2)
    old.expiresAt = beginning / 1_000
    #expect(board.accepted(wake(1), for: [choosy, old], at: moment(0)) == [.done(wake: 1, .undeliverable)])
    #expect(
      board.accepted(wake(2, type: "noise_connect"), for: [choosy, old], at: moment(0)).sends.map(\.device.number)
        == [1])
  }

  @Test("13: a wake waits for its provider within its time, and is counted, not sent, after it")
  mutating func waiting() throws {
    #expect(board.accepted(wake(1), for: [device(1)], at: moment(0)).sends.count == 1)
    var now: UInt64 = 0
    var sent = board.settled(wake: 1, device: 1, PushVerdict(.unreachable), at: moment(0)).sends
    var attempts = 1
    while now < 30_000 {
      now += 100
      sent = board.timerFired(at: moment(now)).sends
      if !sent.isEmpty {
        attempts += 1
        #expect(sent[0].attempt == attempts)
        _ = board.settled(wake: 1, device: 1, PushVerdict(.unreachable), at: moment(now))
      }
    }
    #expect((4...12).contains(attempts))
    while sent.isEmpty && now < 60_000 {
      now += 100
      sent = board.timerFired(at: moment(now)).sends
    }
    #expect(board.settled(wake: 1, device: 1, .delivered, at: moment(now)).outcomes == [1: .delivered])

    board.platformDown(.ios)
    #expect(board.accepted(wake(2, at: now), for: [device(1)], at: moment(now)).isEmpty)
    #expect(board.timerFired(at: moment(now + 59_999)).isEmpty)
    #expect(board.timerFired(at: moment(now + 60_000)) == [.done(wake: 2, .expired)])
    #expect(board.accepted(wake(3, at: 0), for: [device(1)], at: moment(now + 60_002)) == [.done(wake: 3, .expired)])
    #expect(board.expiredCount(of: .ios) == 2 && board.expiredCount(of: .android) == 0)
  }

  @Test(
    "13: one that is under way when its time ends is delivered if it was, and expired if not", arguments: [true, false])
  mutating func underWay(isDelivered: Bool) {
    _ = board.accepted(wake(1), for: [device(1)], at: moment(0))
    #expect(board.timerFired(at: moment(60_000)).isEmpty)
    let verdict: PushVerdict = isDelivered ? .delivered : PushVerdict(.timedOut)
    let actions = board.settled(wake: 1, device: 1, verdict, at: moment(61_000))
    #expect(actions.outcomes == [1: isDelivered ? .delivered : .expired] && actions.sends.isEmpty)
  }

  @Test("42: after: pruned; before the registration: kept; token changed meanwhile: kept, and sent to the new one")
  mutating func gone() {
    _ = board.accepted(wake(1), for: [device(1)], at: moment(0))
    let before = board.settled(wake: 1, device: 1, .tokenDead(sinceMilliseconds: 1), at: moment(1))
    #expect(before.pruned.isEmpty && before.outcomes == [1: .undeliverable])

    _ = board.accepted(wake(2, at: 5_000), for: [device(1)], at: moment(5_000))
    var moved = device(1)
    moved.token = token(.ios, 77)
    #expect(board.deviceChanged(moved, at: moment(5_001)).isEmpty)
    let since = PushVerdict.tokenDead(sinceMilliseconds: beginning)
    let meanwhile = board.settled(wake: 2, device: 1, since, at: moment(5_002))
    #expect(meanwhile.pruned.isEmpty && meanwhile.sends.map(\.device.token) == [moved.token])
    let after = board.settled(wake: 2, device: 1, since, at: moment(5_003))
    #expect(after.pruned == [1] && after.outcomes == [2: .undeliverable])
  }

  @Test("42: a wake has not ended for a device whose token has changed, only for its old token")
  mutating func settledToken() {
    _ = board.accepted(wake(1), for: [device(1), device(2)], at: moment(0))
    var moved = device(1)
    moved.token = token(.ios, 77)
    _ = board.deviceChanged(moved, at: moment(1))
    let dead = board.settled(wake: 1, device: 1, .tokenDead(sinceMilliseconds: nil), at: moment(2))
    #expect(dead.sends.map(\.device.token) == [moved.token])
    #expect(!dead.contains(.ended(wake: 1, device: 1)), "a crash now must bring it to the new token")
    #expect(board.settled(wake: 1, device: 1, .delivered, at: moment(3)) == [.ended(wake: 1, device: 1)])
  }

  /// Has these devices, each of an owner of its own, refused as tokens that are none; says what was told.
  private mutating func refuse(_ numbers: ClosedRange<Int64>, from wakes: Int64, at milliseconds: UInt64) -> [PushAlarm]
  {
    var told: [PushAlarm] = []
    for number in numbers {
      let actions = board.accepted(
        wake(wakes + number, to: UInt8(number), at: milliseconds), for: [device(number, of: UInt8(number))],
        at: moment(milliseconds))
      for delivery in actions.sends {
        let result = board.settled(
          wake: delivery.wake.number, device: number, .tokenSuspect("BadDeviceToken"), at: moment(milliseconds))
        #expect(result.pruned.isEmpty)
        told += result.told
      }
    }
    return told
  }

  @Test("43: BadDeviceToken on tokens that were good holds the provider, tells somebody, and prunes nothing")
  mutating func wrongEnvironment() {
    for number in 1...20 as ClosedRange<Int64> {
      _ = board.accepted(wake(number, to: UInt8(number)), for: [device(number, of: UInt8(number))], at: moment(0))
      _ = board.settled(wake: number, device: number, .delivered, at: moment(0))
    }
    #expect(refuse(1...20, from: 100, at: 5_000) == [.everyTokenRefused(.apple, "BadDeviceToken")])
    guard case .open(let until) = board.breaker(of: .apple) else { return #expect(Bool(false), "the breaker is open") }
    #expect(board.count == 15 && until >= moment(7_500).instant, "the others wait")
    let probe = board.timerFired(at: moment(10_000)).sends
    #expect(probe.count == 1 && probe[0].isProbe)
    let again = board.settled(
      wake: probe[0].wake.number, device: probe[0].device.number, .tokenSuspect("BadDeviceToken"), at: moment(10_000))
    #expect(again.told.isEmpty && again.sends.isEmpty && board.timerFired(at: moment(14_999)).sends.isEmpty)
  }

  @Test("43: at the beginning five hold it; then one push a second is tried, and the first good one ends it")
  mutating func wrongFromTheBeginning() {
    #expect(refuse(1...4, from: 0, at: 0).isEmpty)
    #expect(board.breaker(of: .apple) == .closed(failureCount: 0) && board.count == 0)
    #expect(refuse(5...25, from: 0, at: 0) == [.everyTokenRefused(.apple, "BadDeviceToken")])
    #expect(board.count == 20)
    for round in 1...10 as ClosedRange<UInt64> {
      let probe = board.timerFired(at: moment(round * 1_000)).sends
      #expect(probe.count == 1)
      let result = board.settled(
        wake: probe[0].wake.number, device: probe[0].device.number, .tokenSuspect("BadDeviceToken"),
        at: moment(round * 1_000))
      #expect(result.told.isEmpty && result.sends.isEmpty)
    }
    let probe = board.timerFired(at: moment(11_000)).sends
    #expect(probe.count == 1)
    let good = board.settled(wake: probe[0].wake.number, device: probe[0].device.number, .delivered, at: moment(11_000))
    #expect(good.sends.count == 9 && good.pruned.isEmpty)
  }

  @Test("43: made-up tokens that are woken by their owner hold nobody's pushes")
  mutating func bogus() {
    _ = board.accepted(wake(1, to: 200), for: [device(200, of: 200)], at: moment(0))
    _ = board.settled(wake: 1, device: 200, .delivered, at: moment(0))
    #expect(refuse(1...100, from: 1_000, at: 1).isEmpty && board.count == 0)
    #expect(board.breaker(of: .apple) == .closed(failureCount: 0))
  }

  @Test("43: one bad token among good ones is pruned")
  mutating func oneBad() {
    _ = board.accepted(wake(1, to: 1), for: [device(1)], at: moment(0))
    _ = board.accepted(wake(2, to: 2), for: [device(2, of: 2)], at: moment(0))
    _ = board.accepted(wake(3, to: 3), for: [device(3, of: 3)], at: moment(0))
    #expect(board.settled(wake: 1, device: 1, .delivered, at: moment(1)).pruned.isEmpty)
    #expect(board.settled(wake: 2, device: 2, .tokenSuspect("BadDeviceToken"), at: moment(2)).pruned.isEmpty)
    #expect(board.settled(wake: 3, device: 3, .delivered, at: moment(3)).pruned == [2])
  }

  @Test("41: what a service of Web Push says puts no platform away, and is no fault of the relay's")
  func alarms() {
    let host = PushProvider.web("push.example:443")
    for (provider, isPlatform) in [(PushProvider.apple, true), (.google, true), (host, false)] {
      for alarm in [PushAlarm.fault(provider, "a"), .everyTokenRefused(provider, "a"), .trouble(provider, "a")] {
        #expect(alarm.concernsPlatform == isPlatform && alarm.isForOperator)
      }
      #expect(!PushAlarm.message(provider, "a").concernsPlatform)
      #expect(PushAlarm.message(provider, "a").isForOperator == isPlatform)
    }
  }

  @Test("44: refused credentials lose no wake, and stop the stream until one goes through")
  mutating func expiredCredential() {
    for number in 1...100 as ClosedRange<Int64> {
      _ = board.accepted(wake(number, to: UInt8(number)), for: [device(number, of: UInt8(number))], at: moment(0))
    }
    #expect(board.inFlightCount == 100)
    for number in 1...100 as ClosedRange<Int64> {
      #expect(
        board.settled(wake: number, device: number, .renewCredential("ExpiredProviderToken"), at: moment(0)).sends
          .isEmpty)
    }
    let probe = board.timerFired(at: moment(2_000)).sends
    #expect(probe.count == 1 && probe[0].isProbe && probe[0].attempt == 2)
    let rest = board.settled(wake: probe[0].wake.number, device: probe[0].device.number, .delivered, at: moment(2_001))
    #expect(rest.sends.count == 99)
  }

  @Test("47: a platform that takes nothing has its share, and the others do not notice")
  mutating func blackHole() {
    var limits = DeliveryLimits()
    limits.platformWakeMaximum = 300
    board = DeliveryQueue(limits: limits, seed: 1)
    var held: Set<Int64> = []
    for number in 1...1_000 as ClosedRange<Int64> {
      let holder = UInt8(number % 250)
      let actions = board.accepted(
        wake(number, to: holder, type: "t\(number)"), for: [device(number, of: holder)], at: moment(0))
      if !board.has(number) {
        held.insert(number)
        #expect(actions.isEmpty)
      }
    }
    #expect(board.inFlightCount(of: .ios) == 256 && board.wakeCount(of: .ios) == 300 && held.count == 700)
    for number in 2_000...2_999 as ClosedRange<Int64> {
      let actions = board.accepted(wake(number, type: "t\(number)"), for: [device(number, .android)], at: moment(1))
      #expect(actions.sends.count == 1)
      #expect(board.settled(wake: number, device: number, .delivered, at: moment(1)).outcomes == [number: .delivered])
    }
    // Wakes expire, and the ledger is asked for what it has.
    let expired = board.timerFired(at: moment(60_000))
    #expect(expired.outcomes.count == 44)
    var needs: [DeliveryAction] = []
    for number in 1...256 as ClosedRange<Int64> {
      needs += board.settled(wake: number, device: number, PushVerdict(.timedOut), at: moment(60_001)).filter {
        if case .needs = $0 { true } else { false }
      }
    }
    #expect(needs == [.needs(more: 150, on: .ios)])
  }

  @Test("48: 429 for one token delays that one only")
  mutating func delayed() {
    _ = board.accepted(wake(1), for: [device(1), device(2)], at: moment(0))
    #expect(board.settled(wake: 1, device: 1, .delayToken(afterMilliseconds: 20_000), at: moment(0)).isEmpty)
    _ = board.settled(wake: 1, device: 2, .delivered, at: moment(0))
    let next = board.accepted(wake(2, at: 3_000), for: [device(1), device(2)], at: moment(3_000))
    #expect(next.sends.map(\.device.number) == [2])
    #expect(board.timerFired(at: moment(19_999)).sends.isEmpty)
    // In their order: the first one first.
    #expect(board.timerFired(at: moment(20_000)).sends.map(\.wake.number) == [1])
  }

  @Test("50: what a sender wants brought is not lost for another's wake a moment before")
  mutating func contents() {
    _ = board.accepted(wake(1, payload: [1]), for: [device(1)], at: moment(0))
    _ = board.settled(wake: 1, device: 1, .delivered, at: moment(1))
    let steps: [(payload: [UInt8]?, isSent: Bool)] = [
      ([1], false), (nil, false), ([], false), ([2], true), ([2], false), ([1], true),
    ]
    for (index, step) in steps.enumerated() {
      let number = Int64(index) + 2
      let actions = board.accepted(wake(number, payload: step.payload), for: [device(1)], at: moment(10))
      #expect(actions.sends.count == (step.isSent ? 1 : 0), "\(number)")
      #expect(actions.outcomes == (step.isSent ? [:] : [number: .coalesced]), "\(number)")
      if step.isSent { _ = board.settled(wake: number, device: 1, .delivered, at: moment(11)) }
    }
  }

  @Test("50: a contact's wake joins none of a stranger's, whom the push would name; a stranger's joins a contact's")
  mutating func contacts() {
    let steps: [(isOfContact: Bool, isSent: Bool)] = [(false, true), (false, false), (true, true), (false, false)]
    for (index, step) in steps.enumerated() {
      var wake = wake(Int64(index) + 1)
      wake.isOfContact = step.isOfContact
      let actions = board.accepted(wake, for: [device(1)], at: moment(10))
      #expect(actions.sends.count == (step.isSent ? 1 : 0), "\(index)")
      #expect(board.standsForOthers(wake) == step.isSent)
      if step.isSent { _ = board.settled(wake: wake.number, device: 1, .delivered, at: moment(11)) }
    }
  }

  @Test("50: five wakes in two seconds are one push; another class is another")
  mutating func collapsing() {
    var pushes = 0
    for number in 0..<5 as Range<Int64> {
      let at = UInt64(number) * 400
      let actions = board.accepted(wake(number + 1, type: "noise_connect", at: at), for: [device(1)], at: moment(at))
      pushes += actions.sends.count
      for delivery in actions.sends {
        _ = board.settled(wake: delivery.wake.number, device: 1, .delivered, at: moment(at))
      }
      #expect(number == 0 || actions == [.done(wake: number + 1, .coalesced)])
    }
    #expect(pushes == 1)
    #expect(board.accepted(wake(6, at: 1_700), for: [device(1)], at: moment(1_700)).sends.count == 1)
    _ = board.settled(wake: 6, device: 1, .delivered, at: moment(1_700))
    #expect(
      board.accepted(wake(7, to: 2, type: "noise_connect", at: 1_700), for: [device(2, of: 2)], at: moment(1_700)).sends
        .count == 1)
    #expect(
      board.accepted(wake(8, type: "noise_connect", at: 2_000), for: [device(1)], at: moment(2_000)).sends.count == 1)
  }

  @Test("50: a wake that reached nobody stands for no other, nor does one for fewer devices")
  mutating func noCarrier() {
    _ = board.accepted(wake(1), for: [device(1)], at: moment(0))
    #expect(
      board.accepted(wake(2, at: 1), for: [device(1), device(2)], at: moment(1)).sends.map(\.device.number) == [2])
    _ = board.settled(wake: 2, device: 2, .messageFault("x"), at: moment(2))
    _ = board.settled(wake: 1, device: 1, .messageFault("x"), at: moment(2))
    #expect(board.standsForOthers(wake(2)))
    _ = board.settled(wake: 2, device: 1, .messageFault("x"), at: moment(2))
    #expect(!board.standsForOthers(wake(2)))
    #expect(board.accepted(wake(3, at: 3), for: [device(1)], at: moment(3)).sends.count == 1)
  }

  @Test("recipients take turns: one who is woken much waits for himself")
  mutating func fairness() {
    var limits = DeliveryLimits()
    limits.appleInFlightMaximum = 1
    board = DeliveryQueue(limits: limits, seed: 1)
    for number in 1...50 as ClosedRange<Int64> {
      _ = board.accepted(wake(number, type: "t\(number)"), for: (1...5).map { device($0) }, at: moment(0))
    }
    _ = board.accepted(wake(99, to: 2), for: [device(9, of: 2)], at: moment(0))
    var turns = 0
    var last = (wake: Int64(1), device: Int64(1))
    while last.device != 9, turns < 10 {
      let next = board.settled(wake: last.wake, device: last.device, .delivered, at: moment(1)).sends
      if let next = next.first { last = (next.wake.number, next.device.number) }
      turns += 1
    }
    #expect(turns <= 2)
  }

  @Test("a removed device gets nothing more, and a closed board sends nothing")
  mutating func removed() {
    _ = board.accepted(wake(1), for: [device(1)], at: moment(0))
    _ = board.accepted(wake(2, type: "b"), for: [device(1)], at: moment(0))
    #expect(board.deviceRemoved(1, at: moment(1)).outcomes == [2: .undeliverable])
    #expect(board.settled(wake: 1, device: 1, PushVerdict(.broken), at: moment(2)) == [.done(wake: 1, .undeliverable)])
    board.close()
    #expect(board.accepted(wake(3, type: "c"), for: [device(1)], at: moment(3)).isEmpty && board.has(3))
  }
}
