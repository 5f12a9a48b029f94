import Contracts
import Frames
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// What the local relay answers to REQ, COUNT and CLOSE.
  @Suite("The local relay and a request")
  struct LocalRelayRequestTests {
    private let author = Author()

    /// Notes a second apart, the newest last.
    private func notes(_ count: Int, kind: UInt16 = 1, _ tags: [[String]] = []) -> [Event] {
      (0..<count).map { author.event("\($0)", kind: kind, at: 1_700_000_000 + Int64($0), tags) }
    }

    private func run(_ events: [Event], _ body: (RelayVisitor, LocalRelayHouse) throws -> Void) throws {
      try LocalRelayHouse.run { house in
        let visitor = try house.visitor()
        for event in events { try visitor.put(event) }
        try body(visitor, house)
      }
    }

    @Test("Several filters are answered by what matches any, each event once, each filter's limit held, newest first")
    func filters() throws {
      let (posts, reactions) = (notes(6), notes(4, kind: 7))
      try run(posts + reactions) { visitor, _ in
        let both = try visitor.request("{\"kinds\":[1],\"limit\":2}", "{\"kinds\":[7],\"limit\":3}")
        #expect(both.ids.count == 5 && Set(both.ids) == Set((posts.suffix(2) + reactions.suffix(3)).ids))
        let overlapping = try visitor.request("{\"kinds\":[1]}", "{\"kinds\":[1,7],\"limit\":3}")
        #expect(overlapping.ids.count == Set(overlapping.ids).count && Set(overlapping.ids).isSuperset(of: posts.ids))
        let times = overlapping.events.compactMap {
          if case .integer(let time)? = $0["created_at"] { time } else { nil }
        }
        #expect(times == times.sorted(by: >), "\(times)")
        let newest = try visitor.request("{\"kinds\":[1],\"limit\":4}")
        #expect(newest.ids == posts.suffix(4).reversed().ids)
      }
    }

    @Test("Of one second the lower id comes first")
    func sameSecond() throws {
      let events = (0..<8).map { author.event("\($0)") }
      try run(events) { visitor, _ in
        let all = try visitor.request("{}").ids
        #expect(all == events.ids.sorted())
        #expect(try visitor.request("{\"limit\":3}").ids == Array(all.prefix(3)))
      }
    }

    @Test("A limit of 0 brings nothing that is stored, and all that comes")
    func nothingStored() throws {
      try run(notes(3)) { visitor, house in
        #expect(try visitor.request("{\"limit\":0}", name: "live") == .init())
        let event = author.event("new")
        try house.visitor().put(event)
        try visitor.awaitEvent(event, under: "live")
      }
    }

    @Test("since and until are part of the time that is asked for")
    func times() throws {
      let events = notes(5)
      try run(events) { visitor, _ in
        let some = try visitor.request("{\"since\":1700000001,\"until\":1700000003}").ids
        #expect(some == events[1...3].reversed().ids)
        #expect(try visitor.request("{\"since\":1700000004}").ids == [events[4]].ids)
        #expect(try visitor.request("{\"until\":1699999999}").ids.isEmpty)
        #expect(try visitor.request("{\"since\":1700000003,\"until\":1700000001}").ids.isEmpty)
      }
    }

    @Test("Tags are asked for by their first value, and all conditions of a filter must hold")
    func tags() throws {
      let (id, key) = (String(repeating: "a", count: 64), String(repeating: "b", count: 64))
      let events = [
        author.event("0", [["t", "nostr"]]), author.event("1", [["t", "other"], ["t", "swift"]]),
        author.event("2", [["e", id, "wss://r.example"], ["p", key]]), author.event("3", [["E", id]]),
        author.event("4", [["x", "nostr"]]), author.event("5", [["title", "nostr"]]),
      ]
      try run(events) { visitor, _ in
        func expect(_ filter: String, _ indices: Int...) throws {
          #expect(try Set(visitor.request(filter).ids) == Set(indices.map { "\(events[$0].id)" }), "\(filter)")
        }
        try expect(##"{"#t":["nostr"]}"##, 0)
        try expect(##"{"#t":["nostr","swift"]}"##, 0, 1)
        try expect(##"{"#e":["\##(id)"]}"##, 2)
        try expect(##"{"#E":["\##(id)"]}"##, 3)
        try expect(##"{"#e":["\##(id)"],"#p":["\##(key)"]}"##, 2)
        try expect(##"{"#e":["\##(id)"],"#p":["\##(id)"]}"##)
        try expect(##"{"#t":["nostr"],"kinds":[7]}"##)
        try expect(##"{"#t":[]}"##)
        try expect(##"{"authors":["\##(author.publicKey)"],"#x":["nostr"]}"##, 4)
      }
    }

    @Test("A part of an id is no id: the request is refused by its name, and what it replaced is over")
    func prefix() throws {
      try run(notes(1)) { visitor, house in
        _ = try visitor.request("{}", name: "a")
        for filter in ["{\"ids\":[\"abcdef\"]}", "{\"authors\":[\"ABCD\"]}", "{\"kinds\":[\"1\"]}", "{\"since\":-1.5}"]
        {
          let refusal = try visitor.request(filter, name: "a").refusal
          #expect(refusal?.hasPrefix("invalid: ") == true, "\(filter): \(refusal ?? "EOSE")")
        }
        _ = try visitor.request("{\"limit\":0}", name: "b")
        let start = visitor.messages.count
        let event = author.event("new")
        try house.visitor().put(event)
        try visitor.awaitEvent(event, under: "b")
        #expect(visitor.ids(under: "a", from: start).isEmpty)
      }
    }

    @Test("CLOSE is answered by silence, also of what is not open, and nothing comes under the name any more")
    func closing() throws {
      try run([]) { visitor, house in
        _ = try visitor.request("{}", name: "a")
        _ = try visitor.request("{}", name: "b")
        let start = visitor.messages.count
        visitor.close("a")
        visitor.close("never")
        let event = author.event("new")
        try house.visitor().put(event)
        try visitor.awaitEvent(event, under: "b")
        _ = try visitor.request("{\"limit\":0}", name: "c")
        #expect(visitor.messages[start...].allSatisfy { $0[1] == .string("b") || $0[1] == .string("c") })
        #expect(visitor.messages.count == start + 2)
      }
    }

    @Test("A request under a name that is in use takes its place")
    func replacing() throws {
      try run([]) { visitor, house in
        _ = try visitor.request("{\"kinds\":[1]}", name: "a")
        #expect(try visitor.request("{\"kinds\":[7]}", name: "a").refusal == nil)
        let (note, reaction) = (author.event("no"), author.event("+", kind: 7))
        try house.visitor().put(note, reaction)
        try visitor.awaitEvent(reaction, under: "a")
        #expect(visitor.ids(under: "a") == [reaction].ids)
      }
    }

    @Test("A name has 1 to 64 characters, whatever they are; another is refused and the connection lives")
    func names() throws {
      try run(notes(1)) { visitor, _ in
        for name in [String(repeating: "a", count: 64), "1", "ü🙂", String(repeating: "é", count: 64)] {
          #expect(try visitor.request("{}", name: name).ids.count == 1, "\(name)")
        }
        for name in ["", String(repeating: "a", count: 65)] {
          let start = visitor.messages.count
          visitor.send("[\"REQ\",\"\(name)\",{}]")
          try visitor.wait("an answer") { visitor.messages.count > start }
          let answer = visitor.messages[start]
          #expect([.string("CLOSED"), .string("NOTICE")].contains(answer[0]), "\(answer)")
        }
        #expect(try visitor.request("{}").ids.count == 1)
      }
    }

    @Test("COUNT counts each event once over all filters, and a bad one is refused by its name (NIP-45)")
    func counting() throws {
      try run(notes(5) + notes(3, kind: 7)) { visitor, _ in
        func count(_ filters: String) throws -> JSONValue? {
          let answer = try visitor.ask("[\"COUNT\",\"c\",\(filters)]", "COUNT")
          #expect(answer.count == 3 && answer[1] == .string("c"))
          return answer.last?["count"]
        }
        #expect(try count("{\"kinds\":[1]}") == .integer(5))
        #expect(try count("{\"kinds\":[1]},{\"kinds\":[1,7]}") == .integer(8))
        #expect(try count("{\"kinds\":[9]}") == .integer(0))
        let refused = try visitor.ask("[\"COUNT\",\"c\",{\"ids\":[\"ab\"]}]", "CLOSED")
        #expect(refused[1] == .string("c"), "\(refused)")
      }
    }

    @Test("A reconciliation is answered by its name with what the client lacks, and ends without a word (NIP-77)")
    func reconciling() throws {
      let events = notes(2)
      try run(events) { visitor, _ in
        // A client that has nothing: one range of all time, and no ids in it.
        let nothing = "6100000200"
        let answer = try visitor.ask("[\"NEG-OPEN\",\"n\",{\"kinds\":[1]},\"\(nothing)\"]", "NEG-MSG")
        guard answer.count == 3, answer[1] == .string("n"), case .string(let message) = answer[2] else {
          throw DeadlinePassed(description: "\(answer)")
        }
        #expect(events.ids.allSatisfy { message.contains($0) }, "\(message)")
        visitor.send("[\"NEG-CLOSE\",\"n\"]")
        for text in [
          "[\"NEG-MSG\",\"n\",\"\(nothing)\"]", "[\"NEG-OPEN\",\"m\",{},\"xyz\"]",
          "[\"NEG-OPEN\",\"m\",{\"ids\":[\"ab\"]},\"\(nothing)\"]", "[\"NEG-OPEN\",\"m\",{},\"\"]",
          "[\"NEG-OPEN\",\"m\",{},\"61000002\"]",
        ] {
          let refused = try visitor.ask(text, "NEG-ERR")
          guard refused.count >= 3, case .string(let reason) = refused[2] else {
            throw DeadlinePassed(description: "\(refused)")
          }
          #expect(reason.hasPrefix("closed: ") || reason.hasPrefix("invalid: "), "\(text): \(reason)")
        }
        let newer = try visitor.ask("[\"NEG-OPEN\",\"v\",{},\"6200000200\"]", "NEG-MSG")
        #expect(newer.last == .string("61"), "the version that is spoken here: \(newer)")
        #expect(try visitor.request("{}").ids.count == 2)
      }
    }

    @Test("search brings what the words stand in, with the other conditions of its filter (NIP-50)")
    func searching() throws {
      let events = [
        author.event("Purple ostriches run"), author.event("green ostriches"), author.event("purple", kind: 7),
      ]
      try run(events) { visitor, _ in
        let found = try visitor.request("{\"search\":\"purple\",\"kinds\":[1]}").ids
        #expect(found == [events[0]].ids)
        #expect(try Set(visitor.request("{\"search\":\"ostriches\"}").ids) == Set(events[0...1].ids))
        #expect(try visitor.request("{\"search\":\"absent\"}").ids.isEmpty)
        // A key it does not know is passed over.
        #expect(try visitor.request("{\"search\":\"purple language:en\",\"kinds\":[1]}").ids == [events[0]].ids)
      }
    }
  }
}
