import Contracts
import EventArchive
import EventGate
import Nostr
import TestSupport
import Testing

@Suite("The gate")
struct GateTests {
  @Test(
    "Events of a lane are committed in the order they came, whatever order their checks end in", arguments: seeds(4))
  func order(seed: UInt64) {
    var random = SeededOrder(seed)
    var bench = Bench()
    let events = (0..<150).map { Made.event($0) }
    for start in stride(from: 0, to: 150, by: 10) { bench.submit(events[start..<start + 10].map(\.json), .live) }
    var jobs: [GateJob] = []
    repeat {
      while let job = bench.gate.nextJob() { jobs.append(job) }
      if !jobs.isEmpty { bench.finish(jobs.remove(at: random.below(jobs.count))) }
      if random.below(3) == 0 { _ = bench.write() }
    } while !jobs.isEmpty
    bench.run()
    #expect(bench.committed == events.map(\.id))
    #expect(bench.announced == bench.committed)
    #expect(bench.announcedSeqs == (1...150).map { Int64($0) })
    #expect(bench.answers.count == 15 && bench.answers.values.allSatisfy { $0.counts.stored == 10 })
    #expect(bench.gate.isIdle && bench.gate.waiting == [0, 0, 0])
  }

  @Test("An event of one's own overtakes 2,000 in bulk and 2,000 live ones, and these overtake each other by turns")
  func lanes() throws {
    var bench = Bench()
    bench.submit((0..<2_000).map { Made.json($0) }, .bulk)
    bench.submit((2_000..<4_000).map { Made.json($0) }, .live)
    // As many jobs as there may be are under way when it comes.
    var jobs: [GateJob] = []
    while let job = bench.gate.nextJob() { jobs.append(job) }
    #expect(jobs.count == EventGate.jobMaximum)
    let own = Made.event(9_999)
    let number = bench.submit([own.json], .local, rank: .kept)
    for job in jobs { bench.finish(job) }
    while bench.answers[number] == nil {
      if let job = bench.gate.nextJob() { bench.finish(job) }
      _ = bench.write()
    }
    #expect(bench.committed.count <= (EventGate.jobMaximum + 1) * EventGate.checkMaximum)
    bench.run()
    let bulk = (0..<2_000).map { Made.event($0).createdAt }
    #expect(bench.committed.count == 4_001 && bulk.count == 2_000)
  }

  @Test("A good copy from here or from a file mends a stored event that is damaged; a relay's, and a bad one, do not")
  func mending() {
    for isKept in [true, false] {
      var bench = Bench()
      let event = Made.event(1)
      bench.submit([event.json], .live, relay: 1)
      bench.run()
      bench.damaged[1] = Made.forged(event)
      let fromRelay = bench.submit([event.json], .live, relay: 1)
      let bad = bench.submit([Made.forged(event)], isKept ? .local : .bulk, rank: isKept ? .kept : .ordinary)
      bench.run()
      #expect(bench.answers[fromRelay]?.counts.duplicate == 1 && bench.mended.isEmpty)
      #expect(bench.answers[bad]?.counts.invalidCount == (isKept ? 1 : 0))
      let good = bench.submit([event.json], isKept ? .local : .bulk, rank: isKept ? .kept : .ordinary)
      bench.run()
      #expect(bench.mended == [event.id] && bench.answers[good]?.counts.mended == 1)
      let again = bench.submit([event.json], isKept ? .local : .bulk, rank: isKept ? .kept : .ordinary)
      bench.run()
      #expect(bench.answers[again]?.counts.duplicate == 1 && bench.gate.isIdle)
    }
  }

  @Test(
    "What is handed in here is on the disk before its answer, copies of what relays sent too; what relays send waits")
  func synced() {
    var bench = Bench()
    let events = (0..<6).map { Made.event($0) }
    bench.submit(events[0..<2].map(\.json), .live, relay: 1)
    bench.run()
    bench.submit(events[0..<2].map(\.json), .live, relay: 1)
    bench.run()
    #expect(!bench.synced.isEmpty && bench.synced.allSatisfy { !$0 }, "nobody waits for what relays send")
    for (events, lane) in [(events[2...2], Lane.local), (events[3...3], .bulk), (events[0...0], .bulk)] {
      let before = bench.synced.count
      let number = bench.submit(events.map(\.json), lane, rank: lane == .local ? .kept : .ordinary)
      while bench.answers[number] == nil {
        if let job = bench.gate.nextJob() { bench.finish(job) }
        #expect(bench.answers[number] == nil, "nothing is answered before it is written")
        _ = bench.write()
      }
      #expect(bench.synced[before...] == [true])
    }
    #expect(bench.gate.isIdle)
    // Beside what relays send, and without what is only passed on.
    bench.submit(events[4...4].map(\.json), .live, relay: 1)
    bench.submit(events[5...5].map(\.json), .local, rank: .kept)
    let before = bench.synced.count
    bench.run()
    #expect(bench.synced[before...].contains(true))
    bench.submit([Made.event(7, kind: 20_001).json], .local, rank: .kept)
    bench.run()
    #expect(bench.synced.last == false)
  }

  @Test("What is stored and over, and only waits to be removed, is refused as over")
  func over() {
    var bench = Bench()
    let event = Made.event(1, tags: [["expiration", "1001"]])
    bench.submit([event.json], .bulk)
    bench.run()
    bench.now = 1_001
    bench.damaged[1] = event.json
    for isKept in [true, false] {
      let number = bench.submit([event.json], .local, rank: isKept ? .kept : .ordinary)
      bench.run()
      #expect(bench.answers[number]?.last == .archived(.expired))
    }
  }

  @Test("With all jobs under way there is one more for events of one's own, and for nothing else")
  func ownJob() {
    var bench = Bench()
    bench.submit((0..<2_000).map { Made.json($0) }, .bulk)
    while bench.gate.nextJob() != nil {}
    bench.submit((2_000..<2_100).map { Made.json($0) }, .live)
    #expect(bench.gate.nextJob() == nil)
    bench.submit((9_000..<9_100).map { Made.json($0) }, .local, rank: .kept)
    let job = bench.gate.nextJob()
    #expect(job?.count == 12)
    #expect(bench.gate.nextJob() == nil, "one more, and not more")
  }

  @Test("A transaction with events of one's own is short: a hundred others go along")
  func ownTransaction() {
    var bench = Bench()
    bench.submit((0..<2_000).map { Made.json($0) }, .bulk)
    for _ in 0..<20 { if let job = bench.gate.nextJob() { bench.finish(job) } }
    bench.submit([Made.json(9_999)], .local, rank: .kept)
    if let job = bench.gate.nextJob() { bench.finish(job) }
    let batch = bench.nextBatch()
    #expect(batch?.entries.count == 101)
  }

  @Test("Neither of two full lanes waits for the other to be empty")
  func fairness() {
    var bench = Bench()
    let bulk = bench.submit((0..<400).map { Made.json($0) }, .bulk)
    let live = bench.submit((1_000..<1_400).map { Made.json($0) }, .live)
    while let job = bench.gate.nextJob(), bench.answers.isEmpty {
      bench.finish(job)
      _ = bench.write()
    }
    #expect(bench.answers[live] != nil && bench.answers[bulk] == nil)
    #expect(bench.gate.waiting[2] <= 300, "the bulk lane moved meanwhile")
  }

  @Test("A forged copy before the real event does not hide it, at whatever stage the real one comes")
  func forgedBefore() {
    for stage in 0..<4 {
      var bench = Bench()
      let real = Made.event(stage)
      bench.submit([Made.forged(real)], .live)
      var job: GateJob?
      if stage > 0 { job = bench.gate.nextJob() }
      if stage > 1, let checked = job { bench.finish(checked) }
      if stage > 2 { _ = bench.write() }
      let number = bench.submit([real.json], .live)
      if stage == 1, let checked = job { bench.finish(checked) }
      bench.run()
      #expect(bench.committed == [real.id], "stage \(stage)")
      #expect(bench.answers[number]?.counts.stored == 1)
      #expect(bench.answers.values.map(\.counts.invalidCount).reduce(0, +) == 1)
      #expect(bench.gate.isIdle)
    }
  }

  @Test("One's own event is verified whatever is known of its id, at whatever stage another copy is")
  func ownForged() {
    for stage in 0..<5 {
      var bench = Bench()
      let real = Made.event(stage)
      let theirs = bench.submit([real.json, real.json], .live)
      var job: GateJob?
      if stage > 0 { job = bench.gate.nextJob() }
      if stage > 1, let checked = job { bench.finish(checked) }
      if stage > 2 { _ = bench.write() }
      let forged = bench.submit([Made.forged(real)], .local, rank: .kept)
      let own = bench.submit([real.json], .local, rank: .kept)
      let twice = bench.submit([real.json], stage == 4 ? .live : .local, rank: stage != 4 ? .kept : .ordinary)
      if stage == 1, let checked = job { bench.finish(checked) }
      bench.run()
      #expect(bench.committed == [real.id], "stage \(stage)")
      #expect(bench.answers[forged]?.counts.invalidCount == 1, "stage \(stage)")
      let counts = [theirs, own, twice].compactMap { bench.answers[$0]?.counts }
      #expect(counts.map(\.stored).reduce(0, +) == 1 && counts.map(\.duplicate).reduce(0, +) == 3)
      #expect(bench.gate.isIdle)
    }
  }

  @Test(
    "Many forged copies in one job with the real one among them: the real one is stored, and nothing is left behind")
  func forgedAmong() {
    var bench = Bench()
    let real = Made.event(1)
    let copies = (0..<20).map { $0 == 11 ? real.json : Made.forged(real) }
    let number = bench.submit(copies, .bulk)
    bench.run()
    #expect(bench.committed == [real.id])
    let counts = bench.answers[number]?.counts
    #expect(counts?.stored == 1 && counts?.invalidCount == 11 && counts?.duplicate == 8)
    #expect(counts?.invalid.first?.record == 0 && counts?.invalid.first?.reason.contains("id is wrong") == true)
    #expect(bench.gate.isIdle)
  }

  @Test("A forged copy after the real event changes nothing, and is not even verified")
  func forgedAfter() {
    var bench = Bench()
    let real = Made.event(1)
    bench.submit([real.json], .live)
    bench.run()
    bench.submit([Made.forged(real)], .live)
    bench.run()
    #expect(bench.committed == [real.id] && bench.gate.counters.verified == 1)
  }

  @Test(
    "10,000 copies of an event are verified once: together, one after the other, and when only the archive knows it")
  func duplicates() {
    var bench = Bench()
    let event = Made.json(1)
    bench.submit(Array(repeating: event, count: 5_000), .bulk, relay: 3)
    bench.run()
    #expect(bench.gate.counters.verified == 1)
    for _ in 0..<100 {
      bench.submit(Array(repeating: event, count: 50), .live)
      bench.run()
    }
    #expect(bench.gate.counters.verified == 1 && bench.committed.count == 1)
    #expect(bench.answers.values.map(\.counts.duplicate).reduce(0, +) == 9_999)
    bench.restart()
    bench.submit([event, event], .live)
    bench.run()
    #expect(bench.gate.counters.verified == 0 && bench.committed.count == 1)
  }

  @Test("An event that was removed is taken anew")
  func removed() {
    var bench = Bench()
    let event = Made.event(1)
    bench.submit([event.json], .live)
    bench.run()
    bench.remove(event.id)
    bench.submit([event.json], .live)
    bench.run()
    #expect(bench.committed == [event.id, event.id])
  }

  @Test("What is removed while its id is being looked up is not taken for stored when it comes again")
  func removedMeanwhile() {
    var bench = Bench()
    let event = Made.event(1)
    bench.submit([event.json], .live)
    guard let job = bench.gate.nextJob() else {
      Issue.record("there is a job")
      return
    }
    bench.gate.removed([event.id])
    bench.finish(job, [.known(seq: 5)])
    bench.submit([event.json], .live)
    #expect(bench.gate.nextJob()?.count == 1)
  }

  @Test("An event in whose place a newer one is, is announced apart, and not stored")
  func superseded() {
    var bench = Bench()
    let event = Made.event(1, kind: 10_002)
    bench.late = [event.id]
    let number = bench.submit([event.json], .live, relay: 3)
    bench.run()
    #expect(bench.supersededRelays == [3])
    #expect(bench.superseded == [event.id] && bench.announced.isEmpty && bench.committed.isEmpty)
    #expect(bench.answers[number]?.counts.superseded == 1)
  }

  @Test("Ephemeral events are announced once and written never; what came over is not announced")
  func ephemeral() {
    var bench = Bench()
    let event = Made.event(1, kind: 20_001)
    let over = Made.event(2, kind: 20_001, tags: [["expiration", "900"]])
    let number = bench.submit([event.json, event.json, over.json], .live)
    bench.run()
    bench.submit([event.json], .live)
    bench.run()
    #expect(bench.announced == [event.id] && bench.announcedSeqs == [nil])
    #expect(bench.committed.isEmpty && bench.gate.counters.verified == 2)
    #expect(bench.answers[number]?.counts.ephemeral == 1 && bench.answers[number]?.counts.expired == 1)
  }

  @Test(
    "When a batch cannot be written its senders are refused whole, others go on, and the same events can come again")
  func failure() {
    var bench = Bench()
    let events = (0..<100).map { Made.json($0) }
    let failed = bench.submit(events, .live)
    if let job = bench.gate.nextJob() { bench.finish(job) }
    let wrote = bench.write(fails: true)
    #expect(wrote)
    #expect(bench.refused == [failed])
    let again = bench.submit(events, .live)
    bench.run()
    #expect(bench.refused == [failed] && bench.answers[failed] == nil)
    #expect(bench.answers[again]?.counts.stored == 100)
    #expect(bench.committed.count == 100 && bench.gate.isIdle && bench.gate.waiting == [0, 0, 0])
  }

  @Test("A transaction has at most 1,000 entries")
  func batches() {
    var bench = Bench(recentCapacity: 1)
    let event = Made.json(1)
    bench.submit(Array(repeating: event, count: 2_500), .bulk, relay: 1)
    bench.run()
    #expect(bench.batchSizes.allSatisfy { $0 <= EventGate.batchMaximum } && bench.batchSizes.count >= 3)
  }

  @Test("What is no event is refused with its record and reason, the first 256 one by one")
  func invalid() {
    var bench = Bench()
    let number = bench.submit(Array(repeating: Array("{}".utf8), count: 300) + [Made.json(1)], .bulk)
    bench.run()
    let counts = bench.answers[number]?.counts
    #expect(counts?.invalidCount == 300 && counts?.invalid.count == IngestResult.invalidMaximum)
    #expect(counts?.invalid.last?.record == 255 && counts?.stored == 1)
    #expect(bench.gate.counters.verified == 1)
  }

  private static let note = ArchiveNote.fetched(FilterKey([]), relay: 1, at: 5)

  @Test("A note is committed behind the events before it, whatever order their checks end in", arguments: seeds(4))
  func notes(seed: UInt64) {
    var random = SeededOrder(seed)
    var bench = Bench()
    let number = bench.submit((0..<120).map { Made.json($0) }, notedEvery: 10, Self.note, .live)
    var jobs: [GateJob] = []
    repeat {
      while let job = bench.gate.nextJob() { jobs.append(job) }
      if !jobs.isEmpty { bench.finish(jobs.remove(at: random.below(jobs.count))) }
      if random.below(2) == 0 { _ = bench.write() }
    } while !jobs.isEmpty
    bench.run()
    #expect(bench.notes.map(\.behind) == stride(from: 10, through: 120, by: 10).map { $0 })
    #expect(bench.answers[number]?.counts.stored == 120 && bench.gate.isIdle && bench.gate.waiting == [0, 0, 0])
    #expect(bench.announcedRelays == Array(repeating: 1, count: 120))
  }

  @Test("When a batch cannot be written, nobody's note is either who was waiting then: it could speak of what was lost")
  func notesAfterFailure() {
    var bench = Bench()
    let events = bench.submit([Made.json(1)], .live)
    if let job = bench.gate.nextJob() { bench.finish(job) }
    let others = bench.submit([Made.json(2)], .bulk)
    let end = bench.submit([], notedEvery: 1, Self.note, .live)
    let noted = bench.submit([Made.json(3)], notedEvery: 1, Self.note, .live)
    _ = bench.write(fails: true)
    bench.run()
    #expect(bench.refused == [events, noted] && bench.notes.isEmpty)
    #expect(bench.answers[others]?.counts.stored == 1 && bench.answers[end] != nil && bench.gate.isIdle)
  }

  @Test("A submission without events is answered at once")
  func empty() {
    var bench = Bench()
    let number = bench.submit([], .live)
    bench.take()
    #expect(bench.answers[number] == GateResult())
  }
}

/// The same seed, the same order.
private struct SeededOrder {
  private var state: UInt64
  init(_ seed: UInt64) { state = seed }
  mutating func below(_ bound: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int((state >> 33) % UInt64(bound))
  }
}
