import Addresses
import Cryptography
import JSON
import Nostr
import TestSupport
import Testing

@Suite("What people say (NIP-05, 10, 24)") struct PeopleTests {
  // MARK: Threads

  private static let ids = (0..<6).map { EventID(String(repeating: "\($0)", count: 64))! }

  private func place(_ tags: [[String]]) -> ThreadPlace { ThreadPlace(tags: tags) }
  private func tag(_ number: Int, _ rest: String...) -> [String] { ["e", Self.ids[number].description] + rest }

  @Test("Marked tags say what they are")
  func marked() throws {
    let key = try publicTestKey().publicKey
    let both = place([
      tag(2, "", "mention"), tag(1, "wss://a.example/", "reply", key.description), tag(0, "x", "root"), tag(3),
    ])
    #expect(both.root == EventReference(id: Self.ids[0]) && !both.isPositional)
    #expect(both.parent == EventReference(id: Self.ids[1], relay: try RelayURL("wss://a.example"), author: key))
    #expect(both.mentions.map(\.id) == [Self.ids[2], Self.ids[3]])
    let direct = place([tag(0, "", "root")])
    #expect(direct.root?.id == Self.ids[0] && direct.parent?.id == Self.ids[0] && direct.mentions.isEmpty)
    let replyOnly = place([tag(0, "", "reply")])
    #expect(replyOnly.root?.id == Self.ids[0] && replyOnly.parent?.id == Self.ids[0])
  }

  @Test("Tags without marks are told by their position")
  func positional() {
    #expect(place([["p", "x"]]) == place([]) && place([]).root == nil && !place([]).isPositional)
    let one = place([tag(0)])
    #expect(one.root?.id == Self.ids[0] && one.parent?.id == Self.ids[0] && one.isPositional)
    let two = place([tag(0), ["e", "broken"], ["e"], tag(1, "")])
    #expect(two.root?.id == Self.ids[0] && two.parent?.id == Self.ids[1] && two.mentions.isEmpty)
    let many = place([tag(0), tag(1), tag(4, "", "mention"), tag(2), tag(3)])
    #expect(many.root?.id == Self.ids[0] && many.parent?.id == Self.ids[3])
    #expect(many.mentions.map(\.id) == [Self.ids[1], Self.ids[2], Self.ids[4]])
    let mention = place([tag(0, "", "mention")])
    #expect(mention.root == nil && mention.parent == nil && mention.mentions.count == 1 && !mention.isPositional)
  }

  @Test("An answer stands where it was put, and names who took part")
  func answers() throws {
    let (a, b) = (try publicTestKey(1).publicKey, try publicTestKey(2).publicKey)
    let root = try testEvent(kind: 1, tags: [["p", b.description], ["p", a.description], ["p", "x"]])
    let relay = try RelayURL("wss://a.example")
    let tags = ThreadPlace.tags(answering: SubjectEvent(root, at: relay))
    #expect(tags[0] == ["e", root.id.description, "wss://a.example", "root", a.description])
    #expect(tags.dropFirst() == [["p", a.description, relay.text], ["p", b.description]])
    let answer = try testEvent(kind: 1, tags: tags, key: 2)
    let second = place(ThreadPlace.tags(answering: SubjectEvent(answer)))
    #expect(second.root == EventReference(id: root.id, relay: relay, author: a))
    #expect(second.parent == EventReference(id: answer.id, author: b) && second.mentions.isEmpty)
  }

  // MARK: Profiles

  @Test("A profile is read field by field, whatever else stands there")
  func profile() throws {
    let content = #"""
      {"name":" al\n","display_name":"","displayName":"Al \ud83e\udeb6","about":5,"picture":"https://a.example/p.png",
      "banner":null,"website":["x"],"nip05":"al@a.example","lud16":"al@pay.example","bot":true,"name":"bo",
      "username":"old","birthday":{"year":1},"deleted":false}
      """#
    let profile = try Profile(testEvent(kind: 0, content: content))
    #expect(profile.name == "bo" && profile.displayName == "Al 🪶" && profile.about == nil && profile.isBot)
    #expect(profile.picture == "https://a.example/p.png" && profile.banner == nil && profile.website == nil)
    #expect(profile.nip05 == "al@a.example" && profile.lightningAddress == "al@pay.example")
    #expect(try Profile(content: "{}") == Profile())
    #expect(try Profile(content: "{\"bot\":\"true\",\"username\":\"u\"}").name == "u")
    let long = String(repeating: "x", count: Profile.nameByteCountMaximum + 1)
    #expect(try Profile(content: "{\"name\":\"\(long)\",\"about\":\"\(long)\"}").name == nil)
  }

  @Test("A person is called by the best name there is")
  func bestName() throws {
    let cases = [
      (#"{"display_name":"D","name":"n","nip05":"x@a.example"}"#, "D"), (#"{"display_name":" ","name":"n"}"#, "n"),
      (#"{"name":"","nip05":"x@a.example"}"#, "x"), (#"{"nip05":"_@a.example"}"#, "a.example"),
      (#"{"nip05":"not one"}"#, nil), ("{}", nil),
    ]
    for (content, name) in cases { #expect(try Profile(content: content).bestName == name, "\(content)") }
  }

  @Test(
    "What is no profile is refused for its reason", arguments: ["", "[]", "null", "{", "{}x", "{\"name\":\"\\x\"}"])
  func noProfile(content: String) {
    #expect(throws: KindFault.self) { try Profile(content: content) }
    let count = Profile.contentByteCountMaximum + 1
    #expect(throws: KindFault.contentTooLarge(byteCount: count, maximum: count - 1)) {
      try Profile(content: String(repeating: " ", count: count))
    }
  }

  // MARK: Internet identifiers

  @Test("An internet identifier is a name and a domain")
  func identifiers() throws {
    let bob = try #require(InternetIdentifier("Bob.2_x-@Example.COM"))
    #expect(bob.name == "bob.2_x-" && bob.domain == "example.com" && bob.description == "bob.2_x-@example.com")
    #expect(bob.address == "https://example.com/.well-known/nostr.json?name=bob.2_x-")
    let root = try #require(InternetIdentifier("bob.com"))
    #expect(root == InternetIdentifier("_@bob.com") && root.description == "bob.com")
    #expect(InternetIdentifier("x@xn--bcher-kva.example")?.domain == "xn--bcher-kva.example")
  }

  @Test(
    "What is no identifier is refused",
    arguments: [
      "", "@", "bob@", "@a.example", "bob", "bob@localhost", "bob@127.0.0.1", "bob@[::1]", "bob@a.example:80",
      "a@b@c.example",
      "bob@a..example", "bob@.example", "bob@a.example.", "bob@-a.example", "bob@a-.example", "b ob@a.example",
      "b+ob@a.example", "bob@a.example/x", "b%6fb@a.example", "bücher@a.example", "bob@bücher.example", "bob@0x7f.0x1",
      "\u{212A}@a.example", "bob@\u{212A}.example", " bob@a.example",
    ])
  func noIdentifiers(text: String) {
    #expect(InternetIdentifier(text) == nil)
    #expect(InternetIdentifier(String(repeating: "x", count: 65) + "@a.example") == nil)
    #expect(InternetIdentifier("x@" + String(repeating: "a.", count: 130) + "example") == nil)
  }

  @Test("An answer gives the key of the name that was asked for, and its relays")
  func answer() throws {
    let bob = try #require(InternetIdentifier("bob@example.com"))
    let key = try #require(PublicKey(NIP19Tests.key))
    let answer = #"""
      {"x":[{}],"relays":{"\#(key)":["wss://a.example/",5,"nope"],"zz":["wss://b.example"],"\#(key)x":{}},
      "names":{"alice":"00","bob":"\#(key)"}}
      """#
    let found = try bob.find(in: Array(answer.utf8))
    #expect(found == ProfilePointer(pubkey: key, relays: [try RelayURL("wss://a.example")]))
    for none in [#"{"names":{"bob":"\#(key.npub)"}}"#, #"{"names":{"Bob":"\#(key)"}}"#, "{}", "[]", #"{"names":[]}"#] {
      #expect(try bob.find(in: Array(none.utf8)) == nil, "\(none)")
    }
    for broken in ["", "<html>", "{\"names\":{}", "{}{}"] {
      #expect(throws: JSONFault.self) { try bob.find(in: Array(broken.utf8)) }
    }
  }
}
