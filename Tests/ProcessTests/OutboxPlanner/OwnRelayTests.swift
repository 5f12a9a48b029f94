import Contracts
import Frames
import Glibc
import Nostr
import TestSupport
import Testing

extension Layout.Worker {
  /// A local relay that listens where a relay of the test does. It is never started: that it is configured is enough.
  static func localRelay(at url: String) -> Layout.Worker {
    let address = url.dropFirst("ws://".count)
    return Layout.Worker(
      name: "local-relay",
      keys: ["role": "\"local-relay\"", "enabled": "false", "listen": "[\"\(address)\"]"],
      limits: ["open-files": "16384"])
  }
}

/// A name of this machine, not `localhost`, that leads to 127.0.0.1 and nowhere else; nil if there is none.
private let nameOfThisMachine: String? = {
  var buffer = [CChar](repeating: 0, count: 256)
  guard gethostname(&buffer, buffer.count - 1) == 0 else { return nil }
  let name = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  var hints = addrinfo()
  hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
  var found: UnsafeMutablePointer<addrinfo>?
  guard getaddrinfo(name, nil, &hints, &found) == 0 else { return nil }
  defer { freeaddrinfo(found) }
  var next = found
  while let entry = next {
    guard entry.pointee.ai_family == AF_INET,
      entry.pointee.ai_addr.withMemoryRebound(to: sockaddr_in.self, capacity: 1, { $0.pointee.sin_addr.s_addr })
        == UInt32(0x7F00_0001).bigEndian
    else { return nil }
    next = entry.pointee.ai_next
  }
  return name
}()

extension ProcessTests {
  /// What never happens: that Roost is a client of its own local relay.
  @Suite("Its own relay")
  struct OwnRelayTests {
    private static let reason = "that is this Roost's own relay"

    private func run(_ relay: ScriptedRelay, _ body: (PlannerRig) throws -> Void) throws {
      var layout = PlannerRig.layout([])
      layout.workers.append(.localRelay(at: relay.url))
      try withRoost(layout, awaitsReady: false) { roost in
        let client = try roost.client()
        for worker in layout.workers.dropLast() {
          try roost.awaitWorker(worker.name, "is ready", client) { $0.state == "ready" }
        }
        try body(PlannerRig(roost: roost, client: client))
      }
    }

    private func port(_ relay: ScriptedRelay) -> Substring { relay.url.split(separator: ":").last ?? "" }

    @Test("is known by its URL, in whatever spelling: nobody asks it, publishes to it or adds it")
    func byURL() throws {
      let relay = try ScriptedRelay.serving(1)
      try run(relay) { rig in
        let event = try JSONPayload.decode(JSONValue.self, from: RelayStep.eventJSON(1).utf8)
        var wanted = PlanWant(filters: [.object(["kinds": .array([.integer(1)])])])
        for host in ["localhost", "127.0.0.1", "127.3.2.1", "LOCALHOST", "[0:0:0:0:0:0:0:1]"] {
          let url = "ws://\(host):\(port(relay))/inbox"
          wanted.relays = [url]
          for refusal in [
            try rig.refusal("plan.want", wanted),
            try rig.refusal("relay.request", RelayRequest(relay: url)),
            try rig.refusal("relay.publish", RelayPublish(relay: url, event: RawJSON(event), isForeign: false)),
            try rig.refusal("relay.retry", RelayRetry(relay: url)),
            try rig.refusal("plan.relays.add", PlanRelay(relay: url)),
          ] {
            #expect(refusal?.code == .ownRelay && refusal?.outcome == .notStarted, "\(url): \(refusal as Any)")
            #expect(refusal?.message.hasSuffix(": " + Self.reason) == true)
          }
        }
        let added = try rig.command("relay", "add", "ws://localhost:\(port(relay))")
        #expect(added.ending == .exited(1) && added.output.contains(Self.reason), "\(added)")
        #expect(try rig.refusal("relay.request", RelayRequest(relay: "ws://localhost:1"))?.code != .ownRelay)
        #expect(relay.visits.isEmpty)
      }
    }

    @Test("is left out of every plan, with the reason, when one's own list names it")
    func inLists() throws {
      let relay = try ScriptedRelay.serving(1)
      try run(relay) { rig in
        _ = try rig.client.call("signer.generate", #"{"name":"alice"}"#)
        let url = "ws://localhost:\(port(relay))"
        let list = try rig.sign(10_002, [["r", url], ["r", "wss://relay.example"]])
        _ = try rig.client.call("store.publish", String(decoding: list.json, as: UTF8.self))
        try awaitSoon("alice's list is known") {
          let route = try rig.ask("plan.route", PlanRoute(event: .object(["kind": .integer(1)])), as: Route.self)
          return route.stops.map(\.relay) == ["wss://relay.example"]
            && route.skipped.map { [$0.relay] + $0.why } == [[url, Self.reason]]
        }
        for plan in [try rig.command("plan", "write", #"{"kind":1}"#), try rig.command("plan", "read", "--kind", "1")] {
          #expect(plan.ending == .exited(0) && plan.output.contains(Self.reason), "\(plan)")
        }
        let note = try rig.sign(1, [])
        let value = try JSONPayload.decode(JSONValue.self, from: note.json)
        let refusal = try rig.refusal("plan.publish", PlanPublish(event: RawJSON(value), relays: [url]))
        #expect(refusal?.message.hasSuffix(Self.reason) == true, "\(refusal as Any)")
        #expect(relay.visits.isEmpty)
      }
    }

    @Test(
      "is known by where the connection has led, when only a name says so",
      .enabled(if: nameOfThisMachine != nil, "no name but localhost leads to 127.0.0.1 here"))
    func byName() throws {
      let name = try #require(nameOfThisMachine)
      let relay = try ScriptedRelay.serving(1)
      try run(relay) { rig in
        let url = "ws://\(name):\(port(relay))"
        let refusal = try rig.refusal("relay.request", RelayRequest(relay: url))
        #expect(refusal?.code == .ownRelay && refusal?.outcome == .notStarted)
        #expect(
          refusal?.message == "\(url) is not dialled: \(name) leads to 127.0.0.1:\(port(relay)): \(Self.reason)")

        _ = try rig.client.call("signer.generate", #"{"name":"alice"}"#)
        let note = try rig.sign(1, [])
        let value = try JSONPayload.decode(JSONValue.self, from: note.json)
        _ = try rig.ask("plan.publish", PlanPublish(event: RawJSON(value), relays: [url]), as: JSONValue.self)
        try awaitSoon("it is given up at the first attempt") {
          let answer = try rig.client.call("plan.publications", #"{"ids":["\#(note.id)"]}"#)
          let publication = try JSONPayload.decode(Publication.self, from: try #require(answer.parts.first).payload)
          return publication.state == .failed && publication.targets[0].message?.contains(Self.reason) == true
        }

        let observe = #"{"filters":[{"kinds":[1]}],"relays":["\#(url)"],"exclusiveRelays":true}"#
        _ = try rig.client.ask("store.observe", observe)
        let progress = try rig.awaitComplete(observe)
        #expect(progress.relays.map(\.state) == [.refused] && progress.relays[0].reason?.contains(Self.reason) == true)
        #expect(relay.visits.allSatisfy { $0.request.isEmpty }, "no byte was sent")
      }
    }
  }
}
