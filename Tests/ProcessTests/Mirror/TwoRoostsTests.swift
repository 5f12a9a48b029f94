import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import NostrContracts
import TestSupport
import Testing

extension ProcessTests {
  /// Two Roosts of one owner, real workers in each, over the local relay of one of them.
  @Suite("Two Roosts of one owner", .enabled(if: PythonPeer.isAvailable, "no .venv: run Scripts/python-environment.sh"))
  struct TwoRoostsTests {
    private let alice = SecretKey.generate()

    private func layout(_ relay: String, port: UInt16, peers: [String] = []) -> Layout {
      var layout = PlannerRig.layout([relay])
      layout.workers.append(
        Layout.Worker(
          name: "local-relay",
          keys: [
            "role": "\"local-relay\"", "program": "\"\(SpawnedProcess.builtProgram("local-relay"))\"",
            "sandbox": "\"try\"", "listen": "[\"127.0.0.1:\(port)\"]",
          ]))
      layout.workers.append(
        Layout.Worker(
          name: "mirror",
          keys: [
            "role": "\"mirror\"", "program": "\"\(SpawnedProcess.builtProgram("mirror"))\"", "sandbox": "\"try\"",
            "peers": "[" + peers.map { "\"\($0)\"" }.joined(separator: ", ") + "]",
          ]))
      return layout
    }

    private func rig(_ roost: RunningRoost, _ account: SecretKey) throws -> PlannerRig {
      let rig = PlannerRig(roost: roost, client: try roost.client())
      try rig.importAlice(account)
      return rig
    }

    private func event(_ author: SecretKey, _ number: Int, _ tags: [[String]] = [], kind: UInt16 = 1) -> Event {
      UnsignedEvent(
        pubkey: author.publicKey, createdAt: WallClock.seconds - 5_000 * Int64(number) - 100, kind: kind, tags: tags,
        content: "\(number)"
      ).signed(by: author)
    }

    private func store(_ events: [Event], _ rig: PlannerRig) throws {
      for event in events {
        let value = try JSONPayload.decode(JSONValue.self, from: event.json)
        let answer = try rig.client.call("store.publish", String(decoding: JSONPayload.encode(value), as: UTF8.self))
        try #require(answer.refusal == nil)
      }
    }

    private func publish(_ event: Event, _ rig: PlannerRig, _ relays: [String]? = nil) throws -> Publication {
      var wanted = PlanPublish(event: RawJSON(try JSONPayload.decode(JSONValue.self, from: event.json)))
      wanted.relays = relays
      return try rig.ask("plan.publish", wanted, as: Publication.self)
    }

    private func held(_ rig: PlannerRig, _ events: [Event]) throws -> Int {
      var count = 0
      for start in stride(from: 0, to: events.count, by: 100) {
        let filter = Filter(ids: events[start..<min(start + 100, events.count)].map(\.id))
        count += try rig.ask("store.count", StoreQuery(filters: [JSONValue(of: filter)]), as: StoreCount.self).count
      }
      return count
    }

    private func peer(_ rig: PlannerRig) throws -> PeerStatus {
      try #require(rig.ask("mirror.status", NoArguments(), as: MirrorStatus.self).peers.first)
    }

    private func publications(_ rig: PlannerRig) throws -> [Publication] {
      try rig.client.call("plan.publications").parts.map { try JSONPayload.decode(Publication.self, from: $0.payload) }
    }

    private func sync(_ rig: PlannerRig) throws -> BusPeer.Answer { try rig.client.call("mirror.sync", "{}") }

    @Test("What one has the other has afterwards, gift wraps too; what one has published the other does not send again")
    func same() throws {
      let me = ["p", "\(alice.publicKey)"]
      let directory = try TemporaryDirectory()
      let (first, second) = (try AnsweringRelay(directory, "first"), try AnsweringRelay(directory, "second"))
      try first.answer("true")
      try second.answer("true")
      let port = try RelayVisitor.freePort()
      let url = "ws://127.0.0.1:\(port)"
      try withRoost(layout(first.url, port: port)) { home in
        let home = try rig(home, alice)
        let there =
          (0..<300).map { event(alice, $0) } + (300..<400).map { event(SecretKey.generate(), $0, [me]) }
          + (400..<420).map { event(SecretKey.generate(), $0, [me], kind: 1_059) }
        try store(there, home)
        let (published, named) = (event(alice, 500), event(alice, 501))
        _ = try publish(published, home)
        _ = try publish(named, home, [first.url])
        try awaitSoon("both are at the relay") {
          try home.ask("plan.status", NoArguments(), as: PlanStatus.self).publications["confirmed"] == 2
        }
        try withRoost(layout(second.url, port: try RelayVisitor.freePort(), peers: [url])) { laptop in
          let laptop = try rig(laptop, alice)
          let here =
            (600..<800).map { event(alice, $0) }
            + (800..<820).map { event(SecretKey.generate(), $0, [me], kind: 1_059) }
          let stranger = event(SecretKey.generate(), 900)
          try store(here + [stranger], laptop)
          let answer = try sync(laptop)
          #expect(answer.refusal == nil && answer.parts.count == 1)
          #expect(try peer(laptop).reason == nil && peer(laptop).sameAt != nil)
          #expect(try held(laptop, there) == there.count && held(home, here) == here.count)
          #expect(try held(home, [stranger]) == 0, "only what the interests name")
          // What came is not published by the one that got it.
          let known = try publications(laptop)
          #expect(Set(known.map(\.id)) == ["\(published.id)", "\(named.id)"])
          #expect(known.allSatisfy { $0.state == .confirmed && $0.targets.map(\.relay) == [first.url] })
          #expect(known.first { $0.id == "\(named.id)" }?.targets.first?.why == "named")
          #expect(try publications(home).count == 2)
          // The same event from a client of both.
          let again = try publish(published, laptop)
          #expect(again.state == .confirmed && again.targets.map(\.relay) == [first.url])
          // Copies of what came are sent, where they are to be; by itself too, but not at a known time.
          try awaitSoon("the relays are compared", within: 120) {
            try laptop.client.call("mirror.scrub", "{}", within: 100).refusal?.code != .full
          }
          let sent = second.received.joined()
          #expect(sent.contains("\(published.id)"))
          #expect(!sent.contains("\(there[0].id)") && !sent.contains("\(here[0].id)"), "they were stored only")
          let only = try laptop.ask("mirror.copies", MirrorCopies(id: "\(there[0].id)"), as: EventCopies.self)
          #expect(only.exception?.contains("not published") == true)
          #expect(!sent.contains("\(named.id)"), "its publisher has named its relay")
          try laptop.kill("mirror")
          let quiet = try sync(laptop)
          #expect(try JSONPayload.decode(StoreCount.self, from: quiet.terminal.payload).count == 0)
          let output = try laptop.command("mirror", "sync").output
          #expect(output.contains("\(url): 0 events came, 0 events went"), "\(output)")
        }
      }
    }

    @Test("A Roost with other accounts lets nothing in and says why; one that is away is tried again")
    func strangers() throws {
      let directory = try TemporaryDirectory()
      let relay = try AnsweringRelay(directory, "relay")
      try relay.answer("true")
      let port = try RelayVisitor.freePort()
      let url = "ws://127.0.0.1:\(port)"
      try withRoost(layout(relay.url, port: try RelayVisitor.freePort(), peers: [url])) { laptop in
        let laptop = try rig(laptop, alice)
        try store([event(alice, 1)], laptop)
        _ = try sync(laptop)
        #expect(try peer(laptop).reason?.contains("alice") == true && peer(laptop).sameAt == nil)
        try withRoost(layout(relay.url, port: port)) { home in
          let home = try rig(home, SecretKey.generate())
          try awaitSoon("it is dialled again") {
            _ = try sync(laptop)
            return try peer(laptop).reason?.contains("restricted") == true
          }
          #expect(try held(home, [event(alice, 1)]) == 0)
        }
      }
    }
  }
}
