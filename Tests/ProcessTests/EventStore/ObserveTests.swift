import Contracts
import Cryptography
import Frames
import Glibc
import Nostr
import TestSupport
import Testing

/// Somebody who observes, and what he was sent.
private struct Observer {
  let peer: BusPeer
  let id: UInt64

  init(_ peer: BusPeer, _ arguments: String) throws {
    self.peer = peer
    id = try peer.ask("store.observe", arguments)
  }

  /// Waits for so many parts, gives the request up, and gives back the numbers of the events, ends of what was stored
  /// as 0.
  func contents(_ count: Int) throws -> [Int] {
    try peer.wait("\(count) parts") { peer.partCount(of: id) >= count }
    peer.send(FrameHeader(type: .cancel, re: id))
    return try peer.answer(to: id).parts.map { part in
      guard !part.text.contains("isStoredEnd") else { return 0 }
      let content = part.text.split(separator: "\"content\":\"").last?.prefix { $0.isNumber }
      return try #require(content.flatMap { Int($0) })
    }
  }
}

private let author = SecretKey.generate()

private func event(_ number: Int, kind: UInt16 = 1) -> Event {
  UnsignedEvent(
    pubkey: author.publicKey, createdAt: 1_700_000_000 + Int64(number), kind: kind, tags: [], content: "\(number)"
  ).signed(by: author)
}

/// What a relay says behind its events.
private struct RunEnd {
  let relay: String
  var kind: UInt16 = 1
  var filter: String?
  var times: ClosedRange<Int64>?
}

/// Events as a connector would bring them from one relay.
private func run(_ numbers: [Int], _ end: RunEnd) -> [UInt8] {
  var run: [UInt8] = []
  let now = UInt64(time(nil)) * 1_000_000_000
  IngestRecord.append(.relayName, relay: 1, receivedNanoseconds: 0, Array(end.relay.utf8), to: &run)
  for number in numbers {
    let json = event(number, kind: end.kind).json
    IngestRecord.append(.event, relay: 1, subscription: 7, receivedNanoseconds: now, json, to: &run)
  }
  guard let filter = end.filter else { return run }
  IngestRecord.append(
    .subscriptionFilter, relay: 1, subscription: 7, receivedNanoseconds: 0, Array(filter.utf8), to: &run)
  IngestRecord.append(
    .storedEnd, relay: 1, subscription: 7, receivedNanoseconds: now, end.times.map(IngestRecord.bytes(of:)) ?? [],
    to: &run)
  return run
}

extension BusPeer {
  fileprivate func bring(_ numbers: [Int], from relay: String) throws { try bring(numbers, RunEnd(relay: relay)) }

  fileprivate func bring(_ numbers: [Int], _ end: RunEnd) throws {
    #expect(try answer(to: try sendRun(run(numbers, end))).isResponse)
  }

  /// Sends a run; its id.
  fileprivate func sendRun(_ run: [UInt8]) throws -> UInt64 {
    let header = try request("store.import", flags: .raw)
    try wait("credit") { hasCredit }
    spend(run.count)
    send(header, run)
    return header.id
  }
}

extension ProcessTests {
  @Suite("Observing the event store")
  struct ObserveTests {
    @Test("network-only sends what relays send from now on, also what was stored before, and nothing of one's own")
    func networkOnly() throws {
      try withRoost(.store) { roost in
        let (peer, relay) = (try roost.client(), try roost.client())
        try relay.bring([1, 2], from: "wss://a.example")
        let observer = try Observer(peer, #"{"filters":[{"kinds":[1]}],"policy":"network-only"}"#)
        try peer.wait("the end of what is stored") { peer.partCount(of: observer.id) == 1 }
        _ = try relay.call("store.publish", String(decoding: event(3).json, as: UTF8.self))
        try relay.bring([2, 4], from: "wss://a.example")
        try relay.bring([2, 3, 5], from: "wss://b.example")
        let contents = try observer.contents(5)
        #expect(contents.first == 0 && contents.count == 5 && Set(contents) == [0, 2, 3, 4, 5])
      }
    }

    @Test("An observer that takes replaced versions is sent each relay's copy of each version, with the relay's name")
    func superseded() throws {
      try withRoost(.store) { roost in
        let (peer, relay) = (try roost.client(), try roost.client())
        let filters = #"{"filters":[{"kinds":[10002]}],"policy":"cache-only""#
        let plain = try Observer(peer, filters + "}")
        let observer = try Observer(peer, filters + #","superseded":true}"#)
        for one in [plain, observer] { try peer.wait("the stored end") { peer.partCount(of: one.id) == 1 } }
        func brings(_ numbers: [Int], from name: String) throws {
          try relay.bring(numbers, RunEnd(relay: "wss://\(name).example", kind: 10_002))
        }
        try brings([2, 2], from: "a")
        try brings([2, 1], from: "b")
        // The second is known still when the third replaces it, and the first relay sends it again afterwards.
        try brings([2, 3], from: "c")
        try brings([2], from: "a")
        try peer.wait("all copies") { peer.partCount(of: observer.id) == 7 }
        let parts = try peer.parts(of: observer.id).dropFirst().map {
          try JSONPayload.decode(ObservedEvent.self, from: $0.payload)
        }
        let shown = try parts.map { part in
          let (event, name) = (try Event(json: part.event.bytes), part.relay?.dropFirst("wss://".count).prefix(1) ?? "")
          return "\(event.content)\(name)\(part.seq == nil ? "" : " stored")"
        }
        #expect(Set(shown) == ["2a stored", "2b", "1b", "2c", "3c stored", "2a"] && shown.first == "2a stored")
        try peer.wait("what is stored") { peer.partCount(of: plain.id) == 3 }
        #expect(!peer.parts(of: plain.id).contains { $0.text.contains("relay") })
        #expect(try plain.contents(3) == [0, 2, 3])
      }
    }

    @Test("A version that waits for a caller without room is sent with its relay when there is room")
    func supersededWaits() throws {
      try withRoost(.store) { roost in
        let (peer, relay) = (try roost.client(), try roost.client())
        let observer = try Observer(
          peer, #"{"filters":[{"kinds":[10002]}],"policy":"cache-only","superseded":true}"#)
        try peer.wait("the stored end") { peer.partCount(of: observer.id) == 1 }
        let name = "wss://\(String(repeating: "long.", count: 20))example"
        // More than a window of parts: the peer takes none meanwhile.
        for numbers in [Array(50..<200), Array(0..<50)] { try relay.bring(numbers, RunEnd(relay: name, kind: 10_002)) }
        try peer.wait("all") { peer.partCount(of: observer.id) == 201 }
        #expect(peer.parts(of: observer.id).dropFirst().allSatisfy { $0.text.contains(name) })
      }
    }

    @Test("With exclusive relays only events count that were seen there, whenever they are seen there")
    func exclusive() throws {
      try withRoost(.store) { roost in
        let (peer, relay) = (try roost.client(), try roost.client())
        try relay.bring([1, 2, 3], from: "wss://a.example")
        try relay.bring([2, 4], from: "wss://b.example")
        let observer = try Observer(
          peer, #"{"filters":[{"kinds":[1],"limit":2}],"relays":["WSS://B.example/"],"exclusiveRelays":true}"#)
        try peer.wait("what is stored") { peer.partCount(of: observer.id) == 3 }
        try relay.bring([5], from: "wss://a.example")
        try relay.bring([1, 6, 2], from: "wss://b.example")
        let contents = try observer.contents(5)
        #expect(contents.prefix(3) == [4, 2, 0] && Set(contents) == [4, 2, 0, 1, 6])
      }
    }

    @Test("An observer under a name goes on where he acknowledged, across his own end and the store's death")
    func named() throws {
      try withRoost(.store) { roost in
        let (first, relay) = (try roost.client(), try roost.client())
        let arguments = #"{"filters":[{"kinds":[1]}],"id":"feed"}"#
        try relay.bring([1, 2, 3], from: "wss://a.example")
        #expect(try Observer(first, arguments).contents(4) == [3, 2, 1, 0])
        #expect(try first.call("store.acknowledge", #"{"id":"other","seq":3}"#).refusal?.code == .noSuchObserve)
        let again = try Observer(first, arguments)
        // Over another connection of the same owner's.
        #expect(try relay.call("store.acknowledge", #"{"id":"feed","seq":2}"#).isResponse)
        #expect(try again.contents(4) == [3, 2, 1, 0])
        try relay.bring([4], from: "wss://a.example")
        kill(try #require(roost.worker("event-store").pid), SIGKILL)
        try roost.awaitReady()
        let second = try roost.client()
        let resumed = try Observer(second, arguments)
        try second.wait("what is stored") { second.partCount(of: resumed.id) == 3 }
        try relay.bring([5], from: "wss://a.example")
        #expect(try resumed.contents(4) == [3, 4, 0, 5])
        // As afterSeq it counts as acknowledged; and the same name from the same caller replaces what goes on.
        let old = try Observer(second, #"{"filters":[{"kinds":[1]}],"id":"feed","afterSeq":4}"#)
        let new = try Observer(second, arguments)
        #expect(try second.answer(to: old.id).refusal?.code == .replaced)
        #expect(try new.contents(2) == [5, 0])
        #expect(try Observer(second, #"{"filters":[{"kinds":[1,7]}],"id":"feed"}"#).contents(6).last == 0)
        #expect(try second.call("store.acknowledge", #"{"id":"feed","seq":9999999}"#).refusal?.code == "unknown-seq")
      }
    }

    @Test("Arguments that cannot be meant are refused with what is wrong, and near names with the name")
    func arguments() throws {
      try withRoost(.store) { roost in
        let peer = try roost.client()
        func refusal(_ arguments: String) throws -> String {
          let refusal = try #require(try peer.call("store.observe", arguments).refusal, "\(arguments)")
          #expect(refusal.code == .badRequest)
          return refusal.message
        }
        #expect(try refusal(#"{"filters":[{}],"exclusiveRelay":true}"#).contains("did you mean 'exclusiveRelays'"))
        #expect(try refusal(#"{"filters":[{}],"policy":"cacheOnly"}"#).contains("did you mean 'cache-only'"))
        #expect(try refusal(#"{"filters":[{}],"exclusiveRelays":true}"#).contains("needs 'relays'"))
        #expect(try refusal(#"{"filters":[{}],"relays":["http://x"]}"#).contains("'relays'"))
        #expect(try refusal(#"{"filters":[{}],"maxAge":-1}"#).contains("'maxAge'"))
        #expect(try refusal(#"{"filters":[{}],"id":""}"#).contains("'id'"))
        #expect(try peer.call("store.fetched", #"{"filters":[{}]}"#).refusal?.code == .denied)
      }
    }

    @Test("The topic and the list together tell what is observed, however often it is observed")
    func telling() throws {
      try withRoost(.store) { roost in
        let (peer, planner) = (try roost.client(), try roost.client())
        #expect(try planner.answer(to: try planner.ask("store.observes", type: .subscribe)).isResponse)
        let one = try Observer(peer, #"{"filters":[{"kinds":[1]}],"maxAge":60}"#)
        let two = try Observer(peer, #"{"filters":[{"kinds":[1,1]}],"policy":"cache-with-network"}"#)
        try peer.wait("both") { peer.partCount(of: one.id) == 1 && peer.partCount(of: two.id) == 1 }
        let list = try planner.call("store.observes.list")
        let end = try JSONPayload.decode(ObserveListEnd.self, from: list.terminal.payload)
        let entry = try JSONPayload.decode(ActiveObserve.self, from: try #require(list.parts.first).payload)
        #expect(end.count == 1 && list.parts.count == 1)
        #expect(entry.observers == 2 && entry.needsNetwork && entry.maxAge == 0 && entry.policy == .cacheWithNetwork)
        peer.send(FrameHeader(type: .cancel, re: one.id))
        peer.send(FrameHeader(type: .cancel, re: two.id))
        try planner.wait("its end is told") { planner.topicEvents.contains { $0.text.contains(entry.key + "\"]") } }
        let told = try planner.topicEvents.map { try JSONPayload.decode(ObserveChanges.self, from: $0.payload) }
        #expect(told.map(\.version) == (1...Int64(told.count)).map { $0 })
        #expect(told.allSatisfy { $0.generation == end.generation } && told.last?.removed == [entry.key])
        #expect(told.first?.changed.map(\.key) == [entry.key])
      }
    }

    @Test("What a relay says is all it had is kept and told when it is committed, and an age is measured from it")
    func coverage() throws {
      try withRoost(.store) { roost in
        let (peer, planner) = (try roost.client(), try roost.client())
        #expect(try planner.answer(to: try planner.ask("store.covered", type: .subscribe)).isResponse)
        let filter = #"{"kinds":[1],"since":1700000000}"#
        let arguments =
          #"{"filters":[\#(filter)],"relays":["wss://a.example"],"exclusiveRelays":true,"maxAge":600,"policy":"POLICY"}"#
          .replacing("POLICY", with: "cache-with-network")
        func needsNetwork() throws -> Bool {
          let observer = try Observer(peer, arguments)
          try peer.wait("the stored end") { peer.partCount(of: observer.id) >= 1 }
          let list = try planner.call("store.observes.list")
          _ = try observer.contents(1)
          return try JSONPayload.decode(ActiveObserve.self, from: try #require(list.parts.first).payload).needsNetwork
        }
        #expect(try needsNetwork())
        let end = RunEnd(relay: "wss://a.example", filter: filter, times: 0...1_700_000_500)
        try peer.bring([1, 2], end)
        #expect(try !needsNetwork())
        let answer = try peer.call("store.coverage", #"{"filters":[{"kinds":[1]},\#(filter)]}"#)
        let known = try answer.parts.map { try JSONPayload.decode(CoveredFilter.self, from: $0.payload) }
        #expect(known.map(\.filter) == [0, 1] && known.map { $0.fetchedAt != nil } == [false, true])
        #expect(known.allSatisfy { $0.relay == "wss://a.example" && $0.intervals.count == 1 })
        #expect(known.first?.intervals.first?.since == 1_700_000_000 && known[0].intervals[0].until == 1_700_000_500)
        try planner.wait("it is told") { planner.topicEvents.count == 1 }
        let told = try JSONPayload.decode(CoverageAdded.self, from: planner.topicEvents[0].payload)
        #expect(told.isStoredEnd && told.since == 1_700_000_000 && told.filter?["kinds"] == .array([.integer(1)]))
        var bad: [UInt8] = []
        IngestRecord.append(.storedEnd, relay: 0, receivedNanoseconds: 0, [1, 2, 3], to: &bad)
        #expect(try peer.answer(to: try peer.sendRun(bad)).refusal?.code == .badPayload)
        #expect(try peer.call("store.coverage", #"{"filter":[]}"#).refusal?.message.contains("'filters'") == true)
      }
    }

    @Test("Killed while runs with ends come in, the store never claims that something is here which is not")
    func coverageAndDeath() throws {
      try withRoost(.store) { roost in
        let count = 1_500
        for round in 0..<4 {
          let peer = try roost.client()
          let runs = try stride(from: 0, to: count, by: 100).map { start in
            let times = 1_700_000_000 + Int64(start)...1_700_000_099 + Int64(start)
            let end = RunEnd(relay: "wss://a.example", filter: #"{"kinds":[1]}"#, times: times)
            return try peer.sendRun(run(Array(start..<start + 100), end))
          }
          if round < 3 {
            usleep(UInt32.random(in: 1_000...80_000))
            kill(try #require(roost.worker("event-store").pid), SIGKILL)
          }
          for id in runs { _ = try peer.answer(to: id, within: 60) }
          try roost.awaitReady()
          let asked = try peer.call("store.coverage", #"{"filters":[{"kinds":[1]}]}"#)
          var covered = 0
          for part in asked.parts {
            for interval in try JSONPayload.decode(CoveredFilter.self, from: part.payload).intervals {
              let filter = #"{"kinds":[1],"since":\#(interval.since),"until":\#(interval.until)}"#
              let stored = try peer.call("store.count", #"{"filters":[\#(filter)]}"#)
              let here = try JSONPayload.decode(StoreCount.self, from: stored.terminal.payload).count
              #expect(Int64(here) == interval.until - interval.since + 1)
              covered += here
            }
          }
          if round == 3 { #expect(covered == count) }
        }
      }
    }

    @Test("A sampled relay that sends a forgery is found out: what it brought unchecked is checked, and it is said")
    func sampling() throws {
      var layout = Layout.store
      layout.workers[0].keys["verification"] = "\"sample\""
      layout.workers[0].keys["sample-relays"] = "[\"wss://A.example/\"]"
      layout.workers[0].keys["sample-rate"] = "1"
      layout.workers[0].keys["sample-floor"] = "1"
      try withRoost(layout) { roost in
        let peer = try roost.client()
        try peer.bring(Array(0..<300), from: "wss://a.example")
        try peer.bring(Array(300..<400), from: "wss://b.example")
        func status() throws -> StoreStatus {
          try JSONPayload.decode(StoreStatus.self, from: try peer.call("store.status").terminal.payload)
        }
        let before = try status()
        #expect(before.unchecked > 200 && before.verified + before.unchecked == 400 && before.relays.isEmpty)
        // The right id with another's signature: let through, or found out at once.
        let real = event(500)
        let missigned = String(decoding: real.json, as: UTF8.self)
          .replacing("\(real.signature)", with: "\(event(501).signature)")
        let forged = String(decoding: event(600).json, as: UTF8.self).replacing("\"600\"", with: "\"601\"")
        for text in [missigned, forged] {
          var run: [UInt8] = []
          IngestRecord.append(.relayName, relay: 1, receivedNanoseconds: 0, Array("wss://a.example".utf8), to: &run)
          IngestRecord.append(.event, relay: 1, receivedNanoseconds: 0, Array(text.utf8), to: &run)
          #expect(try peer.answer(to: try peer.sendRun(run)).isResponse)
        }
        let filter = #"{"filters":[{"ids":["\#(event(500).id)"]}]}"#
        try awaitSoon("the forgery is gone", within: 30) {
          try peer.call("store.count", filter).text.contains(#""count":0"#)
        }
        #expect(try peer.call("store.count", #"{"filters":[{}]}"#).text.contains(#""count":400"#))
        let after = try status()
        #expect(after.relays.map(\.relay) == ["wss://a.example"] && after.relays[0].isDistrusted)
        let logs = try peer.call("supervisor.logs", #"{"worker":"event-store"}"#)
        #expect((logs.parts.map(\.text) + [logs.text]).joined().contains("what no author signed"))
        // A new process has not forgotten it.
        kill(try #require(roost.worker("event-store").pid), SIGKILL)
        try roost.awaitReady()
        try peer.bring(Array(700..<720), from: "wss://a.example")
        #expect(try status().verified == 20 && status().relays.first?.isDistrusted == true)
      }
    }

    /// Somebody in the planner's place, by hand.
    private func planner(_ roost: RunningRoost, _ client: BusPeer) throws -> BusPeer {
      let answer = try client.call("supervisor.attach", #"{"role":"outbox-planner","name":"planner"}"#)
      var hello = Hello(name: "planner", role: "outbox-planner")
      hello.token = try JSONPayload.decode(AttachGrant.self, from: answer.terminal.payload).token
      let planner = try BusPeer(socket: roost.socket, hello: hello)
      planner.send(FrameHeader(type: .ready))
      #expect(try planner.answer(to: try planner.ask("store.observes", type: .subscribe)).isResponse)
      return planner
    }

    private func acknowledge(_ frame: BusPeer.Frame, _ peer: BusPeer) {
      peer.send(
        FrameHeader(
          type: .ack, destination: frame.header.source, re: frame.header.id, attempt: frame.header.attempt,
          method: frame.header.method))
    }

    @Test("A planner gets one message after the other, and what it says was fetched lets others do without the network")
    func planning() throws {
      try withRoost(.store) { roost in
        let client = try roost.client()
        let planner = try planner(roost, client)
        let arguments = #"{"filters":[{"kinds":[1]}],"maxAge":600}"#
        let first = try Observer(client, arguments)
        try planner.wait("the first message") { planner.topicEvents.count == 1 }
        #expect(planner.topicEvents[0].header.flags.contains(.needsAck))
        let others = try (2...5).map { try Observer(client, #"{"filters":[{"kinds":[\#($0)]}]}"#) }
        for other in others { try client.wait("its stored end") { client.partCount(of: other.id) == 1 } }
        _ = try planner.call("store.observes.list")
        #expect(planner.topicEvents.count == 1, "nothing comes before it has acknowledged")
        acknowledge(planner.topicEvents[0], planner)
        try planner.wait("the second message") { planner.topicEvents.count == 2 }
        let told = try planner.topicEvents.map { try JSONPayload.decode(ObserveChanges.self, from: $0.payload) }
        #expect(told.map(\.version) == [1, 2] && told[0].changed.map(\.needsNetwork) == [true])
        #expect(told[1].changed.count == 4)
        acknowledge(planner.topicEvents[1], planner)
        #expect(try first.contents(1) == [0])
        #expect(try planner.call("store.fetched", #"{"filters":[{"kinds":[1,1]}]}"#).isResponse)
        let pid = try #require(roost.worker("event-store").pid)
        kill(pid, SIGKILL)
        try roost.awaitWorker("event-store", "runs again", within: 30, client) { $0.state == "ready" && $0.pid != pid }
        let again = try Observer(client, arguments)
        try client.wait("its stored end") { client.partCount(of: again.id) == 1 }
        let list = try planner.call("store.observes.list")
        let entries = try list.parts.map { try JSONPayload.decode(ActiveObserve.self, from: $0.payload) }
        #expect(entries.first { $0.key == told[0].changed[0].key }?.needsNetwork == false)
      }
    }
  }
}
