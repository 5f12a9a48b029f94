import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// The one program that holds keys.
  @Suite("The signer")
  struct SignerTests {
    private static let passphrase = "correct horse battery"

    @Test("A generated key signs what verifies, here and with a library by other people, also after a crash")
    func signing() throws {
      try SignerRig.run { rig in
        let account = try rig.generate("alice")
        let request = SignerSign(event: SignerRig.template(1, "hällo \u{1F426} \"quoted\"\n"))
        let signed = try rig.ask("signer.sign", request, as: SignerSigned.self).event
        let event = try SignerRig.verified(signed)
        #expect(event.pubkey.description == account.publicKey && event.kind == 1)
        #expect(abs(event.createdAt - Int64(time(nil))) < 60)
        if PythonPeer.isAvailable {
          let script = "import sys; from nostr_sdk import Event; print(Event.from_json(sys.argv[1]).verify())"
          let json = String(decoding: event.json, as: UTF8.self)
          let process = try SpawnedProcess(PythonPeer.interpreter, ["-c", script, json])
          #expect(try process.readAllOutput() == "True\n")
        }
        try rig.kill()
        #expect(try rig.accounts().accounts.map(\.publicKey) == [account.publicKey])
        #expect(try rig.refusal("signer.sign", request) == nil)
      }
    }

    @Test("What is not to be signed is refused: another's key, no event, kind 22242, an unknown account")
    func refusals() throws {
      try SignerRig.run { rig in
        try rig.generate("alice")
        let other = SecretKey.generate().publicKey.description
        let foreign: JSONValue = .object(["kind": .integer(1), "pubkey": .string(other)])
        #expect(try rig.refusal("signer.sign", SignerSign(event: foreign)) == "bad-request")
        #expect(try rig.refusal("signer.sign", SignerSign(event: .object([:]))) == "bad-request")
        #expect(try rig.refusal("signer.sign", SignerSign(event: .string("x"))) == "bad-request")
        #expect(try rig.refusal("signer.sign", SignerSign(event: SignerRig.template(22_242))) == "forbidden")
        let stranger = SignerSign(account: "bob", event: SignerRig.template())
        #expect(try rig.refusal("signer.sign", stranger) == "no-such-account")
        #expect(try rig.refusal("signer.sign", [String: String]()) == "bad-request")
        #expect(try rig.refusal("signer.sign", ["even": "x"]) == "bad-request")
      }
    }

    @Test("Each role has signed what is its own, and only a connector authenticates, for its own relays")
    func roles() throws {
      try SignerRig.run { rig in
        let account = try rig.generate("alice")
        let mine = try rig.attach("mine", role: "example")
        #expect(try rig.refusal("signer.sign", SignerSign(event: SignerRig.template(1)), by: mine) == nil)
        #expect(try rig.refusal("signer.sign", SignerSign(event: SignerRig.template(0)), by: mine) == "forbidden")
        #expect(try rig.refusal("signer.sign", SignerSign(event: SignerRig.template(0))) == nil)
        let challenge = SignerAuthenticate(relay: "wss://relay.example", challenge: "abc")
        #expect(try rig.refusal("signer.authenticate", challenge) == "denied")
        let main = try rig.attach("main", role: "relay-connector")
        #expect(try rig.refusal("signer.sign", SignerSign(event: SignerRig.template(1)), by: main) == "denied")
        let event = try SignerRig.verified(
          try rig.ask("signer.authenticate", challenge, by: main, as: SignerSigned.self).event)
        #expect(event.kind == 22_242 && event.pubkey.description == account.publicKey && event.content.isEmpty)
        #expect(event.tags == [["relay", "wss://relay.example"], ["challenge", "abc"]])
        for (relay, text) in [("wss://Relay.example/", "a"), ("https://x", "a"), ("wss://relay.example", "")] {
          let wrong = SignerAuthenticate(relay: relay, challenge: text)
          #expect(try rig.refusal("signer.authenticate", wrong, by: main) == "bad-request")
        }
        let other = try rig.attach("other", role: "relay-connector")
        #expect(try rig.refusal("signer.authenticate", challenge, by: other) == "forbidden")
      }
    }

    @Test("What a worker asks in one breath with its HELLO is judged by its role, known to the signer or not")
    func firstBreath() throws {
      try SignerRig.run { rig in
        try rig.generate("alice")
        // Nobody in the configuration: the first that the signer hears of it comes behind its first request.
        let answer = try rig.client.call("supervisor.attach", #"{"role":"example","name":"stranger"}"#)
        var hello = Hello(name: "stranger", role: "example")
        hello.token = try JSONPayload.decode(AttachGrant.self, from: answer.terminal.payload).token
        let peer = try BusPeer(socket: rig.roost.socket, hello: nil)
        // Profiles, which sign-kinds does not give to the role; so many bytes of them that REGISTRY, behind them,
        // cannot come to the signer in one read with the first.
        let wanted = JSONPayload.encode(SignerSign(event: SignerRig.template(0, String(repeating: "x", count: 20_000))))
        let method = try rig.client.number(of: "signer.sign")
        var bytes = BusPeer.bytes(FrameHeader(type: .hello), JSONPayload.encode(hello))
        for id in 1...UInt64(40) {
          var header = FrameHeader(type: .request, id: id, method: method)
          header.callerRole = Role.client.number
          bytes += BusPeer.bytes(header, wanted)
        }
        peer.sendBytes(bytes)
        for id in 1...UInt64(40) {
          let refusal = try peer.answer(to: id).refusal
          #expect(refusal?.code == .unavailable || refusal?.code == .forbidden, "\(id): \(refusal as Any)")
          #expect(refusal?.outcome == .notStarted)
        }
      }
    }

    @Test("A worker that speaks for itself is given an account with its role's name, once, and nobody else is")
    func ownAccount() throws {
      try SignerRig.run { rig in
        let provider = try rig.attach("provider", role: "dvm-provider")
        let account = try rig.ask("signer.own", NoArguments(), by: provider, as: SignerAccount.self)
        #expect(account.name == "dvm-provider" && account.state == .unlocked && account.isOfWorker)
        #expect(try rig.ask("signer.own", NoArguments(), by: provider, as: SignerAccount.self) == account)
        try rig.kill()
        #expect(try rig.accounts().accounts == [account])
        #expect(try rig.refusal("signer.own", NoArguments()) == "denied")
        let stranger = try rig.attach("mine", role: "example")
        #expect(try rig.refusal("signer.own", NoArguments(), by: stranger) != nil)
        #expect(try rig.refusal("signer.sign", SignerSign(event: SignerRig.template(1))) == "no-such-account")
        let result = SignerSign(account: account.name, event: SignerRig.template(6_302))
        #expect(try rig.refusal("signer.sign", result, by: provider) == nil)
        let note = SignerSign(account: account.name, event: SignerRig.template(1))
        #expect(try rig.refusal("signer.sign", note, by: provider) == "forbidden")
      }
    }

    @Test("A key under a passphrase is locked after a restart; who asks waits, and is answered once it is open")
    func locking() throws {
      try SignerRig.run { rig in
        try rig.generate("alice", Self.passphrase)
        let request = SignerSign(account: "alice", event: SignerRig.template())
        #expect(try rig.refusal("signer.sign", request) == nil)
        try rig.kill()
        #expect(try rig.accounts().accounts.map(\.state) == [.locked])
        let text = String(decoding: JSONPayload.encode(request), as: UTF8.self)
        let hurried = try rig.client.ask("signer.sign", text, ttlMilliseconds: 500)
        #expect(try rig.client.answer(to: hurried).refusal?.code == .locked)
        let waiting = try rig.client.ask("signer.sign", text, ttlMilliseconds: 60_000)
        try awaitSoon("it waits") { try rig.accounts().waiting == 1 }
        #expect(try rig.roost.worker("signer", rig.client).text?.contains("LOCKED") ?? true)
        #expect(try rig.unlock("alice", "wrong") == "wrong-passphrase")
        #expect(rig.client.takeAnswer(to: waiting) == nil)
        #expect(try rig.unlock("alice", Self.passphrase) == nil)
        let answer = try rig.client.answer(to: waiting)
        #expect(answer.isResponse)
        let locked = try rig.ask("signer.lock", SignerLock(), as: SignerAccounts.self)
        #expect(locked.accounts.map(\.state) == [.locked])
      }
    }

    @Test("A passphrase that was sealed for an earlier signer is refused, and opens nothing")
    func staleSeal() throws {
      try SignerRig.run { rig in
        try rig.generate("alice", Self.passphrase)
        let old = SignerUnlock(account: "alice", passphrase: try rig.sealed(Self.passphrase))
        try rig.kill()
        #expect(try rig.refusal("signer.unlock", old) == "sealed-for-another")
      }
    }

    @Test("Texts go there and back by NIP-04, NIP-44 and gift wraps, from one account to the other")
    func encryption() throws {
      try SignerRig.run { rig in
        let (alice, bob) = (try rig.generate("alice"), try rig.generate("bob"))
        let text = "caf\u{E9} and cafe\u{301}"
        for name in ["nip04", "nip44"] {
          let sent = SignerCipher(account: "alice", peer: bob.publicKey, text: text)
          let cipher = try rig.ask("signer.\(name).encrypt", sent, as: SignerText.self).text
          let received = SignerCipher(account: bob.npub, peer: alice.npub, text: cipher)
          let back = try rig.ask("signer.\(name).decrypt", received, as: SignerText.self).text
          #expect(Array(back.utf8) == Array(text.utf8))
          let damaged = SignerCipher(account: "bob", peer: alice.npub, text: String(cipher.dropLast(8)))
          #expect(try rig.refusal("signer.\(name).decrypt", damaged) == "bad-request")
        }
        let wrap = SignerWrap(account: "alice", recipient: bob.npub, rumor: SignerRig.template(14, text))
        let wrapped = try rig.ask("signer.wrap", wrap, as: SignerWrapped.self)
        let outer = try SignerRig.verified(wrapped.wrap)
        #expect(outer.kind == 1_059 && outer.pubkey.description != alice.publicKey)
        let opened = try rig.ask("signer.unwrap", SignerUnwrap(wrap: wrapped.wrap), as: SignerUnwrapped.self)
        #expect(opened.author == alice.publicKey && opened.recipient == bob.publicKey && opened.warnings.isEmpty)
        #expect(opened.rumor == wrapped.rumor)
        let forOther = SignerUnwrap(account: "alice", wrap: wrapped.wrap)
        #expect(try rig.refusal("signer.unwrap", forOther) == "bad-request")
      }
    }

    @Test("kill -9 at any moment of making keys leaves whole keys and loses none that was answered for")
    func kills() throws {
      try SignerRig.run { rig in
        var made: [String: String] = [:]
        for round in 0..<8 {
          let names = (0..<3).map { "k\(round)-\($0)" }
          for name in names {
            let text = String(decoding: JSONPayload.encode(SignerGenerate(name: name)), as: UTF8.self)
            _ = try rig.client.ask("signer.generate", text, flags: .atMostOnce)
          }
          let last = rig.client.lastId
          usleep(UInt32.random(in: 0..<4_000))
          try rig.kill()
          for id in (last - 2)...last {
            let answer = try rig.client.answer(to: id)
            guard answer.isResponse else { continue }
            let account = try JSONPayload.decode(SignerAccount.self, from: answer.terminal.payload)
            made[account.name] = account.publicKey
          }
          let present = try rig.accounts()
          #expect(present.problems.isEmpty)
          let kept = Dictionary(present.accounts.map { ($0.name, $0.publicKey) }) { first, _ in first }
          for (name, key) in made { #expect(kept[name] == key, "\(name)") }
        }
      }
    }

    @Test("A key file that others could read is not used, and the list says what to do")
    func wrongMode() throws {
      try SignerRig.run { rig in
        try rig.generate("alice")
        try rig.generate("bob")
        chmod(rig.keys + "/alice.key", 0o644)
        try rig.kill()
        let accounts = try rig.accounts()
        #expect(accounts.accounts.map(\.name) == ["bob"])
        #expect(accounts.problems.first?.contains("chmod 600") == true)
        let list = try rig.command(["key", "list"], "")
        #expect(list.status == .exited(1) && list.output.contains("chmod 600"))
      }
    }
  }
}
