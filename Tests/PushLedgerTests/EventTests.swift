import Cryptography
import PushDelivery
@testable import PushLedger
import Storage
import TestSupport
import Testing

@Suite("Wakes for events in the push ledger")
struct EventTests {
  private let bench: LedgerBench
  private let alice = LedgerBench.owner(1, .nostr)
  private let event = SHA256.hash([9])

  init() throws {
    bench = try LedgerBench()
    try bench.register(alice, "one", LedgerBench.token(1))
  }

  private func arrival(_ events: [Octets32], for owner: PushOwner? = nil, _ topic: WakeTopic = .mention) -> EventBatch {
    var wake = Wake(
      id: RandomBytes.make(16), recipient: owner ?? alice, sender: nil, type: Wake.nostr, payload: nil,
      nonce: RandomBytes.make(16), acceptedAt: LedgerBench.now * 1_000, expiresAt: LedgerBench.now * 1_000 + 60_000)
    wake.topic = topic
    wake.event = events.last
    return EventBatch(wake: wake, events: events)
  }

  private func note(_ batches: EventBatch..., at seq: Int64? = nil) throws -> LedgerAnswer {
    try bench.run(
      .events(EventsCommand(batches: batches, place: seq.map { EventPlace(seq: $0, readAt: LedgerBench.now) })))
  }

  @Test("An event is in one wake of an owner, after a kill too, and goes into the queue as it came")
  func once() async throws {
    let first = arrival([event])
    #expect(try note(first, at: 7) == .noted(queued: 1))
    var expected = first.wake
    expected.number = 1
    #expect(try await bench.openWakes().map(\.wake) == [expected])
    #expect(try note(arrival([event])) == .noted(queued: 0))
    #expect(try note(arrival([event, SHA256.hash([1])])) == .noted(queued: 1))
    let other = LedgerBench.owner(2, .nostr)
    try bench.register(other, "two", LedgerBench.token(2))
    #expect(try note(arrival([event], for: other)) == .noted(queued: 1))
    let killed = try bench.killed("copy")
    #expect(
      try killed.writeNow([.events(EventsCommand(batches: [arrival([event])], place: nil))]) == [.noted(queued: 0)])
    #expect(try await killed.eventPlace() == EventPlace(seq: 7, readAt: LedgerBench.now))
    #expect(try bench.miscounted() == [])
  }

  @Test("Nobody is woken who has no device that wants it; what was seen is forgotten in the end")
  func nobody() throws {
    #expect(try note(arrival([event], for: LedgerBench.owner(5, .nostr))) == .noted(queued: 0))
    let deaf = LedgerBench.owner(6, .nostr)
    try bench.register(deaf, "deaf", LedgerBench.token(6), capabilities: ["payment_received"])
    #expect(try note(arrival([event], for: deaf)) == .noted(queued: 0))
    #expect(try bench.count("eventSeen") == 2)
    _ = try bench.run(.sweep(now: (LedgerBench.now + PushLedger.eventSeconds) * 1_000, limit: 100))
    #expect(try bench.count("eventSeen") == 0)
    #expect(try bench.miscounted() == [])
  }

  @Test("Where there is no room for events the oldest are forgotten")
  func room() throws {
    #expect(try note(arrival([event])) == .noted(queued: 1))
    let maximum = TableBounds(requestsPerMinute: 1).rowMaximum(of: .eventSeen)
    try bench.setCounter(BoundedTable.eventSeen.counter, maximum)
    #expect(try note(arrival([SHA256.hash([1])])) == .noted(queued: 1))
    #expect(try bench.count("eventSeen") == 1)
  }

  @Test("The owners of Nostr keys are told with their rules and whom they block; others are not")
  func owners() async throws {
    try bench.register(LedgerBench.bob, "bob", LedgerBench.token(3))
    func watched(at: Int64 = 0) async throws -> [WatchedOwner] {
      try await bench.ledger.watchedOwners(now: LedgerBench.now + at, limit: 10)
    }
    let plain = WatchedOwner(owner: alice, rules: nil, blocked: [], registeredAt: LedgerBench.now)
    #expect(try await watched() == [plain])
    let rules = RulesCommand(
      message: bench.message(alice, at: 5), rules: [1], keepUntil: LedgerBench.now + LedgerBench.month)
    #expect(try bench.run(.rules(rules)) == .rulesKept)
    #expect(try bench.run(.rules(rules)) == .rulesKept)
    var older = rules
    older.message = bench.message(alice, at: 4)
    older.rules = [2]
    #expect(try bench.run(.rules(older)) == .rulesKept)
    let blocks = ContactsCommand(
      message: bench.message(alice, at: 5), contacts: [LedgerBench.carol: .blocked, LedgerBench.bob: .allowed],
      policy: nil, keepUntil: LedgerBench.now + LedgerBench.month)
    #expect(try bench.run(.contacts(blocks)) == .contactsKept)
    let found = try await watched()
    #expect(found.first?.rules == [1] && found.first?.blocked == [LedgerBench.carol])
    var again = bench.registration(alice, "one", LedgerBench.token(1), at: 9)
    again.rules = [3]
    _ = try bench.run(.register(again))
    #expect(try await bench.ledger.rules(of: alice) == [3])
    #expect(try await watched(at: LedgerBench.month + 9).isEmpty)
    #expect(try await bench.ledger.statistics(now: LedgerBench.now).nostrDevices == 1)
    _ = try bench.run(.sweep(now: (LedgerBench.now + LedgerBench.month + 9) * 1_000, limit: 1_000))
    #expect(try await bench.ledger.rules(of: alice) == nil)
  }

  @Test("A ledger of the first form is brought to the present one, with what is in it")
  func migration() async throws {
    let path = bench.directory.path + "/old.db"
    let file = try StorageFile(
      path: path, StorageSettings(durability: .normal), migrations: Array(PushSchema.migrations.prefix(1)))
    try file.close()
    let ledger = try PushLedger(path: path, keyRing: bench.ring)
    #expect(try await ledger.eventPlace() == nil)
    let command = EventsCommand(batches: [], place: EventPlace(seq: 0, readAt: 1))
    #expect(try ledger.writeNow([.events(command)]) == [.noted(queued: 0)])
    #expect(try await ledger.eventPlace() == EventPlace(seq: 0, readAt: 1))
    try ledger.close()
  }
}
