import Contracts
import Cryptography
import Frames
import Nostr
import NostrContracts
import TestSupport
import Testing

extension ProcessTests {
  /// `signer.open`: runs of gift wraps, by a `link-feed` that the test plays.
  @Suite("Gift wraps, opened in runs")
  struct OpeningTests {
    private static let passphrase = "correct horse battery"

    private struct World {
      let rig: SignerRig
      let linkFeed: BusPeer

      static func run(_ body: (World) throws -> Void) throws {
        var layout = SignerRig.layout()
        layout.workers.append(Layout.Worker(name: "links", keys: ["role": "\"link-feed\"", "enabled": "false"]))
        try SignerRig.run(layout) { rig in
          try body(World(rig: rig, linkFeed: try rig.attach("links", role: "link-feed")))
        }
      }

      func account(_ name: String, _ passphrase: String? = nil) throws -> PublicKey {
        try #require(PublicKey(try rig.generate(name, passphrase).publicKey))
      }

      /// Asks with any bytes; returns the request's id.
      func ask(_ bytes: [UInt8], flags: FrameFlags = .raw) throws -> UInt64 {
        let header = try linkFeed.request("signer.open", flags: flags, ttlMilliseconds: 60_000)
        try linkFeed.wait("credit") { linkFeed.hasCredit }
        linkFeed.spend(bytes.count)
        linkFeed.send(header, bytes)
        return header.id
      }

      func open(_ run: WrapRun) throws -> [WrapOutcome] {
        let answer = try linkFeed.answer(to: try ask(run.encode()))
        if let refusal = answer.refusal { throw refusal }
        #expect(answer.terminal.header.flags.contains(.raw))
        return try WrapOutcomes.decode(answer.terminal.payload).list
      }

      func refusal(_ bytes: [UInt8], flags: FrameFlags = .raw) throws -> Refusal? {
        try linkFeed.answer(to: try ask(bytes, flags: flags)).refusal
      }
    }

    private static func rumor(_ content: String, by author: SecretKey) -> UnsignedEvent {
      UnsignedEvent(pubkey: author.publicKey, createdAt: 1_700_000_000, kind: 14, content: content)
    }

    private static func wrap(_ rumor: UnsignedEvent, by author: SecretKey, for recipient: PublicKey) throws -> [UInt8] {
      var random = SystemRandomNumberGenerator()
      let now: Int64 = 1_700_000_000
      let seal = try Seal(rumor, for: recipient, by: author, now: now, using: &random)
      return try GiftWrap(seal, for: recipient, now: now, using: &random).event.json
    }

    /// Wraps a seal, whatever it is.
    private static func wrap(sealed json: [UInt8], for recipient: PublicKey) throws -> [UInt8] {
      let once = SecretKey.generate()
      return UnsignedEvent(
        pubkey: once.publicKey, createdAt: 1, kind: 1_059, tags: [["p", "\(recipient)"]],
        content: try NIP44.encrypt(json, with: ConversationKey(once, recipient))
      ).signed(by: once).json
    }

    @Test("A full run is opened in its order, with what is wrong between what is right, and nothing else is said of it")
    func opening() throws {
      try World.run { world in
        let alice = try world.account("alice")
        let authors = (0..<3).map { _ in SecretKey.generate() }
        let mallory = SecretKey.generate()
        var wraps: [[UInt8]] = []
        var expected: [(rumor: UnsignedEvent?, code: WrapRefusal.Code?)] = []
        for number in 0..<WrapRun.countMaximum {
          let author = authors[number % authors.count]
          let rumor = Self.rumor("message \(number)", by: author)
          switch number % 16 {
          case 3:
            let seal = UnsignedEvent(
              pubkey: author.publicKey, createdAt: 1, kind: 13,
              content: try NIP44.encrypt(rumor.json, with: ConversationKey(author, alice)))
            let forged = Event(seal, signature: mallory.sign(seal.id.octets))
            wraps.append(try Self.wrap(sealed: forged.json, for: alice))
            expected.append((nil, .forgedSeal))
          case 7:
            wraps.append(try Self.wrap(rumor, by: author, for: mallory.publicKey))
            expected.append((nil, .notForThisAccount))
          case 11:
            wraps.append(Array("{".utf8))
            expected.append((nil, .malformed))
          default:
            wraps.append(try Self.wrap(rumor, by: author, for: alice))
            expected.append((rumor, nil))
          }
        }
        let outcomes = try world.open(WrapRun(account: alice, wraps: wraps))
        #expect(outcomes.count == wraps.count)
        for (number, (outcome, expected)) in zip(outcomes, expected).enumerated() {
          switch outcome {
          case .opened(let wrap):
            let right = expected.rumor.map { OpenedWrap(author: $0.pubkey, id: $0.id, rumor: $0.json) }
            #expect(wrap == right, "\(number)")
          case .refused(let refusal): #expect(refusal.code == expected.code, "\(number)")
          }
        }
        #expect(try world.open(WrapRun(account: alice, wraps: [])).isEmpty)
        // The log has how many, and for whom; nothing of what was in them.
        let log = String(
          decoding: SharedFolder.files(below: world.rig.roost.directory.path + "/log").flatMap {
            SharedFolder.bytes(ofFile: $0) ?? []
          }, as: UTF8.self)
        #expect(log.contains("signer.open") && log.contains("256") && !log.contains("message 1"))
      }
    }

    @Test("Large contents are opened up to 256 KiB and refused above")
    func sizes() throws {
      try World.run { world in
        let alice = try world.account("alice")
        let author = SecretKey.generate()
        let large = Self.rumor(String(repeating: "x", count: 114_000), by: author)
        let once = SecretKey.generate()
        let larger = UnsignedEvent(
          pubkey: once.publicKey, createdAt: 1, kind: 1_059, tags: [["p", "\(alice)"]],
          content: String(repeating: "A", count: GiftWrap.contentByteCountMaximum + 1)
        ).signed(by: once)
        let outcomes = try world.open(
          WrapRun(account: alice, wraps: [try Self.wrap(large, by: author, for: alice), larger.json]))
        guard case .opened(let opened) = outcomes[0], case .refused(let refusal) = outcomes[1] else {
          Issue.record("\(outcomes.map { "\($0)".prefix(200) })")
          return
        }
        #expect(opened.rumor == large.json && refusal.code == .tooLarge)
      }
    }

    @Test("A run with more than 256 wraps, a cut one, and JSON are refused whole; other roles may not ask")
    func malformed() throws {
      try World.run { world in
        let alice = try world.account("alice")
        let header = alice.octets.bytes
        let many = header + [1, 1, 0, 0] + [UInt8](repeating: 0, count: 4 * 257)
        let refused = try world.refusal(many)
        #expect(refused?.code == .badRequest && refused?.message.contains("257") == true)
        let run = WrapRun(account: alice, wraps: [[1, 2, 3]]).encode()
        #expect(try world.refusal(Array(run.dropLast()))?.code == .badRequest)
        #expect(try world.refusal(run + [0])?.code == .badRequest)
        #expect(try world.refusal(Array("{}".utf8), flags: [])?.code == .badPayload)
        #expect(try world.rig.refusal("signer.open", [String: String]()) == "denied")
        #expect(
          try world.rig.refusal("signer.unwrap", SignerUnwrap(wrap: RawJSON(Array("{}".utf8))), by: world.linkFeed)
            == "denied")
        let stranger = WrapRun(account: SecretKey.generate().publicKey, wraps: [[]])
        #expect(try world.refusal(stranger.encode())?.code == .noSuchAccount)
      }
    }

    @Test("A locked account refuses a run at once; one that is locked meanwhile has no further wrap opened")
    func locking() throws {
      try World.run { world in
        let alice = try world.account("alice", Self.passphrase)
        let author = SecretKey.generate()
        let wrap = try Self.wrap(Self.rumor("hello", by: author), by: author, for: alice)
        try world.rig.kill()
        let run = WrapRun(account: alice, wraps: Array(repeating: wrap, count: WrapRun.countMaximum))
        #expect(try world.refusal(run.encode())?.code == .locked)
        #expect(try world.rig.accounts().waiting == 0)
        #expect(try world.rig.unlock("alice", Self.passphrase) == nil)
        #expect(try world.open(run).count == run.wraps.count)
        let ids = try (0..<8).map { _ in try world.ask(run.encode()) }
        // A note is signed meanwhile: it is not behind the runs.
        let sign = SignerSign(account: "alice", event: SignerRig.template())
        #expect(try world.rig.refusal("signer.sign", sign) == nil)
        world.linkFeed.receive()
        let early = world.linkFeed.takeAnswer(to: ids[7])
        #expect(early == nil)
        _ = try world.rig.ask("signer.lock", SignerLock(account: "alice"), as: SignerAccounts.self)
        let codes = try ids.map { try world.linkFeed.answer(to: $0).refusal?.code }
        #expect(codes.allSatisfy { $0 == nil || $0 == .locked } && codes.last == .locked)
      }
    }

    @Test("A flood of wraps uses up the rate of opening and no other")
    func rate() throws {
      try World.run { world in
        let alice = try world.account("alice")
        let run = WrapRun(account: alice, wraps: Array(repeating: [], count: WrapRun.countMaximum)).encode()
        var taken = 0
        var refused: Refusal?
        while refused == nil, taken < 1_000 {
          refused = try world.refusal(run)
          if refused == nil { taken += 1 }
        }
        #expect(refused?.code == .rateLimited && refused?.retryAfterMilliseconds ?? 0 > 0)
        #expect(taken >= 39, "10,000 wraps at once")
        let peer = SecretKey.generate().publicKey
        let cipher = SignerCipher(account: "alice", peer: "\(peer)", text: "hello")
        #expect(try world.rig.refusal("signer.nip44.encrypt", cipher, by: world.linkFeed) == nil)
        let sign = SignerSign(account: "alice", event: SignerRig.template())
        #expect(try world.rig.refusal("signer.sign", sign) == nil)
      }
    }

    @Test(
      "What nostr-sdk wraps is opened, and what link-feed has wrapped nostr-sdk opens",
      .enabled(if: PythonPeer.isAvailable, "no .venv at the repository's root: run Scripts/python-environment.sh"))
    func nostrSDK() throws {
      try World.run { world in
        let alice = try world.account("alice")
        let sdk = try LinePeer("nostr_lines.py")
        func ask(_ words: String...) throws -> [String] {
          let answer = try JSONPayload.decode([String: [String]].self, from: try sdk.ask(JSONPayload.encode(words)))
          return try #require(answer["ok"])
        }
        let secrets = (0..<3).map { _ in Hexadecimal.text(of: RandomBytes.make(32)) }
        let authors = try secrets.map { digits in
          let bytes = try #require(Hexadecimal.decode(digits.utf8))
          return try #require(bytes.withUnsafeBytes { SecretKey(bytes: $0) })
        }
        let rumors = (0..<64).map { Self.rumor("caf\u{E9} \($0) \"\n\u{1F426}", by: authors[$0 % 3]) }
        let wraps = try rumors.enumerated().map { number, rumor in
          try ask("wrap", secrets[number % 3], "\(alice)", String(decoding: rumor.json, as: UTF8.self))[0]
        }
        let outcomes = try world.open(WrapRun(account: alice, wraps: wraps.map { Array($0.utf8) }))
        #expect(
          outcomes == rumors.map { .opened(OpenedWrap(author: $0.pubkey, id: $0.id, rumor: $0.json)) })
        let wanted = SignerWrap(
          account: "alice", recipient: "\(authors[0].publicKey)", rumor: SignerRig.template(14, "back"))
        let wrapped = try world.rig.ask("signer.wrap", wanted, by: world.linkFeed, as: SignerWrapped.self)
        let opened = try ask("unwrap", secrets[0], String(decoding: wrapped.wrap.bytes, as: UTF8.self))
        #expect(opened[0] == "\(alice)" && opened[1].contains("back"))
        let note = SignerWrap(account: "alice", recipient: "\(alice)", rumor: SignerRig.template(1))
        #expect(try world.rig.refusal("signer.wrap", note, by: world.linkFeed) == "forbidden")
      }
    }
  }
}
