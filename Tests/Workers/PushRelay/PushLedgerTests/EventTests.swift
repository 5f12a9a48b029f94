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
    let plain = WatchedOwner(owner: alice, rules: nil, blocked: [], watchedSince: LedgerBench.now)
    #expect(try await watched() == [plain])
    let rules = RulesCommand(
      message: bench.message(alice, at: 5), rules: [1], keepUntil: LedgerBench.now + LedgerBench.month)
    #expect(try bench.run(.rules(rules)) == .rulesKept)
    #expect(try bench.run(.rules(rules)) == .rulesKept)
    var older = rules
    older.message = bench.message(alice, at: 4)
    older.rules = [2]
    for _ in 0..<2 { #expect(try bench.run(.rules(older)) == .superseded()) }
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

  @Test("A renewal makes nobody new, a gap does; and whoever has been there for longest is watched for first")
  func since() async throws {
    let other = LedgerBench.owner(2, .nostr)
    func watched(at: Int64, limit: Int = 10) async throws -> [PushOwner: Int64] {
      let owners = try await bench.ledger.watchedOwners(now: LedgerBench.now + at, limit: limit)
      return Dictionary(uniqueKeysWithValues: owners.map { ($0.owner, $0.watchedSince - LedgerBench.now) })
    }
    try bench.register(other, "two", LedgerBench.token(2), at: 3)
    try bench.register(alice, "one", LedgerBench.token(1), at: 9)
    #expect(try await watched(at: 9) == [alice: 0, other: 3])
    // Another device, and the first one goes: he could be woken all the time.
    try bench.register(alice, "second", LedgerBench.token(3), at: 10)
    _ = try bench.run(.unregister(bench.removal(alice, .device("one"), at: 11)))
    #expect(try await watched(at: 11) == [alice: 0, other: 3])
    #expect(try await watched(at: 11, limit: 1) == [alice: 0])
    _ = try bench.run(.unregister(bench.removal(alice, .device("second"), at: 12)))
    try bench.register(alice, "one", LedgerBench.token(1), at: 13)
    #expect(try await watched(at: 13) == [alice: 13, other: 3])
    #expect(try await watched(at: 13, limit: 1) == [other: 3])
    // A registration that has ended is a gap as well.
    let later = 3 + LedgerBench.month + 1
    try bench.register(other, "two", LedgerBench.token(2), at: later)
    #expect(try await watched(at: later) == [alice: 13, other: later])
  }

  @Test("No more Nostr keys have devices than may, also of one transaction; who has one may renew it")
  func keyMaximum() throws {
    func registration(_ owner: UInt8, at: Int64, _ realm: PushOwner.Realm = .nostr) -> PushWrite {
      var command = bench.registration(
        LedgerBench.owner(owner, realm), "phone", LedgerBench.token(Int(owner)), at: at)
      command.nostrKeyMaximum = 2
      return .register(command)
    }
    func words(_ commands: PushWrite...) throws -> [String] {
      try bench.ledger.writeNow(commands).map { answer in
        if case .registered = answer { return "registered" }
        return "\(answer)"
      }
    }
    #expect(try words(registration(7, at: 1), registration(8, at: 1)) == ["registered", "tooManyKeys"])
    #expect(try words(registration(7, at: 2), registration(9, at: 2, .pubky)) == ["registered", "registered"])
    _ = try bench.run(.unregister(bench.removal(LedgerBench.owner(7, .nostr), .device("phone"), at: 3)))
    #expect(try words(registration(8, at: 4), registration(7, at: 4)) == ["registered", "tooManyKeys"])
    #expect(try bench.miscounted() == [])
  }

  @Test("Rules that are larger than the ledger takes are refused, and nobody dies of them")
  func largeRules() throws {
    func answer(_ count: Int, at: Int64) throws -> LedgerAnswer {
      try bench.run(
        .rules(
          RulesCommand(
            message: bench.message(alice, at: at), rules: [UInt8](repeating: 0x20, count: count),
            keepUntil: LedgerBench.now + LedgerBench.month)))
    }
    #expect(try answer(PushLedger.rulesByteCountMaximum, at: 1) == .rulesKept)
    #expect(try answer(PushLedger.rulesByteCountMaximum + 1, at: 2) == .unavailable)
    var registration = bench.registration(alice, "one", LedgerBench.token(1), at: 3)
    registration.rules = [UInt8](repeating: 0x20, count: PushLedger.rulesByteCountMaximum + 1)
    #expect(try bench.run(.register(registration)) == .unavailable)
  }

  @Test("Owners of an older ledger have been watched for since their first registration")
  func olderOwners() throws {
    let path = bench.directory.path + "/older.db"
    let file = try StorageFile(
      path: path, StorageSettings(durability: .normal), migrations: Array(PushSchema.migrations.prefix(3)))
    try file.writeNow { session in
      try session.run(
        "INSERT INTO account (owner, policySignedAt, signedAt, keepUntil) VALUES (?, 0, 0, ?)",
        alice, LedgerBench.now + 9)
      for (id, registeredAt) in [("a", Int64(5)), ("b", 3)] {
        try session.run(
          """
          INSERT INTO device (owner, id, isNamed, relayID, platform, ringKey, sealed, tokenIndex, capabilities,
            signedAt, registeredAt, expiresAt, isVerified, isQuarantined)
          VALUES (?1, ?2, 1, ?2, 1, 1, x'', x'', x'', 1, ?3, ?4, 1, 0)
          """, alice, id, registeredAt, LedgerBench.now + 9)
      }
    }
    try file.close()
    let present = try StorageFile(
      path: path, StorageSettings(durability: .normal), migrations: PushSchema.migrations)
    #expect(try present.readNow { try $0.count("SELECT watchedSince FROM account") } == 3)
    try present.close()
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

  @Test("What was answered before the tables changed is known behind it")
  func olderNonces() async throws {
    let path = bench.directory.path + "/nonces.db"
    let wake = bench.wake(alice, alice)
    let file = try StorageFile(
      path: path, StorageSettings(durability: .normal), migrations: Array(PushSchema.migrations.prefix(4)))
    try file.writeNow { session in
      try session.run(
        "INSERT INTO nonce (sender, nonce, body, expiresAt, answer) VALUES (?, ?, ?, ?, ?)",
        alice, wake.wake.nonce, wake.bodyHash.bytes, LedgerBench.now + 600,
        KeptAnswer.bytes(.queued(id: wake.wake.id)) ?? [])
    }
    try file.close()
    let ledger = try PushLedger(path: path, keyRing: bench.ring)
    var again = wake
    again.wake.id = [UInt8](repeating: 7, count: 16)
    #expect(try ledger.writeNow([.wake(again)]) == [.queued(id: wake.wake.id)])
    #expect(try await ledger.openWakes(after: 0, limit: 10).isEmpty)
    try ledger.close()
  }
}
