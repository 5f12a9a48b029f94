import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// The planner between a real store, signer and connector, and relays of the standard library.
  @Suite("The planner") struct PlannerTests {
    private static let notes = #"{"filters":[{"kinds":[1]}]}"#

    @Test("What is observed is asked of each relay, comes into the store, and is complete when all have sent it")
    func observing() throws {
      let relays = [try KeepingRelay(), try KeepingRelay()]
      try PlannerRig.run(relays) { rig in
        let events = makeEvents(0..<3)
        for event in events { for relay in relays { try rig.put(event, on: relay) } }
        let observer = try rig.client.ask("store.observe", Self.notes)
        let progress = try rig.awaitComplete(Self.notes)
        #expect(progress.isObserved && progress.relays.map(\.relay) == relays.map(\.url).sorted())
        #expect(progress.relays.allSatisfy { $0.state == .stored && $0.events == 3 })
        for event in events {
          try rig.client.wait("\(event.id)") {
            rig.client.parts(of: observer).contains { $0.text.contains("\(event.id)") }
          }
        }
        let seen = try rig.ask("store.seen", StoreSeen(id: "\(events[0].id)"), as: SeenResult.self)
        #expect(Set(seen.relays.map(\.relay)) == Set(relays.map(\.url)))
        for relay in relays { try relay.awaitRequest(#""kinds": [1]"#) }
        try rig.awaitArrival(of: makeEvents(7..<8)[0], on: relays[1], at: observer)
      }
    }

    @Test("Whoever takes what is a minute old asks no relay once all of them have sent what they had")
    func fetched() throws {
      try PlannerRig.run([try KeepingRelay()]) { rig in
        let observer = try rig.client.ask("store.observe", Self.notes)
        _ = try rig.awaitComplete(Self.notes)
        rig.client.send(FrameHeader(type: .cancel, re: observer))
        _ = try rig.client.answer(to: observer)
        try awaitSoon("the store knows that it was fetched") {
          let patient = try rig.client.ask("store.observe", #"{"filters":[{"kinds":[1]}],"maxAge":60}"#)
          try rig.client.wait("the stored events") { rig.client.partCount(of: patient) > 0 }
          let list = try rig.client.call("store.observes.list")
          rig.client.send(FrameHeader(type: .cancel, re: patient))
          _ = try rig.client.answer(to: patient)
          return list.parts.contains {
            $0.text.contains(#""kinds":[1]"#) && $0.text.contains(#""needsNetwork":false"#)
          }
        }
      }
    }

    @Test("Planner, connector and store may die: what is observed is asked again, and what comes meanwhile arrives")
    func deaths() throws {
      let relay = try KeepingRelay()
      try PlannerRig.run([relay]) { rig in
        // Of what was published while nothing was connected, only what is dated then is fetched.
        var events = makeEvents(0..<12, since: WallClock.seconds - 60)[...]
        var observer = try rig.client.ask("store.observe", Self.notes)
        try rig.awaitArrival(of: events.removeFirst(), on: relay, at: observer)
        for victim in ["outbox-planner", "relays", "outbox-planner", "event-store", "signer", "relays"] {
          try rig.kill(victim)
          if victim == "event-store" {
            _ = try rig.client.answer(to: observer)
            observer = try rig.client.ask("store.observe", Self.notes)
          }
          try rig.awaitArrival(of: events.removeFirst(), on: relay, at: observer)
        }
      }
    }

    @Test("A relay that dies and comes back is asked again")
    func relayDeath() throws {
      var relay = try KeepingRelay()
      try PlannerRig.run([relay]) { rig in
        var events = makeEvents(0..<2)[...]
        let observer = try rig.client.ask("store.observe", Self.notes)
        try rig.awaitArrival(of: events.removeFirst(), on: relay, at: observer)
        let port = relay.port
        try relay.kill()
        relay = try KeepingRelay(port: port)
        try relay.awaitRequest(#""kinds": [1]"#)
        try rig.awaitArrival(of: events.removeFirst(), on: relay, at: observer)
      }
    }

    @Test("An account's lists are fetched from relays and used; a list for direct messages makes a way for gift wraps")
    func accounts() throws {
      let relay = try KeepingRelay()
      try PlannerRig.run([relay]) { rig in
        let note = PlanRoute(
          event: .object(["kind": .integer(1), "pubkey": .string(String(repeating: "a", count: 64))]))
        let before = try rig.ask("plan.route", note, as: Route.self)
        #expect(before.stops.isEmpty && before.problem?.contains("before there is an account") == true)
        _ = try rig.ask("signer.generate", SignerGenerate(name: "alice"), as: SignerAccount.self)
        let list = try rig.sign(10_002, [["r", "wss://alice.example.org", "write"]])
        try rig.put(list, on: relay)
        let own = try rig.ask("plan.route", PlanRoute(event: .object(["kind": .integer(1)])), as: Route.self)
        #expect(own.stops.map(\.relay).contains(relay.url), "the account is known as soon as it is needed")
        try awaitSoon("alice's list is known") {
          let route = try rig.ask("plan.route", PlanRoute(event: .object(["kind": .integer(1)])), as: Route.self)
          return route.stops.first?.why == ["alice's list"] && route.stops.count == 2
        }
        let relays = try rig.ask("plan.relays", NoArguments(), as: PlanRelayList.self).relays
        #expect(relays.contains { $0.relay == relay.url && $0.connector == "relays" && $0.state?.state == "open" })

        let bob = SecretKey.generate()
        let wrap = PlanRoute(
          event: .object([
            "kind": .integer(1_059), "pubkey": .string("\(bob.publicKey)"),
            "tags": .array([.array([.string("p"), .string("\(bob.publicKey)")])]),
          ]))
        let nowhere = try rig.ask("plan.route", wrap, as: Route.self)
        #expect(nowhere.problem?.hasSuffix("has no list of relays for direct messages (kind 10050)") == true)
        let messages = UnsignedEvent(
          pubkey: bob.publicKey, createdAt: 1_700_000_000, kind: 10_050, tags: [["relay", "wss://bob.example.org"]])
        _ = try rig.client.call(
          "store.publish", String(decoding: messages.signed(by: bob).json, as: UTF8.self))
        let route = try rig.ask("plan.route", wrap, as: Route.self)
        #expect(route.stops.map(\.relay) == ["wss://bob.example.org"] && route.problem == nil)
      }
    }

    @Test("A relay added by hand is asked, and there after any death; what the configuration names is removed there")
    func added() throws {
      let relays = [try KeepingRelay(), try KeepingRelay()]
      try PlannerRig.run([relays[0]]) { rig in
        _ = try rig.client.ask("store.observe", Self.notes)
        _ = try rig.awaitComplete(Self.notes)
        let list = try rig.ask("plan.relays.add", PlanRelay(relay: relays[1].url), as: PlanRelayList.self)
        #expect(list.relays.count == 2)
        try relays[1].awaitRequest(#""kinds": [1]"#)
        try rig.kill("outbox-planner")
        let kept = try rig.ask("plan.relays", NoArguments(), as: PlanRelayList.self).relays
        #expect(kept.first { $0.relay == relays[1].url }?.sources == ["added"])
        let refusal = try rig.refusal("plan.relays.remove", PlanRelay(relay: relays[0].url))
        #expect(refusal?.code == .noSuchRelay && refusal?.message.contains("supervisor.conf") == true)
        _ = try rig.ask("plan.relays.remove", PlanRelay(relay: relays[1].url), as: PlanRelayList.self)
        let status = try rig.ask("plan.status", NoArguments(), as: PlanStatus.self)
        #expect(status.observes == 1 && status.fault == nil)
        #expect(try rig.refusal("plan.relays.add", PlanRelay(relay: "https://x.org"))?.code == .badRequest)
      }
    }

    @Test("roost relay and roost plan show who is asked and written, where and why, and add and remove relays")
    func commands() throws {
      try PlannerRig.run([try KeepingRelay()]) { rig in
        let url = try #require(try rig.ask("plan.relays", NoArguments(), as: PlanRelayList.self).relays.first?.relay)
        let read = try rig.command("plan", "read", "--kind", "1")
        #expect(read.ending == .exited(0) && read.output.contains(url) && read.output.contains("configured"))
        let write = try rig.command("plan", "write", #"{"kind":1,"pubkey":"\#(String(repeating: "a", count: 64))"}"#)
        #expect(write.ending == .exited(1) && write.output.contains("before there is an account"))
        let added = try rig.command("relay", "add", "ws://127.0.0.1:9/", "--read-only")
        #expect(added.ending == .exited(0) && added.output.contains("2 relays"))
        let info = try rig.command("relay", "info", "ws://127.0.0.1:9", "--json")
        let relay = try JSONPayload.decode(PlanRelayList.Relay.self, from: info.output.utf8)
        #expect(relay.sources == ["added"] && relay.reads && !relay.writes)
        #expect(try rig.command("relay", "remove", "ws://127.0.0.1:9").output.contains("1 relay"))
        #expect(try rig.command("relay", "remove", url).ending == .exited(1))
        #expect(try rig.command("relay", "info", "wss://nowhere.example").ending == .exited(1))
        #expect(try rig.command("relay", "add", "https://x.org").ending == .exited(2))
      }
    }
  }
}
