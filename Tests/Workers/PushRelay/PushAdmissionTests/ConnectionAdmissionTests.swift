import Addresses
import Clocks
import PushAdmission
import TestSupport
import Testing

@Suite("Connections and their places") struct ConnectionAdmissionTests {
  private func address(_ number: Int) throws -> IPAddress {
    try #require(IPAddress("10.\(number >> 16).\(number >> 8 & 255).\(number & 255)"))
  }

  private func number(_ verdict: ConnectionAdmission.Verdict) -> UInt64? {
    switch verdict {
    case .admitted(let number), .admittedInstead(let number, of: _): number
    case .refused: nil
    }
  }

  @Test("Ten thousand connections that wait keep nobody out: the one that has waited longest goes (case 37)")
  func idle() throws {
    var book = ConnectionAdmission(maximum: 100)
    for index in 0..<100 { #expect(book.enter(from: try address(index)) == .admitted(UInt64(index + 1))) }
    // The first asks, and waits again: it is the last in the line then.
    book.work(1)
    book.wait(1)
    for index in 100..<10_000 {
      guard case .admittedInstead(_, let other) = book.enter(from: try address(index)) else {
        return #expect(Bool(false), "\(index) was not let in")
      }
      if index < 199 { #expect(other == UInt64(index - 98)) }
    }
    #expect(book.count == 100)
  }

  @Test("One network has a quarter of the places, and beyond it takes its own")
  func shares() throws {
    var book = ConnectionAdmission(maximum: 100)
    let (greedy, other) = (try address(1), try address(2))
    let own = (0..<25).compactMap { _ in number(book.enter(from: greedy)) }
    #expect(own.count == 25)
    #expect(book.enter(from: greedy) == .admittedInstead(26, of: own[0]))
    for number in own + [26] { book.work(number) }
    #expect(book.enter(from: greedy) == .refused)
    #expect(number(book.enter(from: other)) != nil)
    // What comes by a proxy has no share.
    for _ in 0..<74 { #expect(number(book.enter(from: nil)) != nil) }
    #expect(book.count == 100)
    book.leave(own[1])
    #expect(number(book.enter(from: greedy)) != nil)
  }

  @Test("Where all are at work a newcomer is refused, until one waits")
  func busy() throws {
    var book = ConnectionAdmission(maximum: 16)
    for index in 0..<16 {
      let entered = try #require(number(book.enter(from: try address(index))))
      book.work(entered)
    }
    #expect(book.enter(from: try address(99)) == .refused)
    book.wait(7)
    #expect(book.enter(from: try address(99)) == .admittedInstead(17, of: 7))
    // Whoever was told to go and says so himself is not counted twice.
    book.leave(7)
    #expect(book.count == 16)
  }

  @Test("Bodies that do not end keep nobody out: where none waits, the one that has been coming longest goes")
  func arriving() throws {
    var book = ConnectionAdmission(maximum: 100)
    for index in 0..<100 {
      let entered = try #require(number(book.enter(from: try address(index / 25))))
      book.arrive(entered)
    }
    book.work(1)
    #expect(book.enter(from: try address(99)) == .admittedInstead(101, of: 2))
    // Who waits goes before them, and of one's own network the same.
    #expect(book.enter(from: try address(98)) == .admittedInstead(102, of: 101))
    #expect(book.enter(from: try address(3)) == .admittedInstead(103, of: 76))
    for number in 3...103 { book.work(UInt64(number)) }
    #expect(book.enter(from: try address(97)) == .refused)
  }

  @Test("Whatever comes in whichever order, there are never more than there is room for", arguments: seeds(5))
  func anyOrder(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var book = ConnectionAdmission(maximum: 40)
    var living: [UInt64: (network: Int, isWaiting: Bool)] = [:]
    for _ in 0..<20_000 {
      let chosen = living.keys.randomElement(using: &generator)
      switch (Int.random(in: 0..<5, using: &generator), chosen) {
      case (0, let chosen?):
        book.leave(chosen)
        living[chosen] = nil
      case (1, let chosen?):
        book.work(chosen)
        living[chosen]?.isWaiting = false
      case (2, let chosen?):
        book.wait(chosen)
        living[chosen]?.isWaiting = true
      default:
        let network = Int.random(in: 0..<6, using: &generator)
        let share = living.values.count { $0.network == network }
        switch book.enter(from: try address(network)) {
        case .admitted(let number): living[number] = (network, true)
        case .admittedInstead(let number, let other):
          #expect(living[other]?.isWaiting == true)
          living[other] = nil
          living[number] = (network, true)
        case .refused:
          let rivals = living.values.filter { share < book.shareMaximum || $0.network == network }
          #expect(rivals.allSatisfy { !$0.isWaiting })
        }
      }
      #expect(book.count == living.count && living.count <= 40)
    }
  }
}
