import Clocks
import PushDelivery
import Testing

@Suite("Services of Web Push that do not answer")
struct SlownessTests {
  var board = DeliveryQueue(seed: 1)
  var lastWake: Int64 = 0
  let limits = DeliveryLimits()

  /// Wakes a device at a host of its own.
  private mutating func wakeUp(_ number: Int64, at milliseconds: UInt64) -> [PushDelivery] {
    lastWake += 1
    let holder = UInt8(truncatingIfNeeded: number)
    let target = device(number, .webPush, of: holder)
    return board.accepted(
      wake(lastWake, to: holder, at: milliseconds), for: [target], at: moment(milliseconds)
    ).sends
  }

  private mutating func settle(_ delivery: PushDelivery, _ verdict: PushVerdict, at milliseconds: UInt64)
    -> [PushDelivery]
  {
    board.settled(
      wake: delivery.wake.number, device: delivery.device.number, verdict, at: moment(milliseconds)
    ).sends
  }

  @Test("Hosts that never answer hold half of the places, and a host that does waits for none of them")
  mutating func strangers() throws {
    let first = try #require(wakeUp(1, at: 0).first)
    _ = settle(first, .delivered, at: 100)
    var hanging: [PushDelivery] = []
    for number in Int64(2)...201 { hanging += wakeUp(number, at: 200) }
    #expect(hanging.count == limits.webSlowInFlightMaximum)
    for now in stride(from: UInt64(3_000), through: 30_000, by: 3_000) {
      let honest = try #require(wakeUp(1, at: now).first, "it waits at \(now) ms")
      #expect(honest.device.number == 1)
      #expect(settle(honest, .delivered, at: now + 50).isEmpty)
    }
    // The others take turns.
    let next = settle(try #require(hanging.first), PushVerdict(.timedOut), at: 31_000)
    #expect(next.count == 1)
    #expect(next.first?.device.number != hanging.first?.device.number)
  }

  @Test("A host that took long is one of the slow ones until a push goes through in time", arguments: [false, true])
  mutating func slow(wentThrough: Bool) throws {
    let first = try #require(wakeUp(1, at: 0).first)
    _ = settle(first, .delivered, at: 100)
    let second = try #require(wakeUp(1, at: 3_000).first)
    let end = 3_000 + limits.webSlowMilliseconds
    _ = settle(second, wentThrough ? .delivered : .tokenDead(sinceMilliseconds: 0), at: end)
    var hanging: [PushDelivery] = []
    for number in Int64(2)...101 { hanging += wakeUp(number, at: end) }
    #expect(hanging.count == limits.webSlowInFlightMaximum)
    #expect(wakeUp(1, at: end + 2_000).isEmpty)
    // Its turn comes behind those that were there before; then it is quick again.
    var last: PushDelivery?
    var now = end + 15_000
    while last == nil, let next = hanging.popLast() {
      let sends = settle(next, .tokenDead(sinceMilliseconds: nil), at: now)
      last = sends.first { $0.device.number == 1 }
      now += 10
    }
    _ = settle(try #require(last), .delivered, at: now + 10)
    #expect(wakeUp(1, at: now + 2_500).count == 1)
  }

  @Test("What waits for a host among the slow ones goes as soon as it is none")
  mutating func recovered() throws {
    // Two devices at one host, the others each at another.
    var limits = DeliveryLimits()
    limits.webSlowInFlightMaximum = 2
    board = DeliveryQueue(limits: limits, seed: 1)
    func shared(_ number: Int64) -> PushDevice {
      var target = device(number, .webPush, of: UInt8(number))
      target.token = .web(
        endpoint: "https://shared.example/\(number)", publicKey: [4] + [UInt8](repeating: 7, count: 64),
        authentication: [UInt8](repeating: 9, count: 16))
      return target
    }
    let one = try #require(board.accepted(wake(1, to: 1), for: [shared(1)], at: moment(0)).sends.first)
    lastWake = 2
    #expect(wakeUp(50, at: 0).count == 1)
    #expect(board.accepted(wake(2, to: 2), for: [shared(2)], at: moment(0)).sends.isEmpty)
    #expect(wakeUp(51, at: 0).isEmpty)
    #expect(wakeUp(52, at: 0).isEmpty)
    // The place that is free goes to the one whose turn it is, and another to the host that answers.
    let sends = settle(one, .delivered, at: 20)
    #expect(Set(sends.map(\.device.number)) == [2, 51])
  }
}
