import ClientSession
import Clocks
import FairSharing
import TestSupport
import Testing

/// How clients share what there is only so much of.
@Suite("Clients share")
struct SharingTests {
  @Test("Of many clients each has its turn, and each client's own keep their order")
  func queue() {
    var queue = FairQueue<String>()
    for number in 0..<1_000 { queue.append("a\(number)", of: 1) }
    queue.append("b0", of: 2)
    queue.append("b1", of: 2)
    queue.append("c0", of: 3)
    #expect(queue.first == "a0" && queue.count == 1_003)
    var order = (0..<7).compactMap { _ in queue.popFirst() }
    #expect(order == ["a0", "b0", "c0", "a1", "b1", "a2", "a3"])
    queue.append("c1", of: 3)
    order = (0..<3).compactMap { _ in queue.popFirst() }
    #expect(order == ["a4", "c1", "a5"])
    while queue.popFirst() != nil {}
    #expect(queue.isEmpty && queue.first == nil)
  }

  @Test("A client has its share of turns and no more, and the last turns go to clients that have none")
  func turns() {
    var turns = QuerySlots(maximum: 6, clientMaximum: 3, keptCount: 2)
    let first = (0..<5).map { _ in turns.ask(1) }
    #expect(first.map(\.isGranted) == [true, true, true, false, false])
    let others = [2, 2, 3, 4, 5].map { turns.ask($0).isGranted }
    #expect(others == [true, false, true, true, false], "two are kept for who has none")
    #expect(turns.grantedCount == 6)
    let next = turns.end(first[0].turn)
    #expect(next.map(\.client) == [5], "who has none is next")
  }

  @Test("A short turn that has brought its share goes to the next who has none, and those who ask for more get on")
  func short() {
    var turns = QuerySlots(maximum: 4, clientMaximum: 2, keptCount: 2)
    let first = (1...4).map { turns.ask($0).turn }
    #expect(!turns.isSpent(first[0]), "nobody waits")
    let newcomer = turns.ask(5)
    #expect(!newcomer.isGranted && turns.isSpent(first[0]))
    var granted = turns.end(first[0])
    #expect(granted == [newcomer.turn] && !turns.isSpent(first[1]))
    let long = turns.ask(1, isLong: true)
    let other = turns.ask(6)
    #expect(!long.isGranted && !other.isGranted && turns.isSpent(newcomer.turn))
    granted = turns.end(newcomer.turn)
    #expect(granted == [long.turn], "a quarter of all turns is for those who ask for more")
    #expect(!turns.isSpent(long.turn), "it brings all it has")
    granted = turns.end(first[1])
    #expect(granted == [other.turn])
  }

  @Test(
    "Who asks for little is next, however many ask for all there is, and however many come anew",
    arguments: [false, true])
  func least(strangersCome: Bool) throws {
    var turns = QuerySlots(maximum: 32, clientMaximum: 8, keptCount: 16)
    var granted: [QuerySlots.Turn] = []
    var next: [QuerySlots.Turn] = []
    for client in UInt64(1)...300 {
      for _ in 0..<20 {
        let asked = turns.ask(client)
        if asked.isGranted { granted.append(asked.turn) }
      }
    }
    var waits: [Int] = []
    var (own, isOwnGranted, begun) = (turns.ask(999), false, 0)
    var stranger: UInt64 = 1_000
    for round in 0..<5_000 {
      if isOwnGranted || own.isGranted {
        waits.append(round - begun)
        next = turns.end(own.turn, byteCount: 6_000)
        granted += next
        (own, isOwnGranted, begun) = (turns.ask(999), false, round)
      }
      if strangersCome, round % 4 == 0 {
        stranger += 1
        let come = turns.ask(stranger)
        if come.isGranted { granted.append(come.turn) }
      }
      try #require(!granted.isEmpty)
      let ended = granted.removeFirst()
      next = turns.end(ended, byteCount: 64 << 10)
      isOwnGranted = next.contains(own.turn)
      granted += next.filter { $0 != own.turn }
      let again = turns.ask(ended.client, isLong: true)
      if again.isGranted { granted.append(again.turn) }
    }
    #expect(waits.count > 50)
    let longest = waits.dropFirst().max() ?? 0
    #expect(longest < (strangersCome ? 300 : 150), "in all, \(waits.count) were served; \(waits.suffix(20))")
  }

  @Test(
    "Who has asked once is not overtaken for ever by those who come anew and ask for little", arguments: [0, 6_000])
  func comers(byteCount: Int) throws {
    var turns = QuerySlots(maximum: 32, clientMaximum: 8, keptCount: 16)
    var granted: [QuerySlots.Turn] = []
    var next: [QuerySlots.Turn] = []
    var stranger: UInt64 = 1_000
    func come() {
      stranger += 1
      let asked = turns.ask(stranger)
      if asked.isGranted { granted.append(asked.turn) }
    }
    let first = turns.ask(1)
    for _ in 0..<80 { come() }
    next = turns.end(first.turn, byteCount: 6_000)
    granted += next
    let own = turns.ask(1)
    #expect(!own.isGranted)
    for _ in 0..<1_000 where !granted.contains(own.turn) {
      let ended = granted.removeFirst()
      next = turns.end(ended, byteCount: byteCount)
      granted += next
      turns.forget(ended.client)
      come()
    }
    #expect(granted.contains(own.turn))
  }

  @Test("A question that gave a short turn away does not get another while it waited behind one of the same client")
  func remembered() {
    var turns = QuerySlots(maximum: 2, clientMaximum: 1, keptCount: 0)
    let (first, other) = (turns.ask(1).turn, turns.ask(2).turn)
    let long = turns.ask(1, isLong: true).turn
    let newcomer = turns.ask(3).turn
    var granted = turns.end(first)
    #expect(granted == [newcomer], "whoever has no turn goes before it")
    granted = turns.end(other)
    #expect(granted == [long])
    _ = turns.ask(4)
    #expect(!turns.isSpent(long), "it is not short, whoever waits")
  }

  @Test("Every wish is granted in the end, once, or was withdrawn", arguments: seeds(10))
  func everyWish(seed: UInt64) {
    var seed = SeededGenerator(seed: seed)
    var turns = QuerySlots(maximum: 5, clientMaximum: 2, keptCount: 1)
    var (waiting, running, withdrawn): (Set<QuerySlots.Turn>, Set<QuerySlots.Turn>, Set<QuerySlots.Turn>) = (
      [], [], []
    )
    func end(_ turn: QuerySlots.Turn) {
      running.remove(turn)
      grant(turns.end(turn))
    }
    func grant(_ granted: [QuerySlots.Turn]) {
      for next in granted {
        let wasWaiting = waiting.remove(next) != nil
        #expect(wasWaiting && !withdrawn.contains(next))
        running.insert(next)
      }
    }
    for _ in 0..<5_000 {
      switch Int.random(in: 0..<10, using: &seed) {
      case 0..<5:
        let client = UInt64.random(in: 1...8, using: &seed)
        let (turn, isGranted, wanted) = turns.ask(client, isLong: Bool.random(using: &seed))
        if isGranted { running.insert(turn) } else { waiting.insert(turn) }
        if let wanted { end(wanted) }
      case 5..<8: if let turn = running.randomElement(using: &seed) { end(turn) }
      case 8:
        if let turn = running.randomElement(using: &seed), turns.rests(turn) || turns.isSpent(turn) { end(turn) }
      default:
        guard let turn = waiting.randomElement(using: &seed) else { continue }
        waiting.remove(turn)
        withdrawn.insert(turn)
        grant(turns.withdraw(turn))
      }
      #expect(turns.grantedCount == running.count && running.count <= 5)
      #expect(turns.sharerCount == Set(running.map(\.client)).union(waiting.map(\.client)).count)
      if waiting.isEmpty {
        let isSpent = running.contains { turns.isSpent($0) }
        #expect(!isSpent, "nobody waits")
      }
      #expect(Dictionary(grouping: running, by: \.client).values.allSatisfy { $0.count <= 2 })
    }
    while let turn = running.first { end(turn) }
    #expect(waiting.isEmpty && turns.grantedCount == 0)
  }

  @Test("A wish that was withdrawn is no reason to give a turn away, and another of its client takes its place")
  func withdrawn() {
    var turns = QuerySlots(maximum: 2, clientMaximum: 2, keptCount: 0)
    let (first, second) = (turns.ask(1).turn, turns.ask(2).turn)
    let (newcomer, more) = (turns.ask(3).turn, turns.ask(1, isLong: true).turn)
    #expect(turns.isSpent(first))
    var granted = turns.withdraw(newcomer) + turns.withdraw(more)
    #expect(granted.isEmpty && !turns.isSpent(first) && turns.sharerCount == 2)
    let isWanted = turns.rests(second)
    #expect(!isWanted, "nobody waits")
    turns.works(second)
    let own = (0..<3).map { _ in turns.ask(3).turn }
    _ = turns.withdraw(own[0])
    granted = turns.end(first)
    #expect(granted == [own[1]])
    turns.forget(3)
    #expect(turns.sharerCount == 1, "who is gone shares nothing, though its turn is not over")
  }

  @Test("Whoever keeps withdrawing has one place in the line, and keeps nobody waiting")
  func withdrawing() {
    var turns = QuerySlots(maximum: 1, clientMaximum: 1, keptCount: 0)
    let first = turns.ask(1).turn
    for _ in 0..<1_000 { _ = turns.withdraw(turns.ask(2).turn) }
    let other = turns.ask(3).turn
    let granted = turns.end(first)
    #expect(granted == [other])
  }

  @Test("A question that takes the store a second and brings nothing counts for more than a turn full of events")
  func time() {
    var turns = QuerySlots(maximum: 2, clientMaximum: 1, keptCount: 0)
    let (counted, brought) = (turns.ask(1).turn, turns.ask(2).turn)
    let others = (3...4).map { turns.ask($0).turn }
    var granted = turns.end(counted, milliseconds: 1_000) + turns.end(brought, byteCount: 64 << 10)
    #expect(granted == others)
    let (again, next) = (turns.ask(1).turn, turns.ask(2).turn)
    granted = turns.end(others[0])
    #expect(granted == [next], "though it asked later")
    granted = turns.end(others[1])
    #expect(granted == [again])
  }

  @Test("A turn that rests is wanted back when somebody waits, and at once when somebody waits already")
  func resting() {
    var turns = QuerySlots(maximum: 2, clientMaximum: 2, keptCount: 1)
    let (first, second) = (turns.ask(1).turn, turns.ask(2).turn)
    var isWanted = turns.rests(first)
    #expect(!isWanted)
    let third = turns.ask(3)
    #expect(!third.isGranted && third.wanted == first)
    isWanted = turns.rests(second)
    #expect(isWanted, "the third still waits")
    let granted = turns.end(first)
    #expect(granted == [third.turn])
    isWanted = turns.rests(third.turn)
    #expect(!isWanted)
    turns.works(third.turn)
    let fourth = turns.ask(4)
    #expect(fourth.wanted == nil)
  }

  @Test("Beyond the bound whoever has the most gives, and who has little is let in")
  func shares() {
    var shares = StandingShares(maximum: 100)
    shares.set(1, to: 60)
    shares.set(2, to: 40)
    var room = shares.room(for: 2)
    #expect(room == .enough && shares.total == 100)
    shares.set(3, to: 5)
    room = shares.room(for: 3)
    #expect(room == .from(client: 1))
    shares.set(1, to: 55)
    room = shares.room(for: 3)
    #expect(room == .enough)
    shares.set(1, to: 56)
    room = shares.room(for: 1)
    #expect(room == .refused)
    shares.set(1, to: 55)
    shares.set(2, to: 41)
    room = shares.room(for: 2)
    #expect(room == .from(client: 1), "it has less than the first")
    shares.set(1, to: 0)
    room = shares.room(for: 2)
    #expect(room == .enough && shares.total == 46)
  }
}
