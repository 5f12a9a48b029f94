/// ChaCha20 as in RFC 8439: a key, a nonce of 12 bytes, a counter that starts at 0. It encrypts but does not
/// authenticate: alone it is not safe, and NIP-44 does not use it alone.
public enum ChaCha20 {
  /// Bytes of a key.
  public static let keyByteCount = 32
  /// Bytes of a nonce, which may be used only once with a key.
  public static let nonceByteCount = 12

  /// Encrypts or decrypts `bytes` in place; both are the same operation.
  ///
  /// - Parameters:
  ///   - nonce: 12 bytes, used once with this key.
  ///   - key: 32 bytes.
  ///   - bytes: up to 1 GiB.
  public static func apply(
    key: UnsafeRawBufferPointer, nonce: UnsafeRawBufferPointer, to bytes: UnsafeMutableRawBufferPointer
  ) {
    precondition(nonce.count == nonceByteCount, "the nonce has 12 bytes")
    withUnsafeTemporaryAllocation(byteCount: 16, alignment: 16) { start in
      // libcrypto expects the counter, little-endian, before the nonce.
      start.storeBytes(of: 0, as: UInt32.self)
      UnsafeMutableRawBufferPointer(rebasing: start[4...]).copyMemory(from: nonce)
      apply(key: key, counterAndNonce: UnsafeRawBufferPointer(start), to: bytes)
    }
  }

  static func apply(
    key: UnsafeRawBufferPointer, counterAndNonce: UnsafeRawBufferPointer, to bytes: UnsafeMutableRawBufferPointer
  ) {
    let context = CipherContext(
      CipherContext.Cipher.chaCha20, key: key, nonce: counterAndNonce, isEncrypting: true)
    let count = context.update(UnsafeRawBufferPointer(bytes), into: bytes)
    precondition(count == bytes.count, "a stream cipher writes what it reads")
  }
}
