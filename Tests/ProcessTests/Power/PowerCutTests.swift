import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// The power fails. Every write and sync of a Roost is recorded; then the disk is made as it may be at some moment,
  /// with all or some of what was not synchronized gone, and another Roost starts on it.
  ///
  /// `ROOST_POWER_CUTS` says how many cuts each test makes; `make power` makes 200 of both together.
  @Suite("Losses of power")
  struct PowerCutTests {
    @Test(
      "Nothing that was accepted is lost from ledger or store, and no seq is given twice",
      arguments: seeds(1))
    func accounts(seed: UInt64) throws {
      let directory = try TemporaryDirectory()
      let relay = try AnsweringRelay(directory, "relay")
      let layout = AccountPlay.layout
      let recording = try PowerRecording<AccountPlay.Fact>(layout) { roost, book in
        var play = try AccountPlay(roost, relay, book)
        for _ in 0..<amount("ROOST_POWER_ROUNDS", standard: 20) { try play.turn() }
      }
      Self.expectNothing(
        try recording.cut(amount("ROOST_POWER_CUTS", standard: 6), seed: seed, layout) { roost, facts in
          try AccountPlay.violations(roost, facts)
        })
    }

    @Test("A push relay has its registrations and wakes, and the keys that open them", arguments: seeds(1))
    func push(seed: UInt64) throws {
      let (fakes, directory, port) = (try PushFakes(), try TemporaryDirectory(), try PlainClient.freePort())
      let keys = PushRig.watchedKeys().filter { $0.key != "environment" }
      let layout = try PushRig.layout(fakes, port: port, directory: directory.path, keys)
      let recording = try PowerRecording<PushPlay.Fact>(layout) { roost, book in
        let play = PushPlay(try PushRig(roost, fakes, port), book)
        for number in 0..<amount("ROOST_POWER_TURNS", standard: 4) { try play.turn(number) }
      }
      Self.expectNothing(
        try recording.cut(amount("ROOST_POWER_CUTS", standard: 6), seed: seed, layout) { roost, facts in
          try PushPlay.violations(try PushRig(roost, fakes, port), facts)
        })
    }

    @Test("What relays send waits for the disk by a few MiB at most, so that no other commit waits for more of it")
    func unsynced() throws {
      let (log, directory) = (try PowerLog(), try TemporaryDirectory())
      var layout = Layout.store
      layout.workers[0].keys["environment"] = PowerLog.variables
      layout.environment = log.environment(root: directory.path + "/state")
      let roost = try RunningRoost(layout, in: directory)
      try Self.keepUnsynced(roost, log, directory)
      try roost.finish()
    }

    /// Its client is gone when this returns, and roostd has closed what it had for it.
    private static func keepUnsynced(_ roost: RunningRoost, _ log: PowerLog, _ directory: TemporaryDirectory) throws {
      let (store, author) = (try StoreClient(roost), SecretKey.generate())
      var number: Int64 = 0
      func send(count: Int, byteCount: Int) throws {
        var run: [UInt8] = []
        IngestRecord.append(.relayName, relay: 1, receivedNanoseconds: 0, Array("wss://relay.example".utf8), to: &run)
        for _ in 0..<count {
          number += 1
          let event = UnsignedEvent(
            pubkey: author.publicKey, createdAt: 1_700_000_000 + number, kind: 1,
            content: String(repeating: "a", count: byteCount)
          ).signed(by: author)
          IngestRecord.append(.event, relay: 1, receivedNanoseconds: 0, event.json, to: &run)
        }
        #expect(try store.peer.answer(to: try store.sendRun(run), within: 60).isResponse)
      }
      // Less than what has SQLite copy the log into the file, which synchronizes it as well.
      for _ in 0..<13 { try send(count: 6, byteCount: 80_000) }
      let path = directory.path + "/state/event-store/events.db-wal"
      try awaitSoon("most of it is on the disk") {
        // It is looked at by who commits.
        try send(count: 1, byteCount: 10)
        var disk = PowerDisk(log, root: directory.path + "/state")
        for record in try log.records() { disk.apply(record) }
        return disk.pendingByteCount(of: path) < 5 << 20
      }
    }

    private static func expectNothing<Fact>(_ findings: PowerRecording<Fact>.Findings) {
      // For whoever runs many: what was tried is worth as much as what was found.
      if getenv("ROOST_POWER_CUTS") != nil { print(findings.summary) }
      #expect(
        findings.violations.isEmpty,
        "\(findings.summary)\n\(findings.violations.prefix(20).joined(separator: "\n"))")
    }
  }
}
