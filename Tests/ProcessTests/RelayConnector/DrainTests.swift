import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension WishRig {
  /// A wish for these filters at a relay.
  fileprivate func want(_ key: String, _ filters: [Filter], at relay: String, version: Int64, base: Int64?) throws {
    let wanted = RelayDesire(
      generation: 1, version: version, base: base,
      changed: [
        DesiredSubscription(
          key: key, relay: relay,
          filters: try filters.map { try JSONPayload.decode(JSONValue.self, from: $0.json) }, isLive: true,
          isForeign: false)
      ])
    let answer = try planner.call("relay.desire", String(decoding: JSONPayload.encode(wanted), as: UTF8.self))
    #expect(answer.isResponse, "\(answer.text)")
  }

  /// The events that the relay has sent to this connector.
  fileprivate func eventCount(from relay: String) throws -> UInt64 {
    let answer = try client.call("relay.list")
    let states = try JSONPayload.decode(RelayStates.self, from: answer.terminal.payload)
    return states.relays.first { $0.relay == relay }?.events ?? 0
  }

  fileprivate func kill(_ name: String) throws {
    let before = try roost.worker(name, client)
    Glibc.kill(pid_t(try #require(before.pid)), SIGKILL)
    try roost.awaitWorker(name, "is ready again", client) {
      $0.state == "ready" && $0.generation != before.generation
    }
  }
}

extension ProcessTests {
  /// Stored events in pages, from relays that send few at once.
  @Suite("Fetching in pages", .enabled(if: PythonPeer.isAvailable, "no .venv: run Scripts/python-environment.sh"))
  struct DrainTests {
    private struct Crowd {
      let authors: [SecretKey]
      let file: TemporaryDirectory
      var path: String { file.path + "/events.jsonl" }

      /// So many notes of each author, all of them older than an hour.
      init(authors count: Int, each: Int) throws {
        authors = (0..<count).map { _ in SecretKey.generate() }
        file = try TemporaryDirectory()
        let begin = WallClock.seconds - 3_600
        var lines: [UInt8] = []
        for (index, author) in authors.enumerated() {
          for number in 0..<each {
            let event = UnsignedEvent(
              pubkey: author.publicKey, createdAt: begin - Int64(number * 100 + index), kind: 1, tags: [],
              content: "\(number)"
            ).signed(by: author)
            lines += event.json + [UInt8(ascii: "\n")]
          }
        }
        let descriptor = open(file.path + "/events.jsonl", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        try Descriptors.writeAll(String(decoding: lines, as: UTF8.self), to: descriptor)
        Descriptors.close(descriptor)
      }

      func filter(_ range: Range<Int>) -> Filter {
        Filter(authors: authors[range].map(\.publicKey), kinds: [1])
      }
    }

    private static func isDrained(_ report: RequestReport) -> Bool { report.state == .stored && report.end == .drained }

    @Test("All that a relay has comes, 100 at a time; after a restart under 2 % of it, and for one author more his")
    func whole() throws {
      let crowd = try Crowd(authors: 21, each: 80)
      let relay = try RealRelay("--cap", "100", crowd.path)
      try WishRig.run { rig in
        var following = try rig.follow()
        try rig.want("home", [crowd.filter(0..<20)], at: relay.url, version: 1, base: nil)
        try rig.await(following, "all of it") { Self.isDrained($0) && ($0.pages ?? 0) >= 17 }
        #expect(try rig.count() == 1_600)
        try rig.kill("relays")
        following = try rig.follow()
        try rig.want("home", [crowd.filter(0..<20)], at: relay.url, version: 2, base: nil)
        try rig.await(following, "nothing more", Self.isDrained)
        #expect(try rig.eventCount(from: relay.url) < 32)
        try rig.want("more", [crowd.filter(0..<21)], at: relay.url, version: 3, base: 2)
        try rig.await(following, "one author more") { $0.key == "more" && Self.isDrained($0) }
        #expect(try rig.count() == 1_680)
        #expect(try rig.eventCount(from: relay.url) < 32 + 100 + 80)
      }
    }

    @Test("With relay, connector and store killed in between, all of it comes")
    func kills() throws {
      let crowd = try Crowd(authors: 20, each: 150)
      var relay = try RealRelay("--cap", "50", crowd.path)
      let url = relay.url
      let port = try #require(url.split(separator: ":").last.map(String.init))
      try WishRig.run { rig in
        let filters = [crowd.filter(0..<20)]
        var following = try rig.follow()
        try rig.want("home", filters, at: url, version: 1, base: nil)
        try awaitSoon("some came") { try rig.count() > 200 }
        try rig.kill("relays")
        following = try rig.follow()
        try rig.want("home", filters, at: url, version: 2, base: nil)
        let before = try rig.count()
        try awaitSoon("more came") { try rig.count() > before + 200 }
        relay.kill()
        relay = try RealRelay("--port", port, "--cap", "50", crowd.path)
        _ = try rig.client.call("relay.retry", #"{"relay":"\#(url)"}"#)
        let again = try rig.count()
        try awaitSoon("more came") { try rig.count() > again + 200 }
        try rig.kill("event-store")
        try rig.await(following, "all of it", Self.isDrained)
        #expect(try rig.count() == 3_000)
      }
    }

    @Test("'relay.request' with 'all' brings all, and its 'limit' ends it")
    func request() throws {
      let crowd = try Crowd(authors: 3, each: 100)
      let relay = try RealRelay("--cap", "40", crowd.path)
      try WishRig.run { rig in
        func ask(_ more: String) throws -> (events: Int, result: RelayRequestResult) {
          let answer = try rig.client.call("relay.request", #"{"relay":"\#(relay.url)",\#(more)}"#)
          let result = try JSONPayload.decode(RelayRequestResult.self, from: answer.terminal.payload)
          return (Set(answer.parts.map(\.text)).count, result)
        }
        let all = try ask(#""filters":[{"kinds":[1]}],"all":true"#)
        #expect(all.events == 300 && all.result.events == 300 && all.result.isComplete && all.result.end == .drained)
        let some = try ask(#""filters":[{"kinds":[1]}],"all":true,"limit":70"#)
        #expect(some.events == 70 && !some.result.isComplete)
        #expect(try ask(#""filters":[{"kinds":[1]}]"#).events == 40)
      }
    }

    @Test("What is covered but was checked long ago is compared by NIP-77, and paged again where that is not possible")
    func old() throws {
      let crowd = try Crowd(authors: 5, each: 60)
      let relay = try RealRelay(crowd.path)
      let pages = try NostrRelay(events: crowd.path)
      for url in [relay.url, pages.url] {
        try WishRig.run { rig in
          let filter = crowd.filter(0..<5)
          // The store has been told long ago that everything is here, and nothing is.
          var run: [UInt8] = []
          let received = UInt64(WallClock.seconds - 10 * 86_400) * 1_000_000_000
          func add(_ kind: IngestRecord.Kind, _ bytes: [UInt8]) {
            IngestRecord.append(kind, relay: 1, subscription: 1, receivedNanoseconds: received, bytes, to: &run)
          }
          add(.relayName, Array(url.utf8))
          add(.subscriptionFilter, filter.json)
          add(.partEnd, IngestRecord.bytes(of: 0...WallClock.seconds))
          let header = try rig.client.request("store.import", flags: .raw)
          rig.client.send(header, run)
          let told = try rig.client.answer(to: header.id)
          #expect(told.isResponse, "\(told.text)")
          _ = try rig.follow()
          try rig.want("home", [filter], at: url, version: 1, base: nil)
          try awaitSoon("all of it came") { try rig.count() == 300 }
        }
      }
    }

    @Test("A page without end is cut, with the reason")
    func endless() throws {
      let relay = try ScriptedRelay(
        .accept(), .expect("REQ"), .endOfStored(), .expect("REQ"), .events(0..<20_000), .expect("CLOSE"))
      try WishRig.run { rig in
        let following = try rig.follow()
        // Of an author all pages are wanted, so each has a limit.
        let author = try #require(PublicKey(String(repeating: "a", count: 64)))
        try rig.want("cut", [Filter(authors: [author], kinds: [1])], at: relay.url, version: 1, base: nil)
        try rig.await(following, "the cut") { $0.end == .cut && $0.reason?.contains("was asked for") == true }
      }
    }

    @Test("A relay that refuses 'limit' 0 is asked for new events from two days back")
    func refusesLimit() throws {
      let relay = try ScriptedRelay(
        .accept(), .expect("REQ"), .closed("invalid: limit must be positive"),
        .forever(.expect("REQ"), .endOfStored()))
      try WishRig.run { rig in
        let following = try rig.follow()
        try rig.want("home", [Filter(kinds: [1])], at: relay.url, version: 1, base: nil)
        try rig.await(following, "stored", Self.isDrained)
        let texts = relay.visits[0].texts("REQ")
        #expect(texts[0].contains(#""limit":0"#))
        #expect(texts.contains { $0.contains(#""since""#) && !$0.contains(#""limit""#) }, "\(texts)")
      }
    }

    @Test("At a relay with one subscription, pages and new events take turns, and no REQ is sent without end")
    func oneSubscription() throws {
      let relay = try ScriptedRelay(
        scripts: [[.accept(), .forever(.expect("REQ"), .endOfStored())]],
        information: #"{"limitation":{"max_subscriptions":1}}"#)
      try WishRig.run { rig in
        let following = try rig.follow()
        try rig.want("home", [Filter(authors: [SecretKey.generate().publicKey])], at: relay.url, version: 1, base: nil)
        try rig.await(following, "stored", Self.isDrained)
        for _ in 0..<20 {
          _ = try rig.client.call("relay.request", #"{"relay":"\#(relay.url)","filters":[{"kinds":[9]}]}"#)
        }
        let pages = relay.visits[0].texts("REQ").count { $0.contains(#""limit":5000"#) }
        #expect((1...3).contains(pages), "\(pages) pages")
      }
    }

    @Test("An interest that goes and comes again while the store is away is fetched as any other")
    func comesAgain() throws {
      let relay = try ScriptedRelay(.accept(), .forever(.expect("REQ"), .endOfStored()))
      try WishRig.run { rig in
        #expect(try rig.client.call("supervisor.hold", #"{"worker":"event-store"}"#).isResponse)
        let following = try rig.follow()
        let filter = Filter(authors: [try #require(PublicKey(String(repeating: "a", count: 64)))], kinds: [1])
        // The connector waits for the store's coverage for ten seconds, and then asks without it.
        try rig.want("home", [filter], at: relay.url, version: 1, base: nil)
        try relay.awaitVisits("a page") { $0[0].texts("REQ").contains { $0.contains("5000") } }
        let gone = RelayDesire(generation: 1, version: 2, base: 1, changed: [], removed: ["home"])
        #expect(
          try rig.planner.call("relay.desire", String(decoding: JSONPayload.encode(gone), as: UTF8.self)).isResponse)
        try rig.want("home", [filter], at: relay.url, version: 3, base: 2)
        #expect(try rig.client.call("supervisor.hold", #"{"worker":"event-store","hold":false}"#).isResponse)
        try rig.await(following, "stored", Self.isDrained)
      }
    }
  }
}
