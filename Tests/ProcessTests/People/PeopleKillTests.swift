import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// Deaths of `people` at each step of an edit.
  @Suite(
    "Deaths during edits of lists", .enabled(if: PythonPeer.isAvailable, "no .venv: run Scripts/python-environment.sh"))
  struct PeopleKillTests {
    /// Whom an edit stops at, in the order of its steps: the relays' newest version is asked for, the stored version is
    /// read, the new one is signed, and it is given to the publish queue.
    private static let steps = ["relays", "event-store", "signer", "outbox-planner"]
    /// Kills at moments of their own, milliseconds after an edit was asked for.
    private static let moments: [UInt32] = [0, 1, 2, 4, 6, 8, 11, 14, 18, 23, 30, 40]

    private func edit(_ rig: FeedRig, adding person: String) throws -> UInt64 {
      var edit = EntryEdit()
      edit.add = ["p", person]
      let wanted = PeopleEdit(account: "alice", kind: 3, changes: [edit])
      return try rig.rig.client.ask("people.edit", String(decoding: JSONPayload.encode(wanted), as: UTF8.self))
    }

    private func list(_ rig: FeedRig) throws -> [[String]] {
      try rig.rig.ask("people.list", PeopleList(account: "alice", kind: 3), as: KnownList.self).tags
    }

    /// The edit that was interrupted, if it was accepted before.
    private func accepted(_ rig: FeedRig, _ id: UInt64) throws -> EditedList? {
      let answer = try rig.rig.client.answer(to: id, within: 30)
      if let refusal = answer.refusal {
        #expect([.workerDied, .unavailable].contains(refusal.code), "\(refusal)")
        return nil
      }
      return try JSONPayload.decode(EditedList.self, from: answer.terminal.payload)
    }

    /// Asks again until it is accepted.
    private func insist(_ rig: FeedRig, _ person: String) throws -> EditedList {
      var edited: EditedList?
      try awaitSoon("the edit is accepted", within: 60, every: 100) {
        let answer = try rig.rig.client.answer(to: try edit(rig, adding: person), within: 30)
        guard answer.refusal == nil else { return false }
        edited = try JSONPayload.decode(EditedList.self, from: answer.terminal.payload)
        return true
      }
      return try #require(edited)
    }

    @Test("Whatever edit was accepted is in the list and is published once; the others are not, or as a whole")
    func deaths() throws {
      let relay = try RealRelay()
      try FeedRig.run([relay.url]) { rig in
        var people: [String] = []
        var versions: Set<String> = []
        func end(_ person: String, _ id: UInt64) throws {
          let before = try accepted(rig, id)
          let after = try insist(rig, person)
          if let before {
            #expect(before.isNew && !after.isNew, "an accepted edit is not made twice")
          }
          versions.formUnion([before?.id, after.id].compactMap { $0 })
          people.append(person)
          #expect(Set(try list(rig).compactMap(\.last)) == Set(people))
        }
        for step in Self.steps {
          let person = "\(SecretKey.generate().publicKey)"
          let pid = pid_t(try #require(try rig.rig.roost.worker(step, rig.rig.client).pid))
          Glibc.kill(pid, SIGSTOP)
          let id = try edit(rig, adding: person)
          // Long enough to come to the step; where it is not, the death at an earlier step must do no harm either.
          usleep(700_000)
          rig.rig.client.receive()
          if step != Self.steps.last { #expect(rig.rig.client.terminalCounts[id] == nil, "it has come to \(step)") }
          try rig.rig.kill("people")
          Glibc.kill(pid, SIGCONT)
          try end(person, id)
        }
        for moment in Self.moments {
          let person = "\(SecretKey.generate().publicKey)"
          let id = try edit(rig, adding: person)
          usleep(moment * 1_000)
          try rig.rig.kill("people")
          try end(person, id)
        }
        let tags = try list(rig)
        #expect(tags == people.map { ["p", $0] }, "each is in it once, in the order of the edits")
        let kept = try rig.rig.client.call("people.versions", #"{"account":"alice","kind":3}"#).parts
          .map { try JSONPayload.decode(ListVersionRow.self, from: $0.payload) }
        #expect(kept.count == people.count && kept.allSatisfy(\.isOurs), "one version for each edit")
        #expect(versions.isSubset(of: Set(kept.map(\.id))))
        try awaitSoon("the newest version is confirmed", within: 60, every: 200) {
          let states = try rig.rig.client.call("plan.publications", "{}").parts
            .map { try JSONPayload.decode(Publication.self, from: $0.payload) }.filter { $0.kind == 3 }
          #expect(Set(states.map(\.id)).count == states.count && states.count <= kept.count)
          return states.first { $0.id == kept[0].id }?.state == .confirmed
        }
      }
    }
  }
}
