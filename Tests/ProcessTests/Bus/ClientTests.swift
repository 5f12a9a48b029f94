import Contracts
import Cryptography
import EventLoop
import Frames
import Glibc
import LinuxSystem
import Nostr
import RoostClient
import TestSupport
import Testing

extension ProcessTests {
  /// RoostClient, as a Swift program uses it, with a real roostd, store and signer.
  @Suite("The Swift client")
  struct ClientTests {
    @Test("A draft is signed by the signer and stored; it is found by filter, id and number, and counted")
    func publishing() throws {
      try withRoost(.storeAndSigner) { roost in
        let rig = try ClientRig(roost)
        let none = try rig.refusal { _ = try await $0.store(.note("hello")) }
        #expect(none?.code == .noSuchAccount)
        _ = try roost.client().call("signer.generate", #"{"name":"alice"}"#)
        let key = try #require(PublicKey(try rig.run { try await $0.accounts() }[0].publicKey))
        let published = try rig.run { try await $0.store(.note("hällo\u{1B}", tags: [["t", "x"]]), as: "alice") }
        try published.event.verify()
        #expect(published.isNew && published.seq == 1 && published.event.pubkey == key)
        let again = try rig.run { try await $0.store(published.event) }
        #expect(!again.isNew && again.seq == 1)
        let missing = try #require(EventID(String(repeating: "0", count: 64)))
        try rig.run { roost in
          let found = try await roost.query(Filter(authors: [key]))
          #expect(found == [published.event])
          let counted = try await roost.count(Filter(kinds: [1]))
          #expect(counted == 1)
          let byID = try await roost.events([missing, published.event.id])
          #expect(byID == [published.event])
        }
        let unknown = try rig.refusal { _ = try await $0.store(.note("x"), as: "bob") }
        #expect(unknown?.code == .noSuchAccount)
        let forged = String(decoding: published.event.json, as: UTF8.self).replacing("\"t\"", with: "\"y\"")
        let refused = try rig.refusal { _ = try await $0.store(json: Array(forged.utf8)) }
        #expect(refused?.code == .invalidEvent && refused?.message.contains("id") == true)
        try rig.close()
      }
    }

    @Test("Texts are encrypted and decrypted, and rumors wrapped and unwrapped, without a key leaving the signer")
    func encrypting() throws {
      try withRoost(.storeAndSigner) { roost in
        for name in ["alice", "bob"] { _ = try roost.client().call("signer.generate", #"{"name":"\#(name)"}"#) }
        let rig = try ClientRig(roost)
        let keys = try rig.run { try await $0.accounts().compactMap { PublicKey($0.publicKey) } }
        try rig.run { roost in
          for encryption in [Encryption.nip44, .nip04] {
            let payload = try await roost.encrypt("secret", for: keys[1], as: "alice", by: encryption)
            let text = try await roost.decrypt(payload, from: keys[0], as: "bob", by: encryption)
            #expect(text == "secret" && !payload.contains("secret"))
          }
          let wrap = try await roost.wrap(EventDraft(kind: 14, content: "psst"), for: keys[1], as: "alice")
          let opened = try await roost.unwrap(wrap)
          #expect(opened.rumor.content == "psst" && opened.rumor.pubkey == keys[0] && opened.recipient == keys[1])
        }
        let wrong = try rig.refusal { _ = try await $0.decrypt("nonsense", from: keys[0], as: "bob") }
        #expect(wrong?.code == .badRequest)
        try rig.close()
      }
    }

    @Test("An observer gets every event once, in the order of seq, while store and supervisor are killed under it")
    func surviving() throws {
      try withRoost(.storeAndSigner) { roost in
        let rig = try ClientRig(roost)
        let notes = makeNotes(0..<600)
        try publish(notes[..<200], rig)
        // Slow, so that the first death comes in the middle of what is stored.
        let watch = Watch(rig, [Filter(kinds: [1])], pauseMilliseconds: 2)
        try awaitSoon("the first stored events") { watch.events.count > 20 }
        #expect(watch.ends == 0)
        kill(try #require(roost.worker("event-store").pid), SIGKILL)
        try roost.awaitReady()
        try publish(notes[200..<300], rig)
        try awaitSoon("the end of what is stored") { watch.ends == 1 && watch.events.count == 300 }
        kill(try #require(roost.worker("event-store").pid), SIGKILL)
        try publish(notes[300..<400], rig)
        try awaitSoon("what came after the store's death") { watch.events.count == 400 }
        try roost.killDaemon()
        try roost.startAgain()
        try publish(notes[400..<500], rig)
        try awaitSoon("what came after roostd's death") { watch.events.count == 500 }
        _ = try roost.client().call("supervisor.restart", #"{"worker":"event-store"}"#)
        try publish(notes[500...], rig)
        try awaitSoon("what came after a restart in order") { watch.events.count == 600 }
        #expect(watch.ends == 1)
        #expect(Set(watch.events.map(\.event.id)) == Set(notes.map(\.id)), "every event, each once")
        let live = watch.events[300...].compactMap(\.seq)
        #expect(live.count == 300 && zip(live, live.dropFirst()).allSatisfy(<), "live events in the order of their seq")
        watch.cancel()
        try awaitSoon("its end") { watch.isOver }
        #expect(watch.refusal == nil, "leaving is no error")
        // From a number on, as a program that was started again does.
        let later = Watch(rig, [Filter()], after: live[289])
        try awaitSoon("what is behind a seq") { later.ends == 1 }
        #expect(later.events.compactMap(\.seq) == Array(live[290...]))
        later.cancel()
        try awaitSoon("its end") { later.isOver }
        try rig.close()
      }
    }

    @Test("Cancelled while no supervisor is there, an observer ends at once; a wrong filter or number is told")
    func ending() throws {
      try withRoost(.storeAndSigner) { roost in
        let rig = try ClientRig(roost)
        let wrong = Watch(rig, Array(repeating: Filter(), count: StoreObserve.filterMaximum + 1))
        try awaitSoon("the refusal") { wrong.isOver }
        #expect(wrong.refusal?.code == .badRequest)
        let foreign = Watch(rig, [Filter()], after: 7_000)
        try awaitSoon("the refusal") { foreign.isOver }
        #expect(foreign.refusal?.code == "unknown-seq")
        let watch = Watch(rig, [Filter()])
        try awaitSoon("the end of nothing") { watch.ends == 1 }
        try roost.killDaemon()
        try awaitSoon("the loss") {
          try rig.run { if case .connected = $0.connectionState { false } else { true } }
        }
        #expect(!watch.isOver)
        watch.cancel()
        try awaitSoon("its end", within: 5) { watch.isOver }
        #expect(watch.refusal == nil)
        try roost.startAgain()
        try rig.close()
      }
    }

    @Test("A long answer is read on where it was after the store was killed, in order and each event once")
    func longAnswer() throws {
      try withRoost(.storeAndSigner) { roost in
        let rig = try ClientRig(roost)
        let notes = makeNotes(0..<2_000)
        try importNotes(notes, roost)
        let pid = pid_t(try #require(roost.worker("event-store").pid))
        let given = try rig.run { roost in
          var ids: [EventID] = []
          for try await event in roost.events(matching: [Filter(kinds: [1], limit: 1_900)]) {
            ids.append(event.event.id)
            if ids.count == 150 { kill(pid, SIGKILL) }
          }
          return ids
        }
        #expect(given == notes.reversed().prefix(1_900).map(\.id))
        let few = try rig.run { try await $0.query(Filter(kinds: [1])) }
        #expect(few.count == RoostClient.queryLimit && few.first == notes.last)
        try rig.close()
      }
    }

    @Test("The example publishes a note, shows what is stored, and then what comes")
    func example() throws {
      let directory = try TemporaryDirectory()
      let relay = try AnsweringRelay(directory, "relay")
      var layout = Layout.publishing
      layout.workers += Layout.storeAndSigner.workers.filter { $0.name == "signer" }
      for index in layout.workers.indices where layout.workers[index].name == "relay-connector" {
        layout.workers[index].keys["relays"] = "[\"\(relay.url)\"]"
      }
      try withRoost(layout) { roost in
        let control = try roost.client()
        _ = try control.call("signer.generate", #"{"name":"alice"}"#)
        // It hears of a new account within half a minute, and at its start.
        _ = try control.call("supervisor.restart", #"{"worker":"outbox-planner"}"#)
        try roost.awaitReady()
        let program = try SpawnedProcess(
          SpawnedProcess.builtProgram("example-notes"), ["first"], environment: ["ROOST_SOCKET=\(roost.socket)"])
        _ = try program.readLine { $0.hasPrefix("published note1") && $0.hasSuffix(", for 1 relays") }
        _ = try program.readLine { $0.hasPrefix("npub1") && $0.hasSuffix(": \"first\"") }
        _ = try program.readLine { $0.hasPrefix("-- all up to number 1;") }
        let rig = try ClientRig(roost)
        _ = try rig.run { roost in
          try await roost.store(EventDraft(kind: 0, content: #"{"name":"Al\u001b[31m"}"#))
          try await roost.store(.note("second"))
        }
        let line = try program.readLine { $0.hasSuffix(": \"second\"") }
        #expect(line.hasPrefix(#""Al\u{1B}[31m" npub1"#), "\(line)")
        try awaitSoon("the relay has it") { relay.received.count == 1 }
        try rig.close()
      }
    }

    private func publish(_ notes: ArraySlice<Event>, _ rig: ClientRig) throws {
      let notes = Array(notes)
      try rig.run { roost in for note in notes { _ = try await roost.store(note) } }
    }

    private func importNotes(_ notes: [Event], _ roost: RunningRoost) throws {
      let peer = try roost.client()
      for start in stride(from: 0, to: notes.count, by: 500) {
        var run: [UInt8] = []
        for note in notes[start...].prefix(500) {
          IngestRecord.append(.event, receivedNanoseconds: 0, note.json, to: &run)
        }
        let header = try peer.request("store.import", flags: .raw)
        try peer.wait("credit") { peer.hasCredit }
        peer.spend(run.count)
        peer.send(header, run)
        #expect(try peer.answer(to: header.id).isResponse)
      }
    }
  }
}
