import Contracts
import Cryptography
import Frames
import Nostr
import TestSupport
import Testing

/// An event with another id than its own.
private func claiming(_ id: EventID, _ event: Event) -> [UInt8] {
  Array(String(decoding: event.json, as: UTF8.self).replacing("\(event.id)", with: "\(id)").utf8)
}

/// An event with a signature that is another event's.
private func missigned(_ event: Event, by other: Event) -> [UInt8] {
  Event(event.unsigned, signature: other.signature).json
}

private let author = SecretKey.generate()

private func event(_ kind: UInt16, _ time: Int64, _ content: String = "", tags: [[String]] = []) -> Event {
  UnsignedEvent(pubkey: author.publicKey, createdAt: 1_700_000_000 + time, kind: kind, tags: tags, content: content)
    .signed(by: author)
}

extension ProcessTests {
  /// What nostr-relay does otherwise than the NIPs say, and that nobody who uses Roost suffers from it.
  @Suite("A relay that breaks rules", .enabled(if: NostrRelay.isAvailable, Comment(rawValue: NostrRelay.absence)))
  struct NostrRelayTests {
    /// Who has shown himself, on the one connection.
    private func authenticated(_ rig: PlannerRig) throws -> [String] {
      let relays = try rig.ask("relay.list", NoArguments(), as: RelayStates.self).relays
      #expect(relays.map(\.connections) == [1])
      return relays[0].authenticated
    }

    @Test("Its challenge is not answered unless somebody must show himself; then its silence is taken for an OK")
    func challenge() throws {
      let relay = try NostrRelay(sendsChallenges: true)
      try PlannerRig.run(relays: [relay.url]) { rig in
        let account = try rig.ask("signer.generate", SignerGenerate(name: "alice"), as: SignerAccount.self)
        let note = try rig.sign(1, [])
        let published = try rig.roost.command(
          ["publish", String(decoding: note.json, as: UTF8.self), "--relay", relay.url])
        #expect(published.output.hasSuffix("\n1 relay has it.\n"), "\(published.output)")
        let there = try rig.client.call("relay.request", #"{"relay":"\#(relay.url)","filters":[{"kinds":[1]}]}"#)
        #expect(there.parts.count == 1, "\(there.text)")
        #expect(try authenticated(rig) == [], "nobody is shown unasked")

        let secret = try JSONPayload.decode(JSONValue.self, from: try rig.sign(1, [["-"]]).json)
        let wanted = RelayPublish(
          relay: relay.url, event: RawJSON(secret), account: account.publicKey, isProtected: true, isForeign: false)
        let protected = try rig.client.ask("relay.publish", String(decoding: JSONPayload.encode(wanted), as: UTF8.self))
        try rig.fill(relay.url, [makeEvents(0..<1)[0].json])
        let answer = try rig.client.answer(to: protected)
        #expect(answer.text.contains(#""isAccepted":true"#), "\(answer.text)")
        #expect(try authenticated(rig) == [account.publicKey])
      }
    }

    @Test("A refusal without an id finds its event among others on their way; what comes behind it waits, and comes")
    func nameless() throws {
      let relay = try NostrRelay()
      try PlannerRig.run(relays: [relay.url]) { rig in
        let events = makeEvents(0..<4)
        try rig.fill(relay.url, [events[0].json])
        let sent = [missigned(events[1], by: events[0]), events[2].json, missigned(events[3], by: events[0])]
        let asked = try sent.map { json in
          let event = try JSONPayload.decode(JSONValue.self, from: json)
          let wanted = RelayPublish(relay: relay.url, event: RawJSON(event), isForeign: false)
          return try rig.client.ask("relay.publish", String(decoding: JSONPayload.encode(wanted), as: UTF8.self))
        }
        let request = try rig.client.ask("relay.request", #"{"relay":"\#(relay.url)","filters":[{"kinds":[1]}]}"#)
        let answers = try asked.map { try rig.client.answer(to: $0) }
        #expect(answers.allSatisfy { $0.isResponse }, "\(answers.map(\.text))")
        let results = try answers.map { try JSONPayload.decode(RelayPublishResult.self, from: $0.terminal.payload) }
        #expect(results.map(\.isAccepted) == [false, true, false])
        #expect(results.map(\.message) == ["invalid: Bad signature", "", "invalid: Bad signature"])
        #expect(results.map(\.id) == events[1...].map { "\($0.id)" })
        #expect(try rig.client.answer(to: request).parts.count == 2)
        #expect(try rig.ask("relay.list", NoArguments(), as: RelayStates.self).relays.map(\.connections) == [1])
      }
    }

    @Test("What is asked without a condition, or beside a filter with a narrow limit, comes whole all the same")
    func wideFilters() throws {
      let relay = try NostrRelay(events: SharedFolder.repository + "/Tests/Peers/events.jsonl")
      try PlannerRig.run(relays: [relay.url]) { rig in
        for filters in ["[{}]", #"[{"kinds":[1]},{"kinds":[0],"limit":1}]"#] {
          let answer = try rig.client.call("relay.request", #"{"relay":"\#(relay.url)","filters":\#(filters)}"#)
          #expect(answer.parts.count == 24, "\(filters)")
        }
        let shown = try rig.observed("{}", at: [relay.url], last: event(1, 900))
        #expect(shown.count == 24)
      }
    }

    @Test("It does not search, and what is shown of its answer are the events that have the words")
    func search() throws {
      let relay = try NostrRelay(events: SharedFolder.repository + "/Tests/Peers/events.jsonl")
      try PlannerRig.run(relays: [relay.url]) { rig in
        let last = event(1, 900, "hello and good bye")
        let shown = try rig.observed(#"{"kinds":[1],"search":"hello"}"#, at: [relay.url], last: last)
        #expect(Set(shown.map(\.content)) == ["hello 0", "hello 8", "hello 16"] && shown.count == 3)
        #expect(try rig.storeStatus().events == 25, "it has sent all that it has")
      }
    }

    @Test("Older versions and events whose time is over, which it takes and serves, are not shown")
    func outdated() throws {
      let relay = try NostrRelay()
      try PlannerRig.run(relays: [relay.url]) { rig in
        let newest = [
          event(0, 10, #"{"name":"new"}"#), event(10_002, 10, tags: [["r", "wss://new.example"]]),
          event(30_023, 10, "new", tags: [["d", "page"]]), event(1, 10, "note"),
        ]
        let outdated = [
          event(0, 5, #"{"name":"old"}"#), event(10_002, 5, tags: [["r", "wss://old.example"]]),
          event(30_023, 5, "old", tags: [["d", "page"]]),
          event(1, 20, "over", tags: [["expiration", "1700000030"]]),
        ]
        try rig.fill(relay.url, (newest + outdated).map(\.json))
        let all = try rig.client.call("relay.request", #"{"relay":"\#(relay.url)","filters":[{"since":1}]}"#)
        #expect(all.parts.count == 8, "it serves all of them")
        let filter = #"{"kinds":[0,1,10002,30023]}"#
        let shown = try rig.observed(filter, at: [relay.url], last: event(1, 30))
        #expect(shown.count == 4 && Set(shown) == Set(newest), "\(shown)")
        let stored = try StoreClient(rig.roost).query(filter)
        #expect(stored.count == 5 && outdated.allSatisfy { old in stored.allSatisfy { !$0.contains("\(old.id)") } })
      }
    }

    @Test("An event that claims another's id, which it takes and serves, is refused and told, and hides nothing")
    func wrongId() throws {
      let genuine = event(1, 1, "genuine")
      let (relay, honest) = (try NostrRelay(), try RealRelay())
      try PlannerRig.run(relays: [relay.url]) { rig in
        try rig.fill(relay.url, [claiming(genuine.id, event(1, 2, "forged")), event(1, 3, "beside it").json])
        try rig.fill(honest.url, [genuine.json])
        let filter = #"{"kinds":[1]}"#
        let alone = try rig.observed(filter, at: [relay.url], last: event(1, 4))
        #expect(alone.map(\.content) == ["beside it"])
        let status = try rig.storeStatus()
        // The live REQ brings it too, because nostr-relay reads `limit` 0 as none.
        #expect((1...2).contains(status.invalid) && status.relays.map(\.relay) == [relay.url])
        #expect(status.relays.first.map { $0.forged == status.invalid } == true)
        _ = try rig.ask("plan.relays.add", PlanRelay(relay: honest.url), as: PlanRelayList.self)
        let both = try rig.observed(filter, at: [relay.url, honest.url], last: event(1, 5))
        #expect(both.count { $0.id == genuine.id } == 1 && both.contains(genuine))
        #expect(both.allSatisfy { $0.content != "forged" })
        #expect(try rig.seen(genuine.id).contains(honest.url))
      }
    }
  }
}
