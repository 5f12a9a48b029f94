import Clocks
import Cryptography
import FoundationEssentials
import Nostr
import TestSupport
import Testing

@Suite struct NIP59Tests {
  private let alice = SecretKey.generate()
  private let bob = SecretKey.generate()
  private let mallory = SecretKey.generate()
  private let now: Int64 = 1_800_000_000

  private func rumor(_ content: String = "Are you going?", by author: SecretKey? = nil) -> UnsignedEvent {
    UnsignedEvent(
      pubkey: (author ?? alice).publicKey, createdAt: now, kind: 14, tags: [["p", bob.publicKey.description]],
      content: content)
  }

  private func wrapped(_ json: [UInt8], sealedBy sealer: SecretKey, kind: UInt16 = 13, tags: [[String]] = []) throws
    -> Event
  {
    let seal = UnsignedEvent(
      pubkey: sealer.publicKey, createdAt: now, kind: kind, tags: tags,
      content: try NIP44.encrypt(json, with: ConversationKey(sealer, bob.publicKey)))
    return try wrapped(seal.signed(by: sealer).json)
  }

  private func wrapped(_ sealJSON: [UInt8], kind: UInt16 = 1_059, for recipient: SecretKey? = nil) throws -> Event {
    let once = SecretKey.generate()
    let unsigned = UnsignedEvent(
      pubkey: once.publicKey, createdAt: now, kind: kind, tags: [["p", (recipient ?? bob).publicKey.description]],
      content: try NIP44.encrypt(sealJSON, with: ConversationKey(once, bob.publicKey)))
    return unsigned.signed(by: once)
  }

  private func open(_ event: Event, by key: SecretKey? = nil) throws(GiftWrapFault) -> Rumor {
    try GiftWrap(event).open(by: key ?? bob)
  }

  @Test("What is wrapped for somebody, he opens, and nobody else does", arguments: seeds(4))
  func roundTrip(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let rumor = rumor()
    let seal = try Seal(rumor, for: bob.publicKey, by: alice, now: now, using: &random)
    let wrap = try GiftWrap(seal, for: bob.publicKey, now: now, relayHint: "wss://r.example", using: &random)
    let opened = try open(Event(json: wrap.event.json))
    #expect(opened.event == rumor && opened.id == rumor.id && opened.author == alice.publicKey)
    #expect(opened.seal == seal.event && opened.warnings.isEmpty)
    #expect(wrap.event.tags == [["p", bob.publicKey.description, "wss://r.example"]] && seal.event.tags.isEmpty)
    #expect(wrap.event.kind == 1_059 && seal.event.kind == 13)
    #expect(throws: GiftWrapFault.encryption(.wrongCode)) { try open(wrap.event, by: mallory) }
    // The author has a copy of his own to keep.
    let copy = try GiftWrap(
      Seal(rumor, for: alice.publicKey, by: alice, now: now, using: &random), for: alice.publicKey, now: now,
      using: &random)
    #expect(try open(copy.event, by: alice).id == opened.id && copy.event.pubkey != wrap.event.pubkey)
  }

  @Test("Seal and wrap are dated back independently, up to two days and never ahead")
  func times() throws {
    var random = SeededGenerator(seed: 7)
    var ages: [Int64] = []
    for _ in 0..<100 {
      let seal = try Seal(rumor(), for: bob.publicKey, by: alice, now: now, using: &random)
      let wrap = try GiftWrap(seal, for: bob.publicKey, now: now, using: &random)
      ages += [now - seal.event.createdAt, now - wrap.event.createdAt]
    }
    #expect(ages.allSatisfy { (0...172_800).contains($0) })
    #expect(Set(ages).count > 190 && ages.contains { $0 > 150_000 } && ages.contains { $0 < 20_000 })
    let early = try Seal(rumor(), for: bob.publicKey, by: alice, now: 5, using: &random)
    #expect((0...5).contains(early.event.createdAt))
  }

  @Test("What is secret is in no description")
  func descriptions() throws {
    let opened = try open(wrapped(rumor("the plaintext").json, sealedBy: alice))
    let passphrase = try Passphrase("the passphrase")
    let encrypted = try EncryptedSecretKey(encrypting: alice, with: passphrase, logN: 1)
    let conversation = try ConversationKey(alice, bob.publicKey)
    for secret: Any in [opened, passphrase, encrypted, conversation, alice] {
      var text = "\(secret) \(String(reflecting: secret))"
      dump(secret, to: &text)
      for word in ["plaintext", "passphrase\"", "ncryptsec", "byteCount: 14", "- 14", alice.hex] {
        #expect(!text.contains(word), "\(word)")
      }
    }
    #expect("\(opened)" == "rumor \(opened.id)" && "\(passphrase)" == "a passphrase")
  }

  @Test("An expiration stands on both layers, an ephemeral wrap has its kind, and neither is unusual")
  func expiration() throws {
    var random = SeededGenerator(seed: 8)
    let seal = try Seal(rumor(), for: bob.publicKey, by: alice, now: now, expiration: now + 60, using: &random)
    let wrap = try GiftWrap(
      seal, for: bob.publicKey, now: now, expiration: now + 60, isEphemeral: true, using: &random)
    #expect(
      seal.event.tags == [["expiration", "\(now + 60)"]] && wrap.event.tags.last == ["expiration", "\(now + 60)"])
    #expect(wrap.event.kind == 21_059)
    #expect(try open(wrap.event).warnings.isEmpty)
  }

  @Test("Who seals a rumor in another's name is found out")
  func impersonation() throws {
    let event = try wrapped(rumor().json, sealedBy: mallory)
    #expect(throws: GiftWrapFault.impersonation(seal: mallory.publicKey, rumor: alice.publicKey)) { try open(event) }
  }

  @Test("Whatever is forged at any layer is refused there")
  func forged() throws {
    let good = try wrapped(rumor().json, sealedBy: alice)
    #expect(try open(good).event == rumor())
    let otherSignature = mallory.sign(good.id.octets)
    #expect(throws: GiftWrapFault.badWrap(.badSignature)) { try open(Event(good.unsigned, signature: otherSignature)) }
    let text = String(decoding: good.json, as: UTF8.self).replacing("\"kind\":1059", with: "\"kind\":21059")
    #expect(throws: GiftWrapFault.self) { try open(Event(json: Array(text.utf8))) }
    #expect(throws: GiftWrapFault.notAWrap(kind: 1)) { try open(wrapped(rumor().signed(by: alice).json, kind: 1)) }
    #expect(throws: GiftWrapFault.notASeal(kind: 1)) { try open(wrapped(rumor().json, sealedBy: alice, kind: 1)) }
    let seal = UnsignedEvent(
      pubkey: alice.publicKey, createdAt: now, kind: 13,
      content: try NIP44.encrypt(rumor().json, with: ConversationKey(alice, bob.publicKey)))
    let forgedSeal = Event(seal, signature: mallory.sign(seal.id.octets))
    #expect(throws: GiftWrapFault.badSeal(.badSignature)) { try open(wrapped(forgedSeal.json)) }
    let changed = String(decoding: seal.signed(by: alice).json, as: UTF8.self)
      .replacing("\"created_at\":\(now)", with: "\"created_at\":\(now + 1)")
    #expect(throws: GiftWrapFault.self) { try open(wrapped(Array(changed.utf8))) }
    #expect(throws: GiftWrapFault.badSeal(.missingKey("sig"))) { try open(wrapped(rumor().json)) }
    #expect(throws: GiftWrapFault.self) { try open(wrapped(Array("hello".utf8))) }
    #expect(throws: GiftWrapFault.self) { try open(wrapped(Array("{}".utf8), sealedBy: alice)) }
  }

  @Test("A rumor without an id gets one, one with a wrong id is refused, and a signed one is noticed")
  func rumorID() throws {
    let json = String(decoding: rumor().json, as: UTF8.self)
    let id = rumor().id.description
    let without = try open(wrapped(Array(json.replacing("\"id\":\"\(id)\",", with: "").utf8), sealedBy: alice))
    #expect(without.id == rumor().id && without.warnings == [.rumorWithoutID])
    let wrong = json.replacing(id, with: String(repeating: "0", count: 64))
    #expect(throws: GiftWrapFault.badRumor(.wrongID(rumor().id))) {
      try open(wrapped(Array(wrong.utf8), sealedBy: alice))
    }
    let signed = try open(wrapped(rumor().signed(by: alice).json, sealedBy: alice))
    #expect(signed.event == rumor() && signed.warnings == [.rumorWithSignature])
  }

  @Test("Tags on a seal and a wrap that names another are noticed and not refused")
  func warnings() throws {
    let tagged = try open(wrapped(rumor().json, sealedBy: alice, tags: [["expiration", "1"], ["p", "x"]]))
    #expect(tagged.warnings == [.sealHasTags])
    let seal = try Seal(wrappedSeal().json)
    #expect(seal.warnings.isEmpty)
    let misaddressed = try open(wrapped(seal.event.json, for: mallory))
    #expect(misaddressed.warnings == [.wrapNamesOthers])
    for warning: GiftWrapWarning in [.sealHasTags, .wrapNamesOthers, .rumorWithoutID, .rumorWithSignature] {
      #expect(!warning.description.isEmpty)
    }
  }

  private func wrappedSeal() throws -> Event {
    UnsignedEvent(
      pubkey: alice.publicKey, createdAt: now, kind: 13,
      content: try NIP44.encrypt(rumor().json, with: ConversationKey(alice, bob.publicKey))
    ).signed(by: alice)
  }

  @Test("A content that is too large is refused before anything is verified or decrypted, and not sent")
  func sizes() throws {
    let maximum = GiftWrap.contentByteCountMaximum
    let once = SecretKey.generate()
    let unsigned = UnsignedEvent(
      pubkey: once.publicKey, createdAt: now, kind: 1_059, content: String(repeating: "A", count: maximum + 1))
    let unverified = Event(unsigned, signature: try #require(Signature(String(repeating: "0", count: 128))))
    #expect(throws: GiftWrapFault.tooLarge(byteCount: maximum + 1, maximum: maximum)) { try GiftWrap(unverified) }
    var random = SeededGenerator(seed: 9)
    #expect(throws: GiftWrapFault.self) {
      try Seal(rumor(String(repeating: "x", count: 250_000)), for: bob.publicKey, by: alice, now: now, using: &random)
    }
    let large = try Seal(
      rumor(String(repeating: "x", count: 100_000)), for: bob.publicKey, by: alice, now: now, using: &random)
    let wrap = try GiftWrap(large, for: bob.publicKey, now: now, using: &random)
    #expect(try open(wrap.event).event.content.utf8.count == 100_000)
  }

  // MARK: Others' wraps

  private struct AnyJSON: Decodable {
    let id: String, pubkey: String, createdAt: Int64, kind: UInt16, tags: [[String]], content: String, sig: String?

    var event: Event {
      get throws {
        let unsigned = UnsignedEvent(
          pubkey: try #require(PublicKey(pubkey)), createdAt: createdAt, kind: kind, tags: tags, content: content)
        let event = Event(unsigned, signature: try #require(Signature(sig ?? "")))
        // The id is the one that stands there, right or wrong.
        return try Event(
          json: Array(String(decoding: event.json, as: UTF8.self).replacing(event.id.description, with: id).utf8))
      }
    }
  }

  @Test("The examples of NIP-59 and NIP-17 open")
  func nipExamples() throws {
    struct NIP59: Decodable { let authorSec: String, recipientSec: String, rumor: AnyJSON, wrap: AnyJSON }
    if let vector = try sharedVectors(NIP59.self, "nip59/nip59.json") {
      let recipient = try #require(SecretKey(hex: vector.recipientSec))
      let rumor = try open(vector.wrap.event, by: recipient)
      #expect(rumor.id.description == vector.rumor.id && rumor.event.content == vector.rumor.content)
      #expect(rumor.author == SecretKey(hex: vector.authorSec)?.publicKey && rumor.warnings.isEmpty)
    }
    struct NIP17: Decodable {
      let senderNsec: String, recipientNsec: String, content: String, wrapToRecipient: AnyJSON, wrapToSender: AnyJSON
    }
    if let vector = try sharedVectors(NIP17.self, "nip17/nip17.json") {
      let keys = try [vector.senderNsec, vector.recipientNsec].map { nsec in
        try #require(SecretKey(hex: Hexadecimal.text(of: Bech32.decode(nsec, maximumCount: 90).data)))
      }
      let received = try open(vector.wrapToRecipient.event, by: keys[1])
      let kept = try open(vector.wrapToSender.event, by: keys[0])
      #expect(received.author == keys[0].publicKey && received.event.content == vector.content)
      #expect(received.id == kept.id && received.event.kind == 14)
    }
  }

  @Test("Thirty wraps of another program are opened, refused or opened with a warning, each as it says")
  func linkstr() throws {
    struct Vectors: Decodable {
      let keys: [String: Pair], wraps: [Case]
      struct Pair: Decodable { let secret: String }
      struct Case: Decodable {
        let name: String, expect: String, why: String, recipient: String, wrap: AnyJSON, seal: AnyJSON,
          rumorText: String
      }
    }
    // What its payload's own rules refuse is a sound rumor to NIP-59.
    let refused: [String: (GiftWrapFault) -> Bool] = [
      "bad-rumor-pubkey-not-seal-pubkey": { if case .impersonation = $0 { true } else { false } },
      "bad-seal-claims-alice-signed-by-mallory": { $0 == .badSeal(.badSignature) },
      "bad-seal-signature": { $0 == .badSeal(.badSignature) },
      "bad-seal-id": { if case .badSeal(.wrongID) = $0 { true } else { false } },
      "bad-rumor-id": { if case .badRumor(.wrongID) = $0 { true } else { false } },
      "bad-seal-kind": { $0 == .notASeal(kind: 1) },
    ]
    let warned: [String: [GiftWrapWarning]] = [
      "bad-seal-tags": [.sealHasTags], "bad-outer-p-not-me": [.wrapNamesOthers],
      "odd-rumor-with-sig": [.rumorWithSignature], "v1-root-missing-rumor-id": [.rumorWithoutID],
    ]
    guard let vectors = try sharedVectors(Vectors.self, "linkstr/wraps-generated.json") else { return }
    var refusedCount = 0
    for test in vectors.wraps {
      let recipient = try #require(SecretKey(hex: vectors.keys[test.recipient]?.secret ?? ""))
      do throws(GiftWrapFault) {
        let rumor = try open(Result { try test.wrap.event }.get(orStop: test.name), by: recipient)
        #expect(refused[test.name] == nil, "\(test.name): \(test.why)")
        #expect(rumor.warnings == warned[test.name] ?? [], "\(test.name)")
        #expect(rumor.author.description == test.seal.pubkey && test.rumorText.contains(rumor.author.description))
      } catch {
        refusedCount += 1
        #expect(refused[test.name]?(error) == true, "\(test.name): \(error)")
      }
    }
    #expect(vectors.wraps.count == 30 && refusedCount == refused.count)
  }
}

extension Result {
  /// The value; a test that has none cannot go on.
  fileprivate func get(orStop name: String) -> Success {
    switch self {
    case .success(let value): value
    case .failure(let error): fatalError("\(name) is no event: \(error)")
    }
  }
}
