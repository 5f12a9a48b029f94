import Contracts
import Cryptography
import DataKeys
import Frames
import Glibc
import LinuxSystem
import Nostr
import NostrContracts
import TestSupport
import Testing

extension ProcessTests {
  /// Accounts that are used and left, and the keys under which workers keep data.
  @Suite("Accounts that are left")
  struct LeavingAccountTests {
    private static let passphrase = "correct horse battery"

    /// With a place for a `people` that the test plays.
    private static var layout: Layout {
      var layout = SignerRig.layout()
      layout.workers.append(Layout.Worker(name: "people-played", keys: ["role": "\"people\"", "enabled": "false"]))
      return layout
    }

    private func account(_ rig: SignerRig, _ name: String) throws -> SignerAccount {
      try #require(try rig.accounts().accounts.first { $0.name == name })
    }

    private func signer(_ rig: SignerRig) throws -> String? {
      let answer = try rig.client.call("signer.sign", #"{"event":{"kind":1,"content":"x"}}"#)
      if let refusal = answer.refusal { return refusal.code.rawValue }
      let event = try SignerRig.verified(
        JSONPayload.decode(SignerSigned.self, from: answer.terminal.payload).event)
      return try rig.accounts().accounts.first { $0.publicKey == "\(event.pubkey)" }?.name
    }

    @Test("The used account is meant where none is named, over a crash, and until it is left or removed")
    func used() throws {
      try SignerRig.run(Self.layout) { rig in
        try rig.generate("alice")
        let bob = try rig.generate("bob")
        #expect(try signer(rig) == "bad-request")
        let used = try rig.ask("signer.use", SignerChoose(account: "bob"), as: SignerAccount.self)
        #expect(used.isUsed == true && used.name == "bob")
        #expect(try signer(rig) == "bob")
        try rig.kill()
        #expect(try signer(rig) == "bob")
        #expect(try account(rig, "bob").isUsed == true && account(rig, "alice").isUsed == nil)
        #expect(try rig.command(["key", "show"], "").output.contains(bob.npub))
        #expect(try rig.command(["account", "use", "alice"], "").output.contains("alice is meant"))
        #expect(try signer(rig) == "alice")
        _ = try rig.ask("signer.leave", SignerLeave(account: "alice"), as: SignerAccount.self)
        #expect(try signer(rig) == "bob", "the only one that is not left")
        #expect(try rig.refusal("signer.use", SignerChoose(account: "nobody")) == "no-such-account")
      }
    }

    @Test("A left account is locked without a passphrase too, over a crash, until it is used or unlocked")
    func left() throws {
      try SignerRig.run(Self.layout) { rig in
        try rig.generate("plain")
        try rig.generate("sealed", Self.passphrase)
        for name in ["plain", "sealed"] {
          let left = try rig.ask("signer.leave", SignerLeave(account: name), as: SignerAccount.self)
          #expect(left.isLeft == true && left.state == .locked)
        }
        try rig.kill()
        for name in ["plain", "sealed"] {
          #expect(try account(rig, name).isLeft == true && account(rig, name).state == .locked)
          let request = SignerSign(account: name, event: SignerRig.template())
          #expect(try rig.refusal("signer.sign", request) == "locked")
        }
        #expect(try rig.refusal("signer.unlock", SignerUnlock(account: "sealed")) == "bad-request")
        #expect(try rig.unlock("sealed", "wrong") == "wrong-passphrase")
        #expect(try account(rig, "sealed").isLeft == true, "a wrong passphrase brings nothing back")
        #expect(try rig.unlock("sealed", Self.passphrase) == nil)
        #expect(try account(rig, "sealed").state == .unlocked && account(rig, "sealed").isLeft == nil)
        #expect(try rig.command(["key", "unlock", "plain"], "").status == .exited(0))
        #expect(try account(rig, "plain").state == .unlocked && account(rig, "plain").isLeft == nil)
        // By use, an account with a passphrase comes back locked.
        _ = try rig.ask("signer.leave", SignerLeave(account: "sealed"), as: SignerAccount.self)
        let used = try rig.ask("signer.use", SignerChoose(account: "sealed"), as: SignerAccount.self)
        #expect(used.isLeft == nil && used.state == .locked && used.isUsed == true)
        let choices = rig.keys + "/choices"
        let file = open(choices, O_WRONLY | O_TRUNC)
        try Descriptors.writeAll("garbage", to: file)
        Descriptors.close(file)
        try rig.kill()
        #expect(try rig.accounts().accounts.allSatisfy { $0.isLeft == nil && $0.isUsed == nil })
      }
    }

    @Test("No worker leaves or uses an account, and one removes only a key whose account is to be forgotten")
    func byWorkers() throws {
      try SignerRig.run(Self.layout) { rig in
        try rig.generate("alice")
        let people = try rig.attach("people-played", role: "people")
        #expect(try rig.refusal("signer.leave", SignerLeave(account: "alice"), by: people) == "denied")
        #expect(try rig.refusal("signer.use", SignerChoose(account: "alice"), by: people) == "denied")
        let key = try account(rig, "alice").publicKey
        let remove = SignerRemove(name: "alice", publicKey: key)
        #expect(try rig.refusal("signer.remove", remove, by: people) == "forbidden")
        _ = try rig.ask(
          "signer.leave", SignerLeave(account: "alice", isForgetting: true), as: SignerAccount.self)
        #expect(try account(rig, "alice").isForgetting == true)
        #expect(try rig.refusal("signer.remove", remove, by: people) == nil)
        #expect(try rig.accounts().accounts.isEmpty)
        let choices = SharedFolder.bytes(ofFile: rig.keys + "/choices") ?? []
        #expect(!String(decoding: choices, as: UTF8.self).contains(key))
      }
    }

    /// Asks for a data key as a worker does.
    private func dataKey(
      _ rig: SignerRig, _ account: String, _ text: String?, by peer: BusPeer
    ) throws -> (key: DataKey, text: String) {
      let once = SecretKey.generate()
      let wanted = SignerDataKeyRequest(account: account, sealingKey: "\(once.publicKey)", text: text)
      let answer = try rig.ask("signer.data-key", wanted, by: peer, as: SignerDataKey.self)
      return (try answer.key.open(by: once) { bytes throws(Refusal) in DataKey(bytes) }, answer.text)
    }

    @Test("What is sealed under a data key opens while its account is unlocked, and not while it is locked or gone")
    func dataKeys() throws {
      try SignerRig.run(Self.layout) { rig in
        try rig.generate("alice", Self.passphrase)
        try rig.generate("bob")
        let people = try rig.attach("people-played", role: "people")
        let made = try dataKey(rig, "alice", nil, by: people)
        let sealed = made.key.seal("draft of a note", for: "draft")
        #expect(try dataKey(rig, "alice", made.text, by: people).key.text(sealed, for: "draft") == "draft of a note")
        #expect(try dataKey(rig, "alice", nil, by: people).text != made.text, "each is another key")
        // Another account cannot open it, and no text that is not a data key of the role is opened.
        let once = "\(SecretKey.generate().publicKey)"
        func code(_ account: String, _ text: String) throws -> String? {
          try rig.refusal(
            "signer.data-key", SignerDataKeyRequest(account: account, sealingKey: once, text: text), by: people)
        }
        #expect(try code("bob", made.text) == "bad-request")
        #expect(try code("alice", "garbage") == "bad-request")
        for plain in ["a private text", "roost-data-key 1 mirror " + String(repeating: "0", count: 64)] {
          let cipher = SignerCipher(account: "alice", peer: try account(rig, "alice").publicKey, text: plain)
          let other = try rig.ask("signer.nip44.encrypt", cipher, as: SignerText.self).text
          #expect(try code("alice", other) == "forbidden", "\(plain)")
        }
        #expect(try rig.refusal("signer.data-key", SignerDataKeyRequest(sealingKey: once)) == "denied")
        // The bytes pass the hub sealed.
        let clear = try rig.client.call(
          "signer.nip44.decrypt",
          #"{"account":"alice","peer":"\#(try account(rig, "alice").publicKey)","text":"\#(made.text)"}"#)
        let text = try JSONPayload.decode(SignerText.self, from: clear.terminal.payload).text
        #expect(text.hasPrefix("roost-data-key 1 people "))
        _ = try rig.ask("signer.lock", SignerLock(account: "alice"), as: SignerAccounts.self)
        let wanted = SignerDataKeyRequest(account: "alice", sealingKey: once, text: made.text)
        let answer = try people.call(
          "signer.data-key", String(decoding: JSONPayload.encode(wanted), as: UTF8.self), ttlMilliseconds: 1_000)
        #expect(["locked", "expired"].contains(answer.refusal?.code.rawValue ?? ""))
        _ = try rig.ask("signer.leave", SignerLeave(account: "alice"), as: SignerAccount.self)
        #expect(try code("alice", made.text) == "locked")
        #expect(try rig.unlock("alice", Self.passphrase) == nil)
        #expect(try dataKey(rig, "alice", made.text, by: people).key.text(sealed, for: "draft") == "draft of a note")
        let npub = try account(rig, "alice").npub
        #expect(try rig.command(["key", "remove", "alice", "--confirm", npub], "").status == .exited(0))
        #expect(try code("alice", made.text) == "no-such-account")
      }
    }
  }
}
