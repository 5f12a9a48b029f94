import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// Debian's browsers go through the page of links as a person does, against two real Roosts
  /// (`Tests/Peers/links_page.py`). `ROOST_PICTURES=FOLDER` keeps a picture of each view.
  @Suite("The page of links in a browser")
  struct LinkPageBrowserTests {
    private static func has(_ programs: String...) -> Bool {
      PythonPeer.isAvailable && programs.allSatisfy { access("/usr/bin/\($0)", X_OK) == 0 }
    }

    @Test(
      "Chromium reads, writes, plays and is kept out",
      .enabled(if: has("chromium", "chromedriver"), "no chromium and chromium-driver: run Scripts/browsers.sh"))
    func chromium() throws { try Self.visit("chromium") }

    @Test(
      "Firefox reads, writes, plays and is kept out",
      .enabled(if: has("firefox-esr"), "no firefox-esr: run Scripts/browsers.sh"))
    func firefox() throws { try Self.visit("firefox") }

    private static func visit(_ browser: String) throws {
      let port = try RelayVisitor.freePort()
      let relay = try RealRelay()
      let page = ["listen": "\"127.0.0.1:\(port)\""]
      try LinkRig.run("alice", [relay.url], page: page) { alice in
        try LinkRig.run("bob", [relay.url]) { bob in
          _ = try alice.rig.ask(
            "links.contact", LinksContact(account: "alice", publicKey: bob.publicKey.npub, name: "Bob"),
            as: LinkContact.self)
          let sent = try bob.post(
            "https://www.youtube.com/watch?v=dQw4w9WgXcQ", note: "a note of Bob's", to: alice.publicKey.npub)
          #expect(try bob.reply("and his reply", to: sent.id).stage == .sent)
          try awaitSoon("both are here", within: 60, every: 100) {
            // Until the post is here it is refused.
            ((try? alice.thread(sent.id)) ?? []).count == 2
          }
          let answer = try alice.client.call("page.enter", "{}")
          let address = try JSONPayload.decode(PageAddress.self, from: answer.terminal.payload).address
          let scenario = [
            "account": "alice", "contact": "Bob", "note": "a note of Bob's", "reply": "and his reply",
            "playedHost": "www.youtube-nocookie.com", "link": "https://example.com/of-the-test",
            "unreachable": SecretKey.generate().publicKey.npub, "reason": "relays", "npub": alice.publicKey.npub,
            "relay": relay.url, "unreached": "ws://127.0.0.1:\(try RelayVisitor.freePort())",
          ]
          let plan = String(decoding: JSONPayload.encode(scenario), as: UTF8.self)
          let script = SharedFolder.repository + "/Tests/Peers/links_page.py"
          let pictures = getenv("ROOST_PICTURES").map { ["--pictures", String(cString: $0)] } ?? []
          let process = try SpawnedProcess(
            PythonPeer.interpreter, [script, address, browser, plan] + pictures,
            environment: ["PYTHONUNBUFFERED=1", "HOME=\(bob.directory)", "PATH=/usr/local/bin:/usr/bin:/bin"])
          let output = try process.readAllOutput(within: 300)
          #expect(output.hasSuffix("done\n"), "\(output)")
        }
      }
    }
  }
}
