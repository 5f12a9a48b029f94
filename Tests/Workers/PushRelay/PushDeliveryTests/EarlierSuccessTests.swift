import Clocks
import PushDelivery
import Testing

@Suite("A platform that let a push through before the start")
struct EarlierSuccessTests {
  var board = DeliveryQueue(seed: 1)
  var lastWake: Int64 = 0

  /// Wakes devices, each of an owner of its own, one after the other, and has what is sent end like this.
  private mutating func fail(_ numbers: ClosedRange<Int64>, _ verdict: PushVerdict, at milliseconds: UInt64)
    -> [PushAlarm]
  {
    var told: [PushAlarm] = []
    for number in numbers {
      for delivery in wakeUp(number, at: milliseconds) {
        told +=
          board.settled(wake: delivery.wake.number, device: number, verdict, at: moment(milliseconds)).told
      }
    }
    return told
  }

  private mutating func wakeUp(_ number: Int64, at milliseconds: UInt64) -> [PushDelivery] {
    lastWake += 1
    return board.accepted(
      wake(lastWake, to: UInt8(number), at: milliseconds), for: [device(number, of: UInt8(number))],
      at: moment(milliseconds)
    ).sends
  }

  private static let refusals: [PushVerdict] = [.tokenSuspect("BadDeviceToken"), .providerFault("TopicDisallowed")]

  @Test("is not slowed down by tokens that are refused, and the first good one is sent at once", arguments: refusals)
  mutating func strangers(_ verdict: PushVerdict) {
    board.wentThroughBefore(.ios)
    #expect(fail(1...100, verdict, at: 0).isEmpty)
    #expect(board.breaker(of: .apple) == .closed(failureCount: 0))
    let good = wakeUp(200, at: 1)
    #expect(good.count == 1)
    _ = board.settled(wake: lastWake, device: 200, .delivered, at: moment(2))
    #expect(fail(101...190, verdict, at: 3).isEmpty, "one has gone through since")
  }

  @Test("is in doubt once very many owners are refused, and then one push a second is tried", arguments: refusals)
  mutating func doubt(_ verdict: PushVerdict) throws {
    board.wentThroughBefore(.ios)
    #expect(fail(1...127, verdict, at: 0).isEmpty)
    #expect(fail(128...135, verdict, at: 0).count == 1)
    #expect(board.breaker(of: .apple) != .closed(failureCount: 0))
    var now: UInt64 = 0
    for _ in 1...3 {
      now += 1_000
      let probe = try #require(board.timerFired(at: moment(now)).sends.first)
      #expect(probe.isProbe)
      let actions = board.settled(wake: probe.wake.number, device: probe.device.number, verdict, at: moment(now))
      #expect(actions.sends.isEmpty && actions.told.isEmpty)
    }
  }

  @Test("is in doubt once nothing has gone through for ten minutes, however few are woken", arguments: refusals)
  mutating func small(_ verdict: PushVerdict) {
    board.wentThroughBefore(.ios)
    #expect(fail(1...6, verdict, at: 0).isEmpty)
    #expect(fail(11...16, verdict, at: 599_000).isEmpty)
    #expect(fail(21...26, verdict, at: 600_000).count == 1)
  }

  @Test("is one after that when something goes through: tokens that it went to are believed again")
  mutating func again() {
    board.wentThroughBefore(.ios)
    for number in 1...5 as ClosedRange<Int64> {
      #expect(wakeUp(number, at: 0).count == 1)
      _ = board.settled(wake: lastWake, device: number, .delivered, at: moment(0))
    }
    let verdict = PushVerdict.tokenSuspect("BadDeviceToken")
    #expect(fail(1...5, verdict, at: 5_000) == [.everyTokenRefused(.apple, "BadDeviceToken")])
  }

  @Test("is noticed at once in what no token brings about")
  mutating func ours() {
    board.wentThroughBefore(.ios)
    let reason: PushReason = "InvalidProviderToken"
    #expect(fail(1...1, .providerFault(reason), at: 0) == [.fault(.apple, reason)])
  }
}
