import Cryptography
import Nostr
import TestSupport
import Testing

@Suite("Providers announced (NIP-89)") struct NIP89Tests {
  private func read(_ content: String, tags: [[String]] = [["k", "5300"]]) throws -> HandlerInformation {
    try HandlerInformation(testEvent(kind: 31_990, tags: tags, content: content))
  }

  @Test("An announcement as programs write it is read field by field")
  func wild() throws {
    let information = try read(
      #"""
      {"name":"Translator","about":"I translate.","image":"https://x.example/i.png","lud16":"a@b.example",
       "encryptionSupported":true,"cashuAccepted":"false","amount":1000,"personalized":false,
       "nip90Params":{"language":{"required":true,"values":["en","de",5]},"max":{"required":false},"odd":7}}
      """#,
      tags: [
        ["d", "abc"], ["k", "5002"], ["k", "5000"], ["k", "5002"], ["k", "x"], ["k"], ["t", "bitcoin"], ["k", "31337"],
      ])
    let details = try #require(information.details)
    #expect(information.kinds == [5_002, 5_000, 31_337] && information.jobKinds == [5_002, 5_000])
    #expect(information.droppedCount == 2 && information.topics == ["bitcoin"] && information.identifier == "abc")
    #expect(details.name == "Translator" && details.picture == "https://x.example/i.png" && details.price == "1000")
    #expect(details.supportsEncryption == true && details.acceptsCashu == false && !information.announcesNIP44)
    #expect(
      details.parameters == [
        .init(name: "language", isRequired: true, values: ["en", "de", "5"]), .init(name: "max"), .init(name: "odd"),
      ])
    #expect(try information.address == EventAddress("31990:\(publicTestKey().publicKey):abc"))
  }

  @Test("Whether a provider takes encrypted requests is read in either spelling")
  func encryptionSupported() throws {
    for name in ["encryptionSupported", "supportsEncryption"] {
      #expect(try read("{\"\(name)\":true}").details?.supportsEncryption == true)
    }
  }

  @Test(
    "Whether NIP-44 is read is told by a tag or the content",
    arguments: [
      ("{}", ["encryption", "nip44_v2 nip04"], true), ("{}", ["encryption", "nip04", "nip44_v2"], true),
      (#"{"encryption":["nip44_v2"]}"#, ["x"], true), (#"{"encryption":"nip44_v2"}"#, ["x"], true),
      (#"{"encryption":["nip04"]}"#, ["encryption", "nip04"], false), ("", ["encryption"], false),
      (#"{"encryption":true}"#, ["x"], false),
    ])
  func encryption(content: String, tag: [String], isAnnounced: Bool) throws {
    #expect(try read(content, tags: [tag]).announcesNIP44 == isAnnounced)
  }

  @Test("An empty content means the author's profile, and one that is no object is refused")
  func contents() throws {
    #expect(try read("").details == nil && read(" \n").details == nil && read("{}").details == .init())
    for content in ["[]", "hello", "{", "{\"name\":}"] {
      #expect(throws: KindFault.self) { try read(content) }
    }
    let maximum = HandlerInformation.contentByteCountMaximum
    #expect(throws: KindFault.contentTooLarge(byteCount: maximum + 1, maximum: maximum)) {
      try read(String(repeating: "x", count: maximum + 1))
    }
    #expect(throws: KindFault.wrongKind(1, expected: [31_990])) { try HandlerInformation(testEvent(kind: 1)) }
  }

  @Test("What a provider of one's own announces is read as it was meant", arguments: seeds(6))
  func roundTrip(seed: UInt64) throws {
    var random = EventGenerator(seed: seed)
    var details = HandlerInformation.Details()
    details.name = random.oneIn(4) ? nil : "n" + random.text(8)
    details.about = "a" + random.text(30)
    details.price = "\(random.below(9_999))"
    details.supportsEncryption = [nil, true, false][random.below(3)]
    details.acceptsCashu = [nil, true, false][random.below(3)]
    details.parameters = (0..<random.below(5)).map { number in
      .init(
        name: "p\(number)" + random.text(3), isRequired: random.oneIn(2),
        values: (0..<random.below(3)).map { _ in "v" + random.text(3) })
    }
    let key = try publicTestKey()
    let template = try HandlerInformation.template(
      "mine", kinds: [5_050, 5_000], details: details, topics: ["x"], by: key.publicKey, createdAt: 9)
    let information = try HandlerInformation(template.signed(by: key))
    #expect(information.details == details && information.kinds == [5_050, 5_000] && information.topics == ["x"])
    #expect(information.announcesNIP44 == (details.supportsEncryption == true) && information.createdAt == 9)
  }

  @Test("A provider that serves nothing, or what is no job, is not announced")
  func refused() throws {
    func template(_ kinds: [UInt16], topics: Int = 0, parameters: Int = 0) throws -> UnsignedEvent {
      var details = HandlerInformation.Details()
      details.parameters = (0..<parameters).map { .init(name: "\($0)") }
      return try HandlerInformation.template(
        "x", kinds: kinds, details: details, topics: Array(repeating: "t", count: topics),
        by: publicTestKey().publicKey, createdAt: 1)
    }
    #expect(throws: JobDraftFault.nothingServed) { try template([]) }
    #expect(throws: JobDraftFault.kindOutOfRange(6_000)) { try template([5_000, 6_000]) }
    #expect(throws: JobDraftFault.tooMany("kinds", count: 257, maximum: 256)) { try template(Array(5_000..<5_257)) }
    #expect(throws: JobDraftFault.tooMany("topics", count: 51, maximum: 50)) { try template([5_000], topics: 51) }
    #expect(throws: JobDraftFault.tooMany("parameters", count: 65, maximum: 64)) {
      try template([5_000], parameters: 65)
    }
  }

  @Test("Real announcements are read")
  func real() throws {
    for line in SharedFolder.lines(of: "events/valid.jsonl") ?? [] {
      let event = try Event(json: line)
      guard event.kind == 31_990 else { continue }
      let information = try HandlerInformation(event)
      #expect(!information.kinds.isEmpty && information.details?.name?.isEmpty == false)
      #expect(information.droppedCount == 0)
    }
  }
}
