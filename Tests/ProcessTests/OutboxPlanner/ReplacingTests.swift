import Contracts
import Frames
import Glibc
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// Profiles and lists, of which the newest version takes the place of all others.
  @Suite("Replacing lists")
  struct ReplacingTests {
    private struct Rig {
      let house: LocalRelayHouse
      let relay: KeepingRelay
      let alice = Author()
      let start = Int64(time(nil)) - 10_000

      /// Whom alice follows, so many seconds after the beginning.
      func list(_ count: Int, kind: UInt16 = 3, at seconds: Int64) -> Event {
        let people = (0..<count).map { ["p", String(repeating: "0", count: 62) + String(10 + $0)] }
        return alice.event(kind: kind, at: start + seconds, people)
      }

      func refusal(_ event: Event, replace: Bool? = nil) throws -> Refusal? {
        let value = try JSONPayload.decode(JSONValue.self, from: event.json)
        let wanted = PlanPublish(event: RawJSON(value), replace: replace)
        return try house.client.call("plan.publish", String(decoding: JSONPayload.encode(wanted), as: UTF8.self))
          .refusal
      }

      func kept(_ arguments: String = "{}") throws -> [ReplacedList] {
        let answer = try house.client.call("plan.replaced", arguments)
        #expect(answer.isResponse, "\(answer.text)")
        return try answer.parts.map { try JSONPayload.decode(ReplacedList.self, from: $0.payload) }
      }

      func complaints() throws -> [String] {
        try house.roost.command(["doctor"]).output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
          .split(separator: "✗").dropFirst().map { String($0) }.filter { $0.contains("lists") }
      }
    }

    private func run(_ body: (Rig) throws -> Void) throws {
      let relay = try KeepingRelay()
      try LocalRelayHouse.run(beside: PlannerRig.layout([relay.url])) { house in
        let rig = Rig(house: house, relay: relay)
        try house.account(of: rig.alice)
        try body(rig)
      }
    }

    @Test("Of two versions that add to the same one, the second is not published without what the first has added")
    func together() throws {
      try run { rig in
        func list(_ numbers: [Int], at seconds: Int64) -> Event {
          let people = numbers.map { ["p", String(repeating: "0", count: 62) + String(10 + $0)] }
          return rig.alice.event(kind: 3, at: rig.start + seconds, people)
        }
        #expect(try rig.refusal(list([1, 2], at: 0)) == nil)
        let client = rig.house.client
        let asked = try [list([1, 2, 3], at: 1), list([1, 2, 4], at: 2)].map { event in
          try client.ask("plan.publish", "{\"event\":\(String(decoding: event.json, as: UTF8.self))}")
        }
        // The planner looks into its ledger on threads, so either of the two may come first. The older one cannot
        // replace the newer one.
        let refusals = try asked.map { try client.answer(to: $0).refusal?.code }
        #expect(refusals == [nil, .wouldReplace] || refusals == [.superseded, nil], "\(refusals)")
      }
    }

    @Test("Damage to what is kept of lists costs the queue nothing, and is rescued at the next start")
    func damaged() throws {
      try run { rig in
        let state = rig.house.roost.directory.path + "/state/outbox-planner"
        // Too large for one page, so that its row goes on in others.
        let people = (0..<1_000).map { ["p", String(repeating: "0", count: 60) + String(1_000 + $0)] }
        let large = rig.alice.event(kind: 3, at: rig.start, people)
        #expect(try rig.refusal(large) == nil)
        #expect(try rig.refusal(rig.list(1, at: 1), replace: true) == nil)
        #expect(try rig.kept().map(\.before) == [1_000])
        // What is written is in the file after a stop.
        #expect(try rig.house.roost.command(["restart", "outbox-planner"]).status == .exited(0))
        try rig.house.roost.awaitReady()
        let file = open(state + "/replaced.db", O_RDWR | O_CLOEXEC)
        defer { close(file) }
        let size = lseek(file, 0, SEEK_END)
        #expect(size > 5 * 4_096)
        let zeros = [UInt8](repeating: 0, count: 4_096)
        for page in 3..<size / 4_096 { #expect(pwrite(file, zeros, 4_096, page * 4_096) == 4_096) }
        let before = try rig.house.roost.status(rig.house.client).workers.first { $0.name == "outbox-planner" }
        _ = try rig.house.client.call("plan.replaced", "{\"id\":\"\(large.id)\"}")
        try rig.house.roost.awaitWorker("outbox-planner", "has started again", within: 30, rig.house.client) {
          $0.state == "ready" && $0.generation != before?.generation
        }
        let names = try Self.names(in: state)
        #expect(names.contains { $0.hasPrefix("replaced.db.damaged-") }, "\(names)")
        #expect(!names.contains { $0.hasPrefix("publications.db.damaged-") }, "\(names)")
      }
    }

    /// The names of the files in a directory.
    private static func names(in path: String) throws -> [String] {
      let folder = try #require(opendir(path))
      defer { closedir(folder) }
      var names: [String] = []
      while let entry = readdir(folder) {
        names.append(
          withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
      }
      return names
    }

    @Test("A list that loses entries is refused with both numbers, and published when that is meant")
    func refused() throws {
      try run { rig in
        #expect(try rig.refusal(rig.list(25, at: 0)) == nil, "a relay has said that there is none")
        #expect(try rig.refusal(rig.list(26, at: 1)) == nil, "nothing is lost")
        let small = rig.list(1, at: 2)
        let refusal = try rig.refusal(small)
        #expect(refusal?.code == .wouldReplace && refusal?.outcome == .notStarted, "\(refusal?.message ?? "")")
        #expect(refusal?.message.contains("this would replace the list of 26 people with one of 1") == true)
        #expect(try rig.house.ask("plan.publications", #"{"ids":["\#(small.id)"]}"#, as: StoreCount.self).count == 0)
        let typed = try rig.house.roost.command(["publish", String(decoding: small.json, as: UTF8.self)])
        #expect(typed.status == .exited(1) && typed.output.contains("with one of 1"), "\(typed.output)")
        #expect(try rig.kept().isEmpty && rig.complaints().isEmpty)
        let meant = try rig.house.roost.command(["publish", String(decoding: small.json, as: UTF8.self), "--replace"])
        #expect(meant.status == .exited(0), "\(meant.output)")
        #expect(try rig.kept().map(\.before) == [26] && rig.complaints().count == 1)
      }
    }

    @Test("What is only stored is refused in the same cases, with what is lost, and stored when that is meant")
    func stored() throws {
      try run { rig in
        func store(_ event: Event, _ more: String...) throws -> (status: SpawnedProcess.Ending, output: String) {
          let answer = try rig.house.roost.command(
            ["publish", String(decoding: event.json, as: UTF8.self), "--local"] + more)
          return (answer.status, answer.output.split(whereSeparator: \.isWhitespace).joined(separator: " "))
        }
        for content in ["not json", "[]", ""] {
          let told = try store(rig.alice.event(content, kind: 0, at: rig.start), "--replace")
          #expect(told.status == .exited(1) && told.output.contains("has a JSON object"), "\(told.output)")
        }
        for kind: UInt16 in [3, 10_015] {
          let whole = try store(rig.list(26, kind: kind, at: 0))
          #expect(whole.status == .exited(0), "\(whole.output)")
          let small = rig.list(1, kind: kind, at: 1)
          let refused = try store(small)
          #expect(refused.status == .exited(1), "\(refused.output)")
          #expect(refused.output.contains("list of 26"), "\(refused.output)")
          #expect(refused.output.contains("with one of 1"), "\(refused.output)")
          #expect(try store(rig.list(27, kind: kind, at: 1)).status == .exited(0), "nothing is lost")
          #expect(try store(rig.list(1, kind: kind, at: 2), "--replace").status == .exited(0))
        }
      }
    }

    @Test("A client's list is taken, the one before is kept and told, and comes back as it was")
    func fromClients() throws {
      try run { rig in
        let visitor = try rig.house.visitor()
        let whole = rig.list(30, at: 0)
        for event in [whole, rig.list(29, at: 1)] { #expect(try visitor.publish(event).isAccepted) }
        #expect(try rig.kept().map { [$0.before, $0.after] } == [[30, 29]])
        #expect(try rig.complaints().isEmpty, "one unfollowed")
        #expect(try visitor.publish(rig.list(2, at: 2)) == .init(isAccepted: true, reason: ""))
        #expect(try rig.complaints().first?.contains("alice's list of 29 people, now 2") == true)
        for step in 0..<20 {
          #expect(try visitor.publish(rig.list(30 - step % 2, kind: 10_015, at: Int64(step))).isAccepted)
        }
        try rig.house.kill("outbox-planner")
        try awaitSoon("the planner is there") { try !rig.kept().isEmpty }
        #expect(try rig.kept().filter { $0.kind == 10_015 }.count <= 8, "of each list a few")
        let kept = try rig.kept(#"{"id":"\#(whole.id)"}"#)
        #expect(
          try JSONPayload.encode(#require(kept.first?.event))
            == JSONPayload.encode(JSONPayload.decode(JSONValue.self, from: whole.json)))
        let draft = try rig.house.roost.command(["queue", "replaced", "\(whole.id)", "--draft"])
        let again = try rig.house.roost.command(["publish", "--as", "alice", draft.output])
        #expect(again.status == .exited(0), "\(again.output) of \(draft.output)")
        #expect(try rig.complaints().isEmpty)
        let forgotten = try rig.house.roost.command(["queue", "replaced", "\(whole.id)", "--forget"])
        #expect(forgotten.status == .exited(0), "\(forgotten.output)")
        #expect(try rig.kept().allSatisfy { $0.id != "\(whole.id)" })
      }
    }

    @Test("A version that is only at a relay is looked for, and without an answer a list is refused")
    func lookedFor() throws {
      try run { rig in
        let planner = PlannerRig(roost: rig.house.roost, client: rig.house.client)
        try planner.put(rig.list(12, kind: 10_015, at: 0), on: rig.relay)
        let refusal = try rig.refusal(rig.list(3, kind: 10_015, at: 1))
        #expect(
          refusal?.message.contains("list of 12 entries (kind 10015) with one of 3") == true,
          "\(refusal?.message ?? "")")
        try rig.relay.kill()
        let unknown = try rig.refusal(rig.list(3, kind: 10_003, at: 1))
        #expect(unknown?.code == .wouldReplace && unknown?.message.contains("\(rig.relay.url) did not answer") == true)
        #expect(try rig.refusal(rig.list(3, kind: 10_003, at: 1), replace: true) == nil)
      }
    }

    @Test("One relay that has nothing is no proof while most others are silent")
    func mostAreSilent() throws {
      let relay = try KeepingRelay()
      let dead = try (0..<2).map { _ in "ws://127.0.0.1:\(try RelayVisitor.freePort())" }
      try LocalRelayHouse.run(beside: PlannerRig.layout([relay.url] + dead)) { house in
        let rig = Rig(house: house, relay: relay)
        try house.account(of: rig.alice)
        let refusal = try rig.refusal(rig.list(1, at: 0))
        #expect(refusal?.code == .wouldReplace, "\(refusal?.message ?? "it is taken")")
        for url in dead { #expect(refusal?.message.contains(url) == true, "\(refusal?.message ?? "")") }
      }
    }

    @Test("A version that does not take the place of the stored one has nothing kept, and no alarm is raised")
    func superseded() throws {
      try run { (rig: Rig) throws in
        #expect(try rig.refusal(rig.list(26, at: 0)) == nil)
        // Of two of one second the lower id stays (NIP-01).
        let stored = rig.list(26, at: 0)
        var later = (0..<40).map { rig.list($0 % 9, at: 0) }.filter { $0.id > stored.id }
        later.append(rig.list(3, at: -5))
        for event in later.prefix(1) + later.suffix(1) {
          #expect(try rig.refusal(event, replace: true)?.code == .superseded)
        }
        #expect(try rig.kept().isEmpty && rig.complaints().isEmpty)
      }
    }

    @Test("A profile is a JSON object that keeps its fields, and a request to delete says what it does nothing for")
    func profilesAndDeletions() throws {
      try run { rig in
        func profile(_ content: String, at seconds: Int64) -> Event {
          rig.alice.event(content, kind: 0, at: rig.start + seconds)
        }
        for content in ["not json", "[]", "", "\"x\""] {
          #expect(try rig.refusal(profile(content, at: 0), replace: true)?.code == .invalidEvent, "\(content)")
        }
        #expect(try rig.refusal(profile(#"{"name":"a","about":"b","nip05":"c","x":""}"#, at: 1)) == nil)
        let refusal = try rig.refusal(profile(#"{"name":"x"}"#, at: 2))
        #expect(refusal?.message.contains("profile of 3 fields with one of 1, without about, nip05") == true)
        #expect(try rig.refusal(profile(#"{"name":"x","about":"y","nip05":"c"}"#, at: 3)) == nil)

        let (theirs, mine) = (Author().event("theirs"), rig.alice.event("mine"))
        for event in [theirs, mine] { #expect(try rig.house.visitor().publish(event).isAccepted) }
        let deletion = rig.alice.event(
          kind: 5, at: rig.start, [["e", "\(theirs.id)"], ["e", "\(mine.id)"], ["a", "30023:\(theirs.pubkey):x"]])
        let text = String(decoding: deletion.json, as: UTF8.self)
        let answer = try rig.house.client.call("plan.publish", #"{"event":\#(text)}"#)
        let remarks = try JSONPayload.decode(Publication.self, from: answer.terminal.payload).remarks ?? []
        #expect(remarks.count == 2 && remarks.allSatisfy { $0.hasPrefix("it does nothing for") }, "\(remarks)")
        #expect(try rig.house.roost.command(["publish", text]).output.contains("only its author can delete it"))
      }
    }
  }
}
