internal import Addresses
public import Cryptography
internal import Frames
public import Nostr
internal import Wording

/// What an entity of NIP-19 contains, or what a name of NIP-05 leads to: the answer of `roost decode`.
public struct DecodedEntity: Encodable, Sendable {
  /// `npub`, `nprofile`, `note`, `nevent`, `naddr`, `nrelay`; `hex` for digits, which may be a key or an id; `nip05`
  /// for a name.
  public let type: String
  /// A key, in hexadecimal digits.
  public var pubkey: String?
  /// An event's id.
  public var id: String?
  /// The author of the event, or of the address.
  public var author: String?
  /// The kind of the event, or of the address.
  public var kind: UInt16?
  /// The `d` of the address.
  public var identifier: String?
  /// The address as tags have it: `kind:pubkey:d`.
  public var address: String?
  /// The digits, as a key.
  public var npub: String?
  /// The digits, as an event's id.
  public var note: String?
  /// Where to look; hints of a stranger.
  public var relays: [String]?

  /// The parts of an entity.
  public init(_ entity: NostrEntity) {
    switch entity {
    case .publicKey(let key): (type, pubkey) = ("npub", "\(key)")
    case .note(let id): (type, self.id) = ("note", "\(id)")
    case .profile(let pointer):
      (type, pubkey, relays) = ("nprofile", "\(pointer.pubkey)", pointer.relays.map(\.text))
    case .event(let pointer):
      (type, id, kind, relays) = ("nevent", "\(pointer.id)", pointer.kind, pointer.relays.map(\.text))
      author = pointer.author.map { "\($0)" }
    case .address(let pointer):
      (type, address, relays) = ("naddr", "\(pointer.address)", pointer.relays.map(\.text))
      (kind, author) = (pointer.address.kind, "\(pointer.address.pubkey)")
      identifier = "\(pointer.address.identifier)"
    case .relay(let url): (type, relays) = ("nrelay", [url.text])
    }
  }

  /// 64 hexadecimal digits.
  public init(digits: EventID) {
    (type, npub, note) = ("hex", PublicKey(digits.octets).npub, digits.note)
  }

  /// The key that a name leads to.
  public init(name key: PublicKey, relays: [String]) {
    (type, pubkey, npub, self.relays) = ("nip05", "\(key)", key.npub, relays)
  }

  /// On the first line what it names, alone, for scripts; then a line for each part that is known besides.
  public var lines: [String] {
    let main = pubkey ?? id ?? address ?? (type == "hex" ? npub : relays?.first) ?? ""
    var lines = [VisibleText.make(main)]
    if let note { lines.append(type == "hex" ? note : "note        \(note)") }
    if type == "nip05", let npub { lines.append("npub        \(npub)") }
    if let kind { lines.append("kind        \(kind)") }
    if let author { lines.append("author      \(author)") }
    if let identifier { lines.append("identifier  \(VisibleText.make(identifier))") }
    if type != "nrelay" { lines += (relays ?? []).map { "relay       \(VisibleText.make($0))" } }
    return lines
  }
}
