import Addresses
import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// People who write elsewhere, with relays by other people.
  @Suite(
    "Reading where people write", .enabled(if: PythonPeer.isAvailable, "no .venv: run Scripts/python-environment.sh"))
  struct OutboxReadingTests {
    /// A relay that has these events.
    private static func relay(_ events: [Event], _ files: inout [TemporaryDirectory]) throws -> RealRelay {
      let directory = try TemporaryDirectory()
      files.append(directory)
      let path = directory.path + "/events.jsonl"
      let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      let lines = events.map { String(decoding: $0.json, as: UTF8.self) + "\n" }
      try Descriptors.writeAll(lines.joined(), to: descriptor)
      Descriptors.close(descriptor)
      return try RealRelay(path)
    }

    static func layout(_ relays: [String], indexers: [String]) -> Layout {
      var layout = PlannerRig.layout(relays)
      for index in layout.workers.indices where layout.workers[index].name == "outbox-planner" {
        layout.workers[index].keys["allow-private-relays"] = "true"
        layout.workers[index].keys["indexers"] = "[" + indexers.map { "\"\($0)\"" }.joined(separator: ", ") + "]"
      }
      return layout
    }

    private func note(_ author: SecretKey, _ text: String, at createdAt: Int64) -> Event {
      UnsignedEvent(pubkey: author.publicKey, createdAt: createdAt, kind: 1, tags: [], content: text).signed(by: author)
    }

    private func list(_ author: SecretKey, _ relays: [String], at createdAt: Int64) throws -> Event {
      RelayList.template(
        try relays.map { RelayList.Entry(try RelayURL($0)) }, by: author.publicKey, createdAt: createdAt
      ).signed(by: author)
    }

    @Test("7: lists come from an indexer, and each author is asked for where he writes; a new list moves him alone")
    func feeds() throws {
      let now = WallClock.seconds
      let people = (0..<4).map { _ in SecretKey.generate() }
      var files: [TemporaryDirectory] = []
      let hub = try Self.relay([note(people[3], "without a list", at: now - 50)], &files)
      let first = try Self.relay(
        [note(people[0], "at the first", at: now - 40), note(people[1], "here too", at: now - 30)], &files)
      let second = try Self.relay([note(people[2], "at the second", at: now - 20)], &files)
      let third = try Self.relay([note(people[0], "after moving", at: now - 10)], &files)
      let indexer = try Self.relay(
        [
          try list(people[0], [first.url], at: now - 100), try list(people[1], [first.url], at: now - 100),
          try list(people[2], [second.url], at: now - 100),
        ], &files)
      try withRoost(Self.layout([hub.url], indexers: [indexer.url])) { roost in
        let rig = PlannerRig(roost: roost, client: try roost.client())
        let keys = people.map { "\"\($0.publicKey)\"" }.joined(separator: ",")
        let filters = #"{"filters":[{"authors":[\#(keys)],"kinds":[1]}]}"#
        let observer = try rig.client.ask("store.observe", filters)
        func arrives(_ text: String) throws {
          try rig.client.wait(text) { rig.client.parts(of: observer).contains { $0.text.contains(text) } }
        }
        for text in ["without a list", "at the first", "here too", "at the second"] { try arrives(text) }
        let stops = try rig.ask(
          "plan.route",
          PlanRoute(filters: [
            .object(["authors": .array(people.map { .string("\($0.publicKey)") })])
          ]), as: Route.self
        ).stops
        #expect(
          Dictionary(uniqueKeysWithValues: stops.map { ($0.relay, $0.people.count) }) == [
            first.url: 3, second.url: 2, hub.url: 1,
          ], "\(stops)")
        let wanted = StoreDelivery(
          authors: ["\(people[0].publicKey)"], kinds: [1], since: now - 1_000, until: now - 1)
        try awaitSoon("the store counts what the first relay had") {
          let answer = try rig.client.call(
            "store.delivery", String(decoding: JSONPayload.encode(wanted), as: UTF8.self))
          let counted = try answer.parts.map { try JSONPayload.decode(AuthorDelivery.self, from: $0.payload) }
          return counted.count == 1 && counted[0].events == 1 && counted[0].relays.contains { $0.relay == first.url }
        }
        for wrong in [
          #"{"authors":[],"since":0,"until":1}"#, #"{"authors":["x"],"since":0,"until":1}"#,
          #"{"authors":["\#(people[0].publicKey)"],"since":2,"until":1}"#,
        ] {
          #expect(try rig.client.call("store.delivery", wrong).refusal?.code == .badRequest, "\(wrong)")
        }
        let moved = try list(people[0], [third.url], at: now)
        #expect(try rig.client.call("store.publish", String(decoding: moved.json, as: UTF8.self)).isResponse)
        try arrives("after moving")
        let doctor = try JSONPayload.decode(
          DoctorResult.self, from: try rig.client.call("supervisor.doctor").terminal.payload)
        #expect(doctor.checks.first { $0.name == "allow-private-relays of outbox-planner" }?.isGood == false)
      }
    }

    @Test("8: a person without a list, whom an account follows, is read at the relays that the person's name leads to")
    func named() throws {
      let now = WallClock.seconds
      let (bob, carol) = (SecretKey.generate(), SecretKey.generate())
      func profile(_ author: SecretKey) -> Event {
        UnsignedEvent(
          pubkey: author.publicKey, createdAt: now - 90, kind: 0, tags: [],
          content: #"{"name":"x","nip05":"bob@people.example"}"#
        ).signed(by: author)
      }
      var files: [TemporaryDirectory] = []
      let hub = try Self.relay([profile(bob), profile(carol)], &files)
      let home = try Self.relay([note(bob, "at home", at: now - 20)], &files)
      let folder = try TemporaryDirectory()
      let path = folder.path + "/names.json"
      let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      try Descriptors.writeAll(
        #"{"names":{"bob":"\#(bob.publicKey)"},"relays":{"\#(bob.publicKey)":["\#(home.url)"]}}"#, to: descriptor)
      Descriptors.close(descriptor)
      let server = try WebServer("good", names: path)
      var layout = Self.layout([hub.url], indexers: [hub.url])
      for index in layout.workers.indices where layout.workers[index].keys["ephemeral"] != nil {
        layout.workers[index].keys["name-server"] = "\"\(server.url)/names\""
        layout.workers[index].keys["ca-file"] = "\"\(try TestCertificates.path("authority"))\""
      }
      try withRoost(layout) { roost in
        let rig = PlannerRig(roost: roost, client: try roost.client())
        _ = try SignerRig(roost: roost, client: rig.client).generate("alice")
        let follows = try rig.sign(3, [["p", "\(bob.publicKey)"], ["p", "\(carol.publicKey)"]])
        #expect(try rig.client.call("store.publish", String(decoding: follows.json, as: UTF8.self)).isResponse)
        let keys = [bob, carol].map { "\"\($0.publicKey)\"" }.joined(separator: ",")
        let observer = try rig.client.ask("store.observe", #"{"filters":[{"authors":[\#(keys)],"kinds":[1]}]}"#)
        // Lists, profile, name and relay are looked up one after the other, each for some seconds on a loaded machine.
        try rig.client.wait("at home", within: 90) {
          rig.client.parts(of: observer).contains { $0.text.contains("at home") }
        }
        let filter = JSONValue.object(["authors": .array([.string("\(bob.publicKey)")])])
        let stops = try rig.ask("plan.route", PlanRoute(filters: [filter]), as: Route.self).stops
        #expect(stops.first { $0.relay == home.url }?.why == ["\(bob.publicKey.npub)'s name (NIP-05)"], "\(stops)")
        #expect(try rig.command("profile", "bob@people.example").output.contains(bob.publicKey.npub))
      }
    }

    @Test("6, 11: what is only at an obscure relay is found by its author's list, and a blocked relay is never dialled")
    func obscure() throws {
      let bob = SecretKey.generate()
      let (mine, obscure, blocked) = (try KeepingRelay(), try KeepingRelay(), try ScriptedRelay(scripts: [[.accept()]]))
      try withRoost(Self.layout([mine.url], indexers: [mine.url])) { roost in
        let rig = PlannerRig(roost: roost, client: try roost.client())
        _ = try SignerRig(roost: roost, client: rig.client).generate("alice")
        let shut = try rig.sign(10_006, [["relay", blocked.url]])
        #expect(try rig.client.call("store.publish", String(decoding: shut.json, as: UTF8.self)).isResponse)
        // What is blocked counts once the store has told the planner: another person's list shows when.
        let carol = SecretKey.generate()
        let theirs = try list(carol, [blocked.url], at: WallClock.seconds - 100)
        #expect(try rig.client.call("store.publish", String(decoding: theirs.json, as: UTF8.self)).isResponse)
        try awaitSoon("the relay is blocked") {
          let filter = JSONValue.object(["authors": .array([.string("\(carol.publicKey)")])])
          return try rig.ask("plan.route", PlanRoute(filters: [filter]), as: Route.self).skipped.contains {
            $0.relay == blocked.url && $0.why == ["blocked by alice's list (kind 10006)"]
          }
        }
        try rig.put(try list(bob, [obscure.url, blocked.url], at: WallClock.seconds - 100), on: mine)
        let event = note(bob, "only here", at: WallClock.seconds - 50)
        try rig.put(event, on: obscure)
        let filters = #"{"filters":[{"authors":["\#(bob.publicKey)"],"kinds":[1]}]}"#
        let observer = try rig.client.ask("store.observe", filters)
        try rig.client.wait("the note") { rig.client.parts(of: observer).contains { $0.text.contains("only here") } }
        try rig.awaitArrival(of: note(bob, "and live", at: WallClock.seconds), on: obscure, at: observer)
        let route = try rig.ask(
          "plan.route", PlanRoute(filters: [.object(["authors": .array([.string("\(bob.publicKey)")])])]),
          as: Route.self)
        #expect(
          route.skipped.contains { $0.relay == blocked.url && $0.why == ["blocked by alice's list (kind 10006)"] })
        #expect(blocked.visits.isEmpty)
      }
    }

    @Test("What monitors of the settings say of relays is asked for (NIP-66)")
    func monitors() throws {
      let relay = try KeepingRelay()
      let monitor = SecretKey.generate().publicKey
      var layout = PlannerRig.layout([relay.url])
      let place = try #require(layout.workers.firstIndex { $0.name == "outbox-planner" })
      layout.workers[place].keys["monitors"] = "[\"\(monitor)\"]"
      try withRoost(layout) { _ in
        try relay.awaitRequest("30166")
      }
    }
  }
}
