public import Cryptography
internal import JSON

// Gift wraps (NIP-59): an event that nobody signs, the *rumor*, inside one that its author signs and one person can
// open, the *seal*, inside one that a key made for the purpose signs and that says nothing but for whom it is, the
// *wrap*.
//
//     wrap  1059, by a key used once    content = NIP-44( seal, once ↔ recipient )
//     seal    13, by the author         content = NIP-44( rumor, author ↔ recipient )
//     rumor  any, unsigned
//
// All that says who speaks is the seal's signature. A rumor carries a pubkey as well, which anybody can write there:
// libraries that took it for the author let everybody speak in everybody's name. So each step is a type of its own here
// that cannot be made without its checks: a ``GiftWrap`` was verified before anything in it is decrypted, a ``Seal``
// before its rumor, and a ``Rumor`` is by the seal's author or is none.
//
// Decrypting is not part of the steps, because the key is elsewhere: in the signer's process, or in a signer far away.
// Who has it at hand calls ``GiftWrap/open(by:)``.
//
// What a reader should know and need not refuse are warnings: what they are about is unusual, and real clients send it.

/// What is unusual about a gift wrap that is valid all the same.
public enum GiftWrapWarning: Hashable, Sendable, CustomStringConvertible {
  /// No `p` tag of the wrap names the one who could open it.
  case wrapNamesOthers
  /// The seal has tags, other than the time of its expiration; NIP-59 wants none.
  case sealHasTags
  /// The rumor has no id; it was computed.
  case rumorWithoutID
  /// The rumor has a `sig`, which was not looked at: it must never be published, because then its author cannot deny
  /// it.
  case rumorWithSignature

  /// A sentence's end: `the seal has tags`.
  public var description: String {
    switch self {
    case .wrapNamesOthers: "the wrap names somebody else as its recipient"
    case .sealHasTags: "the seal has tags"
    case .rumorWithoutID: "the rumor has no id"
    case .rumorWithSignature: "the rumor carries a signature"
    }
  }
}

/// Why something is no gift wrap, or was not made one. Says nothing of keys and contents.
public enum GiftWrapFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// The outer event is of another kind.
  case notAWrap(kind: UInt16)
  /// The content of wrap or seal has more bytes than are taken; it was not decrypted.
  case tooLarge(byteCount: Int, maximum: Int)
  /// The wrap is not valid.
  case badWrap(EventFault)
  /// What the wrap holds is not a valid event.
  case badSeal(EventFault)
  /// What the wrap holds is of another kind than a seal.
  case notASeal(kind: UInt16)
  /// What the seal holds is not an event, or has an id that is not its own.
  case badRumor(EventFault)
  /// The seal is by one and its rumor says it is by another: somebody speaks in another's name.
  case impersonation(seal: PublicKey, rumor: PublicKey)
  /// A content could not be encrypted or decrypted.
  case encryption(NIP44Fault)

  /// A sentence's end: `the seal is not valid: the signature is wrong`.
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

/// A wrap whose signature was found right and whose content is of a size that is worth decrypting (NIP-59).
public struct GiftWrap: Hashable, Sendable {
  /// The wrap. Its author is a key that was used once and says nothing.
  public let event: Event

  /// Kind of a wrap.
  public static let kind: UInt16 = 1_059
  /// Kind of a wrap that relays do not store.
  public static let ephemeralKind: UInt16 = 21_059
  /// Most bytes of an encrypted content that are decrypted, of wraps and seals: anybody may send one, and most relays
  /// take 64 KiB.
  public static let contentByteCountMaximum = 256 << 10
  /// How far back the times of wraps and seals are moved at most (NIP-17): two days, in seconds.
  ///
  /// Whoever asks relays for wraps asks from so much earlier than the last one that was seen.
  public static let backdatingMaximumSeconds: Int64 = 172_800

  /// Makes sure of kind, size, id and signature, in this order. About 30 µs.
  public init(_ event: Event) throws(GiftWrapFault) {
    guard event.kind == Self.kind || event.kind == Self.ephemeralKind else { throw .notAWrap(kind: event.kind) }
    try Self.checkContent(of: event)
    do throws(EventFault) { try event.verify() } catch { throw .badWrap(error) }
    self.event = event
  }

  /// Wraps a seal with a key that is made for it and forgotten.
  ///
  /// - Parameters:
  ///   - recipient: who can open it.
  ///   - seal: what is wrapped.
  ///   - isEphemeral: whether relays are not to keep it.
  ///   - now: seconds since 1970; the wrap is dated back from it.
  ///   - relayHint: a relay of the recipient's, to stand in the `p` tag.
  ///   - expiration: when relays may drop it, in seconds since 1970 (NIP-40).
  ///   - random: how far it is dated back. Not for keys and nonces.
  /// - Throws: `encryption`, or `tooLarge` where nobody who keeps to the same bound would open it.
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

  // MARK: What wraps and seals have in common

  static func checkContent(of event: Event) throws(GiftWrapFault) {
    let count = event.content.utf8.count
    guard count <= contentByteCountMaximum else {
      throw .tooLarge(byteCount: count, maximum: contentByteCountMaximum)
    }
  }

  /// A time of up to two days ago, as likely as any other.
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

/// A seal whose signature was found right: it says who speaks (NIP-59).
public struct Seal: Hashable, Sendable {
  /// The seal. Its author is the rumor's.
  public let event: Event
  /// What is unusual about it.
  public let warnings: [GiftWrapWarning]

  /// Kind of a seal.
  public static let kind: UInt16 = 13

  /// Reads what was decrypted of a wrap, and makes sure of kind, size, id and signature.
  public init(_ json: [UInt8]) throws(GiftWrapFault) {
    let event: Event
    do throws(EventFault) { event = try Event(json: json) } catch { throw .badSeal(error) }
    guard event.kind == Self.kind else { throw .notASeal(kind: event.kind) }
    try GiftWrap.checkContent(of: event)
    do throws(EventFault) { try event.verify() } catch { throw .badSeal(error) }
    self.event = event
    // NIP-59 wants no tags at all, NIP-17 an expiration.
    warnings = event.tags.allSatisfy { $0[0] == "expiration" } ? [] : [.sealHasTags]
  }

  /// Seals a rumor for one recipient. Who is to have it, its author included, each gets a seal of his own.
  ///
  /// - Parameters:
  ///   - recipient: who can open it.
  ///   - key: the author's.
  ///   - rumor: by the holder of `key`.
  ///   - now: seconds since 1970; the seal is dated back from it.
  ///   - expiration: when relays may drop it, in seconds since 1970 (NIP-40), in case that it leaks (NIP-17).
  ///   - random: how far it is dated back. Not for keys and nonces.
  /// - Throws: `encryption`, or `tooLarge` where nobody who keeps to the same bound would open it.
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

/// What somebody said under a seal (NIP-59): an event without a signature, whose author is known by the seal's.
///
/// Its description does not say what was said.
public struct Rumor: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
  /// The event. Its author is the one who sealed it. Its time is the one that counts.
  public let event: UnsignedEvent
  /// Its id: the same in every copy, for every recipient.
  public let id: EventID
  /// The seal it came in.
  public let seal: Event
  /// What is unusual about it, its seal and its wrap.
  public internal(set) var warnings: [GiftWrapWarning]

  /// Who speaks: the author of the seal.
  public var author: PublicKey { seal.pubkey }

  /// `rumor <id>`
  public var description: String { "rumor \(id)" }

  /// Nothing.
  public var customMirror: Mirror { Mirror(self, children: []) }

  /// Reads what was decrypted of a seal, and makes sure that it is by the seal's author and has no wrong id.
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

  /// The keys of an object that was read before.
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
