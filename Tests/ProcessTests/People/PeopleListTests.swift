import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// Lists changed as differences, with relays by other people, and another device that writes its whole list.
  @Suite("Lists of accounts", .enabled(if: PythonPeer.isAvailable, "no .venv: run Scripts/python-environment.sh"))
  struct PeopleListTests {
    private func list(_ rig: FeedRig, _ kind: UInt16 = 3) throws -> KnownList {
      try rig.rig.ask("people.list", PeopleList(account: "alice", kind: kind), as: KnownList.self)
    }

    private func people(_ rig: FeedRig) throws -> Set<String> { Set(try list(rig).tags.compactMap { $0.last }) }

    private func edit(_ rig: FeedRig, adding people: [String]) throws -> EditedList {
      let changes = people.map { key in
        var edit = EntryEdit()
        edit.add = ["p", key]
        return edit
      }
      return try rig.rig.ask(
        "people.edit", PeopleEdit(account: "alice", kind: 3, changes: changes), as: EditedList.self)
    }

    private func publish(_ event: Event, at relay: RealRelay, _ rig: FeedRig) throws {
      let answer = try rig.rig.client.call(
        "relay.publish", #"{"relay":"\#(relay.url)","event":\#(String(decoding: event.json, as: UTF8.self))}"#)
      #expect(answer.isResponse, "\(answer.text)")
    }

    private func keys(_ count: Int) -> [String] { (0..<count).map { _ in "\(SecretKey.generate().publicKey)" } }

    @Test("An accepted change is published through the death of its worker, and nothing else in the list changes")
    func accepted() throws {
      let (relay, known) = (try RealRelay(), keys(3))
      try FeedRig.run([relay.url]) { rig in
        let garbage = [["p", known[0], "", "petname"], ["p", "no key"], ["unknown", "x"], ["p", known[1]]]
        let old = rig.event(rig.alice, kind: 3, garbage, "{\"kept\":1}", at: WallClock.seconds - 100)
        try publish(old, at: relay, rig)
        let edited = try edit(rig, adding: [known[2]])
        try rig.rig.kill("people")
        #expect(edited.isNew && edited.after == edited.before + 1)
        let id = try #require(edited.id)
        try awaitSoon("it is published", within: 60, every: 200) {
          let found = try rig.rig.client.call("plan.publications", #"{"ids":["\#(id)"],"states":["confirmed"]}"#)
          return found.parts.count == 1
        }
        try awaitSoon("the worker is back", within: 60, every: 200) {
          try list(rig).tags == garbage + [["p", known[2]]]
        }
        #expect(try list(rig).content == old.content)
        let again = try edit(rig, adding: [known[2]])
        #expect(!again.isNew && again.id == id, "what is there already is not published again")
      }
    }

    @Test("What another device wrote without having seen the newest version is brought together with it, early or late")
    func merged() throws {
      let (relay, known) = (try RealRelay(), keys(6))
      try FeedRig.run([relay.url]) { rig in
        let now = WallClock.seconds
        let first = rig.event(rig.alice, kind: 3, known.prefix(2).map { ["p", $0] }, at: now - 500)
        try publish(first, at: relay, rig)
        #expect(try edit(rig, adding: [known[2]]).isNew)
        // It had read the first version. Its list is the newest now.
        let blind = rig.event(rig.alice, kind: 3, [known[0], known[1], known[3]].map { ["p", $0] }, at: now + 4)
        try awaitSoon("its time has come", within: 20) { WallClock.seconds > now + 4 }
        try publish(blind, at: relay, rig)
        #expect(try rig.store(blind) > 0)
        try awaitSoon("both changes are in the list", within: 60, every: 200) {
          try people(rig) == Set(known.prefix(4))
        }
        // And one that is older than ours, and comes late: relays and the store have a newer version already.
        let late = rig.event(rig.alice, kind: 3, [known[0], known[1], known[4]].map { ["p", $0] }, at: now - 1)
        let answer = try rig.rig.client.call("store.publish", String(decoding: late.json, as: UTF8.self))
        #expect(!answer.isResponse, "the store keeps the newer one: \(answer.text)")
        try awaitSoon("all changes are in the list", within: 60, every: 200) {
          try people(rig) == Set(known.prefix(5))
        }
      }
    }

    @Test("Edits are answered while hundreds of another device's versions come late, and all that these added is there")
    func manyLate() throws {
      let (relay, known) = (try RealRelay(), keys(303))
      try FeedRig.run([relay.url]) { rig in
        for key in known.prefix(2) { #expect(try edit(rig, adding: [key]).isNew) }
        let now = WallClock.seconds
        let late = (4...known.count).map { count in
          let tags = ([known[0]] + known[3..<count]).map { ["p", $0] }
          return rig.event(rig.alice, kind: 3, tags, at: now - 400 + Int64(count))
        }
        let client = rig.rig.client
        // All of them wait for it: the store keeps none.
        let pid = pid_t(try #require(try rig.rig.roost.worker("people", client).pid))
        Glibc.kill(pid, SIGSTOP)
        defer { Glibc.kill(pid, SIGCONT) }
        let asked = try late.map { try client.ask("store.publish", String(decoding: $0.json, as: UTF8.self)) }
        for id in asked { #expect(try client.answer(to: id).refusal?.code == .superseded) }
        Glibc.kill(pid, SIGCONT)
        #expect(try edit(rig, adding: [known[2]]).isNew)
        try awaitSoon("what all of them added is in the list", within: 60, every: 500) {
          try people(rig) == Set(known)
        }
        #expect(try rig.rig.client.call("supervisor.status", "{}").text.contains("\"restarts\":0"))
      }
    }

    @Test("What another device adds and at once removes again is not in the list, though the store kept nothing")
    func addedAndRemoved() throws {
      let (relay, known) = (try RealRelay(), keys(3))
      try FeedRig.run([relay.url]) { rig in
        #expect(try edit(rig, adding: [known[0]]).isNew)
        let ours = try #require(try edit(rig, adding: [known[1]]).id)
        try awaitSoon("it is published", within: 60, every: 200) {
          try rig.rig.client.call("plan.publications", #"{"ids":["\#(ours)"],"states":["confirmed"]}"#).parts.count == 1
        }
        let at = try #require(try list(rig).createdAt) + 1
        try awaitSoon("its time has come", within: 20) { WallClock.seconds > at + 1 }
        // One relay sends both, and the second version replaces the first in one transaction of the store.
        var run: [UInt8] = []
        let now = UInt64(WallClock.seconds) * 1_000_000_000
        IngestRecord.append(.relayName, relay: 1, receivedNanoseconds: 0, Array(relay.url.utf8), to: &run)
        for (count, time) in [(3, at), (2, at + 1)] {
          let version = rig.event(rig.alice, kind: 3, known.prefix(count).map { ["p", $0] }, at: time)
          IngestRecord.append(.event, relay: 1, subscription: 7, receivedNanoseconds: now, version.json, to: &run)
        }
        let client = rig.rig.client
        let header = try client.request("store.import", flags: .raw)
        try client.wait("credit") { client.hasCredit }
        client.spend(run.count)
        client.send(header, run)
        #expect(try client.answer(to: header.id).isResponse)
        try awaitSoon("both are known", within: 60, every: 200) {
          try client.call("people.versions", #"{"account":"alice","kind":3}"#).parts.count == 4
        }
        // An edit decides about them, if that is not done yet.
        #expect(try edit(rig, adding: [known[0]]).isNew == false)
        #expect(try people(rig) == Set(known.prefix(2)))
      }
    }

    @Test("A list is not changed while relays cannot say which version is the newest, unless that is meant")
    func proven() throws {
      let known = keys(2)
      try FeedRig.run { rig in
        let own = rig.event(rig.alice, kind: 3, [["p", known[0]]], at: WallClock.seconds - 100)
        try rig.store(own)
        let arguments = #"{"account":"alice","kind":3,"changes":[{"add":["p","\#(known[1])"]}]"#
        let refused = try rig.rig.client.call("people.edit", arguments + "}")
        #expect(refused.text.contains("not-fresh") && refused.text.contains("ws://127.0.0.1:1"), "\(refused.text)")
        #expect(try people(rig) == [known[0]])
        #expect(try rig.rig.client.call("people.edit", arguments + #","fromHere":true}"#).isResponse)
        #expect(try people(rig) == Set(known))
      }
    }
  }
}
