public import Addresses
public import Cryptography

// What people copy, paste and scan: `npub1…` and the like (NIP-19). Pure; no network, no store.
//
// Reading is tolerant where NIP-19 says so (fields of unknown types, invalid relays, an optional field with a wrong
// length), and strict where two readers could read differently: a repeated field that may occur once is refused, and so
// is one that extends beyond the end. Secret keys are not entities: only `SecretKey.read(nsec:)` reads them, so that
// code that shows, logs or compares entities never has one.

/// An entity of NIP-19 other than a secret key.
public enum NostrEntity: Hashable, Sendable {
  /// `npub`: a public key.
  case publicKey(PublicKey)
  /// `note`: an event's id.
  case note(EventID)
  /// `nprofile`: a public key and relays that may have its events.
  case profile(ProfilePointer)
  /// `nevent`: an event's id and relays that may have it.
  case event(EventPointer)
  /// `naddr`: an event's address and relays that may have it.
  case address(AddressPointer)
  /// `nrelay`: a relay. Deprecated: read, never written.
  case relay(RelayURL)

  /// The most characters of an entity (NIP-19).
  public static let characterCountMaximum = 5_000
  /// The most different relays read from, or written into, one entity; further ones are left out.
  public static let relayCountMaximum = 10

  /// Reads an entity, in lower or upper case.
  public init(_ text: String) throws(EntityFault) {
    guard !text.isSecretKey else { throw .secret }
    let (hrp, data): (String, [UInt8])
    do throws(Bech32Fault) {
      (hrp, data) = try Bech32.decode(text, maximumCount: Self.characterCountMaximum)
    } catch {
      throw .notBech32(error)
    }
    switch hrp {
    case "npub": self = .publicKey(PublicKey(try Self.octets(hrp, data)))
    case "note": self = .note(EventID(try Self.octets(hrp, data)))
    case "nprofile": self = .profile(try ProfilePointer(EntityFields(data)))
    case "nevent": self = .event(try EventPointer(EntityFields(data)))
    case "naddr": self = .address(try AddressPointer(EntityFields(data)))
    case "nrelay": self = .relay(try EntityFields(data).onlyRelay())
    default: throw .unknownPrefix(hrp)
    }
  }

  private static func octets(_ hrp: String, _ data: [UInt8]) throws(EntityFault) -> Octets32 {
    guard let octets = Octets32(data) else { throw .badLength(prefix: hrp, byteCount: data.count) }
    return octets
  }

  /// The entity in lower case; nil for what cannot be written: a relay, and an address whose `d` has more than 255
  /// bytes.
  public var text: String? {
    switch self {
    case .publicKey(let key): key.npub
    case .note(let id): id.note
    case .profile(let profile): profile.nprofile
    case .event(let event): event.nevent
    case .address(let address): address.naddr
    case .relay: nil
    }
  }
}

extension PublicKey {
  /// `npub1…`
  public var npub: String { Bech32.encode(hrp: "npub", data: octets.bytes) }

  /// Reads a key in the forms that people use: 64 lower-case hexadecimal digits, `npub1…` or `nprofile1…`, with or
  /// without `nostr:` in front.
  public init(spelled text: String) throws(EntityFault) {
    if let key = PublicKey(text) {
      self = key
      return
    }
    switch try NostrEntity(text.withoutNostrScheme) {
    case .publicKey(let key): self = key
    case .profile(let profile): self = profile.pubkey
    default: throw .otherEntity(expected: "a public key (64 hexadecimal digits, npub1… or nprofile1…)")
    }
  }
}

extension EventID {
  /// `note1…`
  public var note: String { Bech32.encode(hrp: "note", data: octets.bytes) }

  /// Reads an id in the forms that people use: 64 lower-case hexadecimal digits, `note1…` or `nevent1…`, with or
  /// without `nostr:` in front.
  public init(spelled text: String) throws(EntityFault) {
    if let id = EventID(text) {
      self = id
      return
    }
    switch try NostrEntity(text.withoutNostrScheme) {
    case .note(let id): self = id
    case .event(let event): self = event.id
    default: throw .otherEntity(expected: "an event's id (64 hexadecimal digits, note1… or nevent1…)")
    }
  }
}

extension SecretKey {
  /// Reads `nsec1…` from the caller's memory, which the caller wipes. Only the key itself contains a copy of the
  /// secret.
  ///
  /// - Throws: a fault that reveals nothing of the text.
  public static func read(nsec text: UnsafeRawBufferPointer) throws(EntityFault) -> SecretKey {
    var hrp = ""
    var count = 0
    let secret = try SecretMemory(byteCount: byteCount) { bytes throws(EntityFault) in
      do throws(Bech32Fault) {
        (hrp, count) = try Bech32.decode(text, maximumCount: NostrEntity.characterCountMaximum, into: bytes)
      } catch {
        throw .notBech32(error)
      }
    }
    guard hrp == "nsec" else { throw .otherEntity(expected: "a secret key (nsec1…)") }
    guard count == byteCount else { throw .badLength(prefix: hrp, byteCount: count) }
    guard let key = SecretKey(secret) else { throw .notAKey }
    return key
  }
}

/// Why a text is not the expected entity. Reveals nothing of the text: people paste secrets into the wrong place.
public enum EntityFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// Not Bech32.
  case notBech32(Bech32Fault)
  /// A secret key where none is allowed.
  case secret
  /// A prefix that NIP-19 does not define.
  case unknownPrefix(String)
  /// A key or an id that does not have 32 bytes.
  case badLength(prefix: String, byteCount: Int)
  /// 32 bytes that are not a secret key: zero, or too large.
  case notAKey
  /// A field that extends beyond the end.
  case brokenFields
  /// A required field is missing.
  case missingField(String)
  /// A field that may occur once occurs twice.
  case repeatedField(String)
  /// A required field has a wrong form; the second text says which form it must have.
  case badField(String, String)
  /// Another entity than the expected one.
  case otherEntity(expected: String)
  /// No `nostr:` in front (NIP-21).
  case noScheme

  /// The end of a sentence: `it holds no author`.
  public var description: String {
    switch self {
    case .notBech32(let fault): "\(fault)"
    case .secret: "it is a secret key, which must not stand here"
    case .unknownPrefix(let prefix): "nothing is known of the prefix \"\(prefix)\""
    case .badLength(let prefix, let count): "an \(prefix) has 32 bytes, and it has \(count)"
    case .notAKey: "it is no secret key"
    case .brokenFields: "its last field is cut off"
    case .missingField(let name): "it holds no \(name)"
    case .repeatedField(let name): "it holds its \(name) twice"
    case .badField(let name, let form): "its \(name) is not \(form)"
    case .otherEntity(let expected): "it is not \(expected)"
    case .noScheme: "it does not begin with nostr:"
    }
  }
}

extension String {
  /// Whether it begins like a secret key, whatever follows.
  var isSecretKey: Bool { utf8.prefix(5).elementsEqual("nsec1".utf8) || utf8.prefix(5).elementsEqual("NSEC1".utf8) }
}
