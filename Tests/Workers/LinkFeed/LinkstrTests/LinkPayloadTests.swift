import Cryptography
import Frames
import JSON
import LinkAddresses
import Testing

@testable import Linkstr

@Suite("The content of a link") struct LinkPayloadTests {
  static let member = "ae8eac3007186920c178496a8981d831c77fd0ae52904a7456bedc3866882109"

  /// Members around a kind, with the two that all contents have.
  static func json(_ members: String) -> String { #"{"conversation_id":"c1","root_id":"r1",\#(members)}"# }

  @Test("of the shared vectors is taken or refused as they say")
  func vectors() throws {
    guard let cases = try LinkFixtures.vectors("payload-cases.json")?["cases"]?.elements else { return }
    #expect(cases.count == 22)
    for test in cases {
      let json = String(decoding: try #require(test["payload"]).json, as: UTF8.self)
      let dialect: LinkPayload.Dialect = test["dialect"]?.text == "v1" ? .v1 : .v2
      let isTaken = (try? LinkPayload(json, as: dialect)) != nil
      #expect(isTaken == (test["expect"]?.text == "accept"), "\(json): \(test["why"]?.text ?? "")")
    }
  }

  @Test("is read in any order, with other members, escapes and null, and its texts are trimmed")
  func tolerant() throws {
    let json = """
      { "timestamp":123, "extra":{"a":[1,{"b":null}]}, "note":"  look\\n", "emoji":null, "url":"https:\\/\\/a.b\\/x",
        "kind":"root", "root_\\u0069d":"6F96", "conversation_id":"anything" }
      """
    let payload = try LinkPayload(json, namesRecipient: true)
    #expect(payload.dialect == .v1 && payload.timestamp == 123 && payload.rootID == "6F96")
    #expect(payload.body == .root(url: try LinkURL("https://a.b/x"), note: "look"))
    let blank = try LinkPayload(Self.json(#""kind":"reply","note":" ","url":null"#), as: .v1)
    #expect(blank.body == .reply(text: nil) && blank.timestamp == nil)
  }

  @Test("has the dialect of its kind; a root has that of its rumor")
  func dialects() throws {
    let root = #"{"conversation_id":"c","root_id":"","kind":"root","url":"https://a.b"}"#
    #expect(try LinkPayload(root, namesRecipient: true).dialect == .v1)
    #expect(try LinkPayload(root, namesRecipient: false).dialect == .v2)
    #expect(try LinkPayload(Self.json(#""kind":"reply""#), namesRecipient: false).dialect == .v1)
    #expect(try LinkPayload(Self.json(#""kind":"root_delete""#), namesRecipient: true).dialect == .v2)
    #expect(throws: LinkFault.unknownKind("session_leave")) {
      try LinkPayload(Self.json(#""kind":"session_leave""#), namesRecipient: true)
    }
  }

  @Test(
    "of a wrong type or form is refused, and the fault says why",
    arguments: [
      ("hello", LinkPayload.Dialect.v1, "not JSON"), ("[]", .v1, "not JSON"), ("", .v1, "not JSON"),
      ("{}", .v1, "no 'kind'"), (#"{"kind":"root"} x"#, .v1, "not JSON"), (#"{"kind":7}"#, .v1, "'kind'"),
      (json(#""kind":"root","url":"https://a.b","note":7"#), .v1, "'note'"),
      (json(#""kind":"root","url":["https://a.b"]"#), .v1, "'url'"),
      (json(#""kind":"root","url":"https://a.b","timestamp":"123""#), .v1, "'timestamp'"),
      (json(#""kind":"root","url":"https://a.b","timestamp":1.5"#), .v1, "'timestamp'"),
      (json(#""kind":"root","url":"https://a.b","timestamp":99999999999999999999"#), .v1, "'timestamp'"),
      (json(#""kind":"root","url":"https://a.b","url":"https://c.d""#), .v1, "'url' twice"),
      (json(#""kind":"root","url":"https://a.b","note":"\ud800""#), .v1, "not JSON"),
      (json(#""kind":"root","url":"javascript:alert(1)""#), .v1, "javascript:"),
      (json(#""kind":"root","url":"https://a:b@c.d/""#), .v1, "password"),
      (json(#""kind":"root""#), .v1, "no 'url'"), (json(#""kind":"reply","url":"https://a.b""#), .v1, "text only"),
      (json(#""kind":"reaction","emoji":"x","reaction_active":true"#), .v1, "'reaction'"),
      (json(#""kind":"\u001b[2J""#), .v1, #"'\e[2J'"#), (json(#""kind":"reply","note":"x""#), .v2, "'reply'"),
      (#"{"conversation_id":"a b","root_id":"r","kind":"root_delete"}"#, .v2, "session"),
      (json(#""kind":"reaction","emoji":" ","reaction_active":true"#), .v2, "'emoji' is empty"),
      (json(#""kind":"reaction","emoji":"x","reaction_active":1"#), .v2, "true or false"),
      (json(#""kind":"reaction","emoji":"x","reaction_active":null"#), .v2, "no 'reaction_active'"),
      (json(#""kind":"session_create","session_name":"x""#), .v2, "no 'member_pubkeys'"),
      (json(#""kind":"session_members","member_pubkeys":["\#(member)",1]"#), .v2, "a list of texts"),
      (json(#""kind":"session_members","member_pubkeys":"\#(member)""#), .v2, "a list of texts"),
      (json(#""kind":"session_members","member_pubkeys":["\#(member) "]"#), .v2, "public key"),
    ])
  func refused(json: String, dialect: LinkPayload.Dialect, word: String) {
    do throws(LinkFault) {
      let payload = try LinkPayload(json, as: dialect)
      Issue.record("\(payload)")
    } catch {
      #expect(error.description.contains(word), "\(error.description)")
      #expect(error.isFinal)
    }
  }

  @Test("is bounded: as a whole, in each text, in its members and in its nesting")
  func bounded() throws {
    func text(_ count: Int) -> String { String(repeating: "x", count: count) }
    func root(_ note: Int) -> String { Self.json(#""kind":"root","url":"https://a.b","note":"\#(text(note))""#) }
    _ = try LinkPayload(root(LinkPayload.noteByteCountMaximum), as: .v1)
    #expect(throws: LinkFault.tooLong("note", byteCount: 16_385, maximum: 16_384)) {
      try LinkPayload(root(16_385), as: .v1)
    }
    #expect(throws: LinkFault.tooLarge(byteCount: 40_000)) { try LinkPayload(text(40_000), as: .v1) }
    #expect(throws: LinkFault.tooLong("emoji", byteCount: 65, maximum: 64)) {
      try LinkPayload(Self.json(#""kind":"reaction","emoji":"\#(text(65))","reaction_active":true"#), as: .v2)
    }
    #expect(throws: LinkFault.tooLong("session_name", byteCount: 257, maximum: 256)) {
      try LinkPayload(
        Self.json(#""kind":"session_create","session_name":"\#(text(257))","member_pubkeys":[]"#), as: .v2)
    }
    #expect(throws: LinkFault.tooLong("root_id", byteCount: 129, maximum: 128)) {
      try LinkPayload(#"{"root_id":"\#(text(129))"}"#, as: .v1)
    }
    func members(_ count: Int) -> String {
      let keys = (0..<count).map { "\"\(SHA256.hash([UInt8($0 >> 8), UInt8($0 & 255)]))\"" }
      return Self.json(#""kind":"session_members","member_pubkeys":[\#(keys.joined(separator: ","))]"#)
    }
    guard case .sessionMembers(let keys) = try LinkPayload(members(256), as: .v2).body else {
      Issue.record("another kind")
      return
    }
    #expect(keys.count == 256)
    #expect(throws: LinkFault.tooManyMembers(257)) { try LinkPayload(members(257), as: .v2) }
    let deep = String(repeating: "[", count: 100) + String(repeating: "]", count: 100)
    #expect(throws: LinkFault.self) { try LinkPayload(Self.json(#""kind":"reply","x":\#(deep)"#), as: .v1) }
  }

  @Test("names each member once, in lower case")
  func members() throws {
    let json = Self.json(
      #""kind":"session_members","member_pubkeys":["\#(Self.member)","\#(Self.member.uppercased())"]"#)
    #expect(try LinkPayload(json, as: .v2).body == .sessionMembers([try #require(PublicKey(Self.member))]))
  }

  @Test("is read as it was written, in each kind")
  func written() throws {
    let keys = [LinkFixtures.alice.publicKey, LinkFixtures.bob.publicKey].sorted()
    let note = "a \"note\"\\ with\n\u{1}, \u{1F469}\u{200D}\u{1F680} and /"
    let bodies: [(LinkPayload.Dialect, LinkPayload.Body)] = [
      (.v1, .root(url: try LinkURL("https://a.b/?q=\"x\""), note: note)),
      (.v1, .root(url: try LinkURL("https://a.b/"), note: nil)), (.v1, .reply(text: note)),
      (.v2, .root(url: try LinkURL("http://a.b/"), note: note)), (.v2, .rootDelete),
      (.v2, .sessionCreate(name: "\"Friends\"", members: keys)), (.v2, .sessionMembers(keys)),
      (.v2, .reaction(emoji: "👍", isActive: true)), (.v2, .reaction(emoji: "👍", isActive: false)),
    ]
    for (dialect, body) in bodies {
      let payload = LinkPayload(dialect, conversationID: "c1", rootID: "r1", timestamp: 123, body)
      #expect(try LinkPayload(payload.json, as: dialect) == payload)
      #expect(JSONFlaw.first(in: Array(payload.json.utf8)) == nil && !payload.json.contains("null"))
    }
    let example = try LinkPayload(
      #"{"timestamp":1771700000,"kind":"root","note":"look","url":"https://example.com","root_id":"6F","conversation_id":"c"}"#,
      as: .v1)
    #expect(
      example.json
        == #"{"conversation_id":"c","root_id":"6F","kind":"root","url":"https://example.com","note":"look","timestamp":1771700000}"#
    )
  }

  @Test("Addresses of the shared vectors are normalised or refused as they say")
  func addressVectors() throws {
    guard let rows = try LinkFixtures.vectors("payload-cases.json")?["urls"]?.elements else { return }
    #expect(rows.count == 7)
    for row in rows {
      let input = try #require(row.elements[0].text)
      // `try?`: the vectors do not say why.
      #expect((try? LinkURL(input))?.text == row.elements[1].text, "\(input)")
    }
  }
}
