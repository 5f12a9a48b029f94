import Contracts
import Rendering
import Testing
import Wording

@Suite("The clients of the local relay")
struct LocalClientTextTests {
  private func client(_ origin: String?, _ agent: String?, isAdmitted: Bool = true) -> LocalRelayClient {
    LocalRelayClient(
      number: 1, address: "127.0.0.1:40000", origin: origin, agent: agent, isAdmitted: isAdmitted, authenticated: [],
      subscriptions: 2, taken: 3, delivered: 400, since: 1_000)
  }

  @Test("are shown in a table, with what waits and what is allowed")
  func areShown() {
    let list = LocalRelayClients(
      clients: [
        client(nil, "gossip/0.14"), client("https://new.example", "Mozilla/5.0", isAdmitted: false), client(nil, nil),
      ], others: 4, allowed: ["https://client.example"])
    #expect(
      LocalClientText.list(list, now: 1_061, .plain) == [
        "ADDRESS          MAY    SINCE  KEYS  SUBSCRIPTIONS  TAKEN  SENT  CLIENT",
        "127.0.0.1:40000  enter  1m 1s     0              2      3   400  gossip/0.14",
        "127.0.0.1:40000  wait   1m 1s     0              2      3   400  page https://new.example",
        "127.0.0.1:40000  enter  1m 1s     0              2      3   400  a program that does not say its name",
        "", "3 clients, 4 earlier ones not shown", "", "Web pages that wait to be let in:",
        "  roost client allow https://new.example", "", "Allowed web pages:", "  https://client.example",
      ])
  }

  @Test("are none, and no page is allowed, at the beginning")
  func areNone() {
    let list = LocalRelayClients(clients: [], others: 0, allowed: [])
    #expect(LocalClientText.list(list, now: 0, .plain).first == "No client is connected.")
    #expect(LocalClientText.allowed([], .plain).first?.hasPrefix("No web page is allowed.") == true)
  }

  @Test("drive no terminal by their names, and no shell by what is copied")
  func driveNothing() {
    let list = LocalRelayClients(
      clients: [
        client("https://x.example; rm -rf \u{1B}[2J", nil, isAdmitted: false),
        client(nil, String(repeating: "y", count: 5_000) + "\u{1B}"),
      ], others: 0, allowed: ["\u{1B}"])
    let text = LocalClientText.list(list, now: 0, .plain).joined(separator: "\n")
    #expect(!text.contains("\u{1B}"))
    #expect(text.contains("roost client allow 'https://x.example; rm -rf \\e[2J'"))
    #expect(text.utf8.count < 2_000)
  }

  @Test(
    "are let in by a command whose argument is one word",
    arguments: [
      ("https://a.example:8080", "https://a.example:8080"), ("", "''"), ("a b", "'a b'"), ("it's", "'it'\\''s'"),
      ("http://[::1]", "'http://[::1]'"), ("$(x)", "'$(x)'"),
    ])
  func areOneWord(text: String, word: String) {
    #expect(ShellWord.make(text) == word)
  }
}
