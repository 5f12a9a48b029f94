import Contracts
import Frames
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// Clients of the local relay that do not read, and work that has to wait.
  @Suite("The local relay and what does not go on")
  struct LocalRelayStallTests {
    /// Events of which some hundreds are more than sockets hold.
    private static func large(_ count: Int, by author: Author, at time: Int64) -> [Event] {
      let text = String(repeating: "x", count: 20_000)
      return (0..<count).map { author.event("\($0) \(text)", at: time + Int64($0)) }
    }

    private static func put(_ events: [Event], by visitor: RelayVisitor) throws {
      for event in events { visitor.send("[\"EVENT\",\(String(decoding: event.json, as: UTF8.self))]") }
      for event in events { #expect(try visitor.verdict(on: "\(event.id)").isAccepted) }
    }

    @Test("A client that never reads is cut, and keeps nobody waiting until then")
    func cut() throws {
      try LocalRelayHouse.run(["slow-client": "\"1s\""]) { house in
        let (honest, author) = (try house.visitor(), Author())
        let events = Self.large(400, by: author, at: 1_700_000_000)
        try Self.put(events, by: honest)
        let deaf = try (0..<4).map { _ in try house.visitor() }
        for visitor in deaf {
          for number in 0..<100 { visitor.send("[\"REQ\",\"\(number)\",{}]") }
        }
        for _ in 0..<5 {
          #expect(try honest.request("{\"limit\":3}").ids == events.suffix(3).reversed().ids)
          try honest.put(author.event("meanwhile", at: 1_600_000_000 + Int64.random(in: 0..<1_000_000)))
        }
        try awaitSoon("they are cut") { try house.ask("local.status", as: LocalRelayStatus.self).connections == 1 }
        #expect(try honest.request("{\"limit\":1}").ids == events.suffix(1).ids)
      }
    }

    @Test("A client that reads late misses nothing: not of what is stored, nor of what came meanwhile")
    func late() throws {
      try LocalRelayHouse.run { house in
        let (writer, reader, author) = (try house.visitor(), try house.visitor(), Author())
        let stored = Self.large(300, by: author, at: 1_700_000_000)
        try Self.put(stored, by: writer)
        #expect(try reader.request("{\"limit\":1}", name: "live").ids == stored.suffix(1).ids)
        reader.send("[\"REQ\",\"all\",{}]")
        let coming = Self.large(300, by: author, at: 1_700_100_000)
        try Self.put(coming, by: writer)
        let everything = Set((stored + coming).ids)
        try reader.wait("all of it") { Set(reader.ids(under: "all")) == everything }
        try reader.wait("what came") { Set(reader.ids(under: "live")).isSuperset(of: coming.ids) }
        #expect(reader.ids(under: "all").count == everything.count && reader.ids(under: "live").count == 301)
      }
    }

    @Test("While the planner is stopped an account's event is refused, and kept where there is none")
    func planner() throws {
      try LocalRelayHouse.run(beside: PlannerRig.layout([])) { house in
        _ = try house.account()
        let visitor = try house.visitor()
        try awaitSoon("the relay knows alice") {
          try visitor.publish(try house.sign(1, content: "\(Int.random(in: 0..<Int.max))", as: "alice")).reason
            .contains("sent nowhere")
        }
        _ = try house.client.call("supervisor.stop", #"{"worker":"outbox-planner"}"#)
        let verdict = try visitor.publish(try house.sign(1, content: "b", as: "alice"))
        #expect(!verdict.isAccepted && verdict.reason == "error: the outbox-planner is stopped", "\(verdict.reason)")
        try visitor.put(Author().event("a stranger's"))
      }
    }

    @Test("What is asked at /fetch comes from relays as well, before EOSE; at /local it does not")
    func fetched() throws {
      let relay = try KeepingRelay()
      try LocalRelayHouse.run(beside: PlannerRig.layout([relay.url])) { house in
        let event = Author().event("far away")
        try PlannerRig(roost: house.roost, client: house.client).put(event, on: relay)
        #expect(try house.visitor(path: "/local").request("{\"kinds\":[1]}").ids.isEmpty)
        #expect(try house.visitor(path: "/fetch").request("{\"kinds\":[1]}").ids == [event].ids)
        #expect(try house.visitor().request("{\"kinds\":[1]}").ids == [event].ids)
      }
    }
  }
}
