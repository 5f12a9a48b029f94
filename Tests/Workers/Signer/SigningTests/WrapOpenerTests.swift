import Cryptography
import FoundationEssentials
import Nostr
import NostrContracts
import TestSupport
import Testing

@testable import Signing

@Suite("Opening gift wraps") struct WrapOpenerTests {
  private let bob = SecretKey.generate()
  private let mallory = SecretKey.generate()
  private let authors = ConversationCache()
  private let maker: WrapMaker
  private let opener: WrapOpener

  init() {
    maker = WrapMaker(recipient: bob)
    authors.keep(only: [bob.publicKey])
    opener = WrapOpener(bob, authors: authors)
  }

  private func code(_ json: [UInt8]) -> WrapRefusal.Code? {
    guard case .refused(let refusal) = opener.open(json) else { return nil }
    #expect(!refusal.reason.isEmpty && refusal.reason.utf8.count <= WrapRefusal.reasonByteCountMaximum)
    return refusal.code
  }

  @Test("A sound wrap is opened: author, id and rumor; also an ephemeral one, and one whose seal expires")
  func sound() throws {
    let rumor = maker.rumor("h\u{E9}llo")
    let expected = WrapOutcome.opened(OpenedWrap(author: maker.author.publicKey, id: rumor.id, rumor: rumor.json))
    #expect(opener.open(try maker.wrap(rumor).json) == expected)
    #expect(opener.open(try maker.wrap(rumor, sealTags: [["expiration", "1900000000"]]).json) == expected)
    let sealed = try maker.seal(rumor.json).signed(by: maker.author).json
    #expect(opener.open(try maker.wrap(sealed, kind: 21_059).json) == expected)
    // The seal alone proves the author: a wrap with a wrong signature or time holds what it held.
    let wrap = try maker.wrap(rumor)
    #expect(opener.open(Event(wrap.unsigned, signature: mallory.sign(wrap.id.octets)).json) == expected)
  }

  @Test("Whatever is forged or wrong at any layer is refused with its code")
  func refused() throws {
    let rumor = maker.rumor()
    #expect(code(Array("no event".utf8)) == .malformed)
    #expect(code([]) == .malformed)
    #expect(code(rumor.signed(by: maker.author).json) == .notAGiftWrap)
    #expect(code(try maker.wrap(rumor.json, tags: [["p", "\(mallory.publicKey)"]]).json) == .notForThisAccount)
    #expect(code(try maker.wrap(rumor.json, tags: []).json) == .notForThisAccount)
    let foreign = try WrapMaker(recipient: mallory).wrap(Array("{}".utf8), tags: [["p", "\(bob.publicKey)"]])
    #expect(code(foreign.json) == .undecryptable)
    let text = String(decoding: try maker.wrap(rumor).json, as: UTF8.self)
    let damaged = text.replacing("\"content\":\"A", with: "\"content\":\"B")
    #expect(code(Array(damaged.utf8)) == .undecryptable)
    // The wrap's key is no key.
    let wrap = try maker.wrap(rumor)
    let keyless = String(decoding: wrap.json, as: UTF8.self)
      .replacing("\(wrap.pubkey)", with: String(repeating: "f", count: 64))
    #expect(code(Array(keyless.utf8)) == .undecryptable)
    #expect(code(try maker.wrap(Array("hello".utf8)).json) == .notASeal)
    #expect(code(try maker.wrap(rumor.json).json) == .notASeal)
    #expect(code(try maker.wrap(maker.seal(rumor.json, kind: 1).signed(by: maker.author).json).json) == .notASeal)
    #expect(code(try maker.wrap(rumor, sealTags: [["p", "x"]]).json) == .notASeal)
    let seal = try maker.seal(rumor.json)
    let forged = Event(seal, signature: mallory.sign(seal.id.octets))
    #expect(code(try maker.wrap(forged.json).json) == .forgedSeal)
    let moved = String(decoding: seal.signed(by: maker.author).json, as: UTF8.self)
      .replacing("\"created_at\":\(maker.now)", with: "\"created_at\":\(maker.now + 1)")
    #expect(code(try maker.wrap(Array(moved.utf8)).json) == .forgedSeal)
    let broken = UnsignedEvent(pubkey: maker.author.publicKey, createdAt: 1, kind: 13, content: "AgAA")
    #expect(code(try maker.wrap(broken.signed(by: maker.author).json).json) == .undecryptable)
    #expect(code(try maker.wrap(maker.seal(Array("{}".utf8)).signed(by: maker.author).json).json) == .malformedRumor)
    let wrongID = String(decoding: rumor.json, as: UTF8.self)
      .replacing("\(rumor.id)", with: String(repeating: "0", count: 64))
    #expect(
      code(try maker.wrap(maker.seal(Array(wrongID.utf8)).signed(by: maker.author).json).json) == .malformedRumor)
    let framed = maker.rumor(by: mallory)
    #expect(code(try maker.wrap(maker.seal(framed.json).signed(by: maker.author).json).json) == .wrongAuthor)
    #expect(opener.open(try maker.wrap(rumor).json) != .refused(WrapRefusal(.malformed, "")), "and a sound one opens")
  }

  @Test("A content of 256 KiB is opened, and one above it is not decrypted, in the wrap and in the seal")
  func sizes() throws {
    // 114,688 bytes are padded to 114,688, and twice Base64 makes 229,376 and less than 262,144 of them.
    let large = maker.rumor(String(repeating: "x", count: 114_000))
    let wrap = try maker.wrap(large)
    #expect(wrap.content.utf8.count > 200_000 && wrap.content.utf8.count <= GiftWrap.contentByteCountMaximum)
    guard case .opened(let opened) = opener.open(wrap.json) else {
      Issue.record("it is not opened")
      return
    }
    #expect(opened.rumor == large.json)
    let sealed = try maker.seal(maker.rumor(String(repeating: "x", count: 200_000)).json)
    #expect(code(try maker.wrap(sealed.signed(by: maker.author).json).json) == .tooLarge)
    let once = SecretKey.generate()
    let huge = UnsignedEvent(
      pubkey: once.publicKey, createdAt: 1, kind: 1_059, tags: [["p", "\(bob.publicKey)"]],
      content: String(repeating: "A", count: GiftWrap.contentByteCountMaximum + 1))
    #expect(code(huge.signed(by: once).json) == .tooLarge)
  }

  @Test("An author is kept once its seal was right, and no other is; dropped with the account")
  func kept() throws {
    let seal = try maker.seal(maker.rumor().json)
    #expect(code(try maker.wrap(Event(seal, signature: mallory.sign(seal.id.octets)).json).json) == .forgedSeal)
    #expect(authors.count == 0)
    for _ in 0..<3 {
      guard case .opened = opener.open(try maker.wrap(maker.rumor()).json) else {
        Issue.record("it is not opened")
        return
      }
      #expect(authors.count == 1)
    }
    // What is kept of the author is what is used: a forgery is refused now too.
    #expect(code(try maker.wrap(Event(seal, signature: mallory.sign(seal.id.octets)).json).json) == .forgedSeal)
    authors.keep(only: [])
    #expect(authors.count == 0)
    // A slice that was under way when the account was locked.
    guard case .opened = opener.open(try maker.wrap(maker.rumor()).json) else {
      Issue.record("it is not opened")
      return
    }
    #expect(authors.count == 0)
  }

  @Test("At most 1,024 authors are kept, and those of one account go without those of another")
  func bounded() throws {
    let (alice, carol) = (SecretKey.generate(), SecretKey.generate())
    authors.keep(only: [alice.publicKey, bob.publicKey])
    let point = try #require(ParsedPublicKey(carol.publicKey))
    let author = ConversationCache.Author(point: point, conversation: try ConversationKey(alice, carol.publicKey))
    for number in 0..<3_000 {
      let name = [UInt8](repeating: UInt8(number & 0xFF), count: 31) + [UInt8(number >> 8)]
      authors.keep(author, PublicKey(try #require(Octets32(name))), of: alice.publicKey)
      #expect(authors.count <= 2 * ConversationCache.generationCapacity)
    }
    #expect(authors.count > ConversationCache.generationCapacity)
    authors.keep(author, carol.publicKey, of: bob.publicKey)
    authors.keep(only: [bob.publicKey])
    #expect(authors.count == 1 && authors.author(carol.publicKey, of: bob.publicKey) != nil)
    #expect(authors.author(carol.publicKey, of: alice.publicKey) == nil)
  }

  // MARK: Others' wraps

  @Test("The examples of NIP-59 and NIP-17 open")
  func examples() throws {
    struct NIP59: Decodable { let authorSec: String, recipientSec: String, rumor: SharedEvent, wrap: SharedEvent }
    if let vector = try shared(NIP59.self, "nip59/nip59.json") {
      let key = try SharedEvent.key(vector.recipientSec)
      let opened = try opened(vector.wrap, by: key)
      #expect("\(opened.id)" == vector.rumor.id)
      #expect(opened.author == (try SharedEvent.key(vector.authorSec)).publicKey)
      #expect(try UnsignedEvent(json: opened.rumor).content == vector.rumor.content)
    }
    struct NIP17: Decodable {
      let senderNsec: String, recipientNsec: String, content: String
      let wrapToRecipient: SharedEvent, wrapToSender: SharedEvent
    }
    if let vector = try shared(NIP17.self, "nip17/nip17.json") {
      let keys = try [vector.senderNsec, vector.recipientNsec].map { text in
        try SharedEvent.key(Hexadecimal.text(of: Bech32.decode(text, maximumCount: 90).data))
      }
      let received = try opened(vector.wrapToRecipient, by: keys[1])
      let kept = try opened(vector.wrapToSender, by: keys[0])
      #expect(received.author == keys[0].publicKey && received.id == kept.id)
      #expect(try UnsignedEvent(json: received.rumor).content == vector.content)
    }
  }

  @Test("Thirty wraps of another program are opened or refused, each with the code for what is wrong")
  func linkstr() throws {
    struct Vectors: Decodable {
      let keys: [String: Pair], wraps: [Case]
      struct Pair: Decodable { let secret: String }
      struct Case: Decodable { let name: String, recipient: String, wrap: SharedEvent, seal: SharedEvent }
    }
    let refused: [String: WrapRefusal.Code] = [
      "bad-rumor-pubkey-not-seal-pubkey": .wrongAuthor, "bad-seal-claims-alice-signed-by-mallory": .forgedSeal,
      "bad-seal-signature": .forgedSeal, "bad-seal-id": .forgedSeal, "bad-rumor-id": .malformedRumor,
      "bad-seal-kind": .notASeal, "bad-seal-tags": .notASeal, "bad-outer-p-not-me": .notForThisAccount,
    ]
    guard let vectors = try shared(Vectors.self, "linkstr/wraps-generated.json") else { return }
    var refusedCount = 0
    for test in vectors.wraps {
      let key = try SharedEvent.key(try #require(vectors.keys[test.recipient]).secret)
      switch WrapOpener(key, authors: authors).open(test.wrap.json) {
      case .opened(let wrap): #expect(refused[test.name] == nil && "\(wrap.author)" == test.seal.pubkey, "\(test.name)")
      case .refused(let refusal):
        refusedCount += 1
        #expect(refused[test.name] == refusal.code, "\(test.name): \(refusal)")
      }
    }
    #expect(vectors.wraps.count == 30 && refusedCount == refused.count)
  }

  private func opened(_ wrap: SharedEvent, by key: SecretKey) throws -> OpenedWrap {
    switch WrapOpener(key, authors: authors).open(wrap.json) {
    case .opened(let opened): return opened
    case .refused(let refusal): throw refusal
    }
  }

  private func shared<Value: Decodable>(_ type: Value.Type, _ path: String) throws -> Value? {
    guard let lines = SharedFolder.lines(of: "vectors/" + path) else { return nil }
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try decoder.decode(type, from: Data(lines.joined(separator: [10])))
  }
}

/// An event of a file of vectors, right or wrong as it is there.
private struct SharedEvent: Decodable {
  let id: String, pubkey: String, createdAt: Int64, kind: UInt16, tags: [[String]], content: String, sig: String?

  var json: [UInt8] {
    let parts = [
      "\"id\":\"\(id)\"", "\"pubkey\":\"\(pubkey)\"", "\"created_at\":\(createdAt)", "\"kind\":\(kind)",
      "\"tags\":[\(tags.map { "[\($0.map { "\"\($0)\"" }.joined(separator: ","))]" }.joined(separator: ","))]",
      "\"content\":\"\(content)\"", "\"sig\":\"\(sig ?? "")\"",
    ]
    return Array("{\(parts.joined(separator: ","))}".utf8)
  }

  static func key(_ digits: String) throws -> SecretKey {
    let bytes = try #require(Hexadecimal.decode(digits.utf8))
    return try #require(bytes.withUnsafeBytes { SecretKey(bytes: $0) })
  }
}
