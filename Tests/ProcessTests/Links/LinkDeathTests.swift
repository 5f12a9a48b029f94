import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// Deaths while links are sent and received, and what is left of links in files.
  @Suite("Deaths of links", .enabled(if: PythonPeer.isAvailable, "no .venv: run Scripts/python-environment.sh"))
  struct LinkDeathTests {
    /// Whom a post stops at, in the order of its steps: the wraps are made, they are given to the publish queue, the
    /// queue has the store keep them.
    private static let steps = ["signer", "outbox-planner", "event-store", "relays"]
    private static let victims = ["link-feed", "signer", "outbox-planner", "event-store", "relays"]

    private func ask(_ alice: LinkRig, _ number: Int, to bob: PublicKey) throws -> UInt64 {
      var wanted = LinksPost(to: bob.npub, url: "https://example.com/\(number)", note: "number \(number)")
      (wanted.token, wanted.waitMilliseconds) = ("post \(number)", 20_000)
      return try alice.client.ask("links.post", String(decoding: JSONPayload.encode(wanted), as: UTF8.self))
    }

    /// Asks again with the same token until it is sent.
    private func insist(_ alice: LinkRig, _ number: Int, to bob: PublicKey) throws -> SentLink {
      var sent: SentLink?
      try awaitSoon("post \(number) is sent", within: 90, every: 100) {
        let answer = try alice.client.answer(to: try ask(alice, number, to: bob), within: 60)
        guard answer.refusal == nil else { return false }
        sent = try JSONPayload.decode(SentLink.self, from: answer.terminal.payload)
        return sent?.stage == .sent
      }
      return try #require(sent)
    }

    @Test(
      "Whatever dies while links are sent, each is at the peer once: by its wrap and by its rumor",
      .timeLimit(.minutes(8)))
    func deathsOfSending() throws {
      let relay = try RealRelay()
      try LinkRig.run("bob", [relay.url]) { bob in
        try LinkRig.run("alice", [relay.url]) { alice in
          try bob.follow()
          var sent: [SentLink] = []
          var number = 0
          func post(_ death: () throws -> Void) throws {
            number += 1
            let id = try ask(alice, number, to: bob.publicKey)
            try death()
            // The caller may or may not have its answer: it asks again.
            _ = try alice.client.answer(to: id, within: 90)
            sent.append(try insist(alice, number, to: bob.publicKey))
          }
          for step in Self.steps {
            try post { try alice.killLinkFeed(at: step) }
          }
          for victim in Self.victims {
            for moment: UInt32 in [1, 8, 25] {
              try post {
                usleep(moment * 1_000)
                try alice.rig.kill(victim)
              }
            }
          }
          #expect(Set(sent.map(\.id)).count == number, "each call has its own post")
          let posts = try bob.await(number, postsWith: alice.publicKey)
          #expect(posts.count == number && Set(posts.map(\.id)) == Set(sent.map(\.id)))
          #expect(Set(posts.compactMap(\.text)) == Set((1...number).map { "number \($0)" }))
          // One wrap for each post is in bob's store.
          let wraps = try bob.client.call(
            "store.query", ##"{"filters":[{"kinds":[1059],"#p":["\##(bob.publicKey)"]}]}"##)
          #expect(wraps.parts.count == number)
          #expect(try bob.notices().count == number)
          let mine = try alice.posts(with: bob.publicKey)
          #expect(mine.count == number && mine.allSatisfy { $0.stage == .sent && $0.isOwn })
        }
      }
    }

    @Test("Whatever dies while links are received, each is here once, with one notice", .timeLimit(.minutes(8)))
    func deathsOfReceiving() throws {
      let relay = try RealRelay()
      try LinkRig.run("bob", [relay.url]) { bob in
        try LinkRig.run("alice", [relay.url]) { alice in
          try bob.follow()
          for (number, victim) in (Self.victims + Self.victims).enumerated() {
            let id = try ask(alice, number, to: bob.publicKey)
            usleep(UInt32(number) * 9_000)
            try bob.rig.kill(victim)
            let sent = try JSONPayload.decode(
              SentLink.self, from: try alice.client.answer(to: id, within: 60).terminal.payload)
            #expect(sent.stage == .sent)
            let posts = try bob.await(number + 1, postsWith: alice.publicKey)
            #expect(Set(posts.map(\.id)).count == number + 1)
          }
          let bodies = try bob.notices().map(\.body)
          #expect(Set(bodies).count == bodies.count, "each notice comes once")
          #expect(bodies.count >= Self.victims.count)
        }
      }
    }

    @Test("No link, text, name or peer is in the files of a locked account")
    func sealed() throws {
      let relay = try RealRelay()
      let peer = SecretKey.generate().publicKey
      let words = ["quicksilver.example", "mercury rising", "Zaphod", "beeblebrox"]
      func traces(_ alice: LinkRig) throws -> [String] {
        let wanted =
          words.map { Array($0.utf8) } + [Array("\(peer)".utf8), Array(peer.npub.utf8), Array(peer.octets.bytes)]
        var found: [String] = []
        for file in SharedFolder.files(below: alice.directory) {
          let bytes = SharedFolder.bytes(ofFile: file) ?? []
          let isLinks = file.contains("link-feed") || file.hasSuffix(".log")
          for (index, text) in wanted.enumerated() where index < words.count || isLinks {
            if contains(bytes, text) { found.append("\(file) holds \(index)") }
          }
        }
        return found
      }
      try LinkRig.run("alice", [relay.url]) { alice in
        var contact = LinksContact(publicKey: peer.npub, name: words[2])
        contact.relays = [relay.url]
        _ = try alice.rig.ask("links.contact", contact, as: LinkContact.self)
        let sent = try alice.post("https://\(words[0])/", note: words[1], to: words[2])
        _ = try alice.rig.ask("messages.send", MessagesSend(to: [words[2]], text: words[3]), as: SentLink.self)
        #expect(sent.stage == .sent)
        #expect(try alice.posts(with: peer).count == 1)
        #expect(try alice.client.call("signer.leave", #"{"account":"alice"}"#).isResponse)
        try awaitSoon("the account is left here too") { try alice.rig.refusal("links.list", LinksList()) != nil }
        #expect(try traces(alice) == [])
      }
    }

    private func contains(_ bytes: [UInt8], _ wanted: [UInt8]) -> Bool {
      guard bytes.count >= wanted.count else { return false }
      return (0...bytes.count - wanted.count).contains {
        bytes[$0] == wanted[0] && bytes[$0..<$0 + wanted.count].elementsEqual(wanted)
      }
    }
  }
}
