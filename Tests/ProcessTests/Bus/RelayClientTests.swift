import Addresses
import Contracts
import Cryptography
import EventLoop
import Frames
import LinuxSystem
import Nostr
import RoostClient
import Synchronization
import TestSupport
import Testing

extension ProcessTests {
  /// Relays, observations under a name, waits and traces, as a Swift program uses them.
  @Suite("The Swift client and relays") struct RelayClientTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func layout(_ relays: [String]) -> Layout {
      var layout = Layout.publishing
      layout.workers += Layout.storeAndSigner.workers.filter { $0.name == "signer" }
      for index in layout.workers.indices where layout.workers[index].name == "relay-connector" {
        layout.workers[index].keys["relays"] = "[" + relays.map { "\"\($0)\"" }.joined(separator: ",") + "]"
      }
      return layout
    }

    @Test("A publish waits until so many relays have the event; when the time is over, it says which do not and why")
    func waiting() throws {
      let (quick, slow) = (try AnsweringRelay(directory, "quick"), try AnsweringRelay(directory, "slow"))
      try withRoost(layout([])) { roost in
        let client = try ClientRig(roost)
        let relays = [try RelayURL(quick.url), try RelayURL(slow.url)]
        try slow.stop()
        let (first, second) = (freshNote("one"), freshNote("two"))
        let enough = try client.run { try await $0.publish(first, to: relays, untilAtLeast: 1) }
        #expect(enough.isEnough && enough.having.map(\.relay) == [relays[0].text])
        let late = try client.run {
          try await $0.publish(second, to: relays, untilAtLeast: 2, withinMilliseconds: 1_500)
        }
        #expect(!late.isEnough && late.wanted == 2 && late.having.map(\.relay) == [relays[0].text])
        #expect(late.lacking.map(\.relay) == [relays[1].text] && late.lacking[0].state == .pending)
        let unsent = try client.run { try await $0.unsent() }
        #expect(unsent.map(\.id) == ["\(first.id)", "\(second.id)"], "the oldest first")
        let old = try client.run { try await $0.unsent(olderThanSeconds: 3_600) }
        #expect(old.isEmpty)
        #expect(try roost.tool(["queue", "list", "--older-than", "0s"]).output.contains("\(first.id)"))
        try slow.start()
        let retried = try client.run { try await $0.retryUnsent(olderThanSeconds: 0) }
        #expect(retried.publications == 2 && retried.relays == 2 && retried.oldestAt != nil)
        let now = try client.run { try await $0.wait(for: second.id, atLeast: 2) }
        #expect(now.isEnough && now.publication.state == .confirmed && now.lacking.isEmpty)
        let never = freshNote().id
        let none = try client.refusal { _ = try await $0.wait(for: never, atLeast: 1, withinMilliseconds: 200) }
        #expect(none?.code == .noSuchEvent)
        let tool = try roost.tool(["queue", "retry", "--older-than", "1h"])
        #expect(tool.output.contains("Nothing has waited") && tool.ending == .exited(0), "\(tool)")
        let wrong = try roost.tool(["queue", "retry", "--older-than", "soon"])
        #expect(wrong.ending == .exited(2) && wrong.output.contains("An age is a whole number"), "\(wrong)")
        try client.close()
      }
    }

    @Test("A fetch waits until so many relays have sent what they have; a silent one is named")
    func fetching() throws {
      let (full, empty) = (try KeepingRelay(), try KeepingRelay())
      try withRoost(layout([])) { roost in
        let client = try ClientRig(roost)
        let event = freshNote("there")
        let away = try RelayURL("ws://127.0.0.1:1")
        let relays = [try RelayURL(full.url), try RelayURL(empty.url), away]
        try client.run { roost in
          _ = try await roost.publish(event, to: [relays[0]], untilAtLeast: 1)
          let filters = [Filter(authors: [event.pubkey], limit: 10)]
          let enough = try await roost.fetch(filters, fromAtLeast: 2, relays: relays)
          #expect(enough.isEnough && enough.events == [event])
          #expect(Set(enough.answered.map(\.relay)).isSuperset(of: relays.prefix(2).map(\.text)))
          let short = try await roost.fetch(filters, fromAtLeast: 3, withinMilliseconds: 4_000, relays: relays)
          #expect(!short.isEnough && short.silent.map(\.relay) == [away.text] && short.events == [event])
        }
        try client.close()
      }
    }

    @Test("Relays are added, shown, and removed; routes say where something would go; an event says where it was seen")
    func relays() throws {
      let relay = try KeepingRelay()
      try withRoost(layout([relay.url])) { roost in
        let client = try ClientRig(roost)
        let event = freshNote("seen")
        let url = try RelayURL(relay.url)
        try client.run { roost in
          let added = try RelayURL("wss://added.example")
          let relays = try await roost.addRelay(added, writes: false)
          #expect(relays.first { $0.relay == added.text }?.writes == false)
          let route = try await roost.route([Filter(kinds: [1])])
          #expect(route.stops.contains { $0.relay == url.text })
          let foreign = try await roost.route(event)
          #expect(foreign.stops.isEmpty && foreign.problem != nil, "its author has no account here")
          let left = try await roost.removeRelay(added)
          #expect(!left.contains { $0.relay == added.text })
          _ = try await roost.publish(event, to: [url], untilAtLeast: 1)
          _ = try await roost.fetch([Filter(ids: [event.id])], relays: [url])
          let states = try await roost.relayStates()
          #expect(states.relays.contains { $0.relay == url.text && $0.state == .open })
          let retried = try await roost.retryRelay(url)
          #expect(retried.relay == url.text)
          let own = try await roost.store(freshNote("only here"))
          let seen = try await roost.seen(own.event.id)
          #expect(seen.seq == own.seq && seen.relays.isEmpty)
          let subject = try await roost.subject(own.event)
          #expect(subject.relay == nil)
        }
        let alice = try client.run { try await $0.makeAccount("alice") }
        try awaitSoon("the planner has heard of the account") {
          try client.run { try await $0.route(.note("x"), by: alice.publicKey).stops.map(\.relay) } == [url.text]
        }
        let unknown = try client.refusal { _ = try await $0.seen(freshNote().id) }
        #expect(unknown?.code == .noSuchEvent)
        let missing = try client.refusal { try await $0.removeRelay(try RelayURL("wss://never.example")) }
        #expect(missing?.code == .noSuchRelay)
        let silent = try client.refusal { _ = try await $0.relayInformation(url, isForeign: false) }
        #expect(silent?.code == "timed-out" || silent?.code == .noInformation, "\(String(describing: silent))")
        try client.close()
      }
    }

    @Test("Under a name an observation continues after what was acknowledged; a snapshot has what is known, in order")
    func observing() throws {
      try withRoost(.storeAndSigner) { roost in
        let client = try ClientRig(roost)
        let notes = makeNotes(0..<20)
        try client.run { roost in
          for note in notes { try await roost.store(note) }
          let filters = [Filter(kinds: [1])]
          let snapshot = try await roost.snapshot(of: filters, limit: 5, options: ObserveOptions(policy: .cacheOnly))
          #expect(snapshot.events.map(\.event) == Array(notes.reversed().prefix(5)) && snapshot.isComplete)
          let named = ObserveOptions(policy: .cacheOnly, id: "home")
          for try await item in roost.observe(filters, options: named) { if case .storedEnd = item { break } }
          try await roost.acknowledge("home", upTo: 15)
          var later: [Int64] = []
          for try await item in roost.observe(filters, options: named) {
            if case .event(let event) = item, let seq = event.seq { later.append(seq) } else { break }
          }
          #expect(later == [16, 17, 18, 19, 20])
          var snapshots = roost.snapshots(of: filters, limit: 3).makeAsyncIterator()
          let before = try await snapshots.next(isolation: EventLoopActor.shared)
          #expect(before?.events.count == 3 && before?.seq == 20)
          let newest = makeNotes(30..<31)[0]
          try await roost.store(newest)
          let after = try await snapshots.next(isolation: EventLoopActor.shared)
          #expect(after?.events.first?.event == newest && after?.seq == 21)
        }
        let unknown = try client.refusal { try await $0.acknowledge("never", upTo: 1) }
        #expect(unknown?.code == .noSuchObserve)
        let wraps = [notes[0].pubkey, SecretKey.generate().publicKey].map { recipient in
          let key = SecretKey.generate()
          return UnsignedEvent(
            pubkey: key.publicKey, createdAt: WallClock.seconds, kind: 1_059, tags: [["p", "\(recipient)"]],
            content: "sealed"
          ).signed(by: key)
        }
        let found = try client.run { roost in
          for wrap in wraps { try await roost.store(wrap) }
          let options = ObserveOptions(policy: .cacheOnly, recipients: [notes[0].pubkey])
          return try await roost.snapshot(of: [Filter(kinds: [1_059])], options: options).events.map(\.event.id)
        }
        #expect(found == [wraps[0].id])
        try client.close()
      }
    }

    @Test("One trace joins a request across workers and relays, and nothing of it is logged unless wanted")
    func traces() throws {
      let (relay, reading) = (try AnsweringRelay(directory, "relay"), try KeepingRelay())
      try withRoost(layout([])) { roost in
        let client = try ClientRig(roost)
        let quiet = RequestTrace.random()
        let (first, second) = (freshNote("hidden words"), freshNote("hidden words"))
        let url = try RelayURL(relay.url)
        try client.run { roost in
          try await roost.traced(quiet) { _ = try await roost.publish(first, to: [url], untilAtLeast: 1) }
          let none = try await roost.logs(trace: quiet)
          #expect(none.filter { $0.category.hasPrefix("traffic") || $0.category == "requests" }.isEmpty, "\(none)")
        }
        for category in TrafficCategory.allCases.map(\.rawValue) + ["requests"] {
          _ = try client.run { try await $0.setLogLevel(category, "debug") }
        }
        let trace = try #require(RequestTrace("beef"))
        let lines = Mutex<[LogRecord]>([])
        let log = client.client.followLogs(trace: trace)
        let follower = EventLoopActor.task {
          do { for try await line in log { lines.withLock { $0.append(line) } } } catch { Issue.record(error) }
        }
        try awaitSoon("the levels have come to the workers") {
          try client.run { roost in try await roost.traced(trace) { _ = try await roost.count(Filter()) } }
          return lines.withLock { $0 }.contains { $0.message.hasPrefix("store.count") }
        }
        try client.run { roost in
          try await roost.traced(trace) { _ = try await roost.publish(second, to: [url], untilAtLeast: 1) }
        }
        let wanted = [
          "plan.publish begins", "store.publish begins", "relay.publish begins", "sent EVENT \(second.id)",
          "received OK \(second.id) true",
        ]
        try awaitSoon("what the workers and the relay did") {
          let messages = lines.withLock { $0 }.map(\.message)
          let places = wanted.compactMap { text in messages.firstIndex { $0.hasPrefix(text) } }
          return places.count == wanted.count
        }
        let known = try client.run { try await $0.logs(trace: trace, lines: 1_000) }
        let places = wanted.compactMap { text in known.firstIndex { $0.message.hasPrefix(text) } }
        #expect(places.count == wanted.count && Set(known.map(\.worker)).isSuperset(of: ["outbox-planner"]))
        let traffic = known.filter { $0.category.hasPrefix("traffic") }
        #expect(traffic.allSatisfy { $0.fields?["relay"] == url.text && $0.fields?["trace"] == "beef" }, "\(traffic)")
        // What is observed and what is fetched goes through the planner, without a request of its own to the relay.
        let (observing, fetching) = (try #require(RequestTrace("0b")), try #require(RequestTrace("fe")))
        let place = try RelayURL(reading.url)
        try client.run { roost in
          try await roost.traced(fetching) {
            _ = try await roost.fetch([Filter(kinds: [7], limit: 3)], relays: [place])
          }
          try await roost.traced(observing) {
            let options = ObserveOptions(relays: [place], isExclusive: true)
            _ = try await roost.snapshot(of: [Filter(kinds: [1])], options: options)
          }
        }
        // It stays open until the log has what is looked for.
        let observer = EventLoopActor.task { [client = client.client] in
          // `try?`: it is cancelled in the end.
          try? await client.traced(observing) {
            let options = ObserveOptions(relays: [place], isExclusive: true)
            for try await _ in client.observe(Filter(kinds: [1_234]), options: options) {}
          }
        }
        for (trace, text) in [(fetching, #""kinds":[7]"#), (observing, #""kinds":[1234]"#)] {
          try awaitSoon("REQ and EOSE of \(trace)") {
            let messages = try client.run { try await $0.logs(trace: trace, lines: 1_000) }.map(\.message)
            guard let request = messages.first(where: { $0.hasPrefix("sent REQ") && $0.contains(text) }) else {
              return false
            }
            let name = request.split(separator: " ")[2]
            return messages.contains { $0.hasPrefix("received EOSE \(name)") }
          }
        }
        observer.cancel()
        let tool = try roost.tool(["logs", "--trace", "beef"])
        #expect(tool.output.contains("sent EVENT \(second.id)"))
        let still = try client.run { try await $0.logs(trace: quiet) }
        #expect(!still.contains { $0.category.hasPrefix("traffic") || $0.category == "requests" }, "\(still)")
        let all = try client.run { try await $0.logs(lines: 10_000) }
        #expect(!all.contains { $0.message.contains("hidden words") })
        let wrong = try client.refusal { _ = try await $0.setLogLevel("traffic-sync", "loud") }
        #expect(wrong?.code == .badRequest)
        follower.cancel()
        try client.close()
      }
    }
  }
}

/// A note of an author of its own.
private func freshNote(_ text: String = "", kind: UInt16 = 1) -> Event {
  let author = SecretKey.generate()
  return UnsignedEvent(pubkey: author.publicKey, createdAt: WallClock.seconds, kind: kind, content: text)
    .signed(by: author)
}
