import Contracts
import Cryptography
import Nostr
import OutboxRouting

/// People, events and reports for the tests of the planner's machines. Nothing is signed: machines are told verified
/// events.
struct Someone {
  let name: String
  let key: PublicKey

  init(_ name: String) {
    self.name = name
    key = PublicKey(SHA256.hash(Array(name.utf8)))
  }

  func event(_ kind: UInt16, _ tags: [[String]] = [], at createdAt: Int64 = 1_000) -> Event {
    Event(
      UnsignedEvent(pubkey: key, createdAt: createdAt, kind: kind, tags: tags),
      signature: Signature(String(repeating: "0", count: 128))!)
  }

  /// Kind 10002: `+` in front is for writing only, `-` for reading only.
  func relayList(_ entries: [String], at createdAt: Int64 = 1_000) -> Event {
    let tags = entries.map { entry -> [String] in
      if entry.hasPrefix("+") { return ["r", String(entry.dropFirst()), "write"] }
      if entry.hasPrefix("-") { return ["r", String(entry.dropFirst()), "read"] }
      return ["r", entry]
    }
    return event(EventKind.relayList, tags, at: createdAt)
  }

  func messageList(_ relays: [String], at createdAt: Int64 = 1_000) -> Event {
    event(EventKind.directMessageRelays, relays.map { ["relay", $0] }, at: createdAt)
  }

  func blockedList(_ relays: [String], at createdAt: Int64 = 1_000) -> Event {
    event(EventKind.blockedRelays, relays.map { ["relay", $0] }, at: createdAt)
  }
}

extension RelayStates.Relay {
  static func configured(_ url: String, reads: Bool = true, writes: Bool = true) -> RelayStates.Relay {
    var relay = RelayStates.Relay(relay: url, state: "open")
    (relay.isConfigured, relay.reads, relay.writes) = (true, reads, writes)
    return relay
  }
}

extension RelayDirectory {
  /// A directory with one group of relays, one connector for all others, and these accounts.
  static func sample(_ accounts: [Someone], relays: [RelayStates.Relay]) -> RelayDirectory {
    var directory = RelayDirectory()
    directory.connectorsAre(["main", "others"])
    directory.connectorReported("main", relays, isWhole: true, dialsOthers: false)
    directory.connectorReported("others", [], isWhole: true, dialsOthers: true)
    directory.accountsAre(accounts.map { ($0.name, $0.key) })
    directory.lookedUp(accounts.map(\.key))
    return directory
  }
}
