import Nostr
import Testing

@testable import ListEditing

@Suite("Changes of a list")
struct ListChangeTests {
  static let key = String(repeating: "ab", count: 32)

  @Test("have their values in one spelling: keys in lower case or from npub, relays in canonical form")
  func spelling() throws {
    let changes = try ListChange.checked(
      [
        .add("p", Self.key.uppercased()),
        .remove("p", "npub180cvv07tjdrrgpa0j7j7tmnyl2yr6yr7l8j4s3evf6u64th6gkwsyjh6w6"),
      ],
      kind: 3)
    #expect(changes[0].value == Self.key)
    #expect(changes[1].value == "3bf0c63fcb93463407af97a5e5ee64fa883d107ef9e558472c4eb9aaaefa459d")
    let relay = try ListChange.checked([.add("r", " WSS://Relay.Example.com:443/ ")], kind: 10_002)[0]
    #expect(relay.value == "wss://relay.example.com" && relay.further == [""])
  }

  @Test(
    "that are wrong are refused in the user's words",
    arguments: [
      (3, ListChange.add("p", "bob"), "\"bob\" is not a public key (64 hexadecimal digits, or npub1…)"),
      (3, .add("e", key), "\"e\" is no entry of a list of kind 3: its entries are p"),
      (10_002, .add("r", "https://a.org"), "begins with https://"),
      (10_002, .add("r", "wss://a.org", further: ["both"]), "\"both\" is no marker of a relay"),
      (10_050, .add("relay", "wss://a.org", to: .hidden), "has no private part"),
      (10_000, .add("e", "1"), "is not an event's id"),
      (1, .add("p", key), "not replaced by newer ones"),
      (0, .add("p", key), "a profile (kind 0) has no entries"),
      (3, .set("name", text: "a"), "has no fields"),
      (0, .set("name", json: "bob"), "is not JSON"),
      (0, .set("name", json: "1,\"b\":2"), "is not JSON"),
      (0, .set("", json: "1"), "a name is empty"),
      (30_003, .add("title", "a"), "describes the list itself"),
      (10_001, .add("d", "a"), "describes the list itself"),
      (10_000, .add("word", ""), "is empty"),
      (10_000, .add("word", String(repeating: "a", count: 4_097)), "4097 bytes, which is too long"),
      (10_000, .add(String(repeating: "a", count: 129), "b"), "more than 128 bytes"),
      (3, .add("p", key, further: ["ftp://a", nil]), "ftp://"),
      (3, .add("p", key, further: Array(repeating: nil, count: 17)), "17 elements"),
      (3, .add("p", "a\u{202E}b"), "\\u{202E}"),
    ] as [(UInt16, ListChange, String)])
  func refused(kind: UInt16, change: ListChange, words: String) throws {
    let fault = try #require(throws: ListFault.self) { _ = try ListChange.checked([change], kind: kind) }
    #expect("\(fault)".contains(words), "\(fault)")
  }

  @Test("are bounded in number")
  func bounded() throws {
    let many = Array(repeating: ListChange.add("p", Self.key), count: ListChange.countMaximum + 1)
    #expect(throws: ListFault.tooManyChanges(4_097)) { _ = try ListChange.checked(many, kind: 3) }
  }

  @Test("that remove take what is in the list, be it garbage")
  func garbageIsRemoved() throws {
    #expect(try ListChange.checked([.remove("p", "bob")], kind: 3)[0].value == "bob")
    #expect(try ListChange.checked([.remove("r", "bob")], kind: 10_002)[0].value == "bob")
  }
}
