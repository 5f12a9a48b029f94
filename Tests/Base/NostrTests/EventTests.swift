import Cryptography
import FoundationEssentials
import Nostr
import TestSupport
import Testing

/// The key 0…01, with which nothing secret is signed.
func publicTestKey(_ last: UInt8 = 1) throws -> SecretKey {
  let bytes = [UInt8](repeating: 0, count: 31) + [last]
  return try #require(bytes.withUnsafeBytes { SecretKey(bytes: $0) })
}

@Suite struct EventTests {
  @Test("A signed event has the id that other implementations compute, and verifies")
  func signed() throws {
    let key = try publicTestKey()
    let plain = UnsignedEvent(pubkey: key.publicKey, createdAt: 1, kind: 1, content: "hello nostr")
    #expect(plain.id.description == "090cb4595c9fa1b6482d9cc55d007007571dbb65f7c929244fc4dae3bf803e43")
    let event = plain.signed(by: key)
    try event.verify()
    #expect(event.unsigned == plain && event.id == plain.id)
    let changed = Event(
      UnsignedEvent(pubkey: key.publicKey, createdAt: 1, kind: 1, content: "other"), signature: event.signature)
    #expect(throws: EventFault.badSignature) { try changed.verify() }
    let json = String(decoding: event.json, as: UTF8.self)
    #expect(
      throws: EventFault.wrongID(UnsignedEvent(pubkey: key.publicKey, createdAt: 1, kind: 1, content: "bye nostr").id)
    ) { try Event(json: Array(json.replacing("hello", with: "bye").utf8)).verify() }
  }

  @Test("Events of an interoperability suite have the ids and signatures it says")
  func vectors() throws {
    struct Row: Decodable {
      let name: String, event: Template, expected: Expected
      struct Template: Decodable {
        let pubkey: String, createdAt: Int64, kind: UInt16, tags: [[String]], content: String
      }
      struct Expected: Decodable { let id: String, sig: String }
    }
    for row in try sharedVectors([Row].self, "nip01/interop-lab-nip01.json") ?? [] {
      let pubkey = try #require(PublicKey(row.event.pubkey))
      let unsigned = UnsignedEvent(
        pubkey: pubkey, createdAt: row.event.createdAt, kind: row.event.kind, tags: row.event.tags,
        content: row.event.content)
      #expect(unsigned.id.description == row.expected.id, "\(row.name)")
      try Event(unsigned, signature: try #require(Signature(row.expected.sig))).verify()
    }
  }

  @Test("An event's JSON is the compact form of what it was read from", arguments: seeds(4))
  func json(seed: UInt64) throws {
    var generator = EventGenerator(seed: seed)
    for _ in 0..<500 {
      let json = generator.json()
      let scanned = try ScannedEvent.read(json)
      let event = try Event(json: json)
      #expect(event.json == scanned.compactForm(in: json))
      #expect(try Event(json: event.json) == event)
      #expect(event.unsigned.id == json.withUnsafeBytes { EventVerifier().identify(scanned, in: $0) })
    }
  }

  @Test("A rumor written is the rumor read; so is one without its id", arguments: seeds(4))
  func rumors(seed: UInt64) throws {
    var generator = EventGenerator(seed: seed)
    for _ in 0..<200 {
      let rumor = try Event(json: generator.json()).unsigned
      #expect(try UnsignedEvent(json: rumor.json) == rumor)
      let text = String(decoding: rumor.json, as: UTF8.self)
      #expect(!text.contains("\"sig\":") || rumor.content.contains("sig") || rumor.tags.joined().contains("\"sig\":"))
      let template = text.replacing("\"id\":\"\(rumor.id)\",", with: "", maxReplacements: 1)
      #expect(try UnsignedEvent(json: Array(template.utf8)) == rumor)
    }
  }

  @Test("A template takes its author from who asks, and only where it names none")
  func templates() throws {
    let author = try publicTestKey().publicKey
    let other = try publicTestKey(2).publicKey
    let template = Array(#"{"created_at":5,"kind":1,"tags":[["t","x"]],"content":"c","sig":"","x":[]}"#.utf8)
    #expect(try UnsignedEvent(json: template, author: author).pubkey == author)
    #expect(throws: EventFault.missingKey("pubkey")) { try UnsignedEvent(json: template) }
    let named = Array(#"{"pubkey":"\#(other)","created_at":5,"kind":1,"tags":[],"content":"c"}"#.utf8)
    #expect(try UnsignedEvent(json: named, author: author).pubkey == other)
  }

  @Test(
    "A rumor that is none is refused for its reason",
    arguments: [
      (#""id":"", "#, "id"), (#""id":"\#(String(repeating: "ab", count: 32))","#, "would be"), (#""kind":2,"#, "twice"),
      (#""created_at":-1,"#, "created_at"), (#""tags":[[]],"#, "tags"), (#""tags":[],"tags":[],"#, "twice"),
    ])
  func refused(part: String, word: String) throws {
    let key = try publicTestKey().publicKey
    let json = #"{\#(part)"pubkey":"\#(key)","created_at":5,"kind":1,"tags":[],"content":"c"}"#
    do throws(EventFault) {
      _ = try UnsignedEvent(json: Array(json.utf8))
      Issue.record("taken: \(json)")
    } catch { #expect(error.description.contains(word), "\(error)") }
  }

  @Test("Every key of a rumor but its id is needed", arguments: ["pubkey", "created_at", "kind", "tags", "content"])
  func missing(name: String) throws {
    let key = try publicTestKey().publicKey
    let members = [
      #""pubkey":"\#(key)""#, #""created_at":5"#, #""kind":1"#, #""tags":[]"#, #""content":"c""#,
    ].filter { !$0.contains("\"\(name)\"") }
    #expect(throws: EventFault.missingKey(name)) {
      try UnsignedEvent(json: Array("{\(members.joined(separator: ","))}".utf8))
    }
  }

  @Test("Tags are found by name, byte by byte")
  func tags() throws {
    let key = try publicTestKey().publicKey
    // The second name is the Kelvin sign, which Swift takes for a K.
    let tags = [["K"], ["\u{212A}", "1"], ["K", "2", "x"], ["k", "3"], ["K", "4"]]
    let event = UnsignedEvent(pubkey: key, createdAt: 1, kind: 1, tags: tags)
    #expect(event.firstValue(of: "K") == "2" && event.values(of: "K") == ["2", "4"] && event.values(of: "q").isEmpty)
    let accent = UnsignedEvent(pubkey: key, createdAt: 1, kind: 1, content: "e\u{301}")
    #expect(accent != UnsignedEvent(pubkey: key, createdAt: 1, kind: 1, content: "\u{e9}"))
  }
}
