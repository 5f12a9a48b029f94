import Addresses
import Contracts
import Nostr
import OutboxRouting
import Testing

@Suite("Connectors that have not spoken")
struct SilentConnectorTests {
  private let alice = Someone("alice")
  private let main = ConfiguredConnector(
    name: "main", relays: ["wss://hub.org", "WSS://Other.org/"], reads: true, writes: true, ephemeral: false)
  private let search = ConfiguredConnector(
    name: "search", relays: ["wss://search.org"], reads: true, writes: false, ephemeral: true)

  private func directory() -> RelayDirectory {
    var directory = RelayDirectory()
    directory.configurationIs([main, search])
    directory.connectorsAre([])
    directory.accountsAre([("alice", alice.key)])
    directory.lookedUp([alice.key])
    return directory
  }

  private func urls(_ choices: [RelayChoice]) -> [String] { choices.map(\.url.text) }

  @Test("What the configuration names is written to, dialled by nobody, and not asked")
  func silent() throws {
    let directory = directory()
    #expect(urls(directory.writes(by: alice.key)) == ["wss://hub.org", "wss://other.org"])
    #expect(directory.writes(by: alice.key).allSatisfy { $0.connector == nil && $0.why == ["configured"] })
    #expect(directory.reads().isEmpty)
    #expect(directory.isConfigured(try RelayURL("wss://other.org")), "it is no relay outside the groups")
    #expect(directory.reasonForNobody(at: try RelayURL("wss://hub.org")).contains("main, which dials it, is not there"))
    #expect(directory.dialler(of: try RelayURL("wss://elsewhere.org")) == "search")
    #expect(directory.silentConnectors == [main, search])
  }

  @Test("A relay of a silent group is given to no other connector, and its own has it as soon as it speaks")
  func spoken() throws {
    var directory = directory()
    directory.connectorsAre(["search"])
    directory.connectorReported(
      "search", [.configured("wss://search.org", writes: false)], isWhole: true, dialsOthers: true)
    let hub = try RelayURL("wss://hub.org")
    #expect(directory.connector(of: hub) == nil && directory.dialler(of: hub) == "main")
    #expect(directory.connector(of: try RelayURL("wss://elsewhere.org")) == "search")
    let before = directory.revision
    directory.connectorsAre(["main", "search"])
    directory.connectorReported("main", [.configured("wss://hub.org")], isWhole: true, dialsOthers: false)
    #expect(directory.revision > before && directory.connector(of: hub) == "main")
    #expect(urls(directory.writes(by: alice.key)) == ["wss://hub.org"], "what it says itself counts")
    directory.connectorsAre(["search"])
    #expect(
      urls(directory.writes(by: alice.key)) == ["wss://hub.org", "wss://other.org"], "stopped, it is as configured")
    directory.configurationIs([search])
    #expect(directory.writes(by: alice.key).isEmpty)
  }

  @Test("Where an author's events go is unknown until the signer has spoken, and the store of an account's lists")
  func unknown() {
    var directory = RelayDirectory()
    directory.configurationIs([main])
    #expect(directory.unknown(of: alice.key)?.contains("the signer has not said") == true)
    directory.accountsAre([("alice", alice.key)])
    #expect(directory.unknown(of: alice.key)?.contains("the lists of alice") == true)
    #expect(directory.unknown(of: Someone("stranger").key) == nil)
    directory.lookedUp([alice.key])
    #expect(directory.unknown(of: alice.key) == nil)
  }
}
