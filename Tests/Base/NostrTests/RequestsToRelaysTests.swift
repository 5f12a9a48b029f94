import Addresses
import Cryptography
import Nostr
import TestSupport
import Testing

@Suite("What authors ask of relays (NIP-09, 40, 42, 62, 70)") struct RequestsToRelaysTests {
  // MARK: Deletion

  @Test("A request deletes what its author wrote and names, and nothing else")
  func deletion() throws {
    let note = try testEvent(kind: 1, createdAt: 9_999)
    let foreign = try testEvent(kind: 1, key: 2)
    let old = try testEvent(kind: 30_023, tags: [["d", "a"]], createdAt: 1_000)
    let new = try testEvent(kind: 30_023, tags: [["d", "a"]], createdAt: 1_001)
    let other = try testEvent(kind: 30_023, tags: [["d", "b"]])
    let profile = try testEvent(kind: 0)
    let earlier = try testEvent(kind: 5, tags: [["e", note.id.description]])
    let foreignAddress = try #require(EventAddress(of: try testEvent(kind: 30_023, tags: [["d", "a"]], key: 2)))
    let ids = [note, foreign, earlier].map { ["e", $0.id.description] }
    let addresses = [old, profile].compactMap { EventAddress(of: $0) } + [foreignAddress]
    let event = try testEvent(
      kind: 5,
      tags: ids + addresses.map { ["a", $0.description] } + [["e"], ["e", "x"], ids[0], ["a", "1:x:"], ["k", "1"]],
      content: "oops")
    let request = try DeletionRequest(event)
    #expect(request.ids == [note.id, foreign.id, earlier.id] && request.reason == "oops")
    #expect(request.addresses.count == 2 && request.droppedCount == 5)
    for event in [note, old, profile] { #expect(request.covers(IndexedEvent(event))) }
    for event in [foreign, new, other, earlier, event] { #expect(!request.covers(IndexedEvent(event))) }
  }

  @Test("A gift wrap is deleted by whom it was for, and by nobody else")
  func giftWraps() throws {
    let me = try publicTestKey().publicKey
    let mine = try testEvent(kind: 1_059, tags: [["p", me.description]], key: 2)
    let foreign = try testEvent(kind: 1_059, tags: [["p", try publicTestKey(3).publicKey.description]], key: 2)
    let note = try testEvent(kind: 1, tags: [["p", me.description]], key: 2)
    let events = [mine, foreign, note]
    let request = try DeletionRequest(testEvent(kind: 5, tags: events.map { ["e", $0.id.description] }))
    #expect(events.map { request.covers(IndexedEvent($0)) } == [true, false, false])
    let vanish = try VanishRequest(testEvent(kind: 62, tags: [["relay", "ALL_RELAYS"]]))
    #expect(events.map { vanish.covers(IndexedEvent($0)) } == [true, false, false])
  }

  @Test("A request that names nothing is refused")
  func emptyDeletion() throws {
    let foreign = try #require(EventAddress(of: try testEvent(kind: 0, key: 2)))
    for tags in [[], [["e", "x"]], [["a", foreign.description]], [["k", "1"]]] as [[[String]]] {
      #expect(throws: KindFault.missingTag("e")) { try DeletionRequest(testEvent(kind: 5, tags: tags)) }
    }
  }

  // MARK: Vanishing

  @Test("A request to vanish covers all of its author's up to its time, at the relays it names")
  func vanish() throws {
    let here: Set<RelayURL> = [try RelayURL("ws://127.0.0.1:4869"), try RelayURL("ws://localhost:4869")]
    let event = try testEvent(kind: 62, tags: [["relay", "ws://localhost:4869/"], ["relay", "x"]], content: "bye")
    let request = try VanishRequest(event)
    let elsewhere = try RelayURL("wss://other.example")
    #expect(request.isAddressed(to: here) && !request.isAddressed(to: [elsewhere]))
    let everywhere = try VanishRequest(
      testEvent(kind: 62, tags: [["relay", "wss://x.example"], ["relay", "ALL_RELAYS"]]))
    #expect(everywhere.scope == .everywhere && everywhere.isAddressed(to: []))
    #expect(request.covers(IndexedEvent(try testEvent(kind: 1))))
    #expect(request.covers(IndexedEvent(try testEvent(kind: 5, tags: [["e", event.id.description]]))))
    #expect(!request.covers(IndexedEvent(try testEvent(kind: 1, createdAt: 1_001))))
    #expect(!request.covers(IndexedEvent(try testEvent(kind: 1, key: 2))))
    #expect(!request.covers(IndexedEvent(event)))
    for tags in [[], [["relay"]], [["relay", "all_relays"]], [["r", "ALL_RELAYS"]]] as [[[String]]] {
      #expect(throws: KindFault.missingTag("relay")) { try VanishRequest(testEvent(kind: 62, tags: tags)) }
    }
  }

  // MARK: Expiration and protection

  @Test(
    "An event expires at its second, and not by what is no time",
    arguments: [("1000", 1_000), ("0", 0), ("", nil), ("-1", nil), ("1e3", nil), ("01", nil), (" 5", nil)]
      as [(String, Int64?)])
  func expiration(text: String, expected: Int64?) throws {
    let event = try testEvent(kind: 1, tags: [["expiration"], ["expiration", text], ["expiration", "7"]])
    #expect(event.expiration == expected)
    let json = event.json
    let scanned = try ScannedEvent.read(json)
    #expect(json.withUnsafeBytes { scanned.expiration(in: $0) } == expected)
    #expect(event.isExpired(at: 1_000) == (expected != nil) && !event.isExpired(at: -1))
    #expect(try testEvent(kind: 1).isExpired(at: .max) == false)
  }

  @Test("Expiration and protection are the same however the event is held", arguments: seeds(2))
  func bothForms(seed: UInt64) throws {
    var generator = EventGenerator(seed: seed)
    for _ in 0..<200 {
      let tags = (0..<generator.below(4)).map { _ in
        (0...generator.below(2)).map { _ in ["-", "expiration", "12", "x", ""][generator.below(5)] }
      }
      let event = try testEvent(kind: 1, tags: tags)
      let json = event.json
      let scanned = try ScannedEvent.read(json)
      #expect(json.withUnsafeBytes { scanned.expiration(in: $0) } == event.expiration, "\(tags)")
      #expect(json.withUnsafeBytes { scanned.isProtected(in: $0) } == event.isProtected, "\(tags)")
    }
  }

  @Test("A repost that carries a protected event is noticed")
  func protection() throws {
    let protected = try testEvent(kind: 1, tags: [["-"]])
    #expect(protected.isProtected && !protected.embedsProtected)
    let text = String(decoding: protected.json, as: UTF8.self)
    #expect(try testEvent(kind: 6, content: text).embedsProtected)
    #expect(try testEvent(kind: 16, content: text).embedsProtected)
    #expect(try testEvent(kind: 1, content: text).embedsProtected == false)
    for content in ["", "{}", "gm"] { #expect(try testEvent(kind: 6, content: content).embedsProtected == false) }
    let plain = String(decoding: try testEvent(kind: 1, tags: [["t", "-"]]).json, as: UTF8.self)
    #expect(try testEvent(kind: 6, content: plain).embedsProtected == false)
  }

  // MARK: Authentication

  @Test("An authentication answers the challenge of this relay now, and nothing else")
  func authentication() throws {
    let key = try publicTestKey()
    let relay = try RelayURL("wss://relay.example.com/")
    let template = try RelayAuthentication.template(
      for: relay, challenge: "c\"é", by: key.publicKey, createdAt: 1_000)
    let event = template.signed(by: key)
    let check = { (event: Event, challenge: String, now: Int64) throws(RelayAuthenticationFault) -> PublicKey in
      try RelayAuthentication.check(event, relays: [relay], challenge: challenge, now: now)
    }
    for now in [400, 1_000, 1_600] as [Int64] { #expect(try check(event, "c\"é", now) == key.publicKey) }
    for now in [399, 1_601, .min, .max] as [Int64] {
      #expect(throws: RelayAuthenticationFault.wrongTime) { try check(event, "c\"é", now) }
    }
    // The same for Swift, and not the same bytes.
    #expect(throws: RelayAuthenticationFault.wrongChallenge) { try check(event, "c\"e\u{301}", 1_000) }
    #expect(throws: RelayAuthenticationFault.wrongRelay) {
      try RelayAuthentication.check(
        event, relays: [try RelayURL("wss://other.example.com")], challenge: "c\"é", now: 1_000)
    }
    let slash = try testEvent(kind: 22_242, tags: [["challenge", "c"], ["relay", "WSS://relay.example.com:443/"]])
    #expect(try check(slash, "c", 1_000) == key.publicKey)
    let wrong: [(UInt16, [[String]], RelayAuthenticationFault)] = [
      (1, template.tags, .wrongKind(1)), (22_242, [["relay", relay.text]], .wrongChallenge),
      (22_242, [["challenge", "c"]], .wrongRelay), (22_242, [["challenge", "c"], ["relay", "x"]], .wrongRelay),
    ]
    for (kind, tags, fault) in wrong {
      #expect(throws: fault) { try check(try testEvent(kind: kind, tags: tags), "c", 1_000) }
      #expect(!fault.description.isEmpty)
    }
    let other = try publicTestKey(2)
    let forged = Event(template, signature: other.sign(template.id.octets))
    #expect(throws: RelayAuthenticationFault.notValid(.badSignature)) { try check(forged, "c\"é", 1_000) }
    #expect(throws: RelayAuthenticationFault.challengeTooLong(byteCount: 513)) {
      try RelayAuthentication.template(
        for: relay, challenge: String(repeating: "c", count: 513), by: key.publicKey, createdAt: 1)
    }
  }
}
