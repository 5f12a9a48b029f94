internal import COpenSSL

/// A key in libcrypto: a public key or a pair. Its secret numbers are in the heap of ``SecretMemory``, and are wiped
/// when it is freed.
// @unchecked: it never changes, and libcrypto permits threads to share what they only read.
final class LibraryKey: @unchecked Sendable {
  let pointer: OpaquePointer

  /// Takes ownership of a key; nil for nil. Clears libcrypto's error queue, since its errors would be attributed to a
  /// TLS connection on the same thread.
  init?(taking pointer: OpaquePointer?) {
    ERR_clear_error()
    guard let pointer else { return nil }
    self.pointer = pointer
  }

  deinit { EVP_PKEY_free(pointer) }

  /// Makes a key that holds a secret, after libcrypto's heap for secrets exists.
  static func secret(_ make: () -> OpaquePointer?) -> LibraryKey? {
    _ = SecretMemory.isLocked
    return LibraryKey(taking: make())
  }

  /// Signs, with SHA-256 as the digest, or without a digest if the scheme has its own. Nil if the numbers of the key do
  /// not allow it.
  func sign(_ message: [UInt8], digest: String?) -> [UInt8]? {
    guard let context = EVP_MD_CTX_new() else { preconditionFailure("libcrypto has no memory") }
    defer {
      EVP_MD_CTX_free(context)
      ERR_clear_error()
    }
    guard EVP_DigestSignInit_ex(context, nil, digest, nil, nil, pointer, nil) == 1 else { return nil }
    var isSigned = false
    let signature = [UInt8](unsafeUninitializedCapacity: Int(EVP_PKEY_get_size(pointer))) { buffer, count in
      count = buffer.count
      isSigned = EVP_DigestSign(context, buffer.baseAddress, &count, message, message.count) == 1
      if !isSigned { count = 0 }
    }
    return isSigned ? signature : nil
  }

  /// Whether the holder of this key signed `message`.
  func isValid(_ signature: [UInt8], of message: [UInt8], digest: String?) -> Bool {
    guard let context = EVP_MD_CTX_new() else { preconditionFailure("libcrypto has no memory") }
    defer {
      EVP_MD_CTX_free(context)
      ERR_clear_error()
    }
    return EVP_DigestVerifyInit_ex(context, nil, digest, nil, nil, pointer, nil) == 1
      && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
  }

  /// The shared secret of this pair and the public key `other`, 32 bytes; nil if the two share none, or it would not be
  /// secret.
  func sharedSecret(with other: LibraryKey) -> SecretMemory? {
    guard let context = EVP_PKEY_CTX_new_from_pkey(nil, pointer, nil) else {
      preconditionFailure("libcrypto has no memory")
    }
    defer {
      EVP_PKEY_CTX_free(context)
      ERR_clear_error()
    }
    // Whether the other point is on the curve was checked when that key was made.
    guard EVP_PKEY_derive_init(context) == 1, EVP_PKEY_derive_set_peer_ex(context, other.pointer, 0) == 1 else {
      return nil
    }
    var isDerived = false
    let secret = SecretMemory(byteCount: 32) { bytes in
      var count = bytes.count
      isDerived =
        EVP_PKEY_derive(context, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), &count) == 1
        && count == bytes.count
    }
    return isDerived ? secret : nil
  }
}
