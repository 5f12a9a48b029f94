import Clocks
import Cryptography
import Nostr
import Testing

@testable import RelaySubscriptions

@Suite("Paging, rule by rule") struct DrainRuleTests {
  private static let wall: Int64 = 2_000_000
  private let filter = Filter(authors: [DrainEvent.key(1)], kinds: [1])

  private func events(_ count: Int, at time: (Int) -> Int64) -> [DrainEvent] {
    (0..<count).map { DrainEvent($0, author: 1, kind: 1, createdAt: time($0)) }
  }

  @Test("The second page begins at the oldest second of the first, and what has come of it is dropped")
  func boundary() {
    let parts = Drain.plan(
      filter, index: 0, depth: .asFiltersSay, known: [Drain.Known(filter: filter)], fetchedAt: nil,
      byteMaximum: 60_000, wall: Self.wall)
    var drain = Drain(parts, filterCount: 1, pageSize: 2)
    var asked = filter
    asked.limit = 2
    #expect(drain.begin() == [.ask(1, asked)])
    drain.sent(1, wall: Self.wall)
    var actions: [Drain.Action] = []
    let all = events(3) { [20, 10, 10][$0] }
    let sightings = all.map { Drain.Sighting($0.id, hash: 0) }
    #expect(drain.received(1, sightings[0], createdAt: 20, &actions))
    #expect(drain.received(1, sightings[1], createdAt: 10, &actions))
    asked.until = 10
    asked.limit = 2
    let after = drain.endedStored(1, .unstated)
    #expect(after == [.note(1, Drain.Note(filter: filter, times: 11...Self.wall, isEnd: false)), .ask(2, asked)])
    drain.sent(2, wall: Self.wall)
    #expect(!drain.received(2, sightings[1], createdAt: 10, &actions), "it came with the first page")
    #expect(drain.received(2, sightings[2], createdAt: 10, &actions))
    #expect(actions.isEmpty && drain.newCount == 3)
  }

  @Test("A relay whose few events are all of one second is complete from the beginning", arguments: [1, 9, 10])
  func oneSecond(count: Int) {
    let parts = Drain.plan(
      filter, index: 0, depth: .all, known: [Drain.Known(filter: filter)], fetchedAt: nil, byteMaximum: 60_000,
      wall: Self.wall)
    var drain = Drain(parts, filterCount: 1, pageSize: 500)
    var claimed: [ClosedRange<Int64>] = []
    func note(_ actions: [Drain.Action]) {
      for case .note(_, let note) in actions { if let times = note.times { claimed.append(times) } }
    }
    note(drain.begin())
    for page: Drain.Page in [1, 2] {
      drain.sent(page, wall: Self.wall)
      var actions: [Drain.Action] = []
      for event in events(count, at: { _ in 100 }) {
        _ = drain.received(page, Drain.Sighting(event.id, hash: 0), createdAt: event.createdAt, &actions)
      }
      note(drain.endedStored(page, .unstated))
      note(drain.committed(page))
    }
    let covered = claimed.reduce(0) { $0 + $1.count }
    #expect(claimed.contains { $0.contains(100) } == (count < 10), "ten events may be all that a relay sends")
    #expect(count == 10 || covered == Int(Self.wall) + 1)
  }

  @Test("At most two pages of a part are not committed")
  func uncommitted() {
    let parts = Drain.plan(
      filter, index: 0, depth: .asFiltersSay, known: [Drain.Known(filter: filter)], fetchedAt: nil,
      byteMaximum: 60_000, wall: Self.wall)
    var drain = Drain(parts, filterCount: 1, pageSize: 1)
    var asked: [Drain.Page] = []
    func note(_ actions: [Drain.Action]) {
      for action in actions { if case .ask(let page, _) = action { asked.append(page) } }
    }
    var actions: [Drain.Action] = []
    note(drain.begin())
    for (index, event) in events(3, at: { Int64(100 - $0) }).enumerated() {
      guard let page = asked.last, asked.count == index + 1 else { break }
      drain.sent(page, wall: Self.wall)
      _ = drain.received(page, Drain.Sighting(event.id, hash: 0), createdAt: event.createdAt, &actions)
      note(drain.endedStored(page, .unstated))
    }
    #expect(asked == [1, 2], "the third waits for the store")
    note(drain.committed(1))
    #expect(asked == [1, 2, 3])
  }

  @Test("The relay's own word ends it at once; otherwise a page with nothing new does, never a short one")
  func ends() {
    let all = events(30) { Int64(1_000_000 + $0) }
    var finishing = PagedRelay(all, cap: 50, seed: 1)
    finishing.saysFinish = true
    var bench = DrainBench(finishing, wall: Self.wall)
    bench.run([filter])
    #expect(bench.relay.pageCount == 1 && bench.claims.map(\.times) == [0...Self.wall])
    bench = DrainBench(PagedRelay(all, cap: 50, seed: 1), wall: Self.wall)
    bench.run([filter])
    #expect(bench.relay.pageCount == 2 && bench.fetched == [0] && bench.received.count == 30)
  }

  @Test("What is covered is not asked for, but its last 5 minutes are; of gift wraps three days")
  func gaps() {
    func since(_ kind: UInt16) -> Int64? {
      let filter = Filter(authors: [DrainEvent.key(1)], kinds: [kind])
      let known = Drain.Known(filter: filter, covered: [0...1_999_000])
      let parts = Drain.plan(
        filter, index: 0, depth: .asFiltersSay, known: [known], fetchedAt: nil, byteMaximum: 60_000, wall: Self.wall)
      #expect(parts.count == 1 && parts[0].until == nil)
      return parts.first?.since
    }
    // Rounded up to a power of two before now.
    #expect(since(1) == Self.wall - 2_048)
    #expect(since(1_059) == Self.wall - 262_144)
  }

  @Test("A limit counts what came, and goes on from an earlier answer only if nothing lies between")
  func limits() {
    var limited = filter
    limited.limit = 5
    let known = Drain.Known(filter: filter, covered: [1_000...1_999_000])
    func plan(_ fetchedAt: Int64?) -> [Drain.Part] {
      Drain.plan(
        limited, index: 0, depth: .asFiltersSay, known: [known], fetchedAt: fetchedAt, byteMaximum: 60_000,
        wall: Self.wall)
    }
    #expect(plan(nil).map(\.since) == [nil], "five of it may not be here")
    #expect(plan(1_500_000).map(\.since) == [Self.wall - 2_048])
    #expect(plan(1_999_999).map(\.since) == [nil], "the answer was after what is covered")
  }

  @Test("A filter without bounds gets one page of the relay's own length, and afterwards what came meanwhile")
  func shallow() {
    let wide = Filter(kinds: [1])
    let first = Drain.plan(
      wide, index: 0, depth: .asFiltersSay, known: [Drain.Known(filter: wide)], fetchedAt: nil, byteMaximum: 60_000,
      wall: Self.wall)
    #expect(first.count == 1 && first[0].isDefaultPage && first[0].pageMaximum == 1)
    let later = Drain.plan(
      wide, index: 0, depth: .asFiltersSay, known: [Drain.Known(filter: wide, covered: [1_900_000...1_990_000])],
      fetchedAt: nil, byteMaximum: 60_000, wall: Self.wall)
    #expect(later.count == 1 && !later[0].isDefaultPage && later[0].pageMaximum == 20 && later[0].since != nil)
  }

  @Test("Ids that did not come are asked for once more, as long as others come")
  func ids() {
    let all = events(30) { Int64(1_000_000 + $0) }
    var bench = DrainBench(PagedRelay(all, cap: 12, seed: 1), wall: Self.wall)
    let missing = EventID(DrainEvent.octets(99, 9))
    let drain = bench.run([Filter(ids: all.map(\.id) + [missing])])
    #expect(bench.received.count == 30 && drain.outcome?.end == .drained && bench.claims.isEmpty)
    #expect(bench.relay.pageCount == 4)
  }

  @Test("A page with more than twice what was asked for is cut, with both numbers")
  func cut() {
    var drain = Drain(
      Drain.plan(
        filter, index: 0, depth: .asFiltersSay, known: [Drain.Known(filter: filter)], fetchedAt: nil,
        byteMaximum: 60_000, wall: Self.wall), filterCount: 1, pageSize: 10)
    _ = drain.begin()
    drain.sent(1, wall: Self.wall)
    var actions: [Drain.Action] = []
    for event in events(21, at: { Int64(1_000 - $0) }) {
      _ = drain.received(1, Drain.Sighting(event.id, hash: 0), createdAt: event.createdAt, &actions)
    }
    #expect(actions == [.withdraw(1), .ended])
    #expect(drain.outcome?.end == .cut && drain.outcome?.reason?.contains("asked for 10") == true)
  }

  @Test("A live REQ asks for nothing stored, and is as many REQs as the relay's length needs")
  func live() {
    let keys = (0..<200).map { DrainEvent.key($0) }
    let groups = StandingFilters.groups(of: [Filter(authors: keys, limit: 20), Filter(kinds: [7])], byteMaximum: 4_000)
    #expect(groups.count >= 4)
    for group in groups { #expect(StandingFilters.asked(group, looksBack: false, wall: Self.wall).byteCount <= 4_000) }
    #expect(Set(groups.joined().flatMap { $0.authors ?? [] }) == Set(keys))
    let asked = StandingFilters.asked([Filter(kinds: [7], since: 5)], looksBack: false, wall: Self.wall)
    #expect(asked == [Filter(kinds: [7], since: 5, limit: 0)])
    let back = StandingFilters.asked([Filter(kinds: [7], limit: 9)], looksBack: true, wall: Self.wall)
    #expect(back == [Filter(kinds: [7], since: Self.wall - 172_800)])
  }

  @Test("A filter in parts is the same filter, and its parts do not depend on the order of its values")
  func parts() throws {
    let keys = (0..<1_200).map { DrainEvent.key($0) }
    let whole = Filter(authors: keys, kinds: [1, 7])
    let parts = try #require(whole.parts(valueMaximum: 500, byteMaximum: 60_000))
    #expect(parts.map { $0.authors?.count } == [500, 500, 200] && Set(parts.flatMap { $0.authors ?? [] }) == Set(keys))
    #expect(Filter(authors: keys.reversed(), kinds: [7, 1]).parts(valueMaximum: 500, byteMaximum: 60_000) == parts)
    let small = try #require(whole.parts(valueMaximum: 500, byteMaximum: 4_000))
    #expect(small.allSatisfy { $0.json.count <= 4_000 } && Set(small.flatMap { $0.authors ?? [] }) == Set(keys))
    #expect(Filter(search: String(repeating: "a", count: 500)).parts(valueMaximum: 500, byteMaximum: 100) == nil)
  }
}

/// Habits of relays that must not make a claim.
@Suite("Paging, against habits of relays") struct DrainHabitTests {
  private static let wall: Int64 = 2_000_000
  private let filter = Filter(authors: [DrainEvent.key(1)], kinds: [1])

  private func drain(pageSize: Int = 50) -> Drain {
    var drain = Drain(
      Drain.plan(
        filter, index: 0, depth: .asFiltersSay, known: [Drain.Known(filter: filter)], fetchedAt: nil,
        byteMaximum: 60_000, wall: Self.wall), filterCount: 1, pageSize: pageSize)
    _ = drain.begin()
    drain.sent(1, wall: Self.wall)
    return drain
  }

  private func send(_ times: [Int64], to drain: inout Drain, _ page: Drain.Page = 1) {
    var actions: [Drain.Action] = []
    for time in times {
      let event = DrainEvent(Int(time), author: 1, kind: 1, createdAt: time)
      _ = drain.received(page, Drain.Sighting(event.id, hash: 0), createdAt: time, &actions)
    }
  }

  private func claim(_ actions: [Drain.Action]) -> ClosedRange<Int64>? {
    for action in actions { if case .note(_, let note) = action { return note.times } }
    return nil
  }

  @Test("One old event that a relay pushes into a page is not its oldest second")
  func pushed() {
    var drain = drain()
    send((0..<20).map { 1_000 - $0 } + [5] + (20..<30).map { 1_000 - $0 }, to: &drain)
    #expect(claim(drain.endedStored(1, .unstated)) == 972...Self.wall)
    // A relay in no order has many such events: then the oldest counts.
    drain = self.drain()
    send([5, 9, 1, 7, 3, 8, 2, 6, 4, 10, 12, 11], to: &drain)
    #expect(claim(drain.endedStored(1, .unstated)) == 2...Self.wall)
  }

  @Test("A relay that ignores times is cut, and what it proves is nothing")
  func ignoring() {
    var drain = drain(pageSize: 10)
    send((0..<10).map { 1_000 - $0 }, to: &drain)
    _ = drain.endedStored(1, .unstated)
    drain.sent(2, wall: Self.wall)
    var actions: [Drain.Action] = []
    for _ in 0..<9 { drain.receivedOther(2, isReadable: true, &actions) }
    send([991], to: &drain, 2)
    let first = drain.committed(1)
    #expect(claim(first) == nil)
    let end = drain.endedStored(2, .unstated)
    #expect(claim(end) == nil)
    _ = drain.committed(2)
    #expect(drain.outcome?.end == .cut)
  }

  @Test("What a page proves waits for the page before it")
  func order() {
    var drain = drain(pageSize: 2)
    send([10, 9], to: &drain)
    #expect(claim(drain.endedStored(1, .unstated)) == 10...Self.wall)
    drain.sent(2, wall: Self.wall)
    send([8, 7], to: &drain, 2)
    #expect(claim(drain.endedStored(2, .unstated)) == nil, "the first is not committed")
    #expect(claim(drain.committed(1)) == 8...9)
  }

  @Test("A page that breaks off and comes again counts once for a limit")
  func again() {
    var limited = filter
    limited.limit = 4
    var drain = Drain(
      Drain.plan(
        limited, index: 0, depth: .asFiltersSay, known: [Drain.Known(filter: filter)], fetchedAt: nil,
        byteMaximum: 60_000, wall: Self.wall), filterCount: 1, pageSize: 2)
    _ = drain.begin()
    for _ in 0..<3 {
      drain.sent(1, wall: Self.wall)
      send([10, 9], to: &drain)
    }
    #expect(drain.endedStored(1, .unstated).count == 2, "another page is asked for")
  }

  @Test("Numbers at the ends of their range and what cannot be read make no trap, and no page without end")
  func extremes() {
    var drain = Drain(
      Drain.plan(
        filter, index: 0, depth: .all, known: [Drain.Known(filter: filter)], fetchedAt: nil, byteMaximum: 60_000,
        wall: Self.wall), filterCount: 1, pageSize: .max)
    _ = drain.begin()
    drain.sent(1, wall: Self.wall)
    send([.max, .min, 0, -1], to: &drain)
    _ = drain.endedStored(1, .unstated)
    drain = self.drain(pageSize: 10)
    var actions: [Drain.Action] = []
    for _ in 0..<21 { drain.receivedOther(1, isReadable: false, &actions) }
    #expect(actions == [.withdraw(1), .ended] && drain.outcome?.end == .cut)
    let future = Filter(kinds: [2], since: Self.wall + 1_000)
    drain = Drain(
      Drain.plan(
        future, index: 0, depth: .all, known: [Drain.Known(filter: Filter(kinds: [2]))], fetchedAt: nil,
        byteMaximum: 60_000, wall: Self.wall), filterCount: 1, pageSize: 10)
    _ = drain.begin()
    drain.sent(1, wall: Self.wall)
    send([5], to: &drain)
    #expect(claim(drain.endedStored(1, .unstated)) == nil)
  }
}
