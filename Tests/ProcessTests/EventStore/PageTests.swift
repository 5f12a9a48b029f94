import Contracts
import Cryptography
import Frames
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// Answers of the event-store in pages.
  @Suite("Pages of the event store")
  struct PageTests {
    /// Events of all sizes, some of which no page has room for beside others.
    private func events(_ count: Int) -> [Event] {
      let authors = (0..<3).map { _ in SecretKey.generate() }
      return (0..<count).map { number in
        let length = number % 97 == 5 ? 70_000 : number % 7 * 150
        return UnsignedEvent(
          pubkey: authors[number % 3].publicKey, createdAt: 1_700_000_000 + Int64(number / 4),
          kind: [1, 7][number % 2],
          tags: [["t", "x"]], content: "\(number) \(String(repeating: "é", count: length / 2))"
        ).signed(by: authors[number % 3])
      }
    }

    private func bring(_ events: some Collection<Event>, _ store: StoreClient) throws {
      var rest = events.map(\.json)[...]
      while !rest.isEmpty {
        #expect(try store.peer.answer(to: try store.importRun(Array(rest.prefix(50))), within: 60).isResponse)
        rest = rest.dropFirst(50)
      }
    }

    private func single(_ store: StoreClient, _ arguments: String, _ count: Int) throws -> [PagedPart.PagedEvent] {
      let id = try store.peer.ask("store.observe", arguments)
      try store.peer.wait("\(count) parts") { store.peer.partCount(of: id) == count + 1 }
      store.peer.send(FrameHeader(type: .cancel, re: id))
      return try store.peer.answer(to: id).parts.compactMap { try PagedPart.single($0) }
    }

    @Test("They have what single parts have, in the same order: stored, as it comes, and resumed after a seq")
    func same() throws {
      try withRoost(.store) { roost in
        let (store, other) = (try StoreClient(roost), try StoreClient(roost))
        let events = events(600)
        try bring(events[..<500], other)
        for filters in [#"{}"#, #"{"kinds":[1]},{"kinds":[7],"limit":40}"#, ##"{"#t":["x"],"limit":123}"##] {
          let arguments = #"{"filters":[\#(filters)]"#
          let query = try store.peer.call("store.query", arguments + "}")
          let expected = query.parts.map(\.text)
          let pages = try store.peer.call("store.query", arguments + #","pages":true}"#)
          #expect(try pages.parts.flatMap { try PagedPart($0).events }.map(\.json) == expected)
          #expect(pages.terminal.payload == query.terminal.payload)
          #expect(pages.parts.count < expected.count / 2)
          let id = try store.peer.ask("store.observe", arguments + #","pages":true}"#)
          let observed = try store.await(expected.count, of: id)
          store.peer.send(FrameHeader(type: .cancel, re: id))
          _ = try store.peer.answer(to: id)
          #expect(try observed.flatMap(\.events) == single(store, arguments + "}", expected.count))
        }
        let id = try store.peer.ask("store.observe", #"{"filters":[{}],"pages":true}"#)
        let stored = try store.await(500, of: id)
        #expect(stored.last?.end?.seq == 500)
        try bring(events[500...], other)
        let ephemeral = makeEvents(9..<10, kind: 20_000)[0]
        #expect(try other.publish(ephemeral).isResponse)
        let live = try store.await(601, of: id).flatMap(\.events).dropFirst(500)
        #expect(live.map(\.seq) == (501...600).map { Int64($0) } + [nil] && live.last?.kind == 20_000)
        #expect(live.map(\.json) == (events[500...] + [ephemeral]).map { String(decoding: $0.json, as: UTF8.self) })
        let after = #"{"filters":[{"kinds":[1]}],"afterSeq":123"#
        let resumed = try store.peer.ask("store.observe", after + #","pages":true}"#)
        let count = (123..<600).count { events[$0].kind == 1 }
        #expect(
          try store.await(count, of: resumed).flatMap(\.events) == single(other, after + "}", count))
      }
    }

    @Test("An event that comes alone is sent alone, at once")
    func alone() throws {
      try withRoost(.store) { roost in
        let (store, other) = (try StoreClient(roost), try StoreClient(roost))
        let id = try store.peer.ask("store.observe", #"{"filters":[{}],"pages":true}"#)
        _ = try store.await(0, of: id)
        for (number, event) in makeEvents(0..<5).enumerated() {
          #expect(try other.publish(event).isResponse)
          #expect(try store.await(number + 1, of: id).count == number + 2)
        }
      }
    }

    @Test("A caller that takes none stalls nobody, and has missed nothing when he takes them again")
    func slow() throws {
      try withRoost(.store) { roost in
        let (slow, writer) = (try StoreClient(roost), try StoreClient(roost))
        let events = events(400)
        try bring(events[..<200], writer)
        // More than all windows on the way have room for: it waits in the middle of what is stored, and of what comes.
        let ids = try (0..<4).map { _ in try slow.peer.ask("store.observe", #"{"filters":[{}],"pages":true}"#) }
        try bring(events[200...], writer)
        let own = makeEvents(0..<200)
        for start in stride(from: 0, to: 200, by: 50) {
          #expect(try writer.offer(own[start..<start + 50].map(\.json)).count == 50)
        }
        #expect(try writer.query("{}").count == 600)
        for id in ids {
          let parts = try slow.await(600, of: id, within: 60)
          let (before, after) = parts.flatMap(\.events).reduce(into: ([Int64](), [Int64]())) { lists, event in
            if let seq = event.seq { if seq <= 200 { lists.0.append(seq) } else { lists.1.append(seq) } }
          }
          #expect(Set(before).count == 200 && before.count == 200)
          #expect(after == (201...600).map { Int64($0) })
        }
      }
    }

    @Test("An event that is for more observers than can be sent it at once reaches each of them")
    func everybody() throws {
      var layout = Layout.store
      layout.bus["outstanding-requests"] = "10000"
      try withRoost(layout) { roost in
        let (store, other) = (try StoreClient(roost), try StoreClient(roost))
        let arguments = #"{"filters":[{"limit":0}],"policy":"cache-only","pages":true}"#
        let ids = try (0..<4_500).map { _ in try store.peer.ask("store.observe", arguments) }
        var left = ids[...]
        func awaitParts(_ count: Int) throws {
          left = ids[...]
          try store.peer.wait("\(count) parts each", within: 120) {
            left = left.drop { store.peer.partCount(of: $0) >= count }
            return left.isEmpty
          }
        }
        try awaitParts(1)
        #expect(try other.status().observers == ids.count)
        let event = makeEvents(0..<1)[0]
        #expect(try other.publish(event).isResponse)
        try awaitParts(2)
        for id in ids {
          let last = try #require(store.peer.parts(of: id).last)
          #expect(try PagedPart(last).events.map(\.seq) == [1])
        }
      }
    }

    @Test("The end of what is stored says whether there is more, wherever a limit cuts")
    func completeness() throws {
      try withRoost(.store) { roost in
        let store = try StoreClient(roost)
        try bring(makeEvents(0..<120), store)
        let cases: [(filters: String, limit: Int?, isComplete: Bool?)] = [
          ("{}", nil, true), (#"{"limit":120}"#, nil, true), (#"{"limit":119}"#, nil, false),
          (#"{"limit":1}"#, nil, false),
          (#"{"limit":50}"#, nil, false), (#"{"limit":51}"#, nil, false), (#"{"limit":500}"#, nil, true),
          (#"{"limit":0}"#, nil, nil), (#"{"kinds":[7],"limit":1}"#, nil, true), (#"{"kinds":[]}"#, nil, true),
          ("{}", 120, true), ("{}", 119, false), ("{}", 0, nil),
          (#"{"limit":3},{"kinds":[7]}"#, nil, false), (#"{"limit":3},{"kinds":[1]}"#, nil, nil),
          (#"{"search":"7"}"#, nil, true), (#"{"until":1700000049,"limit":50}"#, nil, true),
        ]
        for (filters, limit, isComplete) in cases {
          let asked = #"{"filters":[\#(filters)]\#(limit.map { ",\"limit\":\($0)" } ?? "")}"#
          #expect(try store.counted("store.query", asked).isComplete == isComplete, "\(asked)")
          guard limit == nil else { continue }
          let id = try store.peer.ask("store.observe", #"{"filters":[\#(filters)],"pages":true}"#)
          let end = try #require(try store.await(0, of: id).compactMap(\.end).first)
          #expect(end.isComplete == isComplete, "observed: \(asked)")
          store.peer.send(FrameHeader(type: .cancel, re: id))
          _ = try store.peer.answer(to: id)
        }
        let id = try store.peer.ask("store.observe", #"{"filters":[{}],"pages":true,"afterSeq":7}"#)
        #expect(try store.await(0, of: id).compactMap(\.end) == [StoredEnd(seq: 120)])
        #expect(try store.counted("store.count", #"{"filters":[{}]}"#).isComplete == nil)
        #expect(
          try store.peer.call("store.count", #"{"filters":[{}],"pages":true}"#).refusal?.code == .badRequest)
      }
    }
  }
}
