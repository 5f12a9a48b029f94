import Contracts
import Cryptography
import Frames
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// What creates a session (v2) is with a relay before any post of it is given to one: apps do not show the others.
  @Suite("The order in sessions", .enabled(if: PythonPeer.isAvailable, "no .venv: run Scripts/python-environment.sh"))
  struct LinkSessionOrderTests {
    /// Makes a contact whose gift wraps go to one relay, in sessions.
    private func contact(at relay: ScriptedRelay, _ alice: LinkRig) throws {
      var wanted = LinksContact(publicKey: "\(SecretKey.generate().publicKey)", name: "Carol")
      (wanted.relays, wanted.sessions) = ([relay.url], true)
      _ = try alice.rig.ask("links.contact", wanted, as: LinkContact.self)
    }

    private func published(_ relay: ScriptedRelay) -> [String] { relay.visits.flatMap { $0.texts("EVENT") } }

    @Test("A second post waits for a session's creation that is on its way, also through a death, and both then go")
    func waits() throws {
      let (own, relay) = (
        try RealRelay(),
        try ScriptedRelay(
          .accept(), .expect("EVENT"), .hold("creation"), .ok(true, ""), .forever(.expect("EVENT"), .ok(true, "")))
      )
      try LinkRig.run("alice", [own.url]) { alice in
        try contact(at: relay, alice)
        let posts = try ["a", "b"].map { try alice.post("https://example.com/\($0)", to: "Carol", wait: 500) }
        #expect(posts.map(\.stage) == [.kept, .kept] && posts[0].conversation == posts[1].conversation, "\(posts)")
        func rows() throws -> [LinkRow] { try alice.posts(in: posts[0].conversation) }
        #expect(try rows().allSatisfy { $0.problem?.contains("what creates its session") == true })
        try alice.rig.kill("link-feed")
        try awaitSoon("they wait again", within: 30, every: 100) {
          let found = (try? rows()) ?? []
          return found.count == 2 && found.allSatisfy { $0.problem?.contains("what creates its session") == true }
        }
        #expect(published(relay).count == 1)
        relay.release("creation")
        try awaitSoon("both are sent", within: 60, every: 100) { try rows().map(\.stage) == [.sent, .sent] }
        let events = published(relay)
        let wraps = posts.flatMap(\.copies).map(\.wrap)
        #expect(events.count == 3 && !wraps.contains { events[0].contains($0) })
        #expect(events.dropFirst().allSatisfy { event in wraps.contains { event.contains($0) } })
      }
    }

    @Test("A creation that all relays refuse refuses its post, and the next post makes another session")
    func refused() throws {
      let (own, relay) = (
        try RealRelay(),
        try ScriptedRelay(
          .accept(), .expect("EVENT"), .ok(false, "blocked: not from here"), .forever(.expect("EVENT"), .ok(true, "")))
      )
      try LinkRig.run("alice", [own.url]) { alice in
        try contact(at: relay, alice)
        var wanted = LinksPost(to: "Carol", url: "https://example.com/1")
        wanted.waitMilliseconds = 20_000
        let refusal = try #require(try alice.rig.refusal("links.post", wanted))
        #expect(refusal.code == .notSent && refusal.outcome == .notStarted, "\(refusal)")
        #expect(refusal.message.contains("creates its session") && refusal.message.contains("blocked"), "\(refusal)")
        #expect(try alice.conversations().isEmpty && published(relay).count == 1)
        let sent = try alice.post("https://example.com/2", to: "Carol")
        #expect(sent.stage == .sent, "\(sent)")
        let events = published(relay)
        let wrap = try #require(sent.copies.first { $0.recipient != "\(alice.publicKey)" }?.wrap)
        #expect(events.count == 3 && events[2].contains(wrap) && !events[1].contains(wrap))
        #expect(try alice.posts(in: sent.conversation).map(\.id) == [sent.id])
      }
    }
  }
}
