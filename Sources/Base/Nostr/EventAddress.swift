public import Cryptography

/// The identity of a replaceable or addressable event through all its versions: `kind:pubkey:d` (NIP-01).
///
/// A replaceable kind has no `d`: its address ends with the second colon. Other kinds have no address.
public struct EventAddress: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// A replaceable or addressable kind.
  public let kind: UInt16
  /// The author.
  public let pubkey: PublicKey
  /// The value of the tag `d`, compared byte by byte; empty for replaceable kinds, possibly empty for the others.
  public let identifier: TagValue

  /// An address; nil for a kind without addresses, and for a replaceable kind with an identifier.
  public init?(kind: UInt16, pubkey: PublicKey, identifier: TagValue = "") {
    switch KindClass(kind) {
    case .addressable: break
    case .replaceable: guard identifier.utf8.isEmpty else { return nil }
    case .regular, .ephemeral: return nil
    }
    self.kind = kind
    self.pubkey = pubkey
    self.identifier = identifier
  }

  /// Reads `kind:pubkey:d`, the kind in plain digits and the key in lower case; nil for anything else. The `d` may
  /// contain colons.
  public init?(_ text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, let kind = plainNumber(parts[0]).flatMap({ UInt16(exactly: $0) }),
      let octets = Octets32(hexadecimal: parts[1])
    else { return nil }
    self.init(kind: kind, pubkey: PublicKey(octets), identifier: TagValue(utf8: Array(parts[2])))
  }

  /// The address of an event; nil if its kind has none. Without a tag `d` that has a value, the identifier is empty.
  public init?(of event: Event) {
    self.init(of: event.unsigned)
  }

  /// The same for an unsigned event.
  public init?(of event: UnsignedEvent) {
    let isAddressable = KindClass(event.kind) == .addressable
    let identifier = isAddressable ? event.firstValue(of: "d").map { TagValue($0) } : nil
    self.init(kind: event.kind, pubkey: event.pubkey, identifier: identifier ?? "")
  }

  /// The same for an event in the form that filters use.
  public init?(of event: IndexedEvent) {
    let isAddressable = KindClass(event.kind) == .addressable
    let identifier = isAddressable ? event.tags.first { $0.letter.ascii == UInt8(ascii: "d") }?.value : nil
    self.init(kind: event.kind, pubkey: event.pubkey, identifier: identifier ?? "")
  }

  /// `30023:3bf0…459d:banana`
  public var description: String { "\(kind):\(pubkey):\(identifier)" }

  /// By kind, then author, then identifier.
  public static func < (left: EventAddress, right: EventAddress) -> Bool {
    (left.kind, left.pubkey, left.identifier) < (right.kind, right.pubkey, right.identifier)
  }
}

/// A number from 0 to 2^63-1 in digits only, without leading zeros; nil for anything else.
func plainNumber(_ digits: some Collection<UInt8>) -> Int64? {
  guard let first = digits.first, digits.count <= 19, first != 0x30 || digits.count == 1 else { return nil }
  var value: Int64 = 0
  for digit in digits {
    guard digit &- 0x30 < 10 else { return nil }
    let (product, overflowed) = value.multipliedReportingOverflow(by: 10)
    let (sum, carried) = product.addingReportingOverflow(Int64(digit - 0x30))
    if overflowed || carried { return nil }
    value = sum
  }
  return value
}
