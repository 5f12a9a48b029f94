import Clocks
import Cryptography
import FoundationEssentials
import JSON
import Nostr
import TestSupport
import Testing

/// Everything that two programs must agree about, tried with a library by other people: nostr-sdk, which is written in
/// Rust.
///
/// `ROOST_EVENTS` says how many events; of what is encrypted there are a thirtieth as many cases.
@Suite(
  .serialized,
  .enabled(if: PythonPeer.isAvailable, "no .venv at the repository's root: run Scripts/python-environment.sh"))
struct NostrSDKTests {
  private let eventCount = amount("ROOST_EVENTS", standard: 10_000)
  private var caseCount: Int { max(eventCount / 30, 10) }

  @Test("Events signed there verify here, and events signed here verify there", arguments: seeds(1))
  func events(seed: UInt64) throws {
    let sdk = try SDK()
    var generator = EventGenerator(seed: seed)
    let key = SecretKey.generate()
    let verifier = EventVerifier()
    for number in 0..<eventCount {
      let unsigned = try template(&generator, by: key)
      let here = unsigned.signed(by: key)
      #expect(try sdk.ask("verify", here.text) == ["valid"], "event \(number)")
      let there = Array(try sdk.ask("sign", key.hex, unsigned.text)[0].utf8)
      let scanned = try ScannedEvent.read(there)
      #expect(there.withUnsafeBytes { verifier.fault(of: scanned, in: $0) } == nil, "event \(number)")
      #expect(try Event(json: there).unsigned == unsigned && scanned.id == here.id, "event \(number)")
      guard number.isMultiple(of: 100) else { continue }
      let forged = Event(here.unsigned, signature: key.sign(SHA256.hash(Array("\(number)".utf8))))
      #expect(try sdk.ask("verify", forged.text) == ["invalid"])
    }
  }

  /// An event as strange as the generator makes it, by this key. nostr-sdk counts time up to 2^63-1 and no tag is
  /// beyond it.
  private func template(_ generator: inout EventGenerator, by key: SecretKey) throws -> UnsignedEvent {
    let event = try Event(json: generator.json())
    return UnsignedEvent(
      pubkey: key.publicKey, createdAt: event.createdAt, kind: event.kind, tags: event.tags, content: event.content)
  }

  @Test("Messages of NIP-04 and NIP-44 are read in both directions", arguments: seeds(1))
  func messages(seed: UInt64) throws {
    let sdk = try SDK()
    var generator = EventGenerator(seed: seed)
    for number in 0..<caseCount {
      let (here, there) = (SecretKey.generate(), SecretKey.generate())
      let text = generator.message(1 + generator.below(1 << generator.below(12)))
      let key = try ConversationKey(here, there.publicKey)
      let hereSide = [here.hex, there.publicKey.description]
      let thereSide = [there.hex, here.publicKey.description]
      var sent = try NIP44.encrypt(text, with: key)
      #expect(try sdk.ask("nip44-decrypt", thereSide + [sent])[0].isByteForByte(text), "case \(number)")
      sent = try sdk.ask("nip44-encrypt", thereSide + [text])[0]
      #expect(try NIP44.decryptText(sent, with: key).isByteForByte(text), "case \(number)")
      sent = try NIP04.encrypt(text, by: here, for: there.publicKey)
      #expect(try sdk.ask("nip04-decrypt", thereSide + [sent])[0].isByteForByte(text), "case \(number)")
      sent = try sdk.ask("nip04-encrypt", hereSide + [text])[0]
      #expect(try NIP04.decrypt(sent, by: there, from: here.publicKey).isByteForByte(text), "case \(number)")
    }
  }

  @Test(
    "A text of each critical size is read in both directions", arguments: [1, 31, 32, 33, 256, 257, 65_408, 65_535])
  func sizes(count: Int) throws {
    let sdk = try SDK()
    let (here, there) = (SecretKey.generate(), SecretKey.generate())
    let key = try ConversationKey(here, there.publicKey)
    let text = String(repeating: "x", count: count)
    #expect(
      try sdk.ask("nip44-decrypt", there.hex, here.publicKey.description, NIP44.encrypt(text, with: key)) == [text])
    // nostr-sdk writes no longer ones.
    guard count <= 65_408 else { return }
    let payload = try sdk.ask("nip44-encrypt", there.hex, here.publicKey.description, text)[0]
    #expect(try NIP44.decryptText(payload, with: key) == text)
  }

  @Test("Gift wraps are opened in both directions", arguments: seeds(1))
  func giftWraps(seed: UInt64) throws {
    let sdk = try SDK()
    var generator = EventGenerator(seed: seed)
    var random = SeededGenerator(seed: seed)
    for number in 0..<caseCount {
      let (here, there) = (SecretKey.generate(), SecretKey.generate())
      let rumor = try template(&generator, by: here)
      let seal = try Seal(rumor, for: there.publicKey, by: here, now: 1_800_000_000, using: &random)
      let wrap = try GiftWrap(seal, for: there.publicKey, now: 1_800_000_000, using: &random)
      let opened = try sdk.ask("unwrap", there.hex, wrap.event.text)
      #expect(opened[0] == here.publicKey.description, "case \(number)")
      #expect(try UnsignedEvent(json: Array(opened[1].utf8)) == rumor, "case \(number)")
      let reply = try template(&generator, by: there)
      let answer = try sdk.ask("wrap", there.hex, here.publicKey.description, reply.text)[0]
      let received = try GiftWrap(Event(json: Array(answer.utf8))).open(by: here)
      #expect(received.event == reply && received.author == there.publicKey, "case \(number)")
      #expect(received.warnings.allSatisfy { $0 == .rumorWithoutID }, "case \(number): \(received.warnings)")
    }
  }

  @Test("Encrypted keys are opened in both directions, with passphrases of any letters")
  func encryptedKeys() throws {
    let sdk = try SDK()
    for passphrase in ["nostr", "", "\u{212B}\u{2126}\u{1E9B}\u{0323}", "ﬁve wörds", "パスワード ①"] {
      let key = SecretKey.generate()
      let here = try EncryptedSecretKey(encrypting: key, with: Passphrase(passphrase), logN: 4)
      #expect(try sdk.ask("decrypt-key", here.text, passphrase) == [key.hex], "\(passphrase)")
      let there = try EncryptedSecretKey(sdk.ask("encrypt-key", key.hex, passphrase, "4")[0])
      #expect(try there.open(with: Passphrase(passphrase)).publicKey == key.publicKey, "\(passphrase)")
      #expect(there.handling == .notKnownInsecure && there.logN == 4)
    }
  }
}

/// The peer, with the commands of `nostr_lines.py`.
private struct SDK {
  private let peer = Result { try LinePeer("nostr_lines.py") }

  init() throws { _ = try peer.get() }

  /// What a command gave; what nostr-sdk said when it refused.
  func ask(_ command: String, _ arguments: String...) throws -> [String] { try ask(command, arguments) }

  func ask(_ command: String, _ arguments: [String]) throws -> [String] {
    var line: [UInt8] = [UInt8(ascii: "[")]
    JSONString.append(command, to: &line)
    for argument in arguments {
      line.append(UInt8(ascii: ","))
      JSONString.append(argument, to: &line)
    }
    line.append(UInt8(ascii: "]"))
    struct Answer: Decodable { let ok: [String]?, error: String? }
    let answer = try JSONDecoder().decode(Answer.self, from: Data(peer.get().ask(line)))
    guard let ok = answer.ok else { throw Refused(command: command, reason: answer.error ?? "") }
    return ok
  }

  struct Refused: Error { let command: String, reason: String }
}

extension Event {
  fileprivate var text: String { String(decoding: json, as: UTF8.self) }
}

extension UnsignedEvent {
  fileprivate var text: String { String(decoding: json, as: UTF8.self) }
}

extension String {
  fileprivate func isByteForByte(_ other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
