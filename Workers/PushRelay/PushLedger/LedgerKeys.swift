internal import Cryptography
internal import PushDelivery

// The ledger has a random key of its own, made with the file and stored in it, encrypted under the ring. From it are
// derived values that must not change when the ring turns: the index by which a token is found, and the name of a
// device without one. If they were derived from the ring's keys, a new key would give every unnamed device another
// name, and its owner could not remove it; and every index would have to be computed again before the first request.
// Turning the ring encrypts this one key again, like a token.

/// The keys that are derived from the ledger's own key.
final class LedgerKeys: Sendable {
  private let root: SecretMemory
  private let tokenIndex: SecretMemory
  private let deviceID: SecretMemory
  /// The ring.
  let ring: TokenKeyRing
  /// The ring's keys by their numbers in the file. A key that is missing here opens nothing.
  let numbered: [Int64: RingKey]
  /// The number of the newest key.
  let newestNumber: Int64

  static let byteCount = 32
  /// Where it is stored.
  static let place = Array("ledger key".utf8)
  private static let deviceIDByteCount = 16

  init(root: SecretMemory, ring: TokenKeyRing, numbered: [Int64: RingKey], newestNumber: Int64) {
    self.root = root
    self.ring = ring
    self.numbered = numbered
    self.newestNumber = newestNumber
    tokenIndex = KeyDerivation.key(root, "roost push-relay 1 token index")
    deviceID = KeyDerivation.key(root, "roost push-relay 1 device id")
  }

  /// The ledger's own key, encrypted under the newest key.
  func sealedRoot() -> [UInt8] { Self.seal(root, under: ring.newest) }

  static func seal(_ root: SecretMemory, under key: RingKey) -> [UInt8] {
    var bytes = root.withBytes { Array($0) }
    defer { bytes.wipe() }
    return SealedBox.seal(bytes, key: key.ledger, place: place)
  }

  static func root(_ sealed: [UInt8], under key: RingKey) -> SecretMemory? {
    guard var bytes = SealedBox.open(sealed, key: key.ledger, place: place) else { return nil }
    defer { bytes.wipe() }
    guard bytes.count == byteCount else { return nil }
    return SecretMemory(byteCount: byteCount) { memory in bytes.withUnsafeBytes { memory.copyMemory(from: $0) } }
  }

  /// The index by which a token is found without being readable: 32 bytes.
  func index(of token: PushToken) -> [UInt8] {
    Self.code([token.platform.number] + token.bytes, tokenIndex)
  }

  /// The name of a device to which its owner gave none: `d_` and 32 hexadecimal digits, the same for a token during the
  /// file's whole life.
  func deviceID(of token: PushToken) -> String {
    "d_" + Hexadecimal.text(of: Self.code(token.bytes, deviceID).prefix(Self.deviceIDByteCount))
  }

  private static func code(_ message: [UInt8], _ key: SecretMemory) -> [UInt8] {
    var code = [UInt8](repeating: 0, count: HMACSHA256.byteCount)
    key.withBytes { key in
      let hmac = HMACSHA256(key: key)
      message.withUnsafeBytes { hmac.update($0) }
      code.withUnsafeMutableBytes { hmac.end(into: $0) }
    }
    return code
  }
}
