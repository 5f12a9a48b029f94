import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// The event-store under a real roostd.
  @Suite("The event store")
  struct StoreTests {
    @Test("What is imported is found, newest first, counted, and found again after a restart")
    func importAndQuery() throws {
      try withRoost(.store) { roost in
        let lines = try #require(SharedFolder.bytes(ofFile: SharedFolder.repository + "/Tests/Peers/events.jsonl"))
          .split(separator: 0x0A).map(Array.init)
        let store = try StoreClient(roost)
        let answer = try store.peer.answer(to: try store.importRun(lines + [Array("{}".utf8)]))
        let result = try JSONPayload.decode(IngestResult.self, from: answer.terminal.payload)
        #expect(result.stored == lines.count && result.invalidCount == 1 && result.invalid.first?.record == lines.count)
        let found = try store.query("{}")
        #expect(Set(found) == Set(lines.map { String(decoding: $0, as: UTF8.self) }))
        let times = try found.map { try Event(json: Array($0.utf8)).createdAt }
        #expect(times == times.sorted(by: >))
        #expect(try store.peer.call("store.count", #"{"filters":[{"kinds":[1]}]}"#).text.contains("count"))
        _ = try store.peer.call("supervisor.restart", #"{"worker":"event-store"}"#)
        try roost.awaitReady()
        #expect(try store.query("{}") == found)
      }
    }

    @Test(
      "A published event is answered with its seq, is not stored twice, and a forged one is refused with the reason")
    func publish() throws {
      try withRoost(.store) { roost in
        let store = try StoreClient(roost)
        let event = makeEvents(0..<1)[0]
        let first = try JSONPayload.decode(PublishResult.self, from: try store.publish(event).terminal.payload)
        #expect(first == PublishResult(id: "\(event.id)", seq: 1, isNew: true))
        let second = try JSONPayload.decode(PublishResult.self, from: try store.publish(event).terminal.payload)
        #expect(second == PublishResult(id: "\(event.id)", seq: 1, isNew: false))
        let forged = String(decoding: makeEvents(5..<6)[0].json, as: UTF8.self).replacing("\"5\"", with: "\"6\"")
        let refusal = try store.peer.call("store.publish", forged).refusal
        #expect(refusal?.code == .invalidEvent && refusal?.message.contains("id is wrong") == true)
        #expect(try store.peer.call("store.query", #"{"filters":[{"author":[]}]}"#).refusal?.code == .badRequest)
        #expect(try store.peer.call("store.ingest", "{}").refusal?.code == .denied)
      }
    }

    @Test("What an author wrote before he vanished is refused at once when it comes again, with the reason")
    func vanished() throws {
      try withRoost(.store) { roost in
        let store = try StoreClient(roost)
        let author = SecretKey.generate()
        func event(_ time: Int64, kind: UInt16 = 1, _ tags: [[String]] = []) -> Event {
          UnsignedEvent(pubkey: author.publicKey, createdAt: time, kind: kind, tags: tags, content: "").signed(
            by: author)
        }
        let past = (0..<600).map { event(1_700_000_000 + $0) }
        #expect(try store.peer.answer(to: try store.importRun(past.map(\.json)), within: 60).isResponse)
        #expect(try store.publish(past[0]).isResponse)
        #expect(try store.publish(event(1_700_001_000, kind: 62, [["relay", "ALL_RELAYS"]])).isResponse)
        for _ in 0..<3 {
          let refusal = try store.publish(past[0]).refusal
          #expect(refusal?.code == .deletedEvent && refusal?.message.contains("vanished") == true)
          #expect(try store.query("{}").count == 1)
        }
        try awaitSoon("they are removed", within: 10) { try store.status().events == 1 }
      }
    }

    @Test("The command publishes an event as it is, and as the signer answers it")
    func publishCommand() throws {
      try withRoost(.store) { roost in
        func publish(_ text: String) throws -> String {
          let process = try SpawnedProcess(
            SpawnedProcess.builtProgram("roost"), ["publish", "--local", text],
            environment: ["ROOST_SOCKET=\(roost.socket)", "PATH=/usr/bin:/bin"])
          return try process.readAllOutput()
        }
        let event = makeEvents(0..<1)[0]
        let json = String(decoding: event.json, as: UTF8.self)
        let told = [try publish("{\"event\": \(json)}"), try publish(json)]
        #expect(told[0].hasPrefix("note stored as number 1\n  \(event.id.note)\n"))
        #expect(told[1].hasPrefix("note there already, as number 1\n"))
      }
    }

    @Test("An observer gets what is stored, the end of it, and then what comes, ephemeral events too")
    func observe() throws {
      try withRoost(.store) { roost in
        let (store, writer) = (try StoreClient(roost), try StoreClient(roost))
        let events = makeEvents(0..<4)
        for event in events[..<2] { _ = try writer.publish(event) }
        let id = try store.observe(##"{"#t":["x"]}"##)
        try store.peer.wait("what is stored") { store.peer.partCount(of: id) == 3 }
        for event in events[2...] { _ = try writer.publish(event) }
        let ephemeral = makeEvents(9..<10, kind: 20_000)[0]
        _ = try writer.publish(ephemeral)
        try store.peer.wait("what came") { store.peer.partCount(of: id) == 6 }
        store.peer.send(FrameHeader(type: .cancel, re: id))
        let answer = try store.peer.answer(to: id)
        #expect(answer.refusal?.code == .cancelled)
        func part(_ seq: Int, _ event: Event) -> String {
          "{\"seq\":\(seq),\"event\":" + String(decoding: event.json, as: UTF8.self) + "}"
        }
        #expect(
          answer.parts.map(\.text) == [
            part(2, events[1]), part(1, events[0]), #"{"isComplete":true,"isStoredEnd":true,"seq":2}"#,
            part(3, events[2]),
            part(4, events[3]), "{\"event\":" + String(decoding: ephemeral.json, as: UTF8.self) + "}",
          ])
      }
    }

    @Test("Killed between batches, the store has all it answered for, once, and an observer resumes without a gap")
    func killed() throws {
      try withRoost(.store) { roost in
        let events = makeEvents(0..<3_000)
        var acknowledged = Set<String>()
        for round in 0..<4 {
          let store = try StoreClient(roost)
          let runs = try stride(from: 0, to: events.count, by: 100).map { start in
            (start, try store.importRun(events[start..<start + 100].map(\.json)))
          }
          if round < 3 {
            usleep(UInt32.random(in: 1_000...60_000))
            kill(try #require(roost.worker("event-store").pid), SIGKILL)
          }
          for (start, id) in runs {
            guard try store.peer.answer(to: id, within: 60).isResponse else { continue }
            for event in events[start..<start + 100] { acknowledged.insert("\(event.id)") }
          }
          try roost.awaitReady()
          let stored = try StoreClient(roost).query("{}")
          let ids = try stored.map { "\(try Event(json: Array($0.utf8)).id)" }
          #expect(Set(ids).count == ids.count, "nothing is stored twice")
          #expect(acknowledged.isSubset(of: ids), "nothing that was answered is lost")
        }
        #expect(acknowledged.count == events.count)
        // By seq, in two pieces: together all, in order, each once.
        let store = try StoreClient(roost)
        let all = try seqs(store, after: 0, through: 3_000)
        #expect(all == all.sorted() && Set(all).count == 3_000)
        let middle = all[1_234]
        #expect(try seqs(store, after: middle, through: 3_000 - 1_235) == Array(all[1_235...]))
      }
    }

    @Test("Whoever observes with words gets what was stored a moment ago, though its words were not indexed then")
    func searchAtOnce() throws {
      try withRoost(.store) { roost in
        let store = try StoreClient(roost)
        let run = try store.importRun(makeEvents(0..<300).map(\.json))
        #expect(try store.peer.answer(to: run).isResponse)
        let id = try store.observe(#"{"search":"7"}"#)
        try store.peer.wait("what is stored") { store.peer.partCount(of: id) > 0 }
        store.peer.send(FrameHeader(type: .cancel, re: id))
        let parts = try store.peer.answer(to: id).parts.map(\.text)
        #expect(parts.count == 2 && parts[0].contains(#""content":"7""#), "\(parts)")
      }
    }

    @Test("One's own events are answered while a backfill is still on its way")
    func overtaking() throws {
      try withRoost(.store) { roost in
        let own = try StoreClient(roost)
        // Several, because a large request gives its sender's credit back with its answer.
        let events = makeEvents(0..<8_000)
        let runs = try stride(from: 0, to: events.count, by: 1_000).map { start in
          let bulk = try StoreClient(roost)
          return (bulk, try bulk.importRun(events[start..<start + 1_000].map(\.json)))
        }
        var (longest, isOvertaking) = (0.0, false)
        for event in makeEvents(9_000..<9_010) {
          let start = Monotonic.seconds
          #expect(try own.publish(event).isResponse)
          longest = max(longest, Monotonic.seconds - start)
          if try own.status().waiting[2] > 0 { isOvertaking = true }
        }
        #expect(isOvertaking, "the backfill was over before; the longest publish took \(longest) s")
        for (bulk, run) in runs { #expect(try bulk.peer.answer(to: run, within: 60).isResponse) }
      }
    }

    @Test("Where an event was seen is known for each relay of a run, also when it came as a duplicate")
    func seen() throws {
      try withRoost(.store) { roost in
        let store = try StoreClient(roost)
        let event = makeEvents(0..<1)[0]
        for (number, name) in [(1, "wss://one.example"), (7, "wss://two.example/")] as [(UInt32, String)] {
          var run: [UInt8] = []
          IngestRecord.append(.relayName, relay: number, receivedNanoseconds: 0, Array(name.utf8), to: &run)
          for _ in 0..<2 {
            IngestRecord.append(
              .event, relay: number, receivedNanoseconds: UInt64(number) * 1_000_000_000, event.json, to: &run)
          }
          IngestRecord.append(.storedEnd, relay: number, receivedNanoseconds: 0, [], to: &run)
          #expect(try store.peer.answer(to: try store.sendRun(run)).isResponse)
        }
        let answer = try store.peer.call("store.seen", #"{"id":"\#(event.id)"}"#)
        let seen = try JSONPayload.decode(SeenResult.self, from: answer.terminal.payload)
        #expect(seen.seq == 1 && seen.relays.map(\.firstSeenAt) == [1, 7])
        #expect(seen.relays.map(\.relay).allSatisfy { $0.hasPrefix("wss://") })
        var nameless: [UInt8] = []
        IngestRecord.append(.event, relay: 3, receivedNanoseconds: 0, event.json, to: &nameless)
        #expect(try store.peer.answer(to: try store.sendRun(nameless)).refusal?.code == .badPayload)
        #expect(try store.peer.answer(to: try store.sendRun([9, 9, 9])).refusal?.code == .badPayload)
      }
    }

    @Test("A file given to roost is stored; it tells invalid lines by number, and goes on from a line")
    func importCommand() throws {
      try withRoost(.store) { roost in
        let path = roost.path("events.jsonl")
        let lines = makeEvents(0..<1_500).map { String(decoding: $0.json, as: UTF8.self) }
        let text = (lines[..<700] + ["not an event", ""] + lines[700...]).joined(separator: "\n")
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        try Descriptors.writeAll(text, to: file)
        Descriptors.close(file)
        let first = try run(roost, ["import", path, "--json"])
        #expect(first.contains(#""stored":1500"#) && first.contains(#""line":701"#), "\(first)")
        let (bad, report) = (roost.path("bad.jsonl"), roost.path("errors.jsonl"))
        let other = open(bad, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        try Descriptors.writeAll((0..<900).map { _ in "nonsense" }.joined(separator: "\n") + "\n" + lines[0], to: other)
        Descriptors.close(other)
        let told = try run(roost, ["import", bad, "--errors", report, "--json"])
        #expect(told.contains(#""invalid":900"#) && told.contains(#""duplicate":1"#), "\(told.prefix(300))")
        let written = String(decoding: SharedFolder.bytes(ofFile: report) ?? [], as: UTF8.self).split(separator: "\n")
        #expect(
          written.count == 900 && written.last?.contains(#""line":900"#) == true && written[0].contains("not an event"))
        let size = SharedFolder.bytes(ofFile: bad)?.count
        _ = try run(roost, ["import", bad, "--errors", bad])
        #expect(SharedFolder.bytes(ofFile: bad)?.count == size, "a file that is there is not written over")
        let second = try run(roost, ["import", path, "--from-line", "703", "--json"])
        #expect(second.contains(#""duplicate":800"#) && second.contains(#""invalid":0"#), "\(second)")
        let exported = try run(roost, ["export", "--filter", #"{"limit":2}"#])
        #expect(exported == lines[1_499] + "\n" + lines[1_498] + "\n")
      }
    }

    /// What a command prints.
    private func run(_ roost: RunningRoost, _ arguments: [String]) throws -> String {
      let output = roost.path("output-\(arguments.count)-\(UInt32.random(in: 0 ... .max))")
      let file = open(output, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      let command = try SpawnedProcess(
        SpawnedProcess.builtProgram("roost"), arguments + ["--socket", roost.socket], descriptors: [1: file])
      Descriptors.close(file)
      _ = try command.waitForEnd()
      return String(decoding: SharedFolder.bytes(ofFile: output) ?? [], as: UTF8.self)
    }

    /// The seqs of what is observed after a seq, up to the end of what is stored.
    private func seqs(_ store: StoreClient, after seq: Int64, through count: Int) throws -> [Int64] {
      let id = try store.observe("{}", after: seq)
      try store.peer.wait("\(count) events") { store.peer.partCount(of: id) == count + 1 }
      store.peer.send(FrameHeader(type: .cancel, re: id))
      let parts = try store.peer.answer(to: id).parts.map(\.text)
      #expect(parts.last?.hasPrefix(#"{"isStoredEnd":true"#) == true)
      return parts.dropLast().compactMap { Int64($0.dropFirst(7).prefix { $0.isNumber }) }
    }

    @Test("An observer that does not read stalls nobody, and has missed nothing when it reads again")
    func slowObserver() throws {
      try withRoost(.store) { roost in
        let (slow, writer) = (try StoreClient(roost), try StoreClient(roost))
        let id = try slow.observe("{}")
        try slow.peer.wait("the end of nothing") { slow.peer.partCount(of: id) == 1 }
        let events = makeEvents(0..<6_000)
        let runs = try stride(from: 0, to: events.count, by: 500).map { start in
          try writer.importRun(events[start..<start + 500].map(\.json))
        }
        for run in runs { #expect(try writer.peer.answer(to: run, within: 60).isResponse) }
        try slow.peer.wait("all events", within: 60) { slow.peer.partCount(of: id) == 6_001 }
        slow.peer.send(FrameHeader(type: .cancel, re: id))
        let parts = try slow.peer.answer(to: id).parts.dropFirst().map(\.text)
        #expect(parts.compactMap { Int64($0.dropFirst(7).prefix { $0.isNumber }) } == (1...6_000).map { Int64($0) })
      }
    }

    @Test(
      "Words are searched for in what is stored, counted, and observed as they come, whatever else a filter asks for")
    func search() throws {
      try withRoost(.store) { roost in
        let store = try StoreClient(roost)
        let author = SecretKey.generate()
        func note(_ text: String, _ time: Int64, kind: UInt16 = 1) -> Event {
          UnsignedEvent(pubkey: author.publicKey, createdAt: time, kind: kind, tags: [], content: text).signed(
            by: author)
        }
        let notes = [
          note("Relays and \"outboxes\"", 10), note("RELAYS relays rélays", 11), note("about something else", 12),
          note("a relay", 13), note("relays in a comment", 14, kind: 1_111),
        ]
        _ = try store.peer.answer(to: try store.importRun(notes.map(\.json)))
        func found(_ filter: String) throws -> [EventID] {
          try store.query(filter).map { try Event(json: Array($0.utf8)).id }
        }
        #expect(try found(#"{"search":"relays language:en"}"#).first == notes[1].id)
        #expect(try Set(found(#"{"search":"relays"}"#)) == [notes[0].id, notes[1].id, notes[4].id])
        #expect(try Set(found(#"{"search":"relays -comment","kinds":[1],"until":10}"#)) == [notes[0].id])
        #expect(try found(#"{"search":"relays","limit":1}"#) == [notes[1].id])
        #expect(try found(#"{"search":"-relays","kinds":[1]}"#) == [notes[3].id, notes[2].id])
        #expect(try found(#"{"search":"\" AND ( relays* NEAR"}"#).isEmpty)
        let both = try store.peer.call("store.query", #"{"filters":[{"search":"something"},{"kinds":[1]}]}"#)
        #expect(both.parts.count == 4 && both.parts[0].text.contains("something"))
        let count = try store.peer.call("store.count", #"{"filters":[{"search":"relays"}]}"#)
        #expect(try JSONPayload.decode(StoreCount.self, from: count.terminal.payload) == StoreCount(count: 3))
        let id = try store.observe(#"{"search":"relays -spam"}"#)
        try store.peer.wait("what is stored") { store.peer.partCount(of: id) == 4 }
        let live = [note("spam about relays", 20), note("nothing", 21), note("More Relays!", 22)]
        for event in live { #expect(try store.publish(event).isResponse) }
        try store.peer.wait("what comes") { store.peer.partCount(of: id) == 5 }
        store.peer.send(FrameHeader(type: .cancel, re: id))
        #expect(try store.peer.answer(to: id).parts.last?.text.contains("More Relays!") == true)
        let later = try store.observe(#"{"search":"relays -spam"}"#, after: 4)
        try store.peer.wait("what was stored since") { store.peer.partCount(of: later) == 3 }
        store.peer.send(FrameHeader(type: .cancel, re: later))
        #expect(try store.peer.answer(to: later).parts.count == 3)
      }
    }
  }
}
