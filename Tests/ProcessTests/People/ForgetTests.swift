import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// An account is forgotten by all workers, whatever dies.
  @Suite("Forgetting an account", .enabled(if: PythonPeer.isAvailable, "no .venv: run Scripts/python-environment.sh"))
  struct ForgetTests {
    /// Runs a world whose events are fetched, with a publication of each account.
    private func run(_ body: (PlannerRig, ForgettingWorld) throws -> Void) throws {
      var world = ForgettingWorld()
      let directory = try TemporaryDirectory()
      let relay = try RealRelay(world.hers + world.others, in: directory, "relay", cap: 500)
      try withRoost(try ForgettingWorld.layout(relay.url)) { roost in
        let rig = PlannerRig(roost: roost, client: try roost.client())
        let signer = SignerRig(roost: roost, client: rig.client)
        for (name, key) in [("alice", world.alice), ("bob", world.bob)] {
          let secret = key.withSecret { Hexadecimal.text(of: $0) }
          _ = try signer.ask(
            "signer.import", SignerImport(name: name, secret: try signer.sealed(secret)), as: SignerAccount.self)
          let template = JSONValue.object([
            "kind": .integer(1), "content": .string(name == "alice" ? ForgettingWorld.word : "of bob"),
          ])
          let signed = try signer.ask(
            "signer.sign", SignerSign(account: name, event: template), as: SignerSigned.self)
          let event = try SignerRig.verified(signed.event)
          _ = try rig.ask("plan.publish", PlanPublish(event: signed.event), as: Publication.self)
          if name == "alice" { world.hers.append(event) } else { world.others.append(event) }
        }
        try awaitSoon("everything is here") {
          try count(rig, world.hers) == world.hers.count && count(rig, world.others) == world.others.count
        }
        try world.send(as: "alice", to: world.zoe.publicKey, named: ForgettingWorld.word, relay.url, rig)
        try world.send(as: "bob", to: world.dave.publicKey, named: "amalgam", relay.url, rig)
        try world.readSealed(rig)
        try awaitSoon("the publications have ended") { try publications(rig, world.bob).allSatisfy(\.state.isFinal) }
        try body(rig, world)
      }
    }

    private func count(_ rig: PlannerRig, _ events: [Event]) throws -> Int {
      let ids = JSONValue.array(events.map { .string("\($0.id)") })
      return try rig.ask("store.count", StoreQuery(filters: [.object(["ids": ids])]), as: StoreCount.self).count
    }

    private func publications(_ rig: PlannerRig, _ author: SecretKey) throws -> [Publication] {
      try rig.client.call("plan.publications", "{}").parts
        .map { try JSONPayload.decode(Publication.self, from: $0.payload) }
        .filter { $0.author == "\(author.publicKey)" }
    }

    private func leave(_ rig: PlannerRig, _ world: ForgettingWorld) throws {
      _ = try rig.ask(
        "signer.leave", SignerLeave(account: "alice", isForgetting: true), as: SignerAccount.self)
    }

    private func isGone(_ rig: PlannerRig) throws -> Bool {
      try SignerRig(roost: rig.roost, client: rig.client).accounts().accounts.allSatisfy { $0.name != "alice" }
    }

    /// What must hold at the end, whatever has died.
    private func check(_ rig: PlannerRig, _ world: ForgettingWorld) throws {
      try awaitSoon("the key is gone, and so are the notes") {
        try isGone(rig)
          && rig.refusal("people.forget", PeopleForget(account: "\(world.alice.publicKey)"))?.code != .unavailable
      }
      #expect(try count(rig, world.hers) == 0)
      #expect(try count(rig, world.others) == world.others.count, "all of Bob's is here")
      #expect(try publications(rig, world.alice).isEmpty)
      #expect(try publications(rig, world.bob).count == 1)
      #expect(try SignerRig(roost: rig.roost, client: rig.client).accounts().accounts.map(\.name) == ["bob"])
      let links = try rig.client.call("links.list", #"{"account":"bob"}"#).parts
      #expect(links.count == 1 && links[0].text.contains("amalgam"), "Bob's links are here")
      let left = try world.traces(in: rig.roost.directory.path + "/state")
      // The planner's row says for whom a gift wrap was, and the store has it; neither says which account sent it.
      let sent = left.filter { $0.contains("her contact's key") && !$0.contains("/link-feed/") }
      #expect(left.filter { !sent.contains($0) } == [])
      withKnownIssue("gift wraps that an account sent stay in the store and in the publish queue") {
        #expect(sent == [])
      }
    }

    @Test("The command shows the steps and what relays have, and nothing of the account is left in any file")
    func command() throws {
      try run { rig, world in
        let npub = world.alice.publicKey.npub
        let refused = try rig.command("account", "forget", "alice")
        #expect(refused.ending == .exited(1) && refused.output.contains("--confirm \(npub)"), "\(refused)")
        #expect(try count(rig, world.hers) == world.hers.count)
        let wrong = try rig.command("account", "forget", "alice", "--confirm", world.bob.publicKey.npub)
        #expect(wrong.ending == .exited(1) && wrong.output.contains("nothing is removed"))
        let (output, ending) = try rig.command("account", "forget", "alice", "--confirm", npub)
        #expect(ending == .exited(0))
        for words in [
          "relays: looked up", "outbox-planner: removed publications (1)", "key: removed", "alice is forgotten",
          "events that it wrote: 23", "Relays keep what they have", "Nothing was sent",
        ] {
          #expect(output.contains(words), "\(words) in \(output)")
        }
        try check(rig, world)
        #expect(try rig.command("account", "list").output.contains("bob"))
      }
    }

    @Test("people is killed after each step, and continues by itself each time")
    func peopleDies() throws {
      try run { rig, world in
        try leave(rig, world)
        var seen: Set<String> = []
        let deadline = WallClock.seconds + 60
        while try !isGone(rig), WallClock.seconds < deadline {
          let id = try rig.client.ask("people.forget", "{\"account\":\"\(world.alice.publicKey)\"}")
          func steps() -> [ForgetStep] {
            rig.client.parts(of: id).compactMap { try? JSONPayload.decode(ForgetStep.self, from: $0.payload) }
          }
          try rig.client.wait("a new step, or the end") {
            rig.client.terminalCounts[id] != nil || steps().contains { $0.isDone && !seen.contains($0.step) }
          }
          for step in steps() where step.isDone { seen.insert(step.step) }
          if rig.client.terminalCounts[id] == nil { try rig.kill("people") }
        }
        #expect(seen.isSuperset(of: ["relays", "mirror", "outbox-planner"]), "\(seen)")
        try check(rig, world)
      }
    }

    @Test("Each worker that is asked is killed while it is asked", arguments: ForgettingWorld.asked)
    func workerDies(_ victim: String) throws {
      try run { rig, world in
        try leave(rig, world)
        let order = ["people"] + ForgettingWorld.asked
        let before = order[(order.firstIndex(of: victim) ?? 1) - 1]
        let id = try rig.client.ask("people.forget", "{\"account\":\"\(world.alice.publicKey)\"}")
        try rig.client.wait("the step before") {
          rig.client.terminalCounts[id] != nil
            || rig.client.parts(of: id).contains { $0.text.contains("\"\(before)\"") && $0.text.contains("true") }
        }
        for _ in 0..<3 { try rig.kill(victim) }
        try check(rig, world)
      }
    }

    @Test("A worker that does not run is waited for by its name, and an account that is brought back stays")
    func waiting() throws {
      try run { rig, world in
        _ = try rig.client.call("supervisor.stop", #"{"worker":"local-relay"}"#)
        let unready = try rig.refusal("people.forget", PeopleForget(account: "\(world.alice.publicKey)"))
        #expect(unready?.code == .badRequest, "it is not left")
        try leave(rig, world)
        let id = try rig.client.ask("people.forget", "{\"account\":\"\(world.alice.publicKey)\"}")
        try rig.client.wait("it says what it waits for") {
          rig.client.parts(of: id).contains { $0.text.contains("roost start local-relay") }
        }
        _ = try rig.ask("signer.use", SignerChoose(account: "alice"), as: SignerAccount.self)
        let answer = try rig.client.answer(to: id)
        #expect(answer.refusal?.code == .cancelled)
        #expect(try !isGone(rig))
        try leave(rig, world)
        _ = try rig.client.call("supervisor.start", #"{"worker":"local-relay"}"#)
        let again = try rig.client.ask("people.forget", "{\"account\":\"\(world.alice.publicKey)\"}")
        #expect(try rig.client.answer(to: again, within: 60).refusal == nil)
        try check(rig, world)
      }
    }
  }
}
