import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

/// A real roostd with a real store, signer and connector; the test is the planner.
struct WishRig {
  let roost: RunningRoost
  let client: BusPeer
  let planner: BusPeer

  static func run(
    _ settings: [String: String] = [:], others: [Layout.Worker] = [], _ body: (WishRig) throws -> Void
  ) throws {
    var layout = Layout.store
    layout.workers += others
    var connector = [
      "role": "\"relay-connector\"", "program": "\"\(SpawnedProcess.builtProgram("relay-connector"))\"",
      "ephemeral": "true", "sandbox": "\"try\"",
    ]
    connector.merge(settings) { $1 }
    layout.workers.append(Layout.Worker(name: "relays", keys: connector))
    layout.workers.append(
      Layout.Worker(
        name: "signer", keys: ["role": "\"signer\"", "program": "\"\(SpawnedProcess.builtProgram("signer"))\""]))
    layout.workers.append(
      Layout.Worker(name: "outbox-planner", keys: ["role": "\"outbox-planner\"", "enabled": "false"]))
    try withRoost(layout, awaitsReady: false) { roost in
      let client = try roost.client()
      for name in ["event-store", "relays", "signer"] {
        try roost.awaitWorker(name, "is ready", client) { $0.state == "ready" }
      }
      let signer = SignerRig(roost: roost, client: client)
      let planner = try signer.attach("outbox-planner", role: "outbox-planner")
      try body(WishRig(roost: roost, client: client, planner: planner))
    }
  }

  /// A wish for kind 1 at each relay, with the relay's URL as its key.
  func desire(
    _ relays: [String], generation: Int64 = 1, version: Int64 = 1, base: Int64? = nil, account: String? = nil,
    isForeign: Bool? = nil, stored: DesiredSubscription.StoredDepth? = nil
  ) throws {
    let changed = relays.map {
      DesiredSubscription(
        key: String($0.suffix(60)), relay: $0, filters: [.object(["kinds": .array([.integer(1)])])], isLive: true,
        account: account, isForeign: isForeign ?? false, stored: stored)
    }
    let wanted = RelayDesire(generation: generation, version: version, base: base, changed: changed)
    let answer = try planner.call("relay.desire", String(decoding: JSONPayload.encode(wanted), as: UTF8.self))
    #expect(answer.isResponse, "\(answer.text)")
  }

  func follow() throws -> UInt64 { try planner.ask("relay.follow") }

  /// Waits until the newest report of a relay's wish is as it should be.
  func await(_ following: UInt64, _ what: String, _ isSo: (RequestReport) -> Bool) throws {
    var seen = 0
    var latest: [String: RequestReport] = [:]
    try planner.wait(what) {
      let parts = planner.parts(of: following)
      for part in parts[seen...] {
        let report = try? JSONPayload.decode(RelayReport.self, from: part.payload)
        for request in report?.requests ?? [] { latest[request.key] = request }
      }
      seen = parts.count
      return latest.values.contains(where: isSo)
    }
  }

  func count() throws -> Int {
    let answer = try client.call("store.count", #"{"filters":[{"kinds":[1]}]}"#)
    return try JSONPayload.decode(StoreCount.self, from: answer.terminal.payload).count
  }
}

extension ProcessTests {
  /// What the planner wishes of relays, with relays of other people.
  @Suite("Wishes", .enabled(if: PythonPeer.isAvailable, "no .venv: run Scripts/python-environment.sh"))
  struct WishTests {
    private static let events = SharedFolder.repository + "/Tests/Peers/events.jsonl"

    @Test("A wish brings what two relays have into the store, once, verified, and seen at both; EOSE is behind it")
    func stored() throws {
      let relays = [try RealRelay(Self.events), try RealRelay(Self.events)]
      try WishRig.run { rig in
        let following = try rig.follow()
        try rig.desire(relays.map(\.url))
        for relay in relays {
          try rig.await(following, "EOSE of \(relay.url)") { $0.relay == relay.url && $0.state == .stored }
        }
        #expect(try rig.count() == 24)
        let query = try rig.client.call("store.query", #"{"filters":[{"kinds":[1],"limit":1}]}"#)
        let id = try #require(try JSONPayload.decode(JSONValue.self, from: query.parts[0].payload)["id"])
        let named = String(decoding: JSONPayload.encode(id), as: UTF8.self)
        let seen = try rig.client.call("store.seen", #"{"id":\#(named)}"#)
        let result = try JSONPayload.decode(SeenResult.self, from: seen.terminal.payload)
        #expect(Set(result.relays.map(\.relay)) == Set(relays.map(\.url)))
        let covered = try rig.client.call("store.coverage", #"{"filters":[{"kinds":[1]}]}"#)
        #expect(covered.parts.count == 2, "the store knows what was fetched from both")
      }
    }

    @Test("What is published at a relay reaches who observes, and after the relay's death and return as well")
    func live() throws {
      let relay = try RealRelay()
      let port = relay.url.split(separator: ":").last.map(String.init) ?? ""
      try WishRig.run { rig in
        let following = try rig.follow()
        try rig.desire([relay.url])
        try rig.await(following, "EOSE") { $0.state == .stored }
        let observing = try rig.client.ask("store.observe", #"{"filters":[{"kinds":[1]}],"policy":"cache-only"}"#)
        let events = makeEvents(0..<3)
        try rig.publish(events[0], at: relay.url)
        try rig.client.wait("the live event") {
          rig.client.parts(of: observing).contains { $0.text.contains("\(events[0].id)") }
        }
        relay.kill()
        try rig.await(following, "the loss") { $0.state == .waiting }
        let again = try RealRelay("--port", port)
        #expect(again.url == relay.url)
        // Its date is old: had it come before the subscription, it would lie in a time that is covered already.
        try rig.await(following, "the subscription after the return") { $0.state == .stored }
        try rig.publish(events[1], at: relay.url)
        try rig.client.wait("the event after the return", within: 60) {
          rig.client.parts(of: observing).contains { $0.text.contains("\(events[1].id)") }
        }
      }
    }

    @Test("A relay that becomes this Roost's own is left and not asked, until it is so no more")
    func own() throws {
      let relay = try ScriptedRelay.serving(3)
      let ours = Layout.Worker.localRelay(at: relay.url)
      try WishRig.run { rig in
        let following = try rig.follow()
        try rig.desire([relay.url])
        try rig.await(following, "EOSE") { $0.state == .asked || $0.state == .stored }
        try relay.awaitVisits("a connection") { $0.count == 1 && !$0[0].isOver }
        try rig.roost.rewrite { $0.workers.append(ours) }
        #expect(try rig.client.call("supervisor.reload").isResponse)
        try rig.await(following, "the refusal") {
          $0.state == .refused && $0.reason == "that is this Roost's own relay"
        }
        try relay.awaitVisits("it is left") { $0.count == 1 && $0[0].isOver }
        try rig.roost.rewrite { $0.workers.removeAll { $0.name == ours.name } }
        #expect(try rig.client.call("supervisor.reload").isResponse)
        try relay.awaitVisits("it is asked again") { $0.count == 2 && !$0[1].texts("REQ").isEmpty }
      }
    }

    @Test("A relay that wants AUTH for reading gets it from the account of the wish, and none without one")
    func authenticated() throws {
      let relay = try RealRelay("--auth", "read", Self.events)
      try WishRig.run { rig in
        let generated = try rig.client.call("signer.generate", #"{"name":"alice"}"#)
        let key = try #require(try JSONPayload.decode(JSONValue.self, from: generated.terminal.payload)["publicKey"])
        guard case .string(let account) = key else { return }
        let following = try rig.follow()
        try rig.desire([relay.url])
        try rig.await(following, "the refusal") { $0.state == .refused && $0.reason?.contains("auth-required") == true }
        #expect(try rig.count() == 0)
        try rig.desire([relay.url], version: 2, base: 1, account: account)
        try rig.await(following, "EOSE") { $0.state == .stored }
        #expect(try rig.count() == 24)
      }
    }

    @Test("A relay that wants AUTH for writing gets an event again once its author has shown himself")
    func authenticatedWrite() throws {
      let relay = try RealRelay("--auth", "write")
      try WishRig.run { rig in
        _ = try rig.client.call("signer.generate", #"{"name":"alice"}"#)
        let signed = try rig.client.call("signer.sign", #"{"account":"alice","event":{"kind":1,"content":"hello"}}"#)
        let event = try #require(try JSONPayload.decode(JSONValue.self, from: signed.terminal.payload)["event"])
        let pubkey = try #require(event["pubkey"])
        guard case .string(let account) = pubkey else { return }
        var wanted = RelayPublish(relay: relay.url, event: RawJSON(event), isForeign: false)
        func publish() throws -> RelayPublishResult {
          let text = String(decoding: JSONPayload.encode(wanted), as: UTF8.self)
          let answer = try rig.planner.call("relay.publish", text)
          #expect(answer.isResponse, Comment(rawValue: answer.text))
          if !answer.isResponse { Issue.record(Comment(rawValue: answer.text)) }
          return try JSONPayload.decode(RelayPublishResult.self, from: answer.terminal.payload)
        }
        let refused = try publish()
        #expect(!refused.isAccepted && refused.message.hasPrefix("auth-required:"), "nobody is shown unasked")
        wanted.account = account
        #expect(try publish().isAccepted)
      }
    }

    @Test("A wish for a relay that others name waits if it is at a private address, until it is one's own wish as well")
    func foreign() throws {
      let relay = try ScriptedRelay.serving(0)
      try WishRig.run { rig in
        let following = try rig.follow()
        try rig.desire([relay.url], isForeign: true)
        try rig.await(following, "the reason") {
          $0.state == .waiting
            && $0.reason?.contains(
              "127.0.0.1 resolves to 127.0.0.1, a loopback address; relays that other people name are not dialled there"
            )
              == true
        }
        #expect(relay.visits.isEmpty)
        try rig.desire([relay.url], version: 2, base: 1)
        try rig.await(following, "EOSE") { $0.state == .stored }
      }
    }

    @Test("What is wished of a relay that the configuration drops goes on")
    func droppedByConfiguration() throws {
      let relay = try ScriptedRelay.serving(0)
      try WishRig.run(["relays": "[\"\(relay.url)\"]"]) { rig in
        let following = try rig.follow()
        try rig.desire([relay.url])
        try rig.await(following, "EOSE") { $0.state == .stored }
        try rig.roost.rewrite { layout in
          for index in layout.workers.indices where layout.workers[index].name == "relays" {
            layout.workers[index].keys["relays"] = "[]"
          }
        }
        #expect(try rig.client.call("supervisor.reload").isResponse)
        try awaitSoon("the relay is not configured any more") {
          let answer = try rig.client.call("relay.list")
          let states = try JSONPayload.decode(RelayStates.self, from: answer.terminal.payload)
          return states.relays.allSatisfy { !$0.isConfigured }
        }
        let answer = try rig.client.call("relay.list")
        let states = try JSONPayload.decode(RelayStates.self, from: answer.terminal.payload)
        #expect(states.relays.map(\.state) == ["open"] && relay.visits.count == 1)
        try rig.planner.wait("whoever follows hears that it is not configured") {
          rig.planner.parts(of: following).contains { part in
            let report = try? JSONPayload.decode(RelayReport.self, from: part.payload)
            return report?.isWhole == false && report?.relays.contains { !$0.isConfigured } == true
          }
        }
      }
    }

    @Test("A connector that has died has the wishes again, and brings what it missed")
    func death() throws {
      let relay = try RealRelay(Self.events)
      try WishRig.run { rig in
        let first = try rig.follow()
        try rig.desire([relay.url])
        try rig.await(first, "EOSE") { $0.state == .stored }
        let pid = try #require(try rig.roost.status(rig.client).workers.first { $0.name == "relays" }?.pid)
        kill(pid_t(pid), SIGKILL)
        let answer = try rig.planner.answer(to: first)
        #expect(!answer.isResponse, "who follows hears of the death")
        try rig.roost.awaitWorker("relays", "is back", rig.client) { $0.state == "ready" && $0.pid != pid }
        let second = try rig.follow()
        let stale = RelayDesire(generation: 1, version: 2, base: 1)
        let text = String(decoding: JSONPayload.encode(stale), as: UTF8.self)
        #expect(try rig.planner.call("relay.desire", text).refusal?.code == .noSuchVersion)
        try rig.desire([relay.url], version: 2)
        try rig.await(second, "EOSE") { $0.state == .stored }
        #expect(try rig.count() == 24)
      }
    }
  }
}

extension WishRig {
  func publish(_ event: Event, at relay: String) throws {
    let text = #"{"relay":"\#(relay)","event":\#(String(decoding: event.json, as: UTF8.self))}"#
    let answer = try client.call("relay.publish", text, within: 60)
    #expect(try JSONPayload.decode(RelayPublishResult.self, from: answer.terminal.payload).isAccepted, "\(answer.text)")
  }
}
