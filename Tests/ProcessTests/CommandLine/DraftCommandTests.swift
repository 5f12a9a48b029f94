import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// What people publish by mistake, and what they are told.
  @Suite("Drafts, as the commands and the signer take them")
  struct DraftCommandTests {
    private static let nsec = "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5"
    private static let npub = "npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg"
    private static let hex = "7e7e9c42a91bfef19fa929e5fda1b72e0ebc1a4c1141673e2794234d86addf4e"

    @Test("A secret key is neither taken as an argument nor signed, wherever it stands, unless somebody insists")
    func secrets() throws {
      try withRoost(.storeAndSigner) { roost in
        let client = try roost.client()
        _ = try client.call("signer.generate", #"{"name":"alice"}"#)
        for arguments in [
          ["publish", "--content", "my key: " + Self.nsec], ["publish", "--content", "x", "--tag", "p=" + Self.nsec],
          ["key", "import", "bob", Self.nsec], ["key", "import", Self.nsec], ["key", "unlock", "alice", "horse"],
          ["key", "import", "bob", String(Self.nsec.dropLast())], ["observe", "--author", Self.nsec],
        ] {
          let refused = try roost.command(arguments)
          #expect(refused.status == .exited(2) && refused.output.contains("history"), "\(refused.output)")
          #expect(!refused.output.contains("vl029") && !refused.output.contains("horse"), "\(refused.output)")
        }
        let typed = try roost.command(["publish", "--content", "-"], input: "key: \(Self.nsec)\n")
        #expect(typed.status == .exited(1) && typed.output.contains("'content' holds a secret key (nsec1…)"))
        #expect(typed.output.contains("--allow-secrets") && !typed.output.contains("vl029"))
        let draft = #"{"kind":1,"tags":[["x","\#(Self.nsec)"]]}"#
        let lines = try roost.command(["publish", "-"], input: draft + "\n")
        #expect(lines.status == .exited(1) && lines.output.contains("'tags[0][1]' holds"), "\(lines.output)")
        for (method, member) in [("signer.sign", "event"), ("signer.wrap", "rumor")] {
          let recipient = method == "signer.wrap" ? #""recipient":"\#(Self.hex)","# : ""
          let refusal = try client.call(method, #"{\#(recipient)"\#(member)":\#(draft)}"#).refusal
          #expect(refusal?.code == .badRequest && refusal?.message.contains("vl029") == false, "\(method)")
        }
        let meant = try roost.command([
          "publish", "--local", "--content", "an example: " + Self.nsec, "--allow-secrets",
        ])
        #expect(meant.status == .exited(0), "\(meant.output)")
        #expect(try client.call("store.count", #"{"filters":[{"kinds":[1]}]}"#).text.contains(#""count":1"#))
      }
    }

    @Test("What no event has, stands twice or refers to nothing is refused by name; entities become digits")
    func mistakes() throws {
      try withRoost(.storeAndSigner) { roost in
        let client = try roost.client()
        _ = try client.call("signer.generate", #"{"name":"alice"}"#)
        for (json, message) in [
          (#"{"kind":1,"tgas":[]}"#, "'tgas' is nothing that an event has; did you mean 'tags'?"),
          (#"{"kind":1,"content":"a","content":"b"}"#, "'content' is there twice"),
          (#"{"kind":1,"content":"a\ud800"}"#, #"'content' has \ud800"#),
          (#"{"kind":1,"created_at":9007199254740993}"#, "(2^53 - 1)"),
          (#"{"kind":1,"tags":[["p","\#(Self.npub)"]]}"#, "is written \(Self.hex)"),
          (#"{"kind":1,"tags":[["e","\#(Self.hex.dropLast())"]]}"#, "has 63 characters"),
        ] {
          let refused = try roost.command(["publish", json])
          let text = refused.output.split(separator: "\n").map { $0.drop { $0 == " " } }.joined(separator: " ")
          #expect(refused.status == .exited(1) && text.contains(message), "\(refused.output)")
          let refusal = try client.call("signer.sign", #"{"event":\#(json)}"#).refusal
          #expect(refusal?.code == .badRequest && refusal?.outcome == .notStarted, "\(json)")
        }
        for arguments in [
          ["publish", "--content", "x", "--tag", "p=\(Self.npub.dropLast())"],
          ["publish", "--content", "x", "--kind", "99999"],
          ["publish", "--content", "x", "--tag", #"["e","\#(Self.npub)"]"#], ["observe", "--kind", "-1"],
          ["observe", "--after", "-1"], ["observe", "--tag", "p=npub1x"], ["observe", #"{"kinds":[1],"kinds":[2]}"#],
        ] {
          let refused = try roost.command(arguments)
          #expect(refused.status == .exited(2), "\(arguments)")
        }
        #expect(try roost.command(["observe", "--kind", "99999"]).output.contains("from 0 to 65535"))
        #expect(try roost.command(["observe", "--after", "-1"]).output.contains("whole number from 0"))
        let filters = try client.call("store.query", #"{"filters":[{"kinds":[1],"kinds":[2]}]}"#).refusal
        #expect(filters?.message.hasPrefix("'filters[0].kinds' is there twice") == true)
        let tags = ["--tag", "p=\(Self.npub)", "--tag", #"["p","nostr:\#(Self.npub)","","x"]"#]
        #expect(try roost.command(["publish", "--local", "--content", "x"] + tags).status == .exited(0))
        let stored = try roost.command(["export", "--tag", "p=\(Self.npub)"]).output
        #expect(stored.contains(#""tags":[["p","\#(Self.hex)"],["p","\#(Self.hex)","","x"]]"#), "\(stored)")
      }
    }

    @Test("What everybody would read, says nothing or deletes nothing is refused before it is signed")
    func pointless() throws {
      try withRoost(.storeAndSigner) { roost in
        _ = try roost.client().call("signer.generate", #"{"name":"alice"}"#)
        let tag = ["--tag", "p=\(Self.npub)"]
        for (arguments, input, message) in [
          (["--kind", "4", "--content", "secret"], "", "would be read by everybody"),
          (["--kind", "4", "--content", "secret"] + tag, "", "would be read by everybody"),
          ([#"{"kind":4,"content":"secret"}"#], "", "would be read by everybody"),
          (["--content", ""], "", "there is nothing to publish"),
          (["--content", "-"], "\n", "there is nothing to publish"),
          ([#"{"kind":1,"content":" "}"#], "", "there is nothing to publish"),
          (["--kind", "5", "--content", "gone"], "", "deletes nothing"),
        ] {
          let refused = try roost.command(["publish", "--local"] + arguments, input: input)
          let words = refused.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
          #expect(refused.status == .exited(1) && words.contains(message), "\(arguments): \(words)")
          #expect(words.contains("nothing was done"), "\(arguments): \(words)")
        }
        for arguments in [
          ["--kind", "4", "--content", "c2VjcmV0IHNlY3JldCAxMg==?iv=c2VjcmV0IHNlY3JldCAxMg=="] + tag,
          ["--kind", "3", "--content", ""], ["--content", ""] + tag,
          ["--kind", "5", "--content", "", "--tag", "e=\(Self.hex)"],
        ] {
          let taken = try roost.command(["publish", "--local"] + arguments)
          #expect(taken.status == .exited(0), "\(arguments): \(taken.output)")
        }
      }
    }

    @Test("Where only workers have accounts, every command says how to make one")
    func noAccountYet() throws {
      try SignerRig.run(.storeAndSigner) { rig in
        let provider = try rig.attach("provider", role: "dvm-provider")
        _ = try rig.ask("signer.own", NoArguments(), by: provider, as: SignerAccount.self)
        for arguments in [
          ["publish", "--content", "x"], ["publish", "--content", "x", "--as", "alice"], ["key", "show"],
          ["key", "show", "alice"], ["key", "unlock"], ["key", "passphrase"],
        ] {
          let told = try rig.command(arguments, "")
          let words = told.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
          let wanted = "there is no account yet; 'roost setup' makes one"
          #expect(words.contains(wanted), "\(arguments): \(words)")
        }
      }
    }

    @Test("--timeout bounds the wait for a locked account, and for a store that does not answer")
    func bounded() throws {
      try SignerRig.run(.storeAndSigner) { rig in
        try rig.generate("alice", "horse")
        _ = try rig.command(["key", "lock"], "")
        var started = ContinuousClock.now
        let locked = try rig.command(["publish", "--json", "--local", "--content", "x", "--timeout", "1s"], "")
        #expect(locked.status == .exited(1) && locked.output.contains(#""code":"locked""#), "\(locked.output)")
        #expect(ContinuousClock.now - started < .seconds(20))
        #expect(try rig.unlock("alice", "horse") == nil)
        let store = try #require(try rig.roost.worker("event-store").pid)
        kill(pid_t(store), SIGSTOP)
        started = ContinuousClock.now
        let stopped = try rig.command(["publish", "--local", "--content", "x", "--timeout", "1s"], "")
        kill(pid_t(store), SIGCONT)
        let words = stopped.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(stopped.status == .exited(5) && words.contains("do not repeat the command"), "\(stopped.output)")
        #expect(ContinuousClock.now - started < .seconds(9))
      }
    }

    @Test("A locked account is told of at once, and who unlocks it lets the event go on")
    func locked() throws {
      try SignerRig.run(.storeAndSigner) { rig in
        try rig.generate("alice", "horse")
        _ = try rig.command(["key", "lock"], "")
        let publishing = try SpawnedProcess(
          SpawnedProcess.builtProgram("roost"), ["publish", "--local", "--content", "x", "--socket", rig.roost.socket])
        let notice = try publishing.readLine { $0.contains("is locked") }
        #expect(notice.contains("'roost key unlock alice'") && notice.contains("27s at most"), "\(notice)")
        #expect(try rig.unlock("alice", "horse") == nil)
        _ = try publishing.readLine { $0.contains("stored as number 1") }
        #expect(try publishing.waitForEnd() == .exited(0))
      }
    }

    @Test("What is too large to be answered is refused before it is signed, and what is stored can be read again")
    func large() throws {
      var layout = Layout.storeAndSigner
      layout.bus = ["frame-limit": "\"64KiB\"", "window-bytes": "\"64KiB\""]
      try withRoost(layout) { roost in
        let client = try roost.client()
        _ = try client.call("signer.generate", #"{"name":"alice"}"#)
        var outcomes: Set<String> = []
        for count in stride(from: 60_700, through: 61_500, by: 80) {
          let text = "\(count):" + String(repeating: "a", count: count - 6)
          let result = try roost.command(["publish", "--local", "--content", "-"], input: text)
          guard result.status != .exited(0) else {
            outcomes.insert("published")
            let observing = try SpawnedProcess(
              SpawnedProcess.builtProgram("roost"), ["observe", "--json", "--socket", roost.socket])
            _ = try observing.readLine { $0.contains(text) }
            observing.send(SIGINT)
            _ = try observing.waitForEnd()
            continue
          }
          outcomes.insert("refused")
          let words = result.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
          #expect(words.contains("nothing was done)") && words.contains("at most"), "\(count): \(words)")
        }
        #expect(outcomes == ["published", "refused"])
      }
    }

    @Test("A forged copy of one's own stored event is told as invalid, not as there already")
    func forged() throws {
      try withRoost(.store) { roost in
        let client = try roost.client()
        let (key, other) = (SecretKey.generate(), SecretKey.generate())
        for kind: UInt16 in [1, 20_001] {
          let event = UnsignedEvent(pubkey: key.publicKey, createdAt: 1_700_000_000, kind: kind, content: "a")
            .signed(by: key)
          let json = String(decoding: event.json, as: UTF8.self)
          #expect(try client.call("store.publish", json).isResponse)
          let signature = "\(UnsignedEvent(pubkey: other.publicKey, createdAt: 1, kind: 1).signed(by: other).signature)"
          for forged in [
            json.replacing(#""content":"a""#, with: #""content":"b""#),
            json.replacing("\(event.signature)", with: signature),
          ] {
            #expect(try client.call("store.publish", forged).refusal?.code == .invalidEvent)
          }
          #expect(try client.call("store.publish", json).text.contains(#""isNew":false"#))
        }
      }
    }
  }
}
