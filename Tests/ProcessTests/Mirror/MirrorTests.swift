import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// The mirror with real workers, and relays by other people.
  @Suite("The mirror", .enabled(if: PythonPeer.isAvailable, "no .venv: run Scripts/python-environment.sh"))
  struct MirrorTests {
    private static func layout(_ relays: [String]) -> Layout {
      var layout = PlannerRig.layout(relays)
      layout.workers.append(
        Layout.Worker(
          name: "mirror",
          keys: [
            "role": "\"mirror\"", "program": "\"\(SpawnedProcess.builtProgram("mirror"))\"", "sandbox": "\"try\"",
          ]))
      return layout
    }

    private func event(
      _ author: SecretKey, _ number: Int, _ tags: [[String]] = [], kind: UInt16 = 1
    ) -> Event {
      UnsignedEvent(
        pubkey: author.publicKey, createdAt: WallClock.seconds - 1_000 * Int64(number) - 100, kind: kind, tags: tags,
        content: "\(number)"
      ).signed(by: author)
    }

    private func relay(_ events: [Event], _ directory: TemporaryDirectory, _ name: String) throws -> RealRelay {
      let path = directory.path + "/\(name).jsonl"
      let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      try Descriptors.writeAll(events.map { String(decoding: $0.json, as: UTF8.self) + "\n" }.joined(), to: descriptor)
      Descriptors.close(descriptor)
      return try RealRelay("--cap", "200", path)
    }

    private func status(_ rig: PlannerRig) throws -> [MirrorClass: MirrorStatus.Entry] {
      let status = try rig.ask("mirror.status", NoArguments(), as: MirrorStatus.self)
      return Dictionary(uniqueKeysWithValues: status.entries.map { ($0.kind, $0) })
    }

    @Test("Without any client all that an account wrote, and all that names it, is fetched; the figure says so")
    func fetched() throws {
      let (alice, bob, carol) = (SecretKey.generate(), SecretKey.generate(), SecretKey.generate())
      let me = ["p", "\(alice.publicKey)"]
      let own = (0..<650).map { event(alice, $0) }
      let naming = (0..<300).map { event(bob, $0, [me], kind: $0 % 2 == 0 ? 1 : 7) }
      let others = (0..<50).map { event(carol, $0) }
      let follows = event(alice, 1, [["p", "\(carol.publicKey)"]], kind: 3)
      let wraps = (0..<20).map { event(SecretKey.generate(), $0, [me], kind: 1_059) }
      let directory = try TemporaryDirectory()
      // Each has some of it, and some twice.
      let first = try relay(
        Array(own.prefix(400)) + Array(naming.suffix(200)) + wraps + others + [follows], directory, "1")
      let second = try relay(Array(own.suffix(300)) + Array(naming.prefix(150)), directory, "2")
      try withRoost(Self.layout([first.url, second.url, "ws://127.0.0.1:1"])) { roost in
        let rig = PlannerRig(roost: roost, client: try roost.client())
        let signer = SignerRig(roost: roost, client: rig.client)
        let secret = alice.withSecret { Hexadecimal.text(of: $0) }
        _ = try signer.ask(
          "signer.import", SignerImport(name: "alice", secret: try signer.sealed(secret)), as: SignerAccount.self)
        try awaitSoon("everything is here") {
          let status = try status(rig)
          return status[.own]?.events == 651 && status[.named]?.events == 300 && status[.wraps]?.events == 20
            && status[.follows]?.events == 50
        }
        try awaitSoon("two of three relays have sent everything, of what it wrote and of what names it") {
          let status = try status(rig)
          return [.own, .named].allSatisfy { status[$0]?.completeCount == 2 && status[$0]?.isFetching == false }
        }
        let entry = try #require(try status(rig)[.own])
        #expect(entry.account == "alice" && entry.relays.count == 3)
        let dead = try #require(entry.relays.first { $0.relay == "ws://127.0.0.1:1" })
        #expect(dead.since == nil && dead.reason?.isEmpty == false)
        let late = UnsignedEvent(
          pubkey: alice.publicKey, createdAt: WallClock.seconds, kind: 1, tags: [], content: "from elsewhere"
        ).signed(by: alice)
        let value = try JSONPayload.decode(JSONValue.self, from: late.json)
        _ = try rig.ask(
          "relay.publish", RelayPublish(relay: second.url, event: RawJSON(value), isForeign: false),
          as: RelayPublishResult.self)
        try awaitSoon("what is new comes too") { try status(rig)[.own]?.events == 652 }
        try rig.kill("mirror")
        try awaitSoon("it knows the same after its death") { try status(rig)[.own]?.completeCount == 2 }
      }
    }
  }
}
