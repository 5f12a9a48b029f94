internal import Cryptography

// What the values of tags refer to: `p` a key, `e` an event, `a` an address (NIP-01), the same in upper case (NIP-22),
// and `q` one of the last two (NIP-18). In tags they are lower-case hexadecimal digits, never `npub1…`: no relay finds
// those, and none reports an error.

/// What a tag's first value must be, given the tag's name.
public enum TagReference: Hashable, Sendable {
  /// A public key.
  case key
  /// An event's id.
  case event
  /// An address, `kind:key:d`.
  case address
  /// An event's id or an address.
  case eventOrAddress

  /// What tags with this name refer to; nil for any other name.
  public init?(tagName: String) {
    switch tagName {
    case "p", "P": self = .key
    case "e", "E": self = .event
    case "a", "A": self = .address
    case "q": self = .eventOrAddress
    default: return nil
    }
  }

  /// The expected form, for people: `a public key, 64 lower-case hexadecimal digits`.
  public var form: String {
    switch self {
    case .key: "a public key, 64 lower-case hexadecimal digits"
    case .event: "an event's id, 64 lower-case hexadecimal digits"
    case .address: "an address, as in 30023:3bf0…:name"
    case .eventOrAddress: "an event's id, 64 lower-case hexadecimal digits, or an address, as in 30023:3bf0…:name"
    }
  }

  /// Whether a value has the form used in tags.
  public func accepts(_ value: String) -> Bool {
    switch self {
    case .key: PublicKey(value) != nil
    case .event: EventID(value) != nil
    case .address: EventAddress(value) != nil
    case .eventOrAddress: EventID(value) != nil || EventAddress(value) != nil
    }
  }

  /// The message about a value in the form that people use, as the end of a sentence: `npub1… is 3bf0…`; nil for any
  /// other value, including secret keys.
  func misspelling(_ text: String) -> String? {
    let plain = text.withoutNostrScheme
    guard Self.entities.contains(where: { plain.hasPrefix($0) }) else { return nil }
    let shown = text.count > Self.shownCount ? text.prefix(Self.shownCount) + "…" : text[...]
    do throws(EntityFault) { return "\(shown) is \(try value(spelled: text))" } catch {
      return "\(shown) is not valid: \(error)"
    }
  }

  private static let entities = ["npub1", "nprofile1", "note1", "nevent1", "naddr1"]
  /// How many characters of a wrong value are shown at most.
  private static let shownCount = 100

  /// Converts a value from the form that people use to that of tags: `npub1…` and `nprofile1…` for keys, `note1…` and
  /// `nevent1…` for events, `naddr1…` for addresses, with or without `nostr:` in front.
  public func value(spelled text: String) throws(EntityFault) -> String {
    if accepts(text) { return text }
    switch self {
    case .key: return "\(try PublicKey(spelled: text))"
    case .event: return "\(try EventID(spelled: text))"
    case .address, .eventOrAddress:
      switch try NostrEntity(text.withoutNostrScheme) {
      case .address(let pointer): return "\(pointer.address)"
      case .note(let id) where self == .eventOrAddress: return "\(id)"
      case .event(let pointer) where self == .eventOrAddress: return "\(pointer.id)"
      default: throw .otherEntity(expected: form)
      }
    }
  }
}
