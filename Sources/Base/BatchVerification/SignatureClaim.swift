public import Cryptography

/// What is to be verified: that the holder of a key signed 32 bytes (BIP-340).
public struct SignatureClaim: Sendable {
  /// The signed bytes: for an event its id.
  public let message: Octets32
  /// The signature.
  public let signature: Signature
  /// The author's key.
  public let key: LiftedKey
  /// A number for the relay or file that the claim came from. A batch that does not hold is split by it first.
  public let source: Int64

  /// A claim.
  public init(message: Octets32, signature: Signature, key: LiftedKey, source: Int64) {
    self.message = message
    self.signature = signature
    self.key = key
    self.source = source
  }

  /// Whether it is true, as libsecp256k1 finds. Some 40 µs.
  public var isValid: Bool { signature.isValid(for: message, by: key.parsed) }
}
