internal import CSecp256k1

extension SecretKey {
  /// The x coordinate of the point that this key and another's public key share, 32 bytes: the same from both sides,
  /// and unhashed, as NIP-04 and NIP-44 require it. It is not a key yet.
  ///
  /// Nil if `other` is not a point of the curve. About 60 µs, in constant time.
  public func sharedCoordinate(with other: PublicKey) -> SecretMemory? {
    var point = secp256k1_pubkey()
    let isOnCurve = withUnsafeTemporaryAllocation(byteCount: 33, alignment: 8) { bytes in
      guard let address = bytes.baseAddress else { return false }
      // Either of the two points with this x will do: they differ in sign, and so do their products.
      bytes[0] = 0x02
      other.octets.write(to: address + 1)
      return secp256k1_ec_pubkey_parse(Curve.context, &point, address.assumingMemoryBound(to: UInt8.self), 33) == 1
    }
    guard isOnCurve else { return nil }
    return SecretMemory(byteCount: Octets32.byteCount) { shared in
      let isComputed = withSecret { secret in
        guard let out = shared.baseAddress?.assumingMemoryBound(to: UInt8.self),
          let scalar = secret.baseAddress?.assumingMemoryBound(to: UInt8.self)
        else { return false }
        return secp256k1_ecdh(SigningContext.shared, out, &point, scalar, copyCoordinate, nil) == 1
      }
      precondition(isComputed, "a key and a point share a point")
    }
  }
}

/// Replaces the library's SHA-256: x unchanged.
private let copyCoordinate: secp256k1_ecdh_hash_function = { output, x, _, _ in
  guard let output, let x else { return 0 }
  output.update(from: x, count: Octets32.byteCount)
  return 1
}
