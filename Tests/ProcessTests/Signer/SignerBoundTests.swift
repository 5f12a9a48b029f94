import Contracts
import Cryptography
import Frames
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// Workers of jobs that were taken over by what they read, and the real signer.
  @Suite("The signer, asked by workers that were taken over")
  struct SignerBoundTests {
    /// An event of a stranger's, as JSON.
    private static func event(
      _ kind: UInt16, _ content: String, tags: [[String]] = [], by key: SecretKey
    ) throws -> JSONValue {
      let event = UnsignedEvent(
        pubkey: key.publicKey, createdAt: 1_700_000_000, kind: kind, tags: tags, content: content
      ).signed(by: key)
      return try JSONPayload.decode(JSONValue.self, from: event.json)
    }

    private static func deletion(_ tags: [[String]]) -> JSONValue {
      .object(["kind": .integer(5), "tags": .array(tags.map { .array($0.map { .string($0) }) })])
    }

    @Test("A provider reads, encrypts, signs and deletes nothing as the owner, by any name")
    func provider() throws {
      try SignerRig.run { rig in
        let alice = try rig.generate("alice")
        let provider = try rig.attach("provider", role: "dvm-provider")
        let own = try rig.ask("signer.own", NoArguments(), by: provider, as: SignerAccount.self)
        let stranger = SecretKey.generate()
        let peer = "\(stranger.publicKey)"
        let letter = try NIP44.encrypt(
          "for alice alone", with: ConversationKey(stranger, try #require(PublicKey(alice.publicKey))))
        for name in ["alice", alice.npub, alice.publicKey] {
          for kind in [5, 7_000, 6_302, 31_990] as [Int64] {
            let wanted = SignerSign(account: name, event: SignerRig.template(kind))
            #expect(try rig.refusal("signer.sign", wanted, by: provider) == "forbidden", "\(name) \(kind)")
          }
          let text = SignerCipher(account: name, peer: peer, text: letter)
          // As if the sender of the letter helped: even so it is not the provider's account.
          let request = SignerCipher(
            account: name, peer: peer, contentOf: try Self.event(5_302, letter, by: stranger))
          for wanted in [text, request] {
            #expect(try rig.refusal("signer.nip44.decrypt", wanted, by: provider) == "forbidden")
          }
          let sent = SignerCipher(account: name, peer: peer, text: "hello")
          for method in ["signer.nip04.encrypt", "signer.nip44.encrypt"] {
            #expect(try rig.refusal(method, sent, by: provider) == "forbidden")
          }
        }
        // Its own work goes on.
        let mine = try #require(PublicKey(own.publicKey))
        let asked = try NIP44.encrypt("[]", with: ConversationKey(stranger, mine))
        let request = SignerCipher(account: own.name, peer: peer, contentOf: try Self.event(5_302, asked, by: stranger))
        #expect(try rig.ask("signer.nip44.decrypt", request, by: provider, as: SignerText.self).text == "[]")
        let result = SignerSign(account: own.name, event: SignerRig.template(6_302))
        #expect(try rig.refusal("signer.sign", result, by: provider) == nil)
      }
    }

    @Test("A tracker has decrypted what answers a job, and deleted what asked for one")
    func tracker() throws {
      try SignerRig.run { rig in
        let alice = try rig.generate("alice")
        let tracker = try rig.attach("tracker", role: "dvm-tracker")
        let (bob, mallory) = (SecretKey.generate(), SecretKey.generate())
        let key = try #require(PublicKey(alice.publicKey))
        let letter = try NIP44.encrypt("from bob", with: ConversationKey(bob, key))
        func read(_ event: JSONValue, from peer: SecretKey = bob) throws -> String? {
          let wanted = SignerCipher(account: "alice", peer: "\(peer.publicKey)", contentOf: event)
          return try rig.refusal("signer.nip44.decrypt", wanted, by: tracker)
        }
        let bare = SignerCipher(account: "alice", peer: "\(bob.publicKey)", text: letter)
        #expect(try rig.refusal("signer.nip44.decrypt", bare, by: tracker) == "forbidden")
        #expect(try read(Self.event(4, letter, by: bob)) == "forbidden")
        // An accomplice puts bob's letter into an answer of his own.
        let framed = try Self.event(6_302, letter, by: mallory)
        #expect(try read(framed) == "bad-request")
        #expect(try read(framed, from: mallory) == "bad-request")
        guard case .object(var forged) = try Self.event(4, letter, by: bob) else { return }
        forged["kind"] = .integer(6_302)
        #expect(try read(.object(forged)) == "bad-request")
        #expect(try read(Self.event(6_302, letter, by: bob)) == nil)
        #expect(try rig.refusal("signer.nip44.decrypt", bare) == nil, "a client reads its own letters as ever")

        func made(_ kind: Int64) throws -> (id: String, event: JSONValue) {
          let signed = try rig.ask(
            "signer.sign", SignerSign(account: "alice", event: SignerRig.template(kind)), as: SignerSigned.self)
          let event = try JSONPayload.decode(JSONValue.self, from: signed.event.bytes)
          return ("\(try SignerRig.verified(signed.event).id)", event)
        }
        func delete(_ tags: [[String]], showing shown: [JSONValue]?) throws -> String? {
          let wanted = SignerSign(account: "alice", event: Self.deletion(tags), deleted: shown)
          return try rig.refusal("signer.sign", wanted, by: tracker)
        }
        let (note, request) = (try made(1), try made(5_302))
        #expect(try delete([["e", note.id], ["k", "5302"]], showing: nil) == "forbidden")
        #expect(try delete([["e", note.id]], showing: [note.event]) == "forbidden")
        #expect(try delete([["e", note.id]], showing: [request.event]) == "forbidden")
        #expect(try delete([["e", request.id], ["e", note.id]], showing: [request.event]) == "forbidden")
        #expect(try delete([["e", request.id], ["a", "30023:\(key):x"]], showing: [request.event]) == "forbidden")
        guard case .object(var disguised) = note.event else { return }
        disguised["kind"] = .integer(5_302)
        #expect(try delete([["e", note.id]], showing: [.object(disguised)]) == "bad-request")
        #expect(try delete([["e", request.id], ["k", "5302"]], showing: [request.event]) == nil)
      }
    }
  }
}
