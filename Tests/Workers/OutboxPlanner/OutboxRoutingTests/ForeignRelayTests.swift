import Addresses
import Contracts
import Cryptography
import Nostr
import OutboxRouting
import Testing

@Suite("Relays that somebody else names")
struct ForeignRelayTests {
  private let alice = Someone("alice")
  private let hub = RelayStates.Relay.configured("wss://hub.org")

  private func foreign(_ texts: String...) throws -> [ForeignRelayURL] {
    try texts.map { ForeignRelayURL(try RelayURL($0)) }
  }

  @Test("They come behind what is planned, stay foreign, and private addresses among them are left out")
  func besides() throws {
    var directory = RelayDirectory.sample([alice], relays: [hub, .configured("ws://192.168.1.7")])
    _ = directory.learn(alice.relayList(["wss://a.org"]))
    let note = UnsignedEvent(pubkey: alice.key, createdAt: 1, kind: 1)
    let theirs = try foreign(
      "ws://127.0.0.1:81", "wss://theirs.org", "wss://a.org", "ws://router.lan", "ws://192.168.1.7")
    let route = directory.plan(note, foreign: theirs)
    #expect(route.choices.map(\.url.text) == ["wss://a.org", "ws://192.168.1.7", "wss://hub.org", "wss://theirs.org"])
    #expect(route.choices.map(\.isForeign) == [false, false, false, true], "what the user has chosen himself is his")
    #expect(route.choices.last?.why == ["named by others"])
    #expect(route.skipped.map(\.url.text) == ["ws://127.0.0.1:81", "ws://router.lan"])
    #expect(route.skipped.allSatisfy { $0.reason == "a private address, and named by others" })
    let named = directory.plan(note, named: [try RelayURL("wss://b.org")], foreign: theirs)
    #expect(named.choices.map(\.url.text).prefix(2) == ["wss://b.org", "wss://theirs.org"])
  }

  @Test("A gift wrap goes to none of them, and there is room for what is planned first")
  func bounds() throws {
    var directory = RelayDirectory.sample([alice], relays: [hub])
    let bob = Someone("bob")
    _ = directory.learn(bob.messageList(["wss://dm.org"]))
    let wrap = UnsignedEvent(pubkey: alice.key, createdAt: 1, kind: 1_059, tags: [["p", bob.key.description]])
    #expect(directory.plan(wrap, foreign: try foreign("wss://theirs.org")).choices.map(\.url.text) == ["wss://dm.org"])
    let many = try (0..<40).map { ForeignRelayURL(try RelayURL("wss://\($0).org")) }
    let route = directory.plan(UnsignedEvent(pubkey: alice.key, createdAt: 1, kind: 1), foreign: many)
    #expect(route.choices.count == PlanPublish.relayMaximum && route.choices[0].url.text == "wss://hub.org")
  }
}
