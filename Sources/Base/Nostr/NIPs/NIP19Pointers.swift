public import Addresses
public import Cryptography

/// Which author to look for, and where (`nprofile`, NIP-19).
public struct ProfilePointer: Hashable, Sendable {
  /// The key.
  public let pubkey: PublicKey
  /// Relays that may have the author's events, up to ``NostrEntity/relayCountMaximum``. Hints of a stranger.
  public let relays: [RelayURL]

  /// A pointer; repeated relays are kept once.
  public init(pubkey: PublicKey, relays: [RelayURL] = []) {
    self.pubkey = pubkey
    self.relays = EntityFields.bounded(relays)
  }

  /// `nprofile1…`
  public var nprofile: String {
    var fields = EntityFieldWriter()
    fields.append(.special, pubkey.octets.bytes)
    fields.append(relays)
    return Bech32.encode(hrp: "nprofile", data: fields.bytes)
  }

  init(_ fields: EntityFields) throws(EntityFault) {
    self.init(
      pubkey: PublicKey(try fields.required(.special, "public key")), relays: fields.relays)
  }
}

/// Which event to look for, and where (`nevent`, NIP-19).
public struct EventPointer: Hashable, Sendable {
  /// The id.
  public let id: EventID
  /// Relays that may have the event, up to ``NostrEntity/relayCountMaximum``. Hints of a stranger.
  public let relays: [RelayURL]
  /// Its author, according to the pointer.
  public let author: PublicKey?
  /// Its kind, according to the pointer.
  public let kind: UInt16?

  /// A pointer; repeated relays are kept once.
  public init(id: EventID, relays: [RelayURL] = [], author: PublicKey? = nil, kind: UInt16? = nil) {
    self.id = id
    self.relays = EntityFields.bounded(relays)
    self.author = author
    self.kind = kind
  }

  /// `nevent1…`
  public var nevent: String {
    var fields = EntityFieldWriter()
    fields.append(.special, id.octets.bytes)
    fields.append(relays)
    if let author { fields.append(.author, author.octets.bytes) }
    if let kind { fields.append(kind: kind) }
    return Bech32.encode(hrp: "nevent", data: fields.bytes)
  }

  init(_ fields: EntityFields) throws(EntityFault) {
    let author = try fields.octets(.author, "author")
    self.init(
      id: EventID(try fields.required(.special, "id")), relays: fields.relays,
      author: author.map { PublicKey($0) }, kind: try fields.kind())
  }
}

/// Which address to look for, and where (`naddr`, NIP-19).
public struct AddressPointer: Hashable, Sendable {
  /// The address.
  public let address: EventAddress
  /// Relays that may have the event, up to ``NostrEntity/relayCountMaximum``. Hints of a stranger.
  public let relays: [RelayURL]

  /// Longest identifier in an `naddr`, in bytes: a field's length is one byte.
  public static let identifierByteCountMaximum = 255

  /// A pointer; repeated relays are kept once.
  public init(_ address: EventAddress, relays: [RelayURL] = []) {
    self.address = address
    self.relays = EntityFields.bounded(relays)
  }

  /// `naddr1…`; nil if the identifier is longer than ``identifierByteCountMaximum``.
  public var naddr: String? {
    guard address.identifier.utf8.count <= Self.identifierByteCountMaximum else { return nil }
    var fields = EntityFieldWriter()
    fields.append(.special, address.identifier.utf8)
    fields.append(relays)
    fields.append(.author, address.pubkey.octets.bytes)
    fields.append(kind: address.kind)
    return Bech32.encode(hrp: "naddr", data: fields.bytes)
  }

  init(_ fields: EntityFields) throws(EntityFault) {
    let identifier = try fields.one(.special, "identifier")
    guard let identifier else { throw .missingField("identifier") }
    guard identifier.isUTF8 else { throw .badField("identifier", "UTF-8") }
    let author = PublicKey(try fields.required(.author, "author"))
    guard let kind = try fields.kind(isRequired: true) else { throw .missingField("kind") }
    guard let address = EventAddress(kind: kind, pubkey: author, identifier: TagValue(utf8: identifier)) else {
      throw .badField("kind", "one whose events have an address with this identifier")
    }
    self.init(address, relays: fields.relays)
  }
}

// MARK: - Fields

/// The fields of an entity: one byte for the type, one for the length, then the value.
struct EntityFields {
  enum Kind: UInt8 {
    case special = 0
    case relay = 1
    case author = 2
    case kind = 3
  }

  private var fields: [(kind: Kind, value: ArraySlice<UInt8>)] = []

  /// Splits `data` into fields; those of unknown types are skipped.
  init(_ data: [UInt8]) throws(EntityFault) {
    var rest = data[...]
    while let type = rest.popFirst() {
      guard let count = rest.popFirst(), count <= rest.count else { throw .brokenFields }
      if let kind = Kind(rawValue: type) { fields.append((kind, rest.prefix(Int(count)))) }
      rest = rest.dropFirst(Int(count))
    }
  }

  /// The value of a field that may occur once; nil if it does not occur.
  func one(_ kind: Kind, _ name: String) throws(EntityFault) -> [UInt8]? {
    let found = fields.filter { $0.kind == kind }
    guard found.count <= 1 else { throw .repeatedField(name) }
    return found.first.map { Array($0.value) }
  }

  /// 32 bytes, which are required.
  func required(_ kind: Kind, _ name: String) throws(EntityFault) -> Octets32 {
    guard let value = try one(kind, name) else { throw .missingField(name) }
    guard let octets = Octets32(value) else { throw .badField(name, "of 32 bytes") }
    return octets
  }

  /// 32 bytes, or nil: an optional field with another length is ignored.
  func octets(_ kind: Kind, _ name: String) throws(EntityFault) -> Octets32? {
    try one(kind, name).flatMap { Octets32($0) }
  }

  /// Four bytes, big-endian, within the range of kinds. An optional field with another form is ignored.
  func kind(isRequired: Bool = false) throws(EntityFault) -> UInt16? {
    guard let value = try one(.kind, "kind") else { return nil }
    guard value.count == 4, value[0] == 0, value[1] == 0 else {
      if isRequired { throw .badField("kind", "four bytes with a number from 0 to 65535") }
      return nil
    }
    return UInt16(value[2]) << 8 | UInt16(value[3])
  }

  /// The valid relays, in order, each once.
  var relays: [RelayURL] {
    var relays: [RelayURL] = []
    for (kind, value) in fields where kind == .relay && relays.count < NostrEntity.relayCountMaximum {
      guard value.isUTF8, let relay = RelayURL(reading: String(decoding: value, as: UTF8.self)), !relays.contains(relay)
      else { continue }
      relays.append(relay)
    }
    return relays
  }

  /// The one relay of an `nrelay`.
  func onlyRelay() throws(EntityFault) -> RelayURL {
    guard let value = try one(.special, "relay") else { throw .missingField("relay") }
    guard value.isUTF8, let relay = RelayURL(reading: String(decoding: value, as: UTF8.self)) else {
      throw .badField("relay", "a relay's address")
    }
    return relay
  }

  static func bounded(_ relays: [RelayURL]) -> [RelayURL] {
    var bounded: [RelayURL] = []
    for relay in relays where bounded.count < NostrEntity.relayCountMaximum && !bounded.contains(relay) {
      bounded.append(relay)
    }
    return bounded
  }
}

/// Writes fields in the given order.
private struct EntityFieldWriter {
  private(set) var bytes: [UInt8] = []

  mutating func append(_ kind: EntityFields.Kind, _ value: [UInt8]) {
    precondition(value.count <= 255, "a field's length is one byte")
    bytes.append(kind.rawValue)
    bytes.append(UInt8(value.count))
    bytes.append(contentsOf: value)
  }

  mutating func append(_ relays: [RelayURL]) {
    for relay in relays { append(.relay, Array(relay.text.utf8)) }
  }

  mutating func append(kind: UInt16) { append(.kind, [0, 0, UInt8(kind >> 8), UInt8(kind & 0xFF)]) }
}

extension Collection where Element == UInt8 {
  /// Whether the bytes are UTF-8.
  var isUTF8: Bool { String(validating: self, as: UTF8.self) != nil }
}

extension RelayURL {
  /// Reads an address from a stranger's text; nil if it is not valid, for callers that do not need the reason.
  init?(reading text: String) {
    do throws(RelayURLFault) { self = try RelayURL(text) } catch { return nil }
  }
}
