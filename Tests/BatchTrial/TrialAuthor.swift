package import BatchVerification
package import Cryptography

/// An author whose secret key is known, so that it can make signatures that are nearly right.
package struct TrialAuthor {
  package let key: LiftedKey
  /// The secret integer of the point with even y.
  package let secret: OrderInteger
  private let octets: Octets32

  /// An author who belongs to these words.
  package init(_ seed: UInt64, _ number: Int) {
    let octets = SHA256.hash(Array("author \(number) of \(seed)".utf8))
    guard let key = LiftedKey(secretKey(octets).publicKey) else { preconditionFailure("a public key has a point") }
    self.octets = octets
    self.key = key
    secret = evenInteger(of: octets)
  }

  /// A true claim.
  package func claim(_ message: Octets32, source: Int64 = 0) -> SignatureClaim {
    SignatureClaim(message: message, signature: secretKey(octets).sign(message), key: key, source: source)
  }

  /// What is wrong with a signature that differs from a right one by a sign.
  package enum Sign: CaseIterable {
    case right, negatedNonce, negatedKey
  }

  /// A claim with a signature that is computed here: s = ±k ± e · d.
  package func claim(_ message: Octets32, nonce: Octets32, _ sign: Sign, source: Int64 = 0) -> SignatureClaim {
    guard let point = GeneratorProduct(nonce) else { preconditionFailure("a hash is less than the order") }
    let tag = SHA256.hash(Array("BIP0340/challenge".utf8)).bytes
    let challenge = SHA256.hash(tag + tag + point.x.bytes + key.key.octets.bytes + message.bytes)
    let product = OrderInteger(challenge) * secret
    let even = evenInteger(of: nonce)
    let scalar =
      switch sign {
      case .right: even + product
      case .negatedNonce: -even + product
      case .negatedKey: even + -product
      }
    let signature = Signature(point: point.x, scalar: scalar.octets)
    return SignatureClaim(message: message, signature: signature, key: key, source: source)
  }
}

/// Made for one use: memory for secrets is not made for thousands of keys.
private func secretKey(_ octets: Octets32) -> SecretKey {
  guard let key = octets.withUnsafeBytes({ SecretKey(bytes: $0) }) else {
    preconditionFailure("a hash is a secret key")
  }
  return key
}

/// The integer, or its opposite, whose product with G has an even y.
private func evenInteger(of octets: Octets32) -> OrderInteger {
  guard let point = GeneratorProduct(octets) else { preconditionFailure("a hash is less than the order") }
  let integer = OrderInteger(octets)
  return point.y.bytes[31] & 1 == 0 ? integer : -integer
}

extension SignatureClaim {
  /// The claim with parts changed.
  package func with(
    message: Octets32? = nil, point: Octets32? = nil, scalar: Octets32? = nil, key: LiftedKey? = nil,
    source: Int64? = nil
  ) -> SignatureClaim {
    SignatureClaim(
      message: message ?? self.message,
      signature: Signature(point: point ?? signature.point, scalar: scalar ?? signature.scalar),
      key: key ?? self.key, source: source ?? self.source)
  }
}
