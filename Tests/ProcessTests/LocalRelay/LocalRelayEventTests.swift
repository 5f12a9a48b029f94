import Contracts
import Frames
import Glibc
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// What the local relay says of an event, and what it serves afterwards.
  @Suite("The local relay and an event")
  struct LocalRelayEventTests {
    private let author = Author()
    private var now: Int64 { Int64(time(nil)) }

    @Test("An event is taken once; the same again is told for a duplicate, and is no failure")
    func duplicate() throws {
      try LocalRelayHouse.run { house in
        let visitor = try house.visitor()
        let event = author.event("hello")
        #expect(try visitor.publish(event) == .init(isAccepted: true, reason: ""))
        let again = try visitor.publish(event)
        #expect(again.isAccepted && again.reason.hasPrefix("duplicate: "), "\(again)")
        #expect(try visitor.request("{}").ids == [event].ids)
      }
    }

    @Test("An event with a wrong id is refused under the id it has")
    func wrongID() throws {
      let event = author.event("hello")
      let text = String(decoding: event.json, as: UTF8.self)
      let other = "\(author.event("other").id)"
      try expectForged(
        event,
        (text.replacing("\(event.id)", with: other), other),
        (text.replacing("\"hello\"", with: "\"hallo\""), "\(event.id)"))
    }

    @Test("An event with a wrong signature is refused under its id")
    func wrongSignature() throws {
      let event = author.event("hello")
      let text = String(decoding: event.json, as: UTF8.self)
      let (stranger, id) = (Author(), "\(event.id)")
      try expectForged(
        event,
        (text.replacing("\(event.signature)", with: "\(author.event("other").signature)"), id),
        (text.replacing("\(event.signature)", with: "\(stranger.event("hello").signature)"), id),
        (text.replacing("\(event.signature)", with: String(repeating: "0", count: 128)), id))
    }

    /// That none of these is taken, and the event they were made of is.
    private func expectForged(_ event: Event, _ forgeries: (text: String, id: String)...) throws {
      try LocalRelayHouse.run { house in
        let visitor = try house.visitor()
        for (text, id) in forgeries {
          #expect(Array(text.utf8) != event.json)
          let verdict = try visitor.publish(Array(text.utf8), id: id)
          #expect(!verdict.isAccepted && verdict.reason.hasPrefix("invalid: "), "\(verdict)")
        }
        #expect(try visitor.request("{}").ids.isEmpty)
        #expect(try visitor.publish(event).isAccepted, "a forged copy does not stand for the event")
      }
    }

    @Test("What clients hand in of strangers has a bound: above it those go that came first, and nothing else")
    func foreignLimit() throws {
      var layout = Layout.store
      layout.workers[0].keys["foreign-limit"] = "\"1MiB\""
      try LocalRelayHouse.run(beside: layout) { house in
        let visitor = try house.visitor()
        let published = author.event("mine", at: 1)
        #expect(try StoreClient(house.roost).publish(published).isResponse)
        let stranger = Author()
        let text = String(repeating: "text ", count: 10_000)
        // The age that they claim counts for nothing.
        let events = (0..<60).map { stranger.event("\($0) \(text)", at: 1_700_000_000 - Int64($0)) }
        for event in events { try visitor.put(event) }
        try awaitSoon("those of strangers are within their bound", within: 30) {
          let status = try house.ask("store.status", as: StoreStatus.self)
          return status.evicted > 0 && status.foreignBytes ?? 0 <= 1 << 20
        }
        let found = try visitor.request("{}").ids
        let newest = try #require(events.last)
        #expect(found.contains("\(published.id)") && found.contains("\(newest.id)"))
        #expect(!found.contains("\(events[0].id)") && (10..<25).contains(found.count), "\(found.count)")
      }
    }

    @Test(
      "An older version of what is replaced is refused, and only the newest is served", arguments: [0, 10_002, 30_023])
    func replaced(kind: UInt16) throws {
      try LocalRelayHouse.run { house in
        let visitor = try house.visitor()
        let versions = (0..<3).map { author.event("\($0)", kind: kind, at: 1_700_000_000 + $0, [["d", "x"]]) }
        try visitor.put(versions[1])
        let older = try visitor.publish(versions[0])
        #expect(!older.isAccepted && older.reason.contains("newer"), "\(older)")
        #expect(try visitor.request("{}").ids == [versions[1]].ids)
        try visitor.put(versions[2])
        #expect(try visitor.request("{}").ids == [versions[2]].ids)
        #expect(try visitor.request("{\"ids\":[\"\(versions[1].id)\"]}").ids.isEmpty)
      }
    }

    @Test("Of two versions of one second the one with the lower id stays, in whichever order they come")
    func tie() throws {
      try LocalRelayHouse.run { house in
        let visitor = try house.visitor()
        for isLowerFirst in [true, false] {
          let other = Author()
          let pair = [other.event("a", kind: 0), other.event("b", kind: 0)].sorted { "\($0.id)" < "\($1.id)" }
          let order = isLowerFirst ? pair : pair.reversed()
          #expect(try visitor.publish(order[0]).isAccepted)
          #expect(try visitor.publish(order[1]).isAccepted != isLowerFirst)
          #expect(try visitor.request("{\"authors\":[\"\(other.publicKey)\"]}").ids == [pair[0]].ids)
        }
      }
    }

    @Test("What its author has deleted is gone and is not taken again; a stranger's wish deletes nothing")
    func deleted() throws {
      try LocalRelayHouse.run { house in
        let visitor = try house.visitor()
        let event = author.event("hello")
        try visitor.put(event, Author().event(kind: EventKind.deletion, at: 1_700_000_001, [["e", "\(event.id)"]]))
        #expect(try visitor.request("{\"kinds\":[1]}").ids == [event].ids)
        let deletion = author.event(kind: EventKind.deletion, at: 1_700_000_001, [["e", "\(event.id)"], ["k", "1"]])
        try visitor.put(deletion)
        #expect(try visitor.request("{\"kinds\":[1]}").ids.isEmpty)
        let again = try visitor.publish(event)
        #expect(!again.isAccepted && again.reason.hasPrefix("blocked: "), "\(again)")
        let found = try visitor.request("{\"authors\":[\"\(author.publicKey)\"]}")
        #expect(found.ids == [deletion].ids, "the wish itself is served on")
      }
    }

    @Test("A deletion of an address removes its versions up to then, and leaves later ones")
    func deletedAddress() throws {
      try LocalRelayHouse.run { house in
        let visitor = try house.visitor()
        let article = author.event("1", kind: 30_023, at: 1_700_000_000, [["d", "x"]])
        let later = author.event("2", kind: 30_023, at: 1_700_000_009, [["d", "x"]])
        let address = "30023:\(author.publicKey):x"
        try visitor.put(article, author.event(kind: EventKind.deletion, at: 1_700_000_005, [["a", address]]))
        #expect(try visitor.request("{\"kinds\":[30023]}").ids.isEmpty)
        #expect(try !visitor.publish(article).isAccepted)
        try visitor.put(later)
        #expect(try visitor.request("{\"kinds\":[30023]}").ids == [later].ids)
      }
    }

    @Test("What is over when it comes is refused (NIP-40)")
    func expiredBefore() throws {
      try LocalRelayHouse.run { house in
        let visitor = try house.visitor()
        let late = try visitor.publish(author.event("late", [["expiration", "\(now - 10)"]]))
        #expect(!late.isAccepted && late.reason.hasPrefix("invalid: "), "\(late)")
        #expect(try visitor.request("{}").ids.isEmpty)
      }
    }

    @Test("What is over later is served no longer then, and not taken again (NIP-40)")
    func expiredLater() throws {
      try LocalRelayHouse.run { house in
        let visitor = try house.visitor()
        let brief = author.event("brief", [["expiration", "\(now + 2)"]])
        try visitor.put(brief, author.event("long", [["expiration", "\(now + 3_600)"]]))
        try awaitSoon("only one is left") { try visitor.request("{}").ids.count == 1 }
        #expect(try visitor.request("{\"ids\":[\"\(brief.id)\"]}").ids.isEmpty)
        let again = try visitor.publish(brief)
        #expect(!again.isAccepted && again.reason.hasPrefix("invalid: "), "\(again)")
      }
    }

    @Test("A protected event is taken from its author only, once he has shown himself")
    func protected() throws {
      try LocalRelayHouse.run { house in
        let event = author.event("mine", [["-"]])
        let (stranger, his) = (try house.visitor(), try house.visitor())
        let unknown = try stranger.publish(event)
        #expect(!unknown.isAccepted && unknown.reason.hasPrefix("auth-required: "), "\(unknown)")
        #expect(try stranger.authenticate(Author(), for: house.url).isAccepted)
        let other = try stranger.publish(event)
        #expect(!other.isAccepted && other.reason.hasPrefix("restricted: "), "\(other)")
        _ = try his.publish(event)
        #expect(try his.authenticate(author, for: house.url).isAccepted)
        #expect(try his.publish(event).isAccepted)
        #expect(try stranger.request("{}").ids == [event].ids)
      }
    }

    @Test("An ephemeral event is answered, goes to who listens, and is not there afterwards")
    func ephemeral() throws {
      try LocalRelayHouse.run { house in
        let (visitor, listener) = (try house.visitor(), try house.visitor())
        #expect(try listener.request("{\"kinds\":[20001]}", name: "live").ids.isEmpty)
        let event = author.event("now", kind: 20_001, at: now)
        try visitor.put(event)
        try listener.awaitEvent(event, under: "live")
        #expect(try visitor.request("{\"kinds\":[20001]}").ids.isEmpty)
        let count = try visitor.ask("[\"COUNT\",\"c\",{\"kinds\":[20001]}]", "COUNT")
        #expect(count.last?["count"] == .integer(0), "\(count)")
      }
    }

    @Test("Who asks to vanish is gone with all that was sent to him, and what he wrote before is not taken again")
    func vanished() throws {
      try LocalRelayHouse.run { house in
        let (visitor, other) = (try house.visitor(), Author())
        let (old, kept) = (author.event("old"), other.event("kept"))
        let wrap = other.event("sealed", kind: EventKind.giftWrap, [["p", "\(author.publicKey)"]])
        let request = author.event(kind: EventKind.vanish, at: 1_700_000_100, [["relay", "ALL_RELAYS"]])
        try visitor.put(old, kept, wrap, request)
        let found = try visitor.request("{\"authors\":[\"\(author.publicKey)\",\"\(other.publicKey)\"]}")
        #expect(Set(found.ids) == Set([kept, request].ids), "\(found)")
        let again = try visitor.publish(old)
        #expect(!again.isAccepted && again.reason.hasPrefix("blocked: "), "\(again)")
        try visitor.put(author.event("a new life", at: 1_700_000_200))
        // The wish cannot be taken back (NIP-62).
        _ = try visitor.publish(author.event(kind: EventKind.deletion, at: 1_700_000_300, [["e", "\(request.id)"]]))
        #expect(try visitor.request("{\"kinds\":[62]}").ids == [request].ids)
        #expect(try !visitor.publish(old).isAccepted)
        #expect(try visitor.authenticate(showing: author, to: house).request("{\"kinds\":[1059]}").ids.isEmpty)
      }
    }

    @Test("Who asks to vanish from another relay is served on here")
    func vanishedElsewhere() throws {
      try LocalRelayHouse.run { house in
        let visitor = try house.visitor()
        let old = author.event("old")
        try visitor.put(old)
        _ = try visitor.publish(
          author.event(kind: EventKind.vanish, at: 1_700_000_100, [["relay", "wss://elsewhere.example"]]))
        #expect(try visitor.request("{\"kinds\":[1]}").ids == [old].ids)
      }
    }

    @Test("An event that no bound of the relay lets in is refused under its id, and the connection goes on")
    func bounds() throws {
      try LocalRelayHouse.run(["message-bytes": "\"8KiB\""]) { house in
        let visitor = try house.visitor()
        let bare = author.event().json.count
        // The message around it has ten bytes more.
        let large = try visitor.publish(author.event(String(repeating: "x", count: 8_170 - bare)))
        #expect(!large.isAccepted && large.reason.hasPrefix("invalid: "), "\(large)")
        let other = try house.visitor()
        #expect(throws: (any Error).self) { try other.publish(author.event(String(repeating: "x", count: 9_000))) }
        #expect(other.closeCode == 1009, "a message that is too large ends the connection (RFC 6455)")
        let answer = author.authentication("x", for: house.url)
        let kind = try visitor.publish(answer)
        #expect(!kind.isAccepted && kind.reason.hasPrefix("invalid: "), "\(kind)")
        let carried = author.event("mine", [["-"]])
        let repost = author.event(String(decoding: carried.json, as: UTF8.self), kind: EventKind.repost)
        let refused = try visitor.publish(repost)
        #expect(!refused.isAccepted && refused.reason.hasPrefix("blocked: "), "\(refused)")
        try visitor.put(author.event("small"))
      }
    }
  }
}

extension RelayVisitor {
  /// Asks for gift wraps to be given a challenge, and answers it.
  func authenticate(showing author: Author, to house: LocalRelayHouse) throws -> RelayVisitor {
    if challenge == nil { _ = try request("{\"kinds\":[1059]}") }
    let verdict = try authenticate(author, for: house.url)
    #expect(verdict.isAccepted, "\(verdict.reason)")
    return self
  }
}
