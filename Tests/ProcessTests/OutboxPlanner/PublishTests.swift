import Contracts
import Cryptography
import Frames
import Glibc
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// A real planner, a real store, a real connector, and relays that answer as they are told.
  @Suite("Publishing")
  struct PublishTests {
    let directory: TemporaryDirectory
    let alpha: AnsweringRelay
    let beta: AnsweringRelay

    init() throws {
      directory = try TemporaryDirectory()
      alpha = try AnsweringRelay(directory, "alpha")
      beta = try AnsweringRelay(directory, "beta")
    }

    @Test("What is accepted reaches its relays, is followed to its end, and asking again is the same and sends nothing")
    func published() throws {
      try withRoost(.publishing) { roost in
        let client = try PublishClient(roost)
        let event = makeEvents(0..<1)[0]
        let accepted = try client.accepted(event, to: [alpha, beta])
        #expect(
          accepted.id == "\(event.id)" && accepted.kind == 1 && accepted.targets.map(\.why) == ["named", "named"])
        #expect(accepted.expiresAt - accepted.acceptedAt == 72 * 3_600)
        let follow = try client.peer.ask("plan.follow", #"{"id":"\#(event.id)"}"#)
        let parts = try client.peer.answer(to: follow).parts.map {
          try JSONPayload.decode(Publication.self, from: $0.payload)
        }
        #expect(parts.last?.state == .confirmed && parts.last?.targets.allSatisfy { $0.confirmedAt != nil } == true)
        #expect(try client.accepted(event, to: [alpha]).state == .confirmed)
        #expect(try StoreClient(roost).query(#"{"ids":["\#(event.id)"]}"#).count == 1)
        let gone = try AnsweringRelay(directory, "gone")
        try gone.stop()
        let more = try client.accepted(event, to: [alpha, gone])
        #expect(more.state == .partial && more.targets.count == 3)
        #expect(alpha.count(of: event) == 1 && beta.count(of: event) == 1)
      }
    }

    @Test("What the store refuses is refused in its words, and is not published")
    func refused() throws {
      try withRoost(.publishing) { roost in
        let client = try PublishClient(roost)
        let author = SecretKey.generate()
        func profile(_ time: Int64) -> Event {
          UnsignedEvent(pubkey: author.publicKey, createdAt: time, kind: 0, content: "{}").signed(by: author)
        }
        try client.accepted(profile(1_700_000_100), to: [alpha])
        let event = makeEvents(0..<1)[0]
        let forged = Event(event.unsigned, signature: profile(1_700_000_000).signature)
        var expired = UnsignedEvent(
          pubkey: author.publicKey, createdAt: 1_700_000_000, kind: 1, tags: [["expiration", "1700000001"]])
        for (refused, code) in [
          (profile(1_700_000_000), RefusalCode.superseded), (forged, .invalidEvent),
          (expired.signed(by: author), .expiredEvent),
        ] {
          #expect(try client.publish(refused, to: [alpha]).refusal?.code == code)
          #expect(try client.publication(refused) == nil)
        }
        expired = event.unsigned
        // The same id with its own signature is another matter, and a forged copy of what is known is none.
        try client.accepted(event, to: [alpha])
        try client.await(event, .confirmed)
        #expect(alpha.received.count == 2)
        let nobody = try client.peer.call(
          "plan.publish", PublishClient.arguments(event, []).replacing(#","relays":[]"#, with: ""))
        #expect(nobody.isResponse, "known already: \(nobody.text)")
        let other = makeEvents(0..<1)[0]
        let none = try client.peer.call(
          "plan.publish", PublishClient.arguments(other, []).replacing(#","relays":[]"#, with: ""))
        #expect(none.refusal?.code == .noRelays && none.refusal?.outcome == .notStarted, "\(none.text)")
      }
    }

    @Test("Each relay's answer has its own end; retry and cancel do what they say")
    func answers() throws {
      try withRoost(.publishing) { roost in
        let client = try PublishClient(roost)
        let event = makeEvents(0..<1)[0]
        try alpha.answer("false blocked: not here")
        try beta.answer("false duplicate: exists")
        try client.accepted(event, to: [alpha, beta])
        let told = try client.await(event, .confirmed)
        let blocked = told.targets.first { $0.relay == alpha.url }
        #expect(blocked?.state == .failed && blocked?.message == "blocked: not here" && blocked?.attempts == 1)
        #expect(try client.accepted(event, to: [alpha, beta]) == told, "a failed one is not tried by asking again")
        try alpha.answer("true")
        #expect(try client.change("plan.retry", event).state != .failed)
        #expect(try client.await(event, .confirmed).targets.allSatisfy { $0.state == .confirmed })
        #expect(beta.count(of: event) == 1)

        try alpha.answer("false error: no room")
        let other = makeEvents(0..<1)[0]
        try client.accepted(other, to: [alpha])
        try awaitSoon("it was refused") { try client.publication(other)?.targets.first?.nextAttemptAt != nil }
        #expect(try client.change("plan.cancel", other).state == .cancelled)
        #expect(try client.publications(#"{"states":["cancelled"]}"#).map(\.id) == ["\(other.id)"])
        let unknown = try client.peer.call("plan.cancel", #"{"id":"\#(makeEvents(0..<1)[0].id)"}"#)
        #expect(unknown.refusal?.code == .noSuchEvent)
      }
    }

    @Test("A relay that is down has it when it is up again, across a restart of everything")
    func downAndUp() throws {
      try withRoost(.publishing) { roost in
        let client = try PublishClient(roost)
        let events = makeEvents(0..<5)
        try beta.stop()
        for event in events { try client.accepted(event, to: [alpha, beta]) }
        for event in events { try client.await(event, .partial) }
        try awaitSoon("it is told why") {
          try client.publication(events[0])?.targets.contains { $0.message?.contains("cannot be reached") == true }
            == true
        }
        try roost.killDaemon()
        try awaitSoon("all workers are gone") { roost.livingProcesses.isEmpty }
        try beta.start()
        try roost.startAgain()
        try roost.awaitReady()
        let again = try PublishClient(roost)
        for event in events { try again.await(event, .confirmed) }
        #expect(alpha.received.count == 5, "what is written down as taken is not sent again")
        #expect(Set(beta.received) == Set(events.map { "\($0.id)" }))
      }
    }

    @Test("Without the store nothing is accepted, the queue shows what waits for it, and it is sent afterwards")
    func withoutStore() throws {
      try withRoost(.publishing) { roost in
        let client = try PublishClient(roost)
        _ = try client.peer.call("supervisor.stop", #"{"worker":"event-store"}"#)
        let event = makeEvents(0..<1)[0]
        let answer = try client.peer.call(
          "plan.publish", PublishClient.arguments(event, [alpha]), ttlMilliseconds: 1_500)
        let refusal = answer.refusal
        #expect(refusal?.code == .unavailable || refusal?.code == .expired, "\(refusal as Any)")
        #expect(try client.publication(event)?.state == .optimistic && alpha.received.isEmpty, "it is queued")
        _ = try client.peer.call("supervisor.restart", #"{"worker":"outbox-planner"}"#)
        _ = try client.peer.call("supervisor.start", #"{"worker":"event-store"}"#)
        try roost.awaitReady()
        try client.await(event, .confirmed)
        #expect(alpha.count(of: event) == 1)
        #expect(try client.accepted(event, to: [alpha]).state == .confirmed)
      }
    }

    @Test("A forged copy of an event takes no place of the genuine one while the store is away")
    func forgedWithoutStore() throws {
      try withRoost(.publishing) { roost in
        let client = try PublishClient(roost)
        let events = makeEvents(0..<2)
        let forged = try events.map { event in
          try Event(event.unsigned, signature: #require(Signature(String(repeating: "0", count: 128))))
        }
        let before = makeEvents(5..<6)[0]
        try client.accepted(before, to: [alpha])
        _ = try client.peer.call("supervisor.stop", #"{"worker":"event-store"}"#)
        // Of the first the forged copy comes first, of the second the genuine one.
        var refusals: [RefusalCode?] = []
        for copy in [forged[0], events[0], events[1], forged[1]] {
          let answer = try client.peer.call(
            "plan.publish", PublishClient.arguments(copy, [alpha]), ttlMilliseconds: 1_500)
          refusals.append(answer.refusal?.code)
        }
        #expect(refusals[0] == .invalidEvent && refusals[3] == .invalidEvent)
        #expect(refusals[1...2].allSatisfy { $0 == .unavailable || $0 == .expired }, "\(refusals)")
        _ = try client.peer.call("supervisor.start", #"{"worker":"event-store"}"#)
        try roost.awaitReady()
        for event in events { try client.await(event, .confirmed) }
        #expect(Set(alpha.received) == Set((events + [before]).map { "\($0.id)" }))
      }
    }

    @Test(
      "On a full disk what is new is refused, what is accepted goes on, and nothing is lost",
      .enabled(if: SmallDisk.isPossible))
    func fullDisk() throws {
      let disk = try SmallDisk(kibibytes: 16 << 10)
      var layout = Layout.publishing
      layout.supervisor["state-directory"] = "\"\(disk.path)\""
      try withRoost(layout) { roost in
        let client = try PublishClient(roost)
        let events = makeEvents(0..<20)
        try beta.stop()
        for event in events { try client.accepted(event, to: [alpha, beta]) }
        for event in events { try client.await(event, .partial) }
        let lone = makeEvents(2_000..<2_200)
        for event in lone { try client.accepted(event, to: [alpha]) }
        for event in lone { try client.await(event, .confirmed) }
        disk.fill()
        // The log has some room left; what does not fit any more is refused, and told why.
        var refusal: Refusal?
        let more = makeEvents(0..<1_000)
        var taken: [Event] = []
        for event in more where refusal == nil {
          let answer = try client.publish(event, to: [alpha])
          if answer.isResponse { taken.append(event) } else { refusal = answer.refusal }
        }
        #expect(refusal?.code == .diskFull && refusal?.outcome == .notStarted, "\(refusal as Any)")
        // A relay that is added stays in memory and is sent the event: that is not "not started", whoever asks again.
        let added = try #require(try lone.first { try !client.publish($0, to: [alpha, beta]).isResponse })
        for _ in 0..<2 {
          let unwritten = try client.publish(added, to: [alpha, beta]).refusal
          #expect(unwritten?.code == .diskFull && unwritten?.outcome == .unknown, "\(unwritten as Any)")
        }
        try beta.start()
        for event in events { try client.await(event, .confirmed) }
        try awaitSoon("the added relay has the event") { beta.count(of: added) == 1 }
        disk.makeRoom()
        try awaitSoon("there is room again") { try client.publish(more[999], to: [alpha]).isResponse }
        for event in taken { try client.await(event, .confirmed) }
        try roost.killDaemon()
        try roost.startAgain()
        try roost.awaitReady()
        let again = try PublishClient(roost)
        for event in events { try again.await(event, .confirmed) }
        #expect(events.allSatisfy { alpha.count(of: $0) == 1 })
      }
    }

    @Test("What nobody keeps has a minute, and what has a time of its own ends with it")
    func expiry() throws {
      try withRoost(.publishing) { roost in
        let client = try PublishClient(roost)
        let ephemeral = makeEvents(0..<1, kind: 20_001)[0]
        let told = try client.accepted(ephemeral, to: [alpha])
        #expect(told.expiresAt - told.acceptedAt == 60)
        try client.await(ephemeral, .confirmed)
        try alpha.answer("silent")
        let event = makeEvents(0..<1)[0]
        try client.accepted(event, to: [alpha], expiresAfter: 2)
        let failed = try client.await(event, .failed)
        #expect(failed.targets[0].message?.hasPrefix("not taken before its time was over") == true)
        // What says itself when it ends (NIP-40) ends then, and is sent nowhere after that.
        let author = SecretKey.generate()
        let end = Int64(time(nil)) + 3
        let short = UnsignedEvent(
          pubkey: author.publicKey, createdAt: end - 3, kind: 1, tags: [["expiration", "\(end)"]]
        ).signed(by: author)
        #expect(try client.accepted(short, to: [alpha]).expiresAt == end)
        try client.await(short, .failed)
        for request in [
          try client.peer.call("plan.retry", #"{"id":"\#(short.id)"}"#), try client.publish(short, to: [beta]),
        ] {
          #expect(request.refusal?.code == .expiredEvent && request.refusal?.outcome == .notStarted, "\(request.text)")
        }
        #expect(beta.count(of: short) == 0)
      }
    }
  }
}
