/// AES-256 in CBC mode with PKCS #7 padding, for NIP-04, which is obsolete. It does not authenticate: an attacker who
/// can have altered messages decrypted, and sees which ones fail, can read the originals. So every failure has the same
/// result.
public enum AES256CBC {
  /// Bytes of a key.
  public static let keyByteCount = 32
  /// Bytes of an initialization vector, which is random for every message.
  public static let vectorByteCount = 16
  /// Bytes of a block: the ciphertext is a multiple of it.
  public static let blockByteCount = 16

  /// The ciphertext of `plaintext`, which has up to 1 GiB: up to one block longer.
  public static func encrypt(
    _ plaintext: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, vector: UnsafeRawBufferPointer
  ) -> [UInt8] {
    let capacity = plaintext.count + blockByteCount - plaintext.count % blockByteCount
    return [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
      let context = CipherContext(CipherContext.Cipher.aes256CBC, key: key, nonce: vector, isEncrypting: true)
      let output = UnsafeMutableRawBufferPointer(buffer)
      count = context.update(plaintext, into: output)
      let last = context.end(into: UnsafeMutableRawBufferPointer(rebasing: output[count...]))
      precondition(last == blockByteCount, "encryption ends with a whole block")
      count += blockByteCount
    }
  }

  /// The plaintext; nil if the ciphertext is not whole blocks or the padding is wrong.
  public static func decrypt(
    _ ciphertext: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, vector: UnsafeRawBufferPointer
  ) -> [UInt8]? {
    guard !ciphertext.isEmpty, ciphertext.count.isMultiple(of: blockByteCount) else { return nil }
    var isRight = true
    let plaintext = [UInt8](unsafeUninitializedCapacity: ciphertext.count) { buffer, count in
      let context = CipherContext(CipherContext.Cipher.aes256CBC, key: key, nonce: vector, isEncrypting: false)
      let output = UnsafeMutableRawBufferPointer(buffer)
      count = context.update(ciphertext, into: output)
      if let last = context.end(into: UnsafeMutableRawBufferPointer(rebasing: output[count...])) {
        count += last
      } else {
        isRight = false
        UnsafeMutableRawBufferPointer(rebasing: output[..<count]).wipe()
        count = 0
      }
    }
    return isRight ? plaintext : nil
  }
}
