import Clocks
import PushDelivery
import TestSupport
import Testing

// The board in the hands of chance: wakes, results, time, restarts, devices that change, platforms that go. What must
// hold is looked at after each step; at the end everything has come to its end once.

@Suite("The delivery board, whatever happens")
struct BoardPropertyTests {
  @Test("ends each wake once, sends no device two at a time, and keeps its bounds", arguments: seeds(40))
  func holds(seed: UInt64) {
    var play = BoardPlay(seed: seed)
    for _ in 0..<600 { play.step() }
    play.end()
  }
}

struct BoardPlay {
  struct Key: Hashable {
    let wake: Int64
    let device: Int64
  }

  var random: SeededGenerator
  var limits = DeliveryLimits()
  var board: DeliveryQueue
  var now: UInt64 = 0
  var nextWake: Int64 = 1
  /// What the ledger has: wakes that have not ended.
  var ledger: [Int64: Wake] = [:]
  /// Wakes up to this one were handed to the board.
  var last: Int64 = 0
  var ended: [Int64: WakeOutcome] = [:]
  /// What has ended for a device, as the ledger is told, while the wake goes on.
  var settled: Set<Key> = []
  var inFlight: [Key: PushDelivery] = [:]
  var delivered: Set<Int64> = []
  var devices: [Int64: PushDevice] = [:]

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    limits.platformWakeMaximum = Int.random(in: 2...40, using: &random)
    limits.appleInFlightMaximum = Int.random(in: 1...8, using: &random)
    limits.googleInFlightMaximum = Int.random(in: 1...8, using: &random)
    limits.webInFlightMaximum = Int.random(in: 1...6, using: &random)
    limits.webHostInFlightMaximum = Int.random(in: 1...3, using: &random)
    board = DeliveryQueue(limits: limits, seed: seed)
    for number in 1...12 as ClosedRange<Int64> { renew(number) }
    switchOff()
  }

  /// Of each process, some platforms are switched off.
  private mutating func switchOff() {
    for platform in PushPlatform.allCases where Int.random(in: 0..<8, using: &random) == 0 {
      board.platformDown(platform)
    }
  }

  var moment: PushMoment { PushDeliveryTests.moment(now) }

  mutating func renew(_ number: Int64) {
    let platform = PushPlatform.allCases[Int(number) % 3]
    var device = device(number, platform, of: UInt8(number % 4))
    device.registeredAt = moment.unixSeconds
    if platform == .ios { device.token = .apple((0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }) }
    devices[number] = device
  }

  func devices(of wake: Wake) -> [PushDevice] {
    devices.values.filter { $0.owner == wake.recipient && !settled.contains(Key(wake: wake.number, device: $0.number)) }
      .sorted { $0.number < $1.number }
  }

  mutating func step() {
    switch Int.random(in: 0..<24, using: &random) {
    case 0..<9: accept()
    case 9..<17: settleOne()
    case 17..<20: pass(UInt64.random(in: 0...4_000, using: &random))
    case 20, 21:
      let number = Int64.random(in: 1...12, using: &random)
      renew(number)
      if let device = devices[number] { perform(board.deviceChanged(device, at: moment)) }
    case 22: remove(Int64.random(in: 1...12, using: &random))
    default: if Int.random(in: 0..<10, using: &random) == 0 { restart() }
    }
  }

  private mutating func remove(_ number: Int64) {
    devices[number] = nil
    perform(board.deviceRemoved(number, at: moment))
  }

  private mutating func accept() {
    let type = ["noise_connect", "payment_received", "x"].randomElement(using: &random) ?? "x"
    let wake = wake(
      nextWake, to: UInt8.random(in: 0..<5, using: &random), type: type, at: now,
      seconds: Int64.random(in: 1...20, using: &random))
    nextWake += 1
    ledger[wake.number] = wake
    readOn()
  }

  private mutating func readOn() {
    for wake in ledger.values.sorted(by: { $0.number < $1.number }) where wake.number > last {
      last = wake.number
      perform(board.accepted(wake, for: devices(of: wake), at: moment))
    }
  }

  private mutating func settleOne() {
    let keys = inFlight.keys.sorted { ($0.wake, $0.device) < ($1.wake, $1.device) }
    guard let key = keys.randomElement(using: &random) else { return }
    settle(key, chance())
  }

  private mutating func chance() -> PushVerdict {
    switch Int.random(in: 0..<16, using: &random) {
    case 0..<5: .delivered
    case 5: .tokenDead(sinceMilliseconds: Bool.random(using: &random) ? nil : moment.unixMilliseconds)
    case 6: .tokenSuspect("a")
    case 7: .providerFault("b")
    case 8: .renewCredential("c")
    case 9, 10: .retry(afterMilliseconds: Bool.random(using: &random) ? nil : 3_000, "d")
    case 11: .resend
    case 12: .delayToken(afterMilliseconds: UInt64.random(in: 0...9_000, using: &random))
    case 13: .throttled(afterMilliseconds: 2_000)
    case 14: .messageFault("e")
    default: .tokenDead(sinceMilliseconds: 5)
    }
  }

  private mutating func settle(_ key: Key, _ verdict: PushVerdict) {
    inFlight[key] = nil
    if verdict == .delivered { delivered.insert(key.wake) }
    perform(board.settled(wake: key.wake, device: key.device, verdict, at: moment))
    // A second result of the same push is none, unless it was sent once more at once.
    if inFlight[key] == nil {
      #expect(board.settled(wake: key.wake, device: key.device, .delivered, at: moment).isEmpty)
      check()
    }
  }

  private mutating func pass(_ milliseconds: UInt64) {
    now += milliseconds
    perform(board.timerFired(at: moment))
    // What was left in the ledger for a platform that its recipient has left since is nobody's but the ledger's.
    for wake in ledger.values where !board.has(wake.number) && wake.expiresAt <= moment.unixMilliseconds {
      ledger[wake.number] = nil
      ended[wake.number] = .expired
    }
    if let deadline = board.deadline { #expect(deadline > moment.instant, "what was due has been done") }
  }

  /// The process dies: what was under way has no result, nobody knows which devices of a wake were reached, and the
  /// ledger is read.
  private mutating func restart() {
    inFlight = [:]
    delivered.subtract(ledger.keys)
    board = DeliveryQueue(limits: limits, seed: random.next())
    switchOff()
    last = 0
    readOn()
  }

  private func page(on platform: PushPlatform, most: Int) -> [(wake: Wake, devices: [PushDevice])] {
    let waiting = ledger.values.sorted { $0.number < $1.number }.filter { wake in
      wake.number <= last && !board.has(wake.number)
        && (devices(of: wake).contains { $0.token.platform == platform } || devices(of: wake).isEmpty)
    }
    return waiting.prefix(most).map { ($0, devices(of: $0)) }
  }

  private mutating func perform(_ actions: [DeliveryAction]) {
    for action in actions {
      switch action {
      case .send(let delivery): sent(delivery)
      case .done(let wake, let outcome):
        #expect(ended[wake] == nil && ledger[wake] != nil, "wake \(wake) ends once")
        ended[wake] = outcome
        if outcome == .undeliverable || outcome == .expired { #expect(!delivered.contains(wake)) }
        ledger[wake] = nil
      case .ended(let wake, let device):
        #expect(ledger[wake] != nil && settled.insert(Key(wake: wake, device: device)).inserted)
      case .prune(let device):
        if devices[device.number]?.token == device.token { devices[device.number] = nil }
      case .needs(let more, let platform):
        #expect(more > 0)
        let found = page(on: platform, most: more + 1)
        perform(
          board.restored(Array(found.prefix(more)), on: platform, isAll: found.count <= more, at: moment))
      case .alarm: break
      }
    }
    check()
  }

  private mutating func sent(_ delivery: PushDelivery) {
    let key = Key(wake: delivery.wake.number, device: delivery.device.number)
    #expect(!inFlight.keys.contains { $0.device == key.device }, "one at a time for each device")
    #expect(delivery.wake.expiresAt > moment.unixMilliseconds, "what is too late is not sent")
    #expect(ended[key.wake] == nil && !settled.contains(key), "what has ended is not sent")
    inFlight[key] = delivery
  }

  private func check() {
    for platform in PushPlatform.allCases {
      let count = inFlight.values.count { $0.device.token.platform == platform }
      #expect(count == board.inFlightCount(of: platform) && count <= limits.inFlightMaximum(of: platform))
    }
    let hosts = Dictionary(grouping: inFlight.values, by: \.device.token.provider)
    for (provider, pushes) in hosts { #expect(pushes.count <= limits.inFlightMaximum(of: provider)) }
    #expect(board.count <= 3 * limits.platformWakeMaximum)
  }

  /// Everything is answered and all time passes: nothing is left.
  mutating func end() {
    for _ in 0..<400 where !ledger.isEmpty || !inFlight.isEmpty {
      for key in inFlight.keys.sorted(by: { ($0.wake, $0.device) < ($1.wake, $1.device) }) {
        settle(key, Bool.random(using: &random) ? .delivered : chance())
      }
      pass(500)
    }
    #expect(ledger.isEmpty && inFlight.isEmpty && board.count == 0, "\(ledger.keys.sorted()) are left")
    #expect(ended.count == Int(nextWake) - 1)
  }
}
