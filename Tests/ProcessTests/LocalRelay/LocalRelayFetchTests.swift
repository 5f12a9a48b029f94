import Contracts
import Frames
import Glibc
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// What the local relay asks the network, for whom, and when it says that that is all.
  @Suite("The local relay and what it fetches")
  struct LocalRelayFetchTests {
    private let author = Author()

    private func run(
      _ settings: [String: String], _ relays: [String], _ body: (LocalRelayHouse) throws -> Void
    ) throws {
      try LocalRelayHouse.run(settings, beside: PlannerRig.layout(relays), body)
    }

    /// A relay that has nothing, and notes what it is asked.
    private func emptyRelay() throws -> ScriptedRelay {
      try ScriptedRelay(.accept(), .forever(.expect("REQ"), .endOfStored()))
    }

    private func json(_ event: Event) -> String { String(decoding: event.json, as: UTF8.self) }

    private func isAsked(_ relay: ScriptedRelay, _ kind: Int) -> Bool {
      relay.visits.contains { visit in
        visit.texts("REQ").contains { $0.contains("[\(kind)]") || $0.contains("[\(kind),") || $0.contains(",\(kind)") }
      }
    }

    private func awaitAsked(_ relay: ScriptedRelay, _ kind: Int) throws {
      try awaitSoon("the relay is asked for kind \(kind)") { isAsked(relay, kind) }
    }

    @Test("At /fetch a request is answered from the store, then by the network, then by EOSE, and goes on")
    func order() throws {
      let relay = try KeepingRelay()
      try run([:], [relay.url]) { house in
        let (visitor, planner) = (
          try house.visitor(path: "/fetch"), PlannerRig(roost: house.roost, client: house.client)
        )
        var isInOrder = false
        // On a machine that is busy for seconds EOSE may come before the relay's part, as it should. Not every time.
        for kind in 101...105 where !isInOrder {
          let kind = UInt16(kind)
          let (stored, elsewhere) = (author.event("stored", kind: kind), author.event("elsewhere", kind: kind))
          try visitor.put(stored)
          try planner.put(elsewhere, on: relay)
          let found = try visitor.request("{\"kinds\":[\(kind)]}", name: "\(kind)")
          #expect(found.refusal == nil && found.ids.first == "\(stored.id)", "what is here waits for nobody")
          isInOrder = found.ids == [stored, elsewhere].ids
          try visitor.awaitEvent(elsewhere, under: "\(kind)")
          let later = author.event("later", kind: kind)
          try planner.put(later, on: relay)
          try visitor.awaitEvent(later, under: "\(kind)")
          #expect(visitor.ids(under: "\(kind)").count == 3, "each event once")
        }
        #expect(isInOrder)
      }
    }

    @Test("A relay that never says that that is all holds EOSE up for a while, and what it brings later follows")
    func withoutEnd() throws {
      let (first, later) = (author.event("first"), author.event("later"))
      let relay = try ScriptedRelay(
        .accept(), .expect("REQ"), .event(json(first)), .hold("later"), .event(json(later)))
      try run([:], [relay.url]) { house in
        let visitor = try house.visitor(path: "/fetch")
        let found = try visitor.request("{\"kinds\":[1]}", name: "a")
        #expect(found.refusal == nil && (found.ids == [first].ids || found.ids.isEmpty))
        try visitor.awaitEvent(first, under: "a")
        relay.release("later")
        try visitor.awaitEvent(later, under: "a")
        #expect(visitor.ids(under: "a") == [first, later].ids)
      }
    }

    @Test("A relay that always has one more holds EOSE up for a while only")
    func endless() throws {
      let events = (0..<2_000).map { author.event("\($0)", at: 1_700_000_000 + Int64($0)) }
      let slowly = RelayStep("events without end") { peer in
        for event in events {
          try peer.send(WebSocketFrame.text("[\"EVENT\",\"\(peer.subscription)\",\(json(event))]").bytes)
          usleep(100_000)
        }
      }
      let relay = try ScriptedRelay(.accept(), .expect("REQ"), slowly)
      try run([:], [relay.url]) { house in
        let visitor = try house.visitor(path: "/fetch")
        let found = try visitor.request("{\"kinds\":[1]}", name: "a")
        #expect(found.refusal == nil)
        let start = visitor.messages.count
        try visitor.wait("more behind EOSE") { !visitor.ids(under: "a", from: start).isEmpty }
      }
    }

    @Test("A relay that cannot be reached, and no relay at all, hold nothing up")
    func nobody() throws {
      for relays in [["ws://127.0.0.1:1"], []] {
        try run([:], relays) { house in
          let (visitor, event) = (try house.visitor(path: "/fetch"), author.event("here"))
          try visitor.put(event)
          #expect(try visitor.request("{\"kinds\":[1]}").ids == [event].ids)
        }
      }
      try LocalRelayHouse.run([:]) { house in
        let event = author.event("here")
        try house.visitor(path: "/fetch").put(event)
        #expect(try house.visitor(path: "/fetch").request("{\"kinds\":[1]}").ids == [event].ids, "without a planner")
      }
    }

    @Test("The network is asked for the origins of fetch-clients, at /fetch, and for nobody else")
    func origins() throws {
      let relay = try emptyRelay()
      try run(["fetch": "false", "fetch-clients": "[\"https://page.example\"]"], [relay.url]) { house in
        for origin in ["https://page.example", "https://other.example"] {
          let _: LocalRelayOrigins = try house.ask("local.allow", "{\"origin\":\"\(origin)\"}")
        }
        _ = try house.visitor().request("{\"kinds\":[101]}", name: "a")
        _ = try house.visitor("Origin: https://other.example").request("{\"kinds\":[102]}", name: "a")
        let page = try house.visitor("Origin: https://PAGE.example:443")
        _ = try page.request("{\"kinds\":[103]}", name: "a")
        try awaitAsked(relay, 103)
        let own = try house.visitor(path: "/fetch")
        _ = try own.request("{\"kinds\":[104]}", name: "a")
        try awaitAsked(relay, 104)
        #expect(!isAsked(relay, 101) && !isAsked(relay, 102))
      }
    }

    @Test("The network is asked for the keys of fetch-clients once they have shown themselves")
    func keys() throws {
      let relay = try emptyRelay()
      try run(["fetch": "false", "fetch-clients": "[\"\(author.publicKey.npub)\"]"], [relay.url]) { house in
        let (hers, other) = (try house.visitor(), try house.visitor())
        _ = try hers.request("{\"kinds\":[101]}", name: "a")
        _ = try other.authenticate(showing: Author(), to: house).request("{\"kinds\":[102]}", name: "a")
        _ = try hers.authenticate(showing: author, to: house).request("{\"kinds\":[103]}", name: "b")
        try awaitAsked(relay, 103)
        #expect(!isAsked(relay, 101) && !isAsked(relay, 102))
      }
    }

    @Test("The network is asked for what fetch-filters cover, all filters of a request, and for nothing else")
    func filters() throws {
      let relay = try emptyRelay()
      let covered = "['{\"kinds\":[101,102]}', '{\"kinds\":[103],\"authors\":[\"\(author.publicKey)\"]}']"
      try run(["fetch": "false", "fetch-filters": covered], [relay.url]) { house in
        let visitor = try house.visitor()
        _ = try visitor.request("{}", name: "all")
        _ = try visitor.request("{\"kinds\":[104]}", name: "another")
        _ = try visitor.request("{\"kinds\":[103]}", name: "everybody's")
        _ = try visitor.request("{\"kinds\":[101]}", "{\"kinds\":[105]}", name: "partly")
        _ = try visitor.request("{\"kinds\":[102],\"limit\":5}", name: "a")
        try awaitAsked(relay, 102)
        #expect(relay.visits.allSatisfy { $0.texts("REQ").allSatisfy { !$0.contains("[101") && !$0.contains("103") } })
        #expect(!isAsked(relay, 104) && !isAsked(relay, 105))
        _ = try visitor.request("{\"kinds\":[103],\"authors\":[\"\(author.publicKey)\"]}", name: "b")
        try awaitAsked(relay, 103)
      }
    }

    @Test("The network is asked for 64 subscriptions of a client; further ones are answered from the store")
    func budget() throws {
      let relay = try emptyRelay()
      try run([:], [relay.url]) { house in
        let (visitor, event) = (try house.visitor(), author.event(kind: 200))
        try visitor.put(event)
        for kind in 101...164 { _ = try visitor.request("{\"kinds\":[\(kind)]}", name: "\(kind)") }
        for kind in 101...164 { try awaitAsked(relay, kind) }
        #expect(try visitor.request("{\"kinds\":[200]}", name: "200").ids == [event].ids)
        visitor.close("101")
        _ = try visitor.request("{\"kinds\":[201]}", name: "201")
        try awaitAsked(relay, 201)
        #expect(!isAsked(relay, 200))
        let other = try house.visitor()
        _ = try other.request("{\"kinds\":[202]}", name: "another client's")
        try awaitAsked(relay, 202)
      }
    }

    @Test(
      "At / the store answers, EOSE does not wait, and relays follow; at /local, and with fetch off, the store alone")
    func beside() throws {
      let (stored, elsewhere) = (author.event("stored"), author.event("elsewhere", at: 1_700_000_000))
      let relay = try ScriptedRelay(
        .accept(), .expect("REQ"), .hold("events"), .event(json(elsewhere)), .endOfStored(), .hold("end"))
      try run([:], [relay.url]) { house in
        let visitor = try house.visitor()
        try visitor.put(stored)
        _ = try house.visitor(path: "/local").request("{\"kinds\":[107]}", name: "local")
        #expect(try visitor.request("{\"kinds\":[1]}", name: "a").ids == [stored].ids, "EOSE does not wait")
        relay.release("events")
        try visitor.awaitEvent(elsewhere, under: "a")
        // The REQ for new events may come before the one for stored ones.
        try relay.awaitVisits("stored events are asked for") { visits in
          visits[0].texts("REQ").contains { $0.contains("\"limit\":500") }
        }
        let asked = relay.visits[0].texts("REQ")
        #expect(!asked.joined().contains("107"), "\(asked)")
        let isBounded = asked.allSatisfy { $0.contains("\"limit\":500") || $0.contains("\"limit\":0") }
        #expect(isBounded, "\(asked)")
        relay.release("end")
      }
      let silent = try emptyRelay()
      try run(["fetch": "false"], [silent.url]) { house in
        _ = try house.visitor().request("{\"kinds\":[101]}", name: "a")
        _ = try house.visitor(path: "/fetch").request("{\"kinds\":[102]}", name: "a")
        try awaitAsked(silent, 102)
        #expect(!isAsked(silent, 101))
      }
    }

    @Test(
      "What nostr-sdk's relay has is found through this one, and kept",
      .enabled(if: PythonPeer.isAvailable, "no .venv: run Scripts/python-environment.sh"))
    func realRelay() throws {
      let relay = try RealRelay()
      let port = try #require(relay.url.split(separator: ":").last.flatMap { UInt16($0.prefix { $0.isNumber }) })
      let event = author.event("elsewhere")
      try RelayVisitor(port: port).put(event)
      try run([:], [relay.url]) { house in
        #expect(try house.visitor(path: "/local").request("{\"kinds\":[1]}").ids.isEmpty)
        let visitor = try house.visitor(path: "/fetch")
        _ = try visitor.request("{\"kinds\":[1]}", name: "a")
        try visitor.awaitEvent(event, under: "a")
        #expect(try house.visitor().request("{\"kinds\":[1]}").ids == [event].ids)
      }
    }
  }
}
