public import Cryptography
internal import JSON

// Gift wraps (NIP-59): an unsigned event, the *rumor*, is inside an event that its author signs and one recipient can
// open, the *seal*. The seal is inside an event that reveals only its recipient and is signed by a key made for the
// purpose, the *wrap*.
//
//     wrap  1059, by a key used once    content = NIP-44( seal, once ↔ recipient )
//     seal    13, by the author         content = NIP-44( rumor, author ↔ recipient )
//     rumor  any, unsigned
//
// Only the seal's signature proves the author. A rumor also has a pubkey, but any sender can write any key there:
// libraries that took it for the author let every sender impersonate everyone. So here each step is a type that cannot
// be created without its checks: a ``GiftWrap`` is verified before anything in it is decrypted, a ``Seal`` before its
// rumor, and a ``Rumor`` must be by the seal's author.
//
// The steps do not include decryption, because the key is elsewhere: in the signer's process, or in a remote signer.
// Code that has the key calls ``GiftWrap/open(by:)``.
//
// Facts that a reader should know but need not refuse are warnings: they are unusual, but real clients send such
// events.

/// An unusual property of a gift wrap that is still valid.
public enum GiftWrapWarning: Hashable, Sendable, CustomStringConvertible {
  /// No `p` tag of the wrap names the recipient that could open it.
  case wrapNamesOthers
  /// The seal has tags other than its expiration; NIP-59 wants none.
  case sealHasTags
  /// The rumor has no id; it was computed.
  case rumorWithoutID
  /// The rumor has a `sig`, which was not checked: it must never be published, because then its author could not deny
  /// it.
  case rumorWithSignature

  /// The end of a sentence: `the seal has tags`.
  public var description: String {
    switch self {
    case .wrapNamesOthers: "the wrap names another key as its recipient"
    case .sealHasTags: "the seal has tags"
    case .rumorWithoutID: "the rumor has no id"
    case .rumorWithSignature: "the rumor carries a signature"
    }
  }
}

/// Why an event is not a gift wrap, or could not be made one. Reveals nothing of keys and contents.
public enum GiftWrapFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// The outer event is of another kind.
  case notAWrap(kind: UInt16)
  /// The content of wrap or seal has more bytes than are accepted; it was not decrypted.
  case tooLarge(byteCount: Int, maximum: Int)
  /// The wrap is not valid.
  case badWrap(EventFault)
  /// The wrap does not contain a valid event.
  case badSeal(EventFault)
  /// The event in the wrap is not a seal.
  case notASeal(kind: UInt16)
  /// The content of the seal is not an event, or has a wrong id.
  case badRumor(EventFault)
  /// The seal's author and the author that the rumor names differ: an impersonation.
  case impersonation(seal: PublicKey, rumor: PublicKey)
  /// A content could not be encrypted or decrypted.
  case encryption(NIP44Fault)

  /// The end of a sentence: `the seal is not valid: the signature is wrong`.
  public var description: String {
    switch self {
    case .notAWrap(let kind): "an event of kind \(kind) is no gift wrap"
    case .tooLarge(let count, let maximum): "the content has \(count) bytes, and at most \(maximum) are taken"
    case .badWrap(let fault): "the gift wrap is not valid: \(fault)"
    case .badSeal(let fault): "the seal is not valid: \(fault)"
    case .notASeal(let kind): "the gift wrap holds an event of kind \(kind) and no seal"
    case .badRumor(let fault): "the rumor is not valid: \(fault)"
    case .impersonation(let seal, let rumor): "the seal is by \(seal), and its rumor claims to be by \(rumor)"
    case .encryption(let fault): "\(fault)"
    }
  }
}

/// A wrap with a valid signature and a content small enough to decrypt (NIP-59).
public struct GiftWrap: Hashable, Sendable {
  /// The wrap. Its author is a key that was used once and identifies no one.
  public let event: Event

  /// Kind of a wrap.
  public static let kind: UInt16 = 1_059
  /// Kind of a wrap that relays do not store.
  public static let ephemeralKind: UInt16 = 21_059
  /// The most bytes of encrypted content that are decrypted, of wraps and seals: anyone may send one, and most relays
  /// accept 64 KiB.
  public static let contentByteCountMaximum = 256 << 10
  /// How far the times of wraps and seals are moved back at most (NIP-17): two days, in seconds.
  ///
  /// A subscription to wraps must start this much before the last wrap that was seen.
  public static let backdatingMaximumSeconds: Int64 = 172_800

  /// Checks kind, size, id and signature, in this order. About 30 µs.
  public init(_ event: Event) throws(GiftWrapFault) {
    guard event.kind == Self.kind || event.kind == Self.ephemeralKind else { throw .notAWrap(kind: event.kind) }
    try Self.checkContent(of: event)
    do throws(EventFault) { try event.verify() } catch { throw .badWrap(error) }
    self.event = event
  }

  /// Wraps a seal with a key that is made for it and then discarded.
  ///
  /// - Parameters:
  ///   - recipient: the key that can open it.
  ///   - seal: the seal to wrap.
  ///   - isEphemeral: whether relays must not store it.
  ///   - now: seconds since 1970; the wrap's time is moved back from it.
  ///   - relayHint: a relay of the recipient, for the `p` tag.
  ///   - expiration: when relays may delete it, in seconds since 1970 (NIP-40).
  ///   - random: determines how far the time is moved back. Not for keys and nonces.
  /// - Throws: `encryption`, or `tooLarge` if no recipient with the same limit would open it.
  public init(
    _ seal: Seal, for recipient: PublicKey, now: Int64, relayHint: String? = nil, expiration: Int64? = nil,
    isEphemeral: Bool = false, using random: inout some RandomNumberGenerator
  ) throws(GiftWrapFault) {
    let once = SecretKey.generate()
    var tags = [["p", recipient.description] + (relayHint.map { [$0] } ?? [])]
    if let expiration { tags.append(["expiration", "\(expiration)"]) }
    let unsigned = UnsignedEvent(
      pubkey: once.publicKey, createdAt: Self.time(before: now, using: &random),
      kind: isEphemeral ? Self.ephemeralKind : Self.kind, tags: tags,
      content: try Self.encrypt(seal.event.json, by: once, for: recipient))
    event = unsigned.signed(by: once)
  }

  /// Whether a `p` tag names this key.
  public func isAddressed(to recipient: PublicKey) -> Bool {
    event.values(of: "p").contains { PublicKey($0) == recipient }
  }

  /// Opens it with the recipient's key: both layers, all checks. About 250 µs.
  public func open(by recipient: SecretKey) throws(GiftWrapFault) -> Rumor {
    let seal = try Seal(Self.decrypt(event, by: recipient))
    var rumor = try Rumor(Self.decrypt(seal.event, by: recipient), in: seal)
    if !isAddressed(to: recipient.publicKey) { rumor.warnings.insert(.wrapNamesOthers, at: 0) }
    return rumor
  }

  // MARK: Common to wraps and seals

  static func checkContent(of event: Event) throws(GiftWrapFault) {
    let count = event.content.utf8.count
    guard count <= contentByteCountMaximum else {
      throw .tooLarge(byteCount: count, maximum: contentByteCountMaximum)
    }
  }

  /// A random time within the last two days, each equally likely.
  static func time(before now: Int64, using random: inout some RandomNumberGenerator) -> Int64 {
    max(0, now - Int64.random(in: 0...backdatingMaximumSeconds, using: &random))
  }

  static func encrypt(_ json: [UInt8], by key: SecretKey, for other: PublicKey) throws(GiftWrapFault) -> String {
    let content: String
    do throws(NIP44Fault) {
      content = try NIP44.encrypt(json, with: ConversationKey(key, other))
    } catch {
      throw .encryption(error)
    }
    guard content.utf8.count <= contentByteCountMaximum else {
      throw .tooLarge(byteCount: content.utf8.count, maximum: contentByteCountMaximum)
    }
    return content
  }

  private static func decrypt(_ event: Event, by key: SecretKey) throws(GiftWrapFault) -> [UInt8] {
    do throws(NIP44Fault) {
      return try NIP44.decrypt(event.content, with: ConversationKey(key, event.pubkey))
    } catch {
      throw .encryption(error)
    }
  }
}

/// A seal with a valid signature: it proves the author (NIP-59).
public struct Seal: Hashable, Sendable {
  /// The seal. Its author is also the rumor's.
  public let event: Event
  /// Its unusual properties.
  public let warnings: [GiftWrapWarning]

  /// Kind of a seal.
  public static let kind: UInt16 = 13

  /// Reads the decrypted content of a wrap, and checks kind, size, id and signature.
  public init(_ json: [UInt8]) throws(GiftWrapFault) { try self.init(json, verifier: EventVerifier()) { _ in nil } }

  /// The same for code that opens many.
  ///
  /// - Parameters:
  ///   - json: the decrypted content of a wrap.
  ///   - verifier: of this thread.
  ///   - known: the author's point, if it was computed before.
  public init(
    _ json: [UInt8], verifier: EventVerifier, known: (PublicKey) -> ParsedPublicKey?
  ) throws(GiftWrapFault) {
    let result = json.withUnsafeBytes { bytes -> Result<Event, GiftWrapFault> in
      do throws(EventFault) {
        let scanned = try ScannedEvent(bytes)
        let event = try Event(scanned, in: bytes)
        guard event.kind == Self.kind else { return .failure(.notASeal(kind: event.kind)) }
        do throws(GiftWrapFault) { try GiftWrap.checkContent(of: event) } catch { return .failure(error) }
        if let fault = verifier.fault(of: scanned, in: bytes, key: known(scanned.pubkey)) { throw fault }
        return .success(event)
      } catch {
        return .failure(.badSeal(error))
      }
    }
    event = try result.get()
    // NIP-59 wants no tags at all, NIP-17 an expiration.
    warnings = event.tags.allSatisfy { $0[0] == "expiration" } ? [] : [.sealHasTags]
  }

  /// Seals a rumor for one recipient. Each recipient, and the author too, gets a separate seal.
  ///
  /// - Parameters:
  ///   - recipient: the key that can open it.
  ///   - key: the author's.
  ///   - rumor: by the holder of `key`.
  ///   - now: seconds since 1970; the seal's time is moved back from it.
  ///   - expiration: when relays may delete it, in seconds since 1970 (NIP-40), in case it leaks (NIP-17).
  ///   - random: determines how far the time is moved back. Not for keys and nonces.
  /// - Throws: `encryption`, or `tooLarge` if no recipient with the same limit would open it.
  public init(
    _ rumor: UnsignedEvent, for recipient: PublicKey, by key: SecretKey, now: Int64, expiration: Int64? = nil,
    using random: inout some RandomNumberGenerator
  ) throws(GiftWrapFault) {
    precondition(rumor.pubkey == key.publicKey, "a rumor is sealed by its author")
    let unsigned = UnsignedEvent(
      pubkey: key.publicKey, createdAt: GiftWrap.time(before: now, using: &random), kind: Self.kind,
      tags: expiration.map { [["expiration", "\($0)"]] } ?? [],
      content: try GiftWrap.encrypt(rumor.json, by: key, for: recipient))
    event = unsigned.signed(by: key)
    warnings = []
  }
}

/// The event under a seal (NIP-59): it has no signature, and the seal proves its author.
///
/// Its description does not reveal the content.
public struct Rumor: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
  /// The event. Its author is the seal's. Its time is the one that counts.
  public let event: UnsignedEvent
  /// Its id: the same in every copy, for every recipient.
  public let id: EventID
  /// The seal that contained it.
  public let seal: Event
  /// The unusual properties of the rumor, its seal and its wrap.
  public internal(set) var warnings: [GiftWrapWarning]

  /// The author: that of the seal.
  public var author: PublicKey { seal.pubkey }

  /// `rumor <id>`
  public var description: String { "rumor \(id)" }

  /// Nothing.
  public var customMirror: Mirror { Mirror(self, children: []) }

  /// Reads the decrypted content of a seal, and checks that its author is the seal's and that its id, if any, is right.
  public init(_ json: [UInt8], in seal: Seal) throws(GiftWrapFault) {
    let event: UnsignedEvent
    do throws(EventFault) { event = try UnsignedEvent(json: json) } catch { throw .badRumor(error) }
    guard event.pubkey == seal.event.pubkey else {
      throw .impersonation(seal: seal.event.pubkey, rumor: event.pubkey)
    }
    self.event = event
    id = event.id
    self.seal = seal.event
    let keys = Self.keys(of: json)
    warnings =
      seal.warnings + (keys.contains("id") ? [] : [.rumorWithoutID])
      + (keys.contains("sig") ? [.rumorWithSignature] : [])
  }

  /// The keys of an object that was parsed before.
  private static func keys(of json: [UInt8]) -> Set<String> {
    json.withUnsafeBytes { bytes in
      var scanner = JSONScanner(bytes)
      var keys: Set<String> = []
      do throws(JSONFault) {
        try scanner.expect(UInt8(ascii: "{"))
        repeat {
          keys.insert(try scanner.scanString().string(in: bytes))
          try scanner.expect(UInt8(ascii: ":"))
          try scanner.skipValue()
        } while try scanner.take(UInt8(ascii: ","))
      } catch {
        preconditionFailure("an object that was read can be read again: \(error)")
      }
      return keys
    }
  }
}
