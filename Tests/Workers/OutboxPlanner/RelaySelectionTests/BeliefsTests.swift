import Clocks
import RelaySelection
import TestSupport
import Testing

@Suite("What is learned of relays")
struct BeliefsTests {
  private let week = Int64(10_080)

  @Test("of a pair is shrunk to the relay's mean, and grows with evidence")
  func shrinks() {
    var beliefs = DeliveryBeliefs()
    let before = beliefs.delivery(of: 1, for: 1, at: 0)
    for author in 2..<12 as Range<Int32> {
      beliefs.learn(DeliveryReport(relay: 1, author: author, minute: 0, had: 0, known: 10))
    }
    let shrunk = beliefs.delivery(of: 1, for: 1, at: 0)
    #expect(shrunk < before / 2, "a relay that lacks what others wrote")
    #expect(beliefs.delivery(of: 2, for: 1, at: 0) > shrunk)
    beliefs.learn(DeliveryReport(relay: 1, author: 1, minute: 0, had: 50, known: 50))
    #expect(beliefs.delivery(of: 1, for: 1, at: 0) > 0.8)
    #expect(beliefs.delivery(of: 1, for: 2, at: 0) < beliefs.delivery(of: 1, for: 99, at: 0))
  }

  @Test("fades: what was seen long ago weighs less than what was seen now")
  func fades() {
    var beliefs = DeliveryBeliefs()
    beliefs.learn(DeliveryReport(relay: 1, author: 1, minute: 0, had: 20, known: 20))
    beliefs.learn(DeliveryReport(relay: 1, author: 1, minute: 20 * week, had: 0, known: 20))
    #expect(beliefs.delivery(of: 1, for: 1, at: 20 * week) < 0.3)
    var reach = DeliveryBeliefs()
    for number in 0..<10 { reach.learn(ReachReport(relay: 1, minute: Int64(number), answered: false)) }
    #expect(reach.reach(of: 1, isListed: true, at: 10) < 0.1)
    #expect(reach.reach(of: 1, isListed: true, at: 20 * week) > 0.75)
  }

  @Test("of reach says nothing of delivery")
  func keepsReachApart() {
    var beliefs = DeliveryBeliefs()
    let before = beliefs.delivery(of: 1, for: 1, at: 0)
    for _ in 0..<20 { beliefs.learn(ReachReport(relay: 1, minute: 0, answered: false)) }
    #expect(beliefs.delivery(of: 1, for: 1, at: 0) == before && beliefs.reach(of: 1, isListed: nil, at: 0) < 0.1)
  }

  @Test("is the same after it was kept as rows", arguments: seeds(5))
  func survivesRows(seed: UInt64) {
    let candidates = randomCandidates(100, seed: seed)
    let beliefs = randomBeliefs(candidates, seed: seed)
    let again = DeliveryBeliefs(rows: beliefs.rows)
    #expect(again.rows == beliefs.rows && !beliefs.rows.isEmpty)
    let budget = SelectionBudget(live: 10, visits: 10, spares: 10)
    var (one, other) = (
      RelaySelector(mode: .learned, seed: 1, beliefs: beliefs), RelaySelector(mode: .learned, seed: 1, beliefs: again)
    )
    #expect(one.select(candidates, budget: budget) == other.select(candidates, budget: budget))
  }

  @Test("is not spoiled by rows and reports that cannot be")
  func refusesNonsense() {
    let rows = DeliveryBeliefs.Row.Subject.allCases.flatMap { subject in
      [(-1.0, Int32(1)), (.nan, 1), (.infinity, 1), (1, -1), (1, .max)].map { number, id in
        DeliveryBeliefs.Row(subject, relay: id, author: id, successes: number, failures: 1, minute: 0)
      }
    }
    #expect(DeliveryBeliefs(rows: rows).rows.isEmpty)
    var beliefs = DeliveryBeliefs()
    beliefs.learn(DeliveryReport(relay: -1, author: 1, minute: 0, had: 1, known: 1))
    beliefs.learn(DeliveryReport(relay: 1, author: .max, minute: 0, had: 1, known: 1))
    beliefs.learn(DeliveryReport(relay: 1, author: 1, minute: 0, had: 5, known: -1))
    beliefs.learn(ReachReport(relay: -1, minute: 0, answered: true))
    beliefs.learn(PostingReport(author: 1, minute: 0, events: 5, observedMinutes: -1))
    #expect(beliefs.rows.isEmpty)
    #expect(DeliveryReport(relay: 1, author: 1, minute: 0, had: 9, known: 3).had == 3)
  }

  @Test("of a log counts what other relays brought, within the time that a relay drained")
  func countsWhatOthersBrought() {
    var log = DeliveryLog()
    for event in 0..<30 as Range<Int64> {
      log.received(event, of: 5, at: event * 100, from: 1)
      if event % 2 == 0 { log.received(event, of: 5, at: event * 100, from: 2) }
    }
    log.drained(1, 5, since: 0, until: 3_000)
    log.drained(2, 5, since: 0, until: 2_000)
    log.drained(3, 5, since: 1_000, until: 2_000)
    var beliefs = DeliveryBeliefs()
    log.teach(&beliefs, at: 3_000, windowMinutes: 10_080)
    let pairs = beliefs.rows.filter { $0.subject == .pair }
    #expect(pairs.map(\.relay) == [1, 2, 3] && pairs.map(\.successes) == [15, 10, 0])
    #expect(pairs.map(\.failures) == [0, 10, 10])
    let once = beliefs.rows
    log.teach(&beliefs, at: 3_000, windowMinutes: 10_080)
    #expect(beliefs.rows == once, "computed again, not added")
  }

  @Test("of a log asked twice for the same time counts it once")
  func countsOnce() {
    var log = DeliveryLog()
    for event in 0..<10 as Range<Int64> {
      log.received(event, of: 1, at: event * 1_000, from: 1)
      log.received(event, of: 1, at: event * 1_000, from: 1)
    }
    for until in stride(from: Int64(2_000), through: 10_000, by: 1_000) {
      log.drained(1, 1, since: 0, until: until)
      log.drained(2, 1, since: 0, until: until)
    }
    var beliefs = DeliveryBeliefs()
    log.teach(&beliefs, at: 10_000, windowMinutes: 10_080)
    let pairs = beliefs.rows.filter { $0.subject == .pair }
    #expect(pairs.map(\.relay) == [2] && pairs.allSatisfy { $0.successes == 0 && $0.failures == 10 })
  }
}
