import Clocks
import RelayQuarantine
import TestSupport
import Testing

@Suite("Strikes") struct QuarantineListTests {
  private let relay = "ws://a/"

  @Test("The third strike within an hour is an hour of quarantine, counted from that strike, and then it is over")
  func quarantine() {
    var book = QuarantineList()
    book.struck(relay, at: 10_000)
    book.struck(relay, at: 11_000)
    #expect(book.quarantine(of: relay, at: 11_000) == nil)
    book.struck(relay, at: 13_599)
    #expect(book.quarantine(of: relay, at: 13_599)?.secondsLeft == 3_600)
    #expect(book.quarantine(of: relay, at: 17_198)?.secondsLeft == 1)
    #expect(book.quarantine(of: relay, at: 17_199) == nil && book.quarantine(of: "ws://b/", at: 13_599) == nil)
    book.expire(at: 17_199)
    #expect(book.relays.isEmpty)
  }

  @Test("Strikes that are further apart bring none")
  func apart() {
    var book = QuarantineList()
    for seconds in stride(from: Int64(0), to: 40_000, by: 1_801) {
      book.struck(relay, at: seconds)
      #expect(book.quarantine(of: relay, at: seconds) == nil)
    }
  }

  @Test("Ten minutes in which a relay's messages did no harm make up for one strike each")
  func forgiveness() {
    var book = QuarantineList(strikes: [relay: [1, 2]])
    func at(_ minutes: UInt64) -> Instant { Instant(nanoseconds: 5).advanced(milliseconds: minutes * 60_000) }
    let forgotten = [0, 9, 10, 19].map { book.handled(relay, at: at($0)) }
    #expect(forgotten == [false, false, true, false] && book.strikes(of: relay) == [2])
    let rest = [20, 40].map { book.handled(relay, at: at($0)) }
    #expect(rest == [true, false] && book.relays.isEmpty)
  }

  @Test("Whoever wants the relay tried has its strikes forgotten")
  func forgiven() {
    var book = QuarantineList(strikes: [relay: [1, 2, 3], "ws://b/": [1]])
    #expect(book.quarantine(of: relay, at: 4) != nil)
    book.forgive(relay)
    #expect(book.quarantine(of: relay, at: 4) == nil && book.relays == ["ws://b/"])
  }

  @Test("A clock that was set back makes no quarantine of years")
  func clock() {
    let book = QuarantineList(strikes: [relay: [900_000, 900_001, 900_002]])
    #expect(book.quarantine(of: relay, at: 1_000)?.secondsLeft == 3_600)
  }
}

@Suite("What is in hand, in memory") final class InFlightTableTests {
  private let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: InFlightTable.byteCount, alignment: 8)

  init() { memory.initializeMemory(as: UInt8.self, repeating: 0) }
  deinit { memory.deallocate() }

  @Test("What was in hand at a death, and the strikes, are there for the next process, and nothing is in hand then")
  func death() throws {
    var table = InFlightTable(memory)
    #expect(table.remains == InFlightTable.Remains())
    let numbers = ["ws://a/", "ws://b/", "ws://a/"].map { table.enter($0) }
    let first = try #require(numbers[0])
    #expect(numbers[1] != nil && numbers[1] != first && numbers[2] == first)
    table.keep([1, 2, 3, 4], of: "ws://b/")
    table.mark?.pointee = first
    let next = InFlightTable(memory)
    #expect(next.remains.relayInHand == "ws://a/" && next.remains.strikes == ["ws://b/": [2, 3, 4]])
    let last = InFlightTable(memory)
    #expect(last.remains.relayInHand == nil && last.remains.strikes == ["ws://b/": [2, 3, 4]])
  }

  @Test("A relay that is left makes room, unless it has strikes; without room a relay is not watched")
  func room() {
    var table = InFlightTable(memory)
    let numbers = (0..<InFlightTable.slotMaximum).map { table.enter("ws://\($0)/") }
    #expect(!numbers.contains(nil) && Set(numbers).count == numbers.count)
    let oneMore = table.enter("ws://more/")
    #expect(oneMore == nil)
    table.keep([7], of: "ws://1/")
    table.leave("ws://1/")
    let besideStrikes = table.enter("ws://more/")
    #expect(besideStrikes == nil)
    table.keep([], of: "ws://1/")
    table.leave("ws://1/")
    let inItsPlace = table.enter("ws://more/")
    #expect(inItsPlace != nil)
    let long = "ws://" + String(repeating: "x", count: InFlightTable.urlByteCountMaximum)
    table.leave("ws://2/")
    let tooLong = table.enter(long)
    #expect(tooLong == nil)
  }

  @Test("Of what is no table nothing is believed, and nothing in it can hurt", arguments: seeds(50))
  func foreign(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for index in memory.indices { memory[index] = UInt8.random(in: 0...255, using: &generator) }
    #expect(InFlightTable(memory).remains == InFlightTable.Remains())
    for index in 12..<memory.count { memory[index] = UInt8.random(in: 0...255, using: &generator) }
    var table = InFlightTable(memory)
    table.keep([.min, .min + 1, .max], of: "ws://a/")
    let strikes = InFlightTable(memory).remains.strikes
    #expect(strikes.values.allSatisfy { $0.count <= InFlightTable.strikeMaximum })
    var book = QuarantineList(strikes: strikes)
    book.expire(at: 1_700_000_000)
    for relay in strikes.keys { _ = book.quarantine(of: relay, at: 1_700_000_000) }
  }
}
