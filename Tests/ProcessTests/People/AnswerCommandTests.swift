import Contracts
import Cryptography
import Frames
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// `roost reply`, `comment`, `react` and `repost`, with relays.
  @Suite("Writing about events") struct AnswerCommandTests {
    /// What `roost` printed with `--json`: the event's id.
    private struct Report: Decodable {
      let id: String
    }

    private func run(_ rig: FeedRig, _ arguments: [String], _ input: String = "") throws -> Event {
      let signer = SignerRig(roost: rig.rig.roost, client: rig.rig.client)
      let result = try signer.command(arguments + ["--as", "alice", "--json"], input)
      #expect(result.status == .exited(0), "\(arguments): \(result.output)")
      // Standard error is in it too.
      let line = try #require(result.output.split(separator: "\n").last { $0.hasPrefix("{") })
      let report = try JSONPayload.decode(Report.self, from: Array(line.utf8))
      let answer = try rig.rig.client.call("store.query", #"{"filters":[{"ids":["\#(report.id)"]}]}"#)
      return try Event(json: try #require(answer.parts.first).payload)
    }

    private func isAt(_ relay: KeepingRelay, _ event: Event, _ rig: FeedRig) throws -> Bool {
      let answer = try rig.rig.client.call(
        "relay.request", #"{"relay":"\#(relay.url)","filters":[{"ids":["\#(event.id)"]}]}"#)
      return !answer.parts.isEmpty
    }

    @Test("Each has the tags of its NIP, is at one's own relay, and where its addressee reads")
    func places() throws {
      let (own, inbox, elsewhere) = (try KeepingRelay(), try KeepingRelay(), try KeepingRelay())
      try FeedRig.run([own.url]) { rig in
        let (bob, carol) = (SecretKey.generate(), SecretKey.generate())
        let lists = [["r", inbox.url, "read"], ["r", elsewhere.url, "write"]]
        try rig.store(rig.event(bob, kind: 10_002, lists))
        let note = rig.event(bob, [["p", "\(carol.publicKey)"]], "a note")
        let article = rig.event(bob, kind: 30_023, [["d", "a"], ["title", "A"]], "an article")
        let secret = rig.event(bob, [["-"]], "not for everyone")
        for event in [note, article, secret] { try rig.store(event) }
        let signer = SignerRig(roost: rig.rig.roost, client: rig.rig.client)
        let (me, him) = ("\(rig.alice.publicKey)", "\(bob.publicKey)")

        let reply = try run(rig, ["reply", note.id.note, "yes"])
        #expect(reply.kind == 1 && reply.content == "yes" && "\(reply.pubkey)" == me)
        #expect(reply.tags.first == ["e", "\(note.id)", "", "root", him])
        #expect(reply.values(of: "p") == [him, "\(carol.publicKey)"])

        let nevent = EventPointer(id: article.id).nevent
        let comment = try run(rig, ["reply", "nostr:\(nevent)", "-"], "good\n")
        #expect(comment.kind == 1_111 && comment.content == "good")
        #expect(comment.firstValue(of: "A") == "30023:\(him):a" && comment.firstValue(of: "K") == "30023")

        let address = try #require(EventAddress(of: article))
        let naddr = try #require(AddressPointer(address).naddr)
        let second = try run(rig, ["comment", naddr, "better"])
        #expect(second.firstValue(of: "a") == "\(address)" && second.firstValue(of: "e") == "\(article.id)")
        let below = try run(rig, ["comment", "\(second.id)", "and more"])
        #expect(below.firstValue(of: "A") == "\(address)" && below.firstValue(of: "k") == "1111")

        let like = try run(rig, ["react", "\(address)"])
        #expect(like.kind == 7 && like.content == "+" && like.firstValue(of: "a") == "\(address)")
        let emoji = try run(rig, ["react", "\(note.id)", "🤙"])
        #expect(emoji.content == "🤙" && emoji.firstValue(of: "k") == "1")
        let dislike = try run(rig, ["react", "\(note.id)", "-"])
        #expect(dislike.content == "-")

        let repost = try run(rig, ["repost", note.id.note])
        #expect(repost.kind == 6 && Array(repost.content.utf8) == note.json && repost.firstValue(of: "p") == him)
        let generic = try run(rig, ["repost", naddr])
        #expect(generic.kind == 16 && generic.firstValue(of: "k") == "30023")
        let named = try run(rig, ["repost", "\(secret.id)"])
        #expect(named.content.isEmpty, "it is protected")

        let page = try run(rig, ["comment", "https://Example.com/a#b", "worth it"])
        #expect(page.firstValue(of: "I") == "https://example.com/a" && page.firstValue(of: "K") == "web")

        for event in [reply, comment, second, like, emoji, dislike, repost, generic, named] {
          try awaitSoon("kind \(event.kind) is where bob reads, and at alice's relay") {
            try isAt(inbox, event, rig) && isAt(own, event, rig)
          }
          #expect(try !isAt(elsewhere, event, rig))
        }
        for (arguments, words) in [
          (["comment", "\(note.id)", "x"], "roost reply"), (["react", "\(note.id)", "hello"], "one emoji"),
          (["reply", "npub1xyz", "x"], "names no event"), (["comment", "nothing", "x"], "NIP-73"),
        ] {
          let result = try signer.command(arguments + ["--as", "alice"], "")
          #expect(result.status != .exited(0) && result.output.contains(words), "\(arguments): \(result.output)")
        }
      }
    }

    @Test("An event that is not stored is fetched from where its author writes, or from the relay that its name has")
    func fetched() throws {
      let (own, home) = (try KeepingRelay(), try KeepingRelay())
      try FeedRig.run([own.url]) { rig in
        let bob = SecretKey.generate()
        try rig.store(rig.event(bob, kind: 10_002, [["r", home.url]]))
        let note = rig.event(bob, [], "far away")
        try rig.rig.put(note, on: home)
        let like = try run(rig, ["react", EventPointer(id: note.id, author: bob.publicKey).nevent])
        #expect(like.firstValue(of: "e") == "\(note.id)")
      }
    }
  }
}
