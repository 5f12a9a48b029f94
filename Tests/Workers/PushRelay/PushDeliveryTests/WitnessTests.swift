import Clocks
import PushDelivery
import Testing

@Suite("Whose failures say something of a provider")
struct WitnessTests {
  var board = DeliveryQueue(seed: 1)
  var lastWake: Int64 = 0

  /// Wakes somebody's device, and says what is sent for it.
  private mutating func wakeUp(_ number: Int64, at milliseconds: UInt64) -> (wake: Int64, sends: [PushDelivery]) {
    lastWake += 1
    let target = device(number, .ios, of: UInt8(number))
    let actions = board.accepted(
      wake(lastWake, to: UInt8(number), at: milliseconds), for: [target], at: moment(milliseconds))
    return (lastWake, actions.sends)
  }

  /// A push goes through to device 1.
  private mutating func begin() {
    let first = wakeUp(1, at: 0)
    #expect(board.settled(wake: first.wake, device: 1, .delivered, at: moment(1)).outcomes == [first.wake: .delivered])
  }

  private static let refusals: [PushVerdict] = [
    .providerFault("TopicDisallowed"), .retry(afterMilliseconds: nil, "status-503"),
    .throttled(afterMilliseconds: 1_000), PushVerdict(.timedOut), PushVerdict(.broken),
  ]

  @Test("Tokens that were always refused hold nobody once a push has gone through", arguments: refusals)
  mutating func strangers(_ refusal: PushVerdict) {
    begin()
    var now: UInt64 = 3_000
    for _ in 0..<3 {
      for stranger in Int64(11)...20 {
        let bad = wakeUp(stranger, at: now)
        if !bad.sends.isEmpty {
          let actions = board.settled(wake: bad.wake, device: stranger, refusal, at: moment(now))
          #expect(actions.told.isEmpty)
        }
        now += 100
      }
      // Somebody new, and somebody known.
      #expect(wakeUp(Int64(30 + now % 7), at: now).sends.count == 1)
      let known = wakeUp(1, at: now)
      #expect(known.sends.count == 1)
      _ = board.settled(wake: known.wake, device: 1, .delivered, at: moment(now))
      now += 3_000
    }
    guard case .closed = board.breaker(of: .apple) else { return #expect(Bool(false), "it is held") }
  }

  @Test("A device that a push went through to is believed, until it has another token", arguments: [false, true])
  mutating func witness(hasNewToken: Bool) {
    begin()
    let second = wakeUp(2, at: 2)
    _ = board.settled(wake: second.wake, device: 2, .delivered, at: moment(3))
    // Nothing waits for it when it gets another token, so the board keeps nothing of it.
    var target = device(1, .ios, of: 1)
    if hasNewToken { target.token = token(.ios, 99) }
    #expect(board.accepted(wake(50, to: 1, at: 5_000), for: [target], at: moment(5_000)).sends.count == 1)
    let actions = board.settled(wake: 50, device: 1, .providerFault("Forbidden"), at: moment(5_001))
    #expect(actions.told == (hasNewToken ? [] : [.fault(.apple, "Forbidden")]))
    if case .open = board.breaker(of: .apple) { #expect(!hasNewToken) } else { #expect(hasNewToken) }
  }

  @Test("Without a connection everybody is believed")
  mutating func unreachable() {
    begin()
    var told: [PushAlarm] = []
    for stranger in Int64(11)...15 {
      let bad = wakeUp(stranger, at: 10)
      told += board.settled(wake: bad.wake, device: stranger, PushVerdict(.unreachable), at: moment(11)).told
    }
    #expect(told == [.trouble(.apple, "unreachable")])
  }

  @Test("Before one has gone through, the probe goes to a device whose push has not failed")
  mutating func probe() throws {
    let bad = wakeUp(11, at: 0)
    #expect(board.settled(wake: bad.wake, device: 11, .providerFault("Forbidden"), at: moment(1)).told.count == 1)
    #expect(wakeUp(1, at: 400).sends.isEmpty)
    var now: UInt64 = 400
    var sends: [PushDelivery] = []
    while sends.isEmpty, now < 60_000 {
      now += 10
      sends = board.timerFired(at: moment(now)).sends
    }
    let probe = try #require(sends.first)
    #expect(sends.count == 1 && probe.isProbe && probe.device.number == 1)
    let actions = board.settled(wake: probe.wake.number, device: 1, .delivered, at: moment(now))
    #expect(actions.outcomes == [probe.wake.number: .delivered])
    guard case .closed = board.breaker(of: .apple) else { return #expect(Bool(false), "it is held") }
  }

  @Test("Before one has gone through, what a service of Web Push says of strangers holds nobody", arguments: refusals)
  mutating func webStrangers(_ refusal: PushVerdict) {
    func target(_ number: Int64) -> PushDevice {
      var target = device(number, .webPush, of: UInt8(number))
      target.token = .web(
        endpoint: "https://push.example/\(number)", publicKey: [4] + [UInt8](repeating: 7, count: 64),
        authentication: [UInt8](repeating: 9, count: 16))
      return target
    }
    for number in Int64(11)...70 {
      let sends = board.accepted(wake(number, to: UInt8(number)), for: [target(number)], at: moment(0)).sends
      if sends.isEmpty { continue }
      _ = board.settled(wake: number, device: number, refusal, at: moment(100))
    }
    let sends = board.accepted(wake(100, to: 1, at: 200), for: [target(1)], at: moment(200)).sends
    // Who does not answer is left alone.
    #expect(sends.count == (refusal == PushVerdict(.timedOut) ? 0 : 1))
  }

  @Test("Until then a fault is looked at again within a second or so, however often it was met")
  mutating func doubt() {
    var now: UInt64 = 0
    var faults = 0
    while now < 900_000 {
      let sends = wakeUp(11, at: now).sends + board.timerFired(at: moment(now)).sends
      for send in sends {
        faults += 1
        _ = board.settled(wake: send.wake.number, device: 11, .providerFault("Forbidden"), at: moment(now))
      }
      now += 2_500
    }
    #expect(faults >= 100)
  }
}
