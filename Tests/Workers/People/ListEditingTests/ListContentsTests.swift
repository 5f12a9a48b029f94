import Cryptography
import Nostr
import Testing

@testable import ListEditing

@Suite("The contents of a list")
struct ListContentsTests {
  static let a = String(repeating: "aa", count: 32)
  static let b = String(repeating: "bb", count: 32)
  static let c = String(repeating: "cc", count: 32)
  /// A content in the form of NIP-44.
  static let encrypted = "Ag" + String(repeating: "A", count: 130)

  @Test("keep every tag that is not touched, in its place")
  func untouched() throws {
    let tags = [
      ["x", "", "y"], ["p", Self.a.uppercased(), "", "Al\u{301}"], ["p"], ["p", "garbage"], ["client", "z"],
    ]
    let after = try #require(try contents(3, tags, content: "{\"wss://a\":{}}").applying([.add("p", Self.b)]))
    #expect(after.tags == tags + [["p", Self.b]])
    #expect(after.content == "{\"wss://a\":{}}" && !after.mustEncrypt)
    let back = try #require(try after.applying([.remove("p", Self.b)]))
    #expect(back.tags == tags)
  }

  @Test("do not change when what is there is added, in any spelling, or what is not there is removed")
  func nothing() throws {
    let list = contents(3, [["p", Self.a.uppercased(), "wss://a.org", "Al"]])
    #expect(try list.applying([.add("p", Self.a)]) == nil)
    #expect(try list.applying([.add("p", Self.a, further: [nil, "Al"])]) == nil)
    #expect(try list.applying([.remove("p", Self.b)]) == nil)
    #expect(try list.applying([.add("p", Self.b), .remove("p", Self.b)]) == nil)
    #expect(try list.applying([]) == nil)
    #expect(try contents(10_002, [["r", "wss://A.org/"]]).applying([.add("r", "wss://a.org")]) == nil)
    #expect(try contents(10_002, [["r", "wss://a.org", ""]]).applying([.add("r", "wss://a.org")]) == nil)
  }

  @Test("have further elements replaced in place, and no others")
  func further() throws {
    let list = contents(3, [["p", Self.a.uppercased(), "wss://a.org", "Al", "odd"], ["p", Self.b]])
    let named = try #require(try list.applying([.add("p", Self.a, further: [nil, "Bo"])]))
    #expect(named.tags == [["p", Self.a.uppercased(), "wss://a.org", "Bo", "odd"], ["p", Self.b]])
    let second = try #require(try list.applying([.add("p", Self.b, further: [nil, "Bo"])]))
    #expect(second.tags[1] == ["p", Self.b, "", "Bo"])
    #expect(try second.applying([.add("p", Self.b, further: [nil, ""])])?.tags == list.tags)
  }

  @Test("have a relay's marker changed, also where it occurs twice")
  func markers() throws {
    let list = contents(
      10_002, [["r", "wss://a.org/", "read"], ["r", "wss://b.org"], ["r", "wss://a.org", "write", "x"]])
    let writes = try #require(try list.applying([.add("r", "wss://a.org", further: ["write"])]))
    #expect(
      writes.tags == [["r", "wss://a.org/", "write"], ["r", "wss://b.org"], ["r", "wss://a.org", "write", "x"]])
    let both = try #require(try list.applying([.add("r", "wss://a.org")]))
    #expect(both.tags == [["r", "wss://a.org/"], ["r", "wss://b.org"], ["r", "wss://a.org", "", "x"]])
    #expect(try list.applying([.remove("r", "wss://A.org")])?.tags == [["r", "wss://b.org"]])
  }

  @Test("compare texts byte by byte")
  func bytes() throws {
    let list = contents(10_000, [["word", "caf\u{E9}"], ["word", "\u{212A}"]])
    #expect(try list.applying([.remove("word", "cafe\u{301}")]) == nil)
    #expect(try list.applying([.remove("word", "K")]) == nil)
    #expect(try list.applying([.add("word", "cafe\u{301}")])?.tags.count == 3)
  }

  @Test("begin with the tag d for an addressable kind")
  func first() throws {
    let list = try #require(try ListContents(none: 30_000, identifier: "friends").applying([.add("p", Self.a)]))
    #expect(list.tags == [["d", "friends"], ["p", Self.a]])
    #expect(try ListContents(none: 0).applying([.set("name", text: "\"")])?.content == #"{"name":"\""}"#)
  }

  // MARK: Profiles

  @Test(
    "of a profile are edited at their places",
    arguments: [
      (#"{"a":1}"#, ListChange.set("b", json: "[1, 2]"), #"{"a":1,"b":[1, 2]}"#),
      ("{ \"a\" : 1 }\n", .set("b", json: "2"), "{ \"a\" : 1,\"b\":2 }\n"),
      (" {\n} ", .set("b", json: "2"), " {\"b\":2\n} "),
      ("", .set("b", json: "2"), #"{"b":2}"#),
      (#"{"a" : 1e400, "\u0062":"\/", "a":"x"}"#, .set("b", text: "y"), #"{"a" : 1e400, "\u0062":"y", "a":"x"}"#),
      (#"{"a" : 1, "b":2 , "a":"x"}"#, .set("a", text: "x"), #"{"a" : "x", "b":2 , "a":"x"}"#),
      (#"{"a" : 1, "b":2 , "a":"x"}"#, .unset("a"), #"{"b":2}"#),
      (#"{"a":1, "b":2, "c":3}"#, .unset("b"), #"{"a":1, "c":3}"#),
      (#"{"a":1, "b":2, "c":3 }"#, .unset("c"), #"{"a":1, "b":2 }"#),
      (#"{ "a":1, "b":2}"#, .unset("a"), #"{ "b":2}"#),
      (#"{ "a":1 }"#, .unset("a"), "{  }"),
      (#"{"x":"\ud800","a":1}"#, .set("a", json: "2"), #"{"x":"\ud800","a":2}"#),
      (#"{"a":1}"#, .set("a", json: " true "), #"{"a":true}"#),
    ] as [(String, ListChange, String)])
  func profiles(before: String, change: ListChange, after: String) throws {
    #expect(try contents(0, [["i", "x"]], content: before).applying([change])?.content == after)
  }

  @Test("of a profile stay when a field has the value already, however it is written")
  func sameField() throws {
    let list = contents(0, content: #"{"a":"\u0041\/","b":"x"}"#)
    #expect(try list.applying([.set("a", text: "A/")]) == nil)
    #expect(try list.applying([.unset("c")]) == nil)
  }

  @Test(
    "of a profile that is no object are not overwritten",
    arguments: ["[1]", "bob", "{\"a\":1", "{\"a\":1}}", "null", "{\"a\":\u{1}}", "{\"a\":\"\u{1}\"}"])
  func badProfiles(content: String) throws {
    let fault = try #require(throws: ListFault.self) {
      _ = try contents(0, content: content).applying([.set("name", text: "a")])
    }
    #expect("\(fault)".hasSuffix("nothing was overwritten"), "\(fault)")
  }

  @Test("of a profile with a name of 1 MB are refused by their size")
  func large() throws {
    let list = contents(0, content: "{\"name\":\"\(String(repeating: "a", count: 1 << 20))\"}")
    #expect(throws: ListFault.self) { _ = try list.applying([.set("about", text: "b")]) }
    #expect(try list.applying([.unset("name")])?.content == "{}")
    let odd = contents(0, content: "{\"name\":\"\u{202E}a\u{200B}\\u0000\"}")
    #expect(try odd.applying([.set("b", json: "1")])?.content == "{\"name\":\"\u{202E}a\u{200B}\\u0000\",\"b\":1}")
  }

  // MARK: The private part

  @Test("are read in the form of their private part")
  func forms() {
    #expect(contents(10_000).form == .none && contents(3, content: "{}").form == .none)
    #expect(contents(10_000, content: Self.encrypted).form == .nip44)
    #expect(contents(10_000, content: "AAAA?iv=\(String(repeating: "A", count: 22))==").form == .nip04)
    #expect(contents(10_000, content: "hello").form == .unknown)
    #expect(contents(10_000, content: Self.encrypted.dropLast() + "é").form == .unknown)
  }

  @Test("keep the ciphertext when only public entries change")
  func ciphertext() throws {
    let list = contents(10_000, [["p", Self.a]], content: Self.encrypted, hidden: "[]")
    let after = try #require(try list.applying([.remove("p", Self.a)]))
    #expect(after.content == Self.encrypted && !after.mustEncrypt && after.tags.isEmpty)
  }

  @Test("have the private part edited at its places")
  func hidden() throws {
    let text = "[ [\"p\",\"\(Self.a)\" , 1], [\"p\",\"\(Self.b)\"],\n[\"t\",\"\\u0061\"], [] ]"
    let list = contents(10_000, [["p", Self.b]], content: Self.encrypted, hidden: text)
    let after = try #require(try list.applying([.remove("p", Self.b), .add("word", "x", to: .hidden)]))
    #expect(after.mustEncrypt && after.tags.isEmpty)
    #expect(after.hiddenText == "[ [\"p\",\"\(Self.a)\" , 1],\n[\"t\",\"\\u0061\"], [],[\"word\",\"x\"] ]")
    #expect(after.template(by: Author.key, createdAt: 1, encrypted: "new").content == "new")
    #expect(try list.applying([.remove("p", Self.b, from: .hidden)])?.tags == [["p", Self.b]])
    #expect(try list.applying([.remove("p", Self.b, from: .open)])?.mustEncrypt == false)
    #expect(try list.applying([.add("t", "a", to: .hidden)]) == nil)
    let first = try #require(try contents(10_000).applying([.add("p", Self.a, to: .hidden)]))
    #expect(first.hiddenText == "[[\"p\",\"\(Self.a)\"]]" && first.mustEncrypt)
  }

  @Test("are not overwritten when the private part is not decrypted, or is garbage")
  func locked() throws {
    let list = contents(10_000, [["p", Self.a]], content: Self.encrypted)
    #expect(list.needsHiddenText(for: [.remove("p", Self.a)]) && !list.needsHiddenText(for: [.add("p", Self.b)]))
    #expect(throws: ListFault.lockedHiddenPart(.nip44)) { _ = try list.applying([.remove("p", Self.b)]) }
    #expect(throws: ListFault.lockedHiddenPart(.nip44)) { _ = try list.applying([.add("p", Self.b, to: .hidden)]) }
    #expect(try list.applying([.remove("p", Self.a)])?.content == Self.encrypted)
    #expect(throws: ListFault.lockedHiddenPart(.unknown)) {
      _ = try contents(10_000, content: "garbage").applying([.add("p", Self.b, to: .hidden)])
    }
    #expect(try contents(10_000, content: "garbage").applying([.remove("p", Self.b)]) == nil)
    for garbage in ["{}", "[1]", "[[\"p\"]", "", "hello", "[{}]"] {
      let broken = contents(10_000, content: Self.encrypted, hidden: garbage)
      let fault = #expect(throws: ListFault.self) { _ = try broken.applying([.add("p", Self.b, to: .hidden)]) }
      #expect("\(String(describing: fault))".isEmpty == false)
    }
    let long = contents(
      10_000, content: Self.encrypted, hidden: "[[\"t\",\"\(String(repeating: "a", count: 65_530))\"]]")
    #expect(throws: ListFault.self) { _ = try long.applying([.add("p", Self.b, to: .hidden)]) }
  }

  // MARK: Large ones

  @Test("of 14,000 follows are edited, and all others stay; 16,384 do not fit into an event")
  func follows() throws {
    let tags = (0..<16_384).map { ["p", Author.octets($0).description] }
    let change = [ListChange.remove("p", tags[8_000][1]), .add("p", Author.octets(20_000).description)]
    let after = try #require(try contents(3, Array(tags.prefix(14_000))).applying(change))
    #expect(after.tags == tags[..<8_000] + tags[8_001..<14_000] + [["p", Author.octets(20_000).description]])
    #expect(after.entryCount == 14_000)
    let fault = #expect(throws: ListFault.self) { _ = try contents(3, tags).applying(change) }
    #expect(fault == .tooLarge(byteCount: 1_196_032, maximum: ListContents.byteCountMaximum))
  }
}
