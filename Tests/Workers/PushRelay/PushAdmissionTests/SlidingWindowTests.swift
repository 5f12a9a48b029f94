import Clocks
import TestSupport
import Testing

@testable import PushAdmission

@Suite("A sliding window") struct SlidingWindowTests {
  private let start: Int64 = 1_760_000_000

  /// The obvious way: all times, and those that count.
  private struct Ledger {
    var times: [(at: Int64, cost: Int)] = []
    func spent(within seconds: Int64, before now: Int64) -> Int {
      times.filter { $0.at > now - seconds && $0.at <= now }.reduce(0) { $0 + $1.cost }
    }
  }

  @Test("The eleventh in a minute is one too many, and told to come back after at most 70 seconds (case 30)")
  func eleventh() {
    let rule = WindowRule.perMinute(10)
    var window = SlidingWindow()
    for second in 0..<10 {
      #expect(window.wait(for: 1, rule, now: start + Int64(second)) == 0)
      window.spend(1, rule, now: start + Int64(second))
    }
    let wait = window.wait(for: 1, rule, now: start + 9)
    #expect((51...61).contains(wait), "\(wait)")
    #expect(window.wait(for: 1, rule, now: start + 9 + wait - 1) > 0)
    #expect(window.wait(for: 1, rule, now: start + 9 + wait) == 0)
  }

  @Test("No window of its length ever has more than the limit, and who waits as told has room", arguments: seeds(40))
  func property(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let rule = Bool.random(using: &generator) ? WindowRule.perMinute(10) : WindowRule.perHour(100)
    var window = SlidingWindow()
    var ledger = Ledger()
    var now = start + Int64.random(in: 0..<10_000, using: &generator)
    for _ in 0..<2_000 {
      now += Int64.random(in: 0...max(1, rule.seconds / 30), using: &generator)
      let cost = Int.random(in: 1...3, using: &generator)
      let wait = window.wait(for: cost, rule, now: now)
      #expect(wait >= 0 && wait <= rule.waitMaximum)
      if wait == 0 {
        window.spend(cost, rule, now: now)
        ledger.times.append((now, cost))
        #expect(ledger.spent(within: rule.seconds, before: now) <= rule.limit)
      } else {
        #expect(window.wait(for: cost, rule, now: now + wait) == 0)
        #expect(window.wait(for: cost, rule, now: now + wait - 1) > 0)
        // Nobody is kept out for what is older than a window and a slot.
        #expect(ledger.spent(within: rule.seconds + rule.slotSeconds, before: now) + cost > rule.limit)
      }
    }
  }

  @Test("What is joined holds whoever it is joined of to what either had spent", arguments: seeds(20))
  func union(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let rule = WindowRule.perMinute(100)
    var windows = [SlidingWindow(), SlidingWindow()]
    var now = start
    for _ in 0..<50 {
      now += Int64.random(in: 0...20, using: &generator)
      windows[Int.random(in: 0...1, using: &generator)].spend(1, rule, now: now)
    }
    let joined = windows[0].union(windows[1])
    #expect(joined == windows[1].union(windows[0]))
    for later in stride(from: now, to: now + 80, by: 5) {
      let each = windows.map { $0.spent(rule, now: later) }
      let sum = joined.spent(rule, now: later)
      #expect(sum >= each[0] && sum >= each[1] && sum <= each[0] + each[1])
    }
  }

  @Test("What a slot cannot count any more it counts as full")
  func saturated() {
    var window = SlidingWindow()
    let rule = WindowRule.perMinute(WindowRule.limitMaximum)
    for _ in 0..<3 { window.spend(3_000_000_000, rule, now: start) }
    #expect(window.spent(rule, now: start) == Int(UInt32.max) && window.wait(for: 1, rule, now: start) > 0)
  }

  @Test("Whoever may spend nothing waits for ever")
  func nothing() {
    let rule = WindowRule.perHour(0)
    #expect(SlidingWindow().wait(for: 1, rule, now: start) == rule.waitMaximum)
  }
}

@Suite("A table of windows") struct WindowTableTests {
  private let start: Int64 = 1_760_000_000

  @Test("A million keys leave no more than there is room for (case 36)")
  func bounded() {
    var table = WindowTable(rule: .perHour(100), keyMaximum: 1_000, hasShadows: true)
    for key in 0..<UInt64(1_000_000) { table.spend(1, key &* 0x9E37_79B9_7F4A_7C15, now: start + Int64(key / 1_000)) }
    #expect(table.count <= 1_000)
  }

  @Test("Who is dropped for lack of room has spent what was spent of his; where the window was his own it is forgotten")
  func dropped() {
    var own = WindowTable(rule: .perHour(100), keyMaximum: 10, hasShadows: false)
    own.spend(100, 7, now: start)
    for key in 0..<UInt64(50) { own.spend(1, 1_000 + key, now: start + 1) }
    #expect(own.count == 10 && own.spent(7, now: start + 1) == 0)
    var table = WindowTable(rule: .perHour(100), keyMaximum: 10, hasShadows: true)
    table.spend(100, 7, now: start)
    #expect(table.wait(for: 1, 7, now: start) > 0)
    for key in 0..<UInt64(50) { table.spend(1, 1_000 + key, now: start + 1) }
    #expect(table.count == 10 && table.spent(7, now: start + 1) == 100 && table.wait(for: 1, 7, now: start + 1) > 0)
    #expect(table.wait(for: 1, 7, now: start + 4_200) == 0)
  }

  @Test("A newcomer is not refused for what a flood of others has spent", arguments: [false, true])
  func newcomers(hasShadows: Bool) {
    // As many as a relay lets through in an hour.
    var table = WindowTable(rule: .perHour(20), keyMaximum: 1_000, hasShadows: hasShadows)
    for number in 0..<UInt64(360_000) {
      table.spend(1, key(number), now: start + Int64(number / 100))
    }
    let refused = (0..<UInt64(10_000)).count { table.wait(for: 1, key(~$0), now: start + 3_600) > 0 }
    #expect(refused == 0)
  }

  @Test("Half spent by everybody stays so over a start, for who comes first as well", arguments: [false, true])
  func halfSpentKept(hasShadows: Bool) throws {
    var table = WindowTable(rule: .perHour(20), keyMaximum: 10, hasShadows: hasShadows)
    table.assumeHalfSpent(now: start)
    var writer = SnapshotWriter()
    table.write(to: &writer, now: start)
    var reader = try #require(SnapshotReader(writer.finished()))
    let read = try #require(
      WindowTable(from: &reader, rule: table.rule, keyMaximum: 10, hasShadows: hasShadows, now: start))
    #expect(reader.isAtEnd && read.spent(12_345, now: start) == 10)
  }

  @Test("What does not count any more goes, as others come")
  func swept() {
    var table = WindowTable(rule: .perMinute(10), keyMaximum: 10_000, hasShadows: false)
    for key in 0..<UInt64(1_000) { table.spend(1, key, now: start) }
    for key in 0..<UInt64(1_000) { table.spend(1, 5_000 + key, now: start + 600) }
    #expect(table.count == 1_000)
  }
}

@Suite("A steady clock") struct SteadyClockTests {
  @Test("A step back is no time at all, and it goes on from there (case 53)")
  func steps() {
    var clock = SteadyClock(now: 10_000)
    #expect(clock.tell(10_010) == 10_010)
    #expect(clock.tell(6_410) == 10_010)
    #expect(clock.tell(6_420) == 10_020)
    #expect(clock.tell(10_020) == 13_620)
  }

  @Test("No time is beyond it")
  func extremes() {
    var clock = SteadyClock(now: .min)
    for now in [Int64.max, .min, .max, 0, .max, -1, .max] { #expect(clock.tell(now) >= 0) }
    var read = SteadyClock(last: .max, wall: .min, now: .max)
    #expect(read.tell(.max) > 0)
  }
}

/// A key as good as any: SplitMix64 of a number.
private func key(_ number: UInt64) -> UInt64 {
  var word = number &* 0x9E37_79B9_7F4A_7C15
  word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
  word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
  return word ^ (word >> 31)
}
