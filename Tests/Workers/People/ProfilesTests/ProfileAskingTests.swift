import Clocks
import Cryptography
import Profiles
import Testing

/// Whom relays are asked for, and when.
@Suite("Asking for profiles")
struct ProfileAskingTests {
  private var generator = SeededGenerator(seed: 7)

  private static func moment(_ milliseconds: UInt64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

  private static func keys(_ range: Range<Int>) -> [PublicKey] {
    range.compactMap { number in
      let digits = String(number, radix: 16)
      return PublicKey(String(repeating: "0", count: 64 - digits.count) + digits)
    }
  }

  private static func wants(_ actions: [ProfileAsking.Action]) -> [(number: UInt64, keys: [PublicKey])] {
    actions.compactMap { if case .want(let number, let keys) = $0 { (number, keys) } else { nil } }
  }

  @Test("What is wanted within a tenth of a second is one batch, each person once, also of overlapping sets")
  func gathered() {
    var asking = ProfileAsking()
    let first = asking.wanted(Self.keys(0..<100), maxAgeMilliseconds: 0, at: Self.moment(0))
    #expect(first.pending.count == 100 && first.actions == [.setTimer(Self.moment(100))])
    let second = asking.wanted(Self.keys(50..<150), maxAgeMilliseconds: 0, at: Self.moment(60))
    #expect(second.pending.count == 100 && second.actions.isEmpty)
    #expect(Self.wants(asking.timerFired(at: Self.moment(99))).isEmpty)
    let wants = Self.wants(asking.timerFired(at: Self.moment(100)))
    #expect(wants.count == 1 && wants.first?.keys == Self.keys(0..<150))
    // It is under way: a third caller joins it.
    let third = asking.wanted(Self.keys(140..<150), maxAgeMilliseconds: 0, at: Self.moment(200))
    #expect(third.pending.count == 10 && third.actions.isEmpty)
    #expect(asking.ended(1, at: Self.moment(900)) == [.asked(Self.keys(0..<150), failure: nil)])
    #expect(asking.openCount == 0 && asking.ended(1, at: Self.moment(901)).isEmpty)
  }

  @Test("A person is not asked for again within the age, also when there was no profile; with age 0 always")
  func ages() {
    var asking = ProfileAsking()
    _ = asking.wanted(Self.keys(0..<3), maxAgeMilliseconds: 5_000, at: Self.moment(0))
    _ = asking.timerFired(at: Self.moment(100))
    _ = asking.ended(1, at: Self.moment(1_000))
    // The age counts from when the question went out.
    #expect(asking.wanted(Self.keys(0..<3), maxAgeMilliseconds: 5_000, at: Self.moment(5_099)).pending.isEmpty)
    #expect(asking.wanted(Self.keys(0..<1), maxAgeMilliseconds: 5_000, at: Self.moment(5_100)).pending.count == 1)
    #expect(asking.wanted(Self.keys(1..<2), maxAgeMilliseconds: 0, at: Self.moment(5_101)).pending.count == 1)
    #expect(asking.openCount == 2)
  }

  @Test("A full batch goes at once, and the people behind it are gathered")
  func full() {
    var asking = ProfileAsking()
    let (pending, actions) = asking.wanted(Self.keys(0..<1_100), maxAgeMilliseconds: 0, at: Self.moment(0))
    #expect(pending.count == 1_100)
    #expect(Self.wants(actions).map(\.keys) == [Self.keys(0..<500), Self.keys(500..<1_000)])
    #expect(actions.last == .setTimer(Self.moment(100)))
    // What fills a batch while others are gathered sends it; nothing is left to wait for.
    let more = asking.wanted(Self.keys(1_100..<1_500), maxAgeMilliseconds: 0, at: Self.moment(40))
    #expect(Self.wants(more.actions).map(\.keys) == [Self.keys(1_000..<1_500)])
    #expect(Self.wants(asking.timerFired(at: Self.moment(100))).isEmpty)
    let next = asking.wanted(Self.keys(2_000..<2_001), maxAgeMilliseconds: 0, at: Self.moment(120))
    #expect(next.actions == [.setTimer(Self.moment(220))])
  }

  @Test("Batches have 500 people at most, and so many are under way; the next goes when one ends")
  func bounds() {
    var limits = ProfileAsking.Limits()
    limits.underWayMaximum = 3
    var asking = ProfileAsking(limits: limits)
    let first = asking.wanted(Self.keys(0..<2_200), maxAgeMilliseconds: 0, at: Self.moment(0))
    #expect(Self.wants(first.actions).map(\.keys.count) == [500, 500, 500])
    #expect(Self.wants(asking.timerFired(at: Self.moment(100))).isEmpty)
    // Few people do not wait behind many.
    _ = asking.wanted(Self.keys(5_000..<5_010), maxAgeMilliseconds: 0, at: Self.moment(150))
    let next = asking.ended(2, at: Self.moment(300))
    #expect(Self.wants(next).map(\.keys.count) == [500])
    #expect(Self.wants(next).first?.keys.prefix(10) == Self.keys(5_000..<5_010)[...])
    let last = Self.wants(asking.ended(1, at: Self.moment(400)))
    #expect(last.map(\.keys.count) == [210] && asking.openCount == 500 + 500 + 210)
    #expect(asking.hasRoom(for: limits.keyMaximum - 1_210) && !asking.hasRoom(for: limits.keyMaximum))
  }

  @Test("A batch that is refused goes out again, later each time, and after its patience its people are given up")
  mutating func refused() {
    var asking = ProfileAsking()
    _ = asking.wanted(Self.keys(0..<5), maxAgeMilliseconds: 0, at: Self.moment(0))
    _ = asking.timerFired(at: Self.moment(100))
    var now = Self.moment(200)
    var attempts = 1
    while true {
      let actions = asking.failed(1, "away", at: now, using: &generator)
      if actions.contains(.asked(Self.keys(0..<5), failure: "away")) { break }
      guard case .setTimer(let next)? = actions.last, next > now else {
        Issue.record("no timer: \(actions)")
        return
      }
      // A caller that comes meanwhile waits for the same.
      #expect(asking.wanted(Self.keys(0..<5), maxAgeMilliseconds: 0, at: now).pending.count == 5)
      #expect(Self.wants(asking.timerFired(at: next)).map(\.keys) == [Self.keys(0..<5)])
      attempts += 1
      now = next
    }
    #expect((8...40).contains(attempts) && now.milliseconds(since: Self.moment(100)) >= 15_000, "\(attempts)")
    #expect(asking.openCount == 0)
    #expect(
      asking.wanted(Self.keys(0..<5), maxAgeMilliseconds: 60_000, at: now).pending.count == 5, "they were not asked for"
    )
  }

  @Test("When people were asked for is remembered within a bound, the last half of it at least")
  func history() {
    var history = AskedKeys(countMaximum: 100)
    let keys = Self.keys(0..<1_000)
    for (number, key) in keys.enumerated() { history.asked([key], at: Self.moment(UInt64(number))) }
    #expect((50...100).contains(history.count))
    #expect(keys.suffix(50).allSatisfy { history[$0] != nil } && keys.prefix(900).allSatisfy { history[$0] == nil })
    history.asked([keys[999]], at: Self.moment(5_000))
    #expect(history[keys[999]] == Self.moment(5_000))
  }
}
