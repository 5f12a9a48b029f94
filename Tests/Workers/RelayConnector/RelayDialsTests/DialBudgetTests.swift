import Clocks
import RelayDials
import TestSupport
import Testing

@Suite("The dial budget")
struct DialBudgetTests {
  private let bench = DialBench()

  // MARK: A minute

  @Test("Eight new relays a minute, and four more for gift wraps; the others wait, with the reason")
  func perMinute() throws {
    for key in 0..<10 as Range<UInt64> { bench.want(key, .feed) }
    #expect(bench.dialled == Array(0..<8))
    let wait = try #require(bench.wait(of: 8))
    #expect(
      wait.reason == "8 new relays were dialled within the last minute, which is the budget; 4 more are kept for "
        + "private messages")
    #expect(wait.milliseconds == 60_000)
    for key in 20..<25 as Range<UInt64> { bench.want(key, .giftWrap) }
    #expect(bench.dialled == Array(0..<8) + Array(20..<24))
    #expect(
      bench.wait(of: 24)?.reason == "12 new relays were dialled within the last minute, which is the budget")
    bench.pass(milliseconds: 59_999)
    #expect(bench.dials.count == 12)
    bench.pass(milliseconds: 1_000)
    #expect(bench.dialled.suffix(3) == [24, 8, 9], "the most urgent one first, then in their order")
    #expect(bench.budget.waitingCount == 0)
  }

  @Test("Work for a relay with a socket is no new dial, and a reconnection is one")
  func reconnection() {
    bench.want(1, .feed)
    bench.want(1, .publish)
    bench.release(1)
    bench.want(1, .lookUp)
    #expect(bench.dials.count == 1)
    for _ in 0..<10 {
      bench.end(1)
      bench.want(1, .feed)
    }
    #expect(bench.dials.count == 8)
    #expect(bench.wait(of: 1)?.milliseconds == 60_000)
  }

  @Test("The most urgent purpose goes first, and a relay keeps its place among equals when it becomes more urgent")
  func order() {
    for key in 0..<8 as Range<UInt64> { bench.want(key, .feed) }
    for (key, purpose) in [(10, .lookUp), (11, .feed), (12, .publish), (13, .feed), (10, .publish)]
      as [(UInt64, DialPurpose)]
    {
      bench.want(key, purpose)
    }
    bench.pass(milliseconds: 62_000)
    #expect(bench.dialled.suffix(4) == [10, 12, 11, 13])
  }

  @Test(
    "Two relays at a time are dialled for old events, after everything else; one that is wanted for more is no such")
  func backfills() {
    for key in 0..<4 as Range<UInt64> { bench.want(key, .backfill) }
    #expect(bench.dialled == [0, 1])
    #expect(bench.wait(of: 2)?.reason == "2 relays are in use for old events, which is the budget")
    for key in 10..<12 as Range<UInt64> { bench.want(key, .lookUp) }
    #expect(bench.dialled == [0, 1, 10, 11], "a backfill delays nothing else")
    #expect(DialPurpose.allCases.max() == .backfill, "everything else goes before it")
    bench.want(0, .feed)
    bench.pass(milliseconds: 1_000)
    #expect(bench.dialled == [0, 1, 10, 11, 2])
    bench.end(1)
    bench.pass(milliseconds: 1_000)
    #expect(bench.dialled.last == 3)
  }

  @Test("The queue moves with pauses of 100 to 300 ms")
  func jitter() {
    for key in 0..<16 as Range<UInt64> { bench.want(key, .feed) }
    bench.pass(milliseconds: 70_000)
    #expect(bench.dials.count == 16)
    let times = bench.dials.dropFirst(8).map(\.at)
    let pauses = zip(times, times.dropFirst()).map { $1.milliseconds(since: $0) }
    #expect(pauses.allSatisfy { (100...300).contains($0) } && Set(pauses).count > 1, "\(pauses)")
  }

  @Test("However many gift wraps come, a publication that waits is dialled with the next free dial after 10 s")
  func starvation() throws {
    var next: UInt64 = 100
    func come(_ seconds: Int) {
      for _ in 0..<seconds {
        for _ in 0..<3 {
          bench.want(next, .giftWrap)
          next += 1
        }
        // Gift wraps take a moment at their relay.
        for key in bench.open where key >= 100 { bench.end(key) }
        bench.pass(milliseconds: 1_000)
      }
    }
    come(30)
    bench.want(1, .publish)
    bench.want(2, .publish)
    let wanted = bench.now
    come(90)
    let first = try #require(bench.dials.first { $0.key == 1 })
    let second = try #require(bench.dials.first { $0.key == 2 })
    // The gift wraps have used the whole minute's dials: the next one is free when the first of them is a minute old.
    let free = bench.dials.first { $0.at > wanted.advanced(milliseconds: 10_000) }
    #expect(free?.key == 1 && first.at.milliseconds(since: wanted) >= 10_000)
    #expect(second.at.milliseconds(since: first.at) >= 10_000)
    #expect(bench.mostInAMinute() == 12)
  }

  @Test("The guard does not touch what is kept for gift wraps")
  func guardKeepsReserve() {
    for key in 0..<8 as Range<UInt64> { bench.want(key, .feed) }
    bench.want(20, .publish)
    bench.pass(milliseconds: 30_000)
    #expect(bench.dials.count == 8)
    for key in 30..<34 as Range<UInt64> { bench.want(key, .giftWrap) }
    #expect(bench.dialled.suffix(4) == Array(30..<34))
  }

  // MARK: Sockets

  @Test("Sixteen sockets, and four more for gift wraps; a socket counts until it has ended")
  func sockets() {
    for key in 0..<20 as Range<UInt64> {
      bench.want(key, .feed)
      bench.pass(milliseconds: 20_000)
    }
    #expect(bench.dialled == Array(0..<16))
    #expect(
      bench.wait(of: 16) == bench.wait(of: 19)
        && bench.wait(of: 16)?.reason
          == "16 relays outside the groups of supervisor.conf are in use, which is the budget"
        && bench.wait(of: 16)?.milliseconds == nil)
    for key in 40..<45 as Range<UInt64> {
      bench.want(key, .giftWrap)
      bench.pass(milliseconds: 20_000)
    }
    #expect(bench.open.count == 20 && bench.wait(of: 44) != nil)
    bench.end(3)
    #expect(bench.dialled.last == 44)
    for key in 40..<45 as Range<UInt64> { bench.end(key) }
    bench.pass(milliseconds: 1_000)
    #expect(bench.dialled.last == 16 && bench.open.count == 16)
  }

  @Test("A socket that nothing needs is closed for a new one, the one longest unused first, and counts meanwhile")
  func idle() {
    for key in 0..<16 as Range<UInt64> {
      bench.want(key, .feed)
      bench.pass(milliseconds: 10_000)
    }
    bench.release(5)
    bench.pass(milliseconds: 1_000)
    bench.release(3)
    #expect(bench.closing.isEmpty, "nothing else needs a place")
    bench.want(20, .publish)
    #expect(bench.closing == [5] && !bench.dialled.contains(20))
    bench.want(20, .publish)
    #expect(bench.closing == [5], "one is enough")
    bench.endClosing()
    #expect(bench.dialled.last == 20 && bench.mostSockets == 16)
    bench.want(3, .feed)
    bench.want(21, .publish)
    #expect(bench.closing.isEmpty, "it is needed again")
  }

  @Test("A relay that leaves its group counts with its socket, and one that joins it does not count any longer")
  func groups() {
    for key in 0..<16 as Range<UInt64> { bench.leaveGroup(key) }
    bench.want(20, .feed)
    #expect(bench.dials.isEmpty)
    bench.joinGroup(4)
    #expect(bench.dialled == [20])
  }

  // MARK: Places

  @Test("A place is kept for work that comes again, and given up when it does not; other places end at once")
  func places() {
    for key in 0..<8 as Range<UInt64> { bench.want(key, .feed) }
    bench.want(10, .publish)
    bench.want(11, .feed)
    bench.want(12, .publish)
    for key in 10..<13 as Range<UInt64> { bench.release(key) }
    #expect(bench.budget.waitingCount == 2)
    bench.pass(milliseconds: 20_000)
    bench.want(12, .publish)
    bench.release(12)
    bench.pass(milliseconds: 20_000)
    #expect(bench.budget.waitingCount == 1 && bench.wait(of: 10) == nil)
    bench.leave(12)
    #expect(bench.budget.waitingCount == 0 && bench.timer == nil)
  }

  // MARK: Relays that others name

  @Test("Relays that only others name have four sockets and four dials a minute, and take none of the others' dials")
  func foreign() {
    for key in 0..<50 as Range<UInt64> { bench.want(key, .foreign) }
    #expect(bench.dialled == Array(0..<4))
    #expect(bench.wait(of: 10)?.reason == "4 relays that others name are in use, which is the budget")
    for key in 100..<108 as Range<UInt64> { bench.want(key, .publish) }
    for key in 108..<112 as Range<UInt64> { bench.want(key, .giftWrap) }
    #expect(bench.dialled.suffix(12) == Array(100..<112))
    bench.end(0)
    #expect(bench.dials.count == 16)
    #expect(
      bench.wait(of: 10)?.reason
        == "4 relays that others name were dialled within the last minute, which is the budget")
    bench.pass(milliseconds: 60_000)
    #expect(bench.dialled.last == 4)
    #expect(bench.mostSockets <= DialBudget.socketMaximum)
  }

  // MARK: Random

  @Test(
    "Scenarios 14 and 16: hundreds of links never get more dials a minute, or more sockets, and what waits gets its turn",
    arguments: seeds(40))
  func random(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<3_000 {
      let key = UInt64.random(in: 0..<400, using: &generator)
      switch Int.random(in: 0..<10, using: &generator) {
      case 0..<4:
        let purpose = DialPurpose.allCases.randomElement(using: &generator) ?? .feed
        if !bench.closing.contains(key) { bench.want(key, purpose) }
      case 4: bench.release(key)
      case 5: bench.leave(key)
      case 6: if let key = bench.open.randomElement(using: &generator) { bench.end(key) }
      case 7: bench.endClosing()
      default: bench.pass(milliseconds: UInt64.random(in: 0..<2_000, using: &generator))
      }
    }
    #expect(bench.mostSockets <= DialBudget.socketMaximum)
    #expect(bench.mostInAMinute() <= DialBudget.dialMaximum + DialBudget.foreignMaximum)
    // Everything that is open ends; then what waits is dialled within the minutes that it needs.
    let waiting = bench.budget.waitingCount
    for _ in 0..<(waiting / 4 + 2) {
      for key in bench.open.sorted() { bench.end(key) }
      bench.pass(milliseconds: 61_000)
    }
    #expect(bench.budget.waitingCount == 0 && bench.timer == nil)
  }
}
