import Contracts
import Cryptography
import Frames
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// Accounts of which only the public key is here.
  @Suite("Read-only accounts")
  struct ReadOnlyAccountTests {
    private func account(_ rig: SignerRig, _ name: String) throws -> SignerAccount {
      try #require(try rig.accounts().accounts.first { $0.name == name })
    }

    @Test("One is added by its npub, survives a crash, signs nothing without a wait, and is removed like any other")
    func added() throws {
      try SignerRig.run { rig in
        let key = SecretKey.generate().publicKey
        let shown = try rig.command(["account", "watch", "alice", key.npub], "")
        #expect(shown.status == .exited(0) && shown.output.contains("alice is read along with"), "\(shown.output)")
        try rig.kill()
        let alice = try account(rig, "alice")
        #expect(alice.isReadOnly == true && alice.state == .locked && !alice.isEncrypted && alice.npub == key.npub)
        #expect(try rig.command(["account", "list"], "").output.contains("public key only"))
        for (method, arguments) in [
          ("signer.sign", #"{"account":"alice","event":{"kind":1,"content":"x"}}"#),
          ("signer.unlock", #"{"account":"alice","passphrase":{"key":"x","payload":"x"}}"#),
          ("signer.lock", #"{"account":"alice"}"#), ("signer.passphrase", #"{"account":"alice"}"#),
        ] {
          let refusal = try rig.client.call(method, arguments).refusal
          #expect(refusal?.code == .locked, "\(method)")
          #expect(refusal?.message.contains("'roost key import alice' takes it") == true, "\(method)")
        }
        #expect(try rig.accounts().waiting == 0 && rig.accounts().problems.isEmpty)
        let again = try rig.ask(
          "signer.watch", SignerWatch(name: "alice", publicKey: "\(key)"), as: SignerAccount.self)
        #expect(again == alice)
        let other = SecretKey.generate().publicKey.npub
        #expect(try rig.refusal("signer.watch", SignerWatch(name: "alice", publicKey: other)) == "name-taken")
        #expect(try rig.refusal("signer.watch", SignerWatch(name: "bob", publicKey: key.npub)) == "name-taken")
        #expect(try rig.refusal("signer.watch", SignerWatch(name: "bob", publicKey: "npub1")) == "bad-request")
        #expect(try rig.command(["key", "remove", "alice", "--confirm", key.npub], "").status == .exited(0))
        #expect(try rig.accounts().accounts.isEmpty)
      }
    }

    @Test("With its secret key it is whole in its place, with and without a passphrase; another key is refused")
    func completed() throws {
      try SignerRig.run { rig in
        for (name, passphrase) in [("alice", "correct horse"), ("bob", nil)] {
          let key = SecretKey.generate()
          _ = try rig.ask(
            "signer.watch", SignerWatch(name: name, publicKey: "\(key.publicKey)"), as: SignerAccount.self)
          let wrong = SecretKey.generate().withSecret { Hexadecimal.text(of: $0) }
          #expect(try rig.refusal("signer.import", SignerImport(name: name, secret: rig.sealed(wrong))) == "name-taken")
          let input = key.withSecret { Hexadecimal.text(of: $0) } + "\n" + (passphrase.map { "\($0)\n" } ?? "")
          let arguments = ["key", "import", name] + (passphrase == nil ? ["--no-passphrase"] : [])
          let shown = try rig.command(arguments, input)
          #expect(shown.status == .exited(0) && shown.output.contains("imported"), "\(shown.output)")
          let whole = try account(rig, name)
          #expect(whole.isReadOnly == nil && whole.state == .unlocked && whole.isEncrypted == (passphrase != nil))
          let again = try rig.ask(
            "signer.watch", SignerWatch(name: name, publicKey: "\(key.publicKey)"), as: SignerAccount.self)
          #expect(again == whole, "it is not made read-only again")
          let event = try SignerRig.verified(
            rig.ask("signer.sign", SignerSign(account: name, event: SignerRig.template()), as: SignerSigned.self).event)
          #expect(event.pubkey == key.publicKey)
        }
        try rig.kill()
        #expect(try account(rig, "alice").state == .locked && account(rig, "bob").state == .unlocked)
        #expect(try rig.accounts().problems.isEmpty)
      }
    }

    @Test("A key that is imported as left is left, over a crash too, until its passphrase comes")
    func importedLeft() throws {
      try SignerRig.run { rig in
        let secret = SecretKey.generate().withSecret { Hexadecimal.text(of: $0) }
        let wanted = SignerImport(
          name: "alice", secret: try rig.sealed(secret), passphrase: try rig.sealed("correct horse"), isLeft: true)
        let left = try rig.ask("signer.import", wanted, as: SignerAccount.self)
        #expect(left.isLeft == true && left.state == .locked)
        try rig.kill()
        #expect(try account(rig, "alice").isLeft == true)
        #expect(try rig.unlock("alice", "correct horse") == nil)
        #expect(try account(rig, "alice").isLeft == nil && account(rig, "alice").state == .unlocked)
        let again = SignerImport(
          name: "alice", secret: try rig.sealed(secret), passphrase: try rig.sealed("correct horse"), isLeft: true)
        #expect(try rig.ask("signer.import", again, as: SignerAccount.self).isLeft == nil, "it stays as it is")
      }
    }
  }
}
