import Clocks
import Cryptography
import Nostr
import RelaySubscriptions
import TestSupport
import Testing

/// What paging sees of an event.
struct DrainEvent: Hashable {
  let id: EventID
  let author: Int
  let kind: UInt16
  let createdAt: Int64

  init(_ number: Int, author: Int, kind: UInt16, createdAt: Int64) {
    id = EventID(Self.octets(number, 1))
    (self.author, self.kind, self.createdAt) = (author, kind, createdAt)
  }

  static func octets(_ number: Int, _ first: UInt8) -> Octets32 {
    var bytes = [UInt8](repeating: 0, count: 32)
    bytes[0] = first
    for index in 0..<8 { bytes[24 + index] = UInt8(truncatingIfNeeded: number >> (8 * (7 - index))) }
    guard let octets = Octets32(bytes) else { preconditionFailure("32 bytes") }
    return octets
  }

  static func key(_ author: Int) -> PublicKey { PublicKey(octets(author, 2)) }

  func matches(_ filter: Filter) -> Bool {
    (filter.ids?.contains(id) ?? true) && (filter.authors?.contains(Self.key(author)) ?? true)
      && (filter.kinds?.contains(kind) ?? true) && createdAt >= filter.since ?? .min
      && createdAt <= filter.until ?? .max
  }
}

/// A relay that answers pages as its habits are.
struct PagedRelay {
  var events: [DrainEvent]
  var cap: Int
  /// Whether it says `finish` when it has sent all that matches.
  var saysFinish = false
  /// How often in a hundred it sends no EOSE.
  var silentPercent = 0
  /// How often in a hundred it refuses a page.
  var refusingPercent = 0
  var generator: SeededGenerator
  private(set) var pageCount = 0
  private(set) var sentCount = 0

  init(_ events: [DrainEvent], cap: Int, seed: UInt64) {
    // Ties are in an order of the relay's own, always the same.
    self.events = events.sorted { ($1.createdAt, $0.id) < ($0.createdAt, $1.id) }
    self.cap = cap
    generator = SeededGenerator(seed: seed)
  }

  enum Answer { case end(RelayMessage.Completeness), silence, refusal }

  mutating func answer(_ filter: Filter) -> ([DrainEvent], Answer) {
    pageCount += 1
    if Int.random(in: 0..<100, using: &generator) < refusingPercent { return ([], .refusal) }
    let matching = events.filter { $0.matches(filter) }
    var page = Array(matching.prefix(min(cap, filter.limit ?? .max)))
    let isAll = page.count == matching.count
    sentCount += page.count
    page.shuffle(using: &generator)
    if Int.random(in: 0..<100, using: &generator) < silentPercent {
      return (Array(page.prefix(Int.random(in: 0...page.count, using: &generator))), .silence)
    }
    return (page, .end(saysFinish && isAll ? .finished : .unstated))
  }
}

/// Plays a drain against a relay, and a store that remembers what was claimed.
struct DrainBench {
  var relay: PagedRelay
  var wall: Int64
  private(set) var received: Set<EventID> = []
  /// What was claimed: the filter of each, and the seconds.
  private(set) var claims: [(filter: Filter, times: ClosedRange<Int64>)] = []
  private(set) var fetched: Set<Int> = []

  init(_ relay: PagedRelay, wall: Int64) { (self.relay, self.wall) = (relay, wall) }

  func covers(_ event: DrainEvent) -> Bool {
    claims.contains { event.matches($0.filter) && $0.times.contains(event.createdAt) }
  }

  @discardableResult
  mutating func run(
    _ filters: [Filter], known: [[Drain.Known]]? = nil, fetchedAt: Int64? = nil, pageSize: Int = 50,
    depth: Drain.Depth = .asFiltersSay, limits: Drain.Limits = Drain.Limits(),
    askMaximum: Int = 20_000
  ) -> Drain {
    let parts = filters.enumerated().flatMap { index, filter in
      let whole = (Drain.parts(of: filter, byteMaximum: 60_000, limits: limits) ?? []).map { Drain.Known(filter: $0) }
      return Drain.plan(
        filter, index: index, depth: depth, known: known?[index] ?? whole, fetchedAt: fetchedAt, byteMaximum: 60_000,
        wall: wall, limits: limits)
    }
    var drain = Drain(parts, filterCount: filters.count, pageSize: pageSize, limits: limits)
    var actions = drain.begin()
    var askCount = 0
    while !actions.isEmpty {
      switch actions.removeFirst() {
      case .ask(let page, let filter):
        askCount += 1
        guard askCount <= askMaximum else {
          Issue.record("more than \(askMaximum) pages")
          return drain
        }
        actions += answer(page, filter, &drain)
      case .note(let page, let note):
        if let times = note.times { claims.append((note.filter, times)) }
        actions += drain.committed(page)
      case .fetched(let filter): fetched.insert(filter)
      case .withdraw, .ended: break
      }
    }
    return drain
  }

  private mutating func answer(_ page: Drain.Page, _ filter: Filter, _ drain: inout Drain) -> [Drain.Action] {
    drain.sent(page, wall: wall)
    let (events, answer) = relay.answer(filter)
    var actions: [Drain.Action] = []
    for event in events {
      _ = drain.received(page, Drain.Sighting(event.id, hash: 0), createdAt: event.createdAt, &actions)
      received.insert(event.id)
    }
    switch answer {
    case .end(let completeness): return actions + drain.endedStored(page, completeness)
    case .silence: return actions + drain.failed(page, .silent, "silent")
    case .refusal: return actions + drain.failed(page, .refused, "refused")
    }
  }
}

@Suite("Paging, at random") struct DrainPropertyTests {
  /// Events with ties: few seconds, so that many have more events than a page.
  private func events(_ count: Int, _ generator: inout SeededGenerator) -> [DrainEvent] {
    let seconds = [3, 30, 300, 100_000][Int.random(in: 0..<4, using: &generator)]
    return (0..<count).map { number in
      DrainEvent(
        number, author: Int.random(in: 0..<7, using: &generator), kind: UInt16.random(in: 0..<3, using: &generator),
        createdAt: 1_000_000 + Int64.random(in: 0..<Int64(seconds), using: &generator))
    }
  }

  private func filter(_ generator: inout SeededGenerator) -> Filter {
    var filter = Filter()
    if Bool.random(using: &generator) { filter.authors = (0..<5).map { DrainEvent.key($0) } }
    if Bool.random(using: &generator) { filter.kinds = [0, 1] }
    if Int.random(in: 0..<4, using: &generator) == 0 { filter.since = 1_000_002 }
    return filter
  }

  @Test("all that can be had is there, and nothing is claimed that is not", arguments: seeds(300))
  func everything(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let all = events(Int.random(in: 0..<400, using: &generator), &generator)
    let wanted = filter(&generator)
    var relay = PagedRelay(all, cap: Int.random(in: 1..<60, using: &generator), seed: seed)
    relay.saysFinish = Bool.random(using: &generator)
    relay.silentPercent = [0, 0, 20][Int.random(in: 0..<3, using: &generator)]
    var bench = DrainBench(relay, wall: 2_000_000)
    var limits = Drain.Limits()
    limits.valueMaximum = Int.random(in: 1..<8, using: &generator)
    // These relays cut at very few events.
    limits.leastCut = 1
    let drain = bench.run([wanted], depth: .all, limits: limits)
    let matching = all.filter { $0.matches(wanted) }
    let missing = matching.filter { !bench.received.contains($0.id) }
    for event in missing { #expect(!bench.covers(event), "\(event) is claimed and is not here") }
    #expect(drain.outcome != nil)
    guard relay.silentPercent == 0 else { return }
    #expect(drain.outcome?.end == .drained)
    // Only what shares its second, author and kind with a whole page of others cannot be had.
    for event in missing {
      let others = matching.count { other in
        other.createdAt == event.createdAt && (wanted.authors == nil || other.author == event.author)
          && (wanted.kinds == nil || other.kind == event.kind)
      }
      #expect(others >= relay.cap, "\(event) could be had")
    }
  }

  @Test("what was claimed is not asked for again, and nothing is lost between two drains", arguments: seeds(100))
  func again(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let all = events(Int.random(in: 0..<200, using: &generator), &generator)
    let wanted = Filter(authors: (0..<5).map { DrainEvent.key($0) }, kinds: [0, 1])
    let relay = PagedRelay(all, cap: Int.random(in: 5..<60, using: &generator), seed: seed)
    var bench = DrainBench(relay, wall: 2_000_000)
    bench.run([wanted])
    let sent = bench.relay.sentCount
    let late = (0..<20).map { number in
      DrainEvent(
        10_000 + number, author: number % 5, kind: 1,
        createdAt: Int64.random(in: 2_000_000 - 200...2_090_000, using: &generator))
    }
    bench.relay.events = (late + bench.relay.events).sorted { ($1.createdAt, $0.id) < ($0.createdAt, $1.id) }
    bench.wall = 2_090_000
    let known = [UInt16(0), 1].flatMap { kind in
      (0..<5).map { author in
        let subject = Filter(authors: [DrainEvent.key(author)], kinds: [kind])
        let spans = bench.claims.filter { $0.filter.covers(subject) }.map(\.times).sorted {
          $0.lowerBound < $1.lowerBound
        }
        return Drain.Known(filter: subject, covered: joined(spans))
      }
    }
    bench.run([wanted], known: [known])
    for event in late { #expect(bench.received.contains(event.id), "\(event) is lost") }
    let crowded = Dictionary(grouping: all, by: \.createdAt).contains { $0.value.count >= relay.cap }
    if !crowded { #expect(bench.relay.sentCount - sent <= 3 * late.count, "\(sent) were sent before") }
  }

  private func joined(_ spans: [ClosedRange<Int64>]) -> [ClosedRange<Int64>] {
    spans.reduce(into: []) { joined, span in
      if let last = joined.last, span.lowerBound <= last.upperBound + 1 {
        joined[joined.count - 1] = last.lowerBound...max(last.upperBound, span.upperBound)
      } else {
        joined.append(span)
      }
    }
  }

  @Test("of a limit, the newest come, however few the relay sends at once", arguments: seeds(100))
  func newest(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let all = (0..<200).map { DrainEvent($0, author: 0, kind: 1, createdAt: Int64(1_000_000 + 3 * $0)) }
    var bench = DrainBench(
      PagedRelay(all, cap: Int.random(in: 2..<60, using: &generator), seed: seed), wall: 2_000_000)
    let limit = Int.random(in: 1..<150, using: &generator)
    let drain = bench.run([Filter(kinds: [1], limit: limit)])
    #expect(drain.outcome?.end == .drained)
    for event in all.suffix(limit) { #expect(bench.received.contains(event.id)) }
    #expect(bench.received.count <= limit + 60)
    #expect(bench.fetched == [0])
  }

  @Test("a relay that refuses now and then proves nothing by it", arguments: seeds(60))
  func refusals(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let all = events(200, &generator)
    var relay = PagedRelay(all, cap: 20, seed: seed)
    relay.refusingPercent = 20
    var bench = DrainBench(relay, wall: 2_000_000)
    bench.run([Filter(kinds: [0]), Filter(kinds: [1, 2])], depth: .all)
    for event in all where !bench.received.contains(event.id) { #expect(!bench.covers(event)) }
  }
}
