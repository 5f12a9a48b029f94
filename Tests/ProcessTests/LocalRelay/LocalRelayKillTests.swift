import Contracts
import Cryptography
import Frames
import Glibc
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// Workers that die while a client of the local relay listens and publishes.
  @Suite("The local relay when others die, and when it dies itself")
  struct LocalRelayKillTests {
    private static let events = 300

    private func kill(_ name: String, _ house: LocalRelayHouse) throws {
      // It may be dead already.
      guard let pid = try house.roost.worker(name, house.client).pid else { return }
      Glibc.kill(pid_t(pid), SIGKILL)
    }

    @Test(
      "A client that stays connected while a worker dies gets each OK, and each event once",
      arguments: ["event-store", "outbox-planner", "signer"])
    func behind(name: String) throws {
      try LocalRelayHouse.run(beside: PlannerRig.layout([])) { house in
        _ = try house.account()
        let (visitor, listener, stranger) = (try house.visitor(), try house.visitor(), Author())
        #expect(try listener.request("{\"kinds\":[1]}", name: "live").refusal == nil)
        let events = (0..<Self.events).map { stranger.event("\($0)", at: 1_700_000_000 + Int64($0)) }
        let mine = try (0..<20).map { try house.sign(1, content: "\($0)", as: "alice") }
        for (index, event) in (events + mine).enumerated() {
          if index == Self.events / 2 || index == Self.events + 5 { try kill(name, house) }
          visitor.send("[\"EVENT\",\(String(decoding: event.json, as: UTF8.self))]")
        }
        for event in events + mine {
          let verdict = try visitor.verdict(on: "\(event.id)")
          #expect(verdict.isAccepted, "\(verdict.reason)")
        }
        let all = events + mine
        try listener.wait("all events") { listener.ids(under: "live").count >= all.count }
        let last = stranger.event("the last")
        try visitor.put(last)
        try listener.awaitEvent(last, under: "live")
        let came = listener.ids(under: "live")
        #expect(came.count == all.count + 1 && Set(came) == Set((all + [last]).ids), "each of them once")
        #expect(listener.messages.allSatisfy { $0.first == .string("EVENT") || $0.first == .string("EOSE") })
      }
    }

    @Test("A request among whose stored events the store dies is answered whole, each event once")
    func storedEvents() throws {
      try LocalRelayHouse.run { house in
        let (visitor, stranger) = (try house.visitor(), Author())
        let events = (0..<2_000).map { stranger.event("\($0)", at: 1_700_000_000 + Int64($0)) }
        for event in events { visitor.send("[\"EVENT\",\(String(decoding: event.json, as: UTF8.self))]") }
        for event in events { #expect(try visitor.verdict(on: "\(event.id)").isAccepted) }
        for round in 0..<3 {
          visitor.send("[\"REQ\",\"all\(round)\",{}]")
          try kill("event-store", house)
          try visitor.wait("EOSE") {
            visitor.messages.last?.prefix(2) == [.string("EOSE"), .string("all\(round)")]
          }
          #expect(visitor.ids(under: "all\(round)") == events.reversed().ids)
          visitor.close("all\(round)")
          try house.roost.awaitWorker("event-store", "is ready", house.client) { $0.state == "ready" }
        }
      }
    }

    @Test("A client whose relay died comes again, and all that was answered OK is there")
    func itself() throws {
      try LocalRelayHouse.run { house in
        let (visitor, stranger) = (try house.visitor(), Author())
        let events = (0..<Self.events).map { stranger.event("\($0)", at: 1_700_000_000 + Int64($0)) }
        for (index, event) in events.enumerated() {
          if index == Self.events / 2 {
            try visitor.wait("the first OK") { !visitor.messages.isEmpty }
            try kill("local-relay", house)
          }
          visitor.send("[\"EVENT\",\(String(decoding: event.json, as: UTF8.self))]")
        }
        #expect(throws: (any Error).self) { try visitor.wait("the end") { false } }
        #expect(visitor.isOver)
        let taken = visitor.messages.compactMap { message -> String? in
          guard message[0] == .string("OK"), message[2] == .bool(true), case .string(let id) = message[1] else {
            return nil
          }
          return id
        }
        #expect(!taken.isEmpty)
        try house.roost.awaitWorker("local-relay", "is ready again", house.client) { $0.state == "ready" }
        let again = try house.awaitVisitor()
        #expect(Set(try again.request("{}").ids).isSuperset(of: taken))
        for event in events { visitorSends(event, again) }
        for event in events { #expect(try again.verdict(on: "\(event.id)").isAccepted) }
        #expect(try again.request("{}").ids == events.reversed().ids)
      }
    }

    private func visitorSends(_ event: Event, _ visitor: RelayVisitor) {
      visitor.send("[\"EVENT\",\(String(decoding: event.json, as: UTF8.self))]")
    }
  }
}
