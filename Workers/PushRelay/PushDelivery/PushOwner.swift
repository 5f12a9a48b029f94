public import Cryptography

/// A key that registers devices or sends wakes: a public key and its kind.
///
/// The same 32 bytes in two realms are two owners: a key of one realm proves nothing in the other.
public struct PushOwner: Hashable, Sendable {
  /// The signature scheme of a key.
  public enum Realm: UInt8, Hashable, Sendable, CaseIterable {
    /// Ed25519, written in z-base-32 (Pubky).
    case pubky = 0
    /// secp256k1 by BIP-340, written in hex or as `npub` (NIP-01, NIP-19).
    case nostr = 1
  }

  /// The kind of the key.
  public let realm: Realm
  /// The public key.
  public let key: Octets32

  /// An owner.
  public init(_ realm: Realm, _ key: Octets32) {
    self.realm = realm
    self.key = key
  }

  /// The owner's notation in requests, replies and pushes: a Pubky key in z-base-32, 52 characters; a Nostr key as 64
  /// hexadecimal digits.
  public var name: String {
    switch realm {
    case .pubky: ZBase32.text(of: key)
    case .nostr: key.description
    }
  }

  /// 33 bytes, the realm's number and the key: for ciphers, hashes and the ledger.
  public var bytes: [UInt8] { [realm.rawValue] + key.bytes }

  /// The inverse of ``bytes``; nil for anything else.
  public init?(bytes: [UInt8]) {
    guard bytes.count == 1 + Octets32.byteCount, let realm = Realm(rawValue: bytes[0]),
      let key = Octets32(bytes.dropFirst())
    else { return nil }
    self.init(realm, key)
  }
}
