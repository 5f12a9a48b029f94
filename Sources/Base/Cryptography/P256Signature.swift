internal import COpenSSL

/// The two forms of an ECDSA signature on P-256: DER, for libcrypto, and r and s of 32 bytes each, for JSON Web Tokens.
enum P256Signature {
  private static let numberByteCount = 32

  /// The 64 bytes as DER; nil for another count. Verification checks whether r and s are in range.
  static func der(of signature: [UInt8]) -> [UInt8]? {
    guard signature.count == P256.signatureByteCount else { return nil }
    return signature.withUnsafeBufferPointer { bytes -> [UInt8]? in
      guard let address = bytes.baseAddress, let pair = ECDSA_SIG_new() else { return nil }
      defer { ECDSA_SIG_free(pair) }
      let count = Int32(numberByteCount)
      guard let r = BN_bin2bn(address, count, nil), let s = BN_bin2bn(address + numberByteCount, count, nil) else {
        preconditionFailure("libcrypto has no memory")
      }
      // From here on, the pair owns both numbers.
      precondition(ECDSA_SIG_set0(pair, r, s) == 1, "two numbers are a signature")
      let byteCount = Int(i2d_ECDSA_SIG(pair, nil))
      return [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
        var end = buffer.baseAddress
        count = Int(i2d_ECDSA_SIG(pair, &end))
      }
    }
  }

  /// The 64 bytes of a signature that libcrypto made.
  static func raw(of der: [UInt8]) -> [UInt8] {
    der.withUnsafeBufferPointer { bytes in
      var start = bytes.baseAddress
      guard let pair = d2i_ECDSA_SIG(nil, &start, bytes.count) else {
        preconditionFailure("what libcrypto signed is a signature")
      }
      defer { ECDSA_SIG_free(pair) }
      return [UInt8](unsafeUninitializedCapacity: P256.signatureByteCount) { buffer, count in
        guard let address = buffer.baseAddress else { return }
        let size = Int32(numberByteCount)
        precondition(
          BN_bn2binpad(ECDSA_SIG_get0_r(pair), address, size) == size
            && BN_bn2binpad(ECDSA_SIG_get0_s(pair), address + numberByteCount, size) == size,
          "r and s are below the curve's order")
        count = P256.signatureByteCount
      }
    }
  }
}
