import Contracts
import EventArchive
import EventGate
import Nostr
import TestSupport
import Testing

@Suite("A run of which each outcome is told")
struct OfferTests {
  @Test("tells them in the order of its events, whatever order checks end in, and a bad event spoils no other")
  func order() throws {
    var bench = Bench()
    bench.submit([Made.json(1)], .live, relay: 1)
    bench.run()
    let over = Made.event(8, tags: [["expiration", "5"]]).json
    let events =
      (0..<40).map { Made.json($0) } + [
        Made.forged(Made.event(50)), Array("nonsense".utf8), [], Made.json(60), Made.json(60),
        Made.json(61, kind: 20_001), Made.json(61, kind: 20_001), over, Made.missigned(70).json, Made.json(71),
      ]
    let number = bench.submit(events, .local, rank: .kept, tellsEach: true)
    var jobs: [GateJob] = []
    while let job = bench.gate.nextJob() { jobs.append(job) }
    for job in jobs.reversed() {
      bench.finish(job)
      _ = bench.write()
    }
    bench.run()
    let outcomes = try #require(bench.answers[number]?.outcomes)
    #expect(outcomes.count == events.count)
    for index in 0..<40 {
      let seq = try #require(bench.seqs[Made.event(index).id])
      #expect(outcomes[index] == .archived(index == 1 ? .duplicate(seq: seq) : .stored(seq: seq)))
    }
    for index in [40, 41, 42, 48] {
      guard case .invalid(let reason) = outcomes[index] else {
        Issue.record("\(index): \(outcomes[index])")
        continue
      }
      #expect(!reason.isEmpty)
    }
    let seq = try #require(bench.seqs[Made.event(60).id])
    #expect(outcomes[43...44] == [.archived(.stored(seq: seq)), .archived(.duplicate(seq: seq))])
    #expect(outcomes[45...46] == [.ephemeral(isNew: true), .ephemeral(isNew: false)])
    #expect(outcomes[47] == .archived(.expired))
    #expect(bench.gate.isIdle && bench.gate.waiting == [0, 0, 0])
  }

  @Test("that is empty is answered at once; other submissions are told no outcomes")
  func others() {
    var bench = Bench()
    let empty = bench.submit([], .local, rank: .kept, tellsEach: true)
    let plain = bench.submit([Made.json(1)], .local)
    bench.run()
    #expect(bench.answers[empty]?.outcomes == [] && bench.answers[plain]?.outcomes == nil)
  }

  @Test("is refused as a whole when a transaction fails, and told of all when it is offered again")
  func failure() {
    var bench = Bench()
    let events = (0..<10).map { Made.json($0) }
    let number = bench.submit(events, .local, rank: .kept, tellsEach: true)
    while let job = bench.gate.nextJob() { bench.finish(job) }
    _ = bench.write(fails: true)
    #expect(bench.refused == [number])
    let again = bench.submit(events, .local, rank: .kept, tellsEach: true)
    bench.run()
    #expect(bench.answers[again]?.counts.stored == 10 && bench.answers[again]?.outcomes?.count == 10)
  }

  @Test("is looked up nowhere, and one short event with nothing beside it is checked on the spot")
  func brief() throws {
    var bench = Bench()
    bench.submit([Made.json(1)], .local, rank: .kept, tellsEach: true)
    let next = bench.gate.nextJob()
    let job = try #require(next)
    #expect(job.isBrief)
    let findings = job.run(
      lookUp: { ids in
        Issue.record("\(ids.count) ids are looked up")
        return []
      }, keys: bench.keys)
    bench.finish(job, findings)
    // Beside that one, which is not written yet.
    bench.submit([Made.json(2)], .local, rank: .kept, tellsEach: true)
    let second = bench.gate.nextJob()
    let beside = try #require(second)
    #expect(!beside.isBrief)
    bench.finish(beside)
    bench.run()
    #expect(bench.committed.count == 2 && bench.gate.isIdle)
    let others: [(events: [[UInt8]], relay: Int64?)] = [
      ([Made.json(3), Made.json(4)], nil), ([Self.long], nil), ([Made.json(5)], 1),
    ]
    for (events, relay) in others {
      bench.submit(events, .local, relay: relay, rank: relay == nil ? .kept : .ordinary)
      let next = bench.gate.nextJob()
      let job = try #require(next)
      #expect(!job.isBrief)
      bench.finish(job)
      bench.run()
    }
    #expect(bench.committed.count == 6 && bench.gate.isIdle)
  }

  /// An event that takes a while to be hashed.
  private static var long: [UInt8] { Made.event(6, tags: [["t", String(repeating: "a", count: 5_000)]]).json }
}
