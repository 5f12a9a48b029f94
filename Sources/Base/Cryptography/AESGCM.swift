/// AES in Galois/Counter Mode (NIST SP 800-38D) with a key of 128 or 256 bits, a nonce of 12 bytes and a tag of 16
/// bytes: encryption that detects every change. Using a nonce twice under one key reveals the key of the tags, so a key
/// with random nonces is good for 2^32 messages.
public enum AESGCM {
  /// Bytes of a nonce.
  public static let nonceByteCount = 12
  /// How many bytes longer the sealed message is.
  public static let tagByteCount = 16

  /// The encrypted message, followed by its tag.
  ///
  /// - Parameters:
  ///   - plaintext: up to 1 GiB.
  ///   - key: 16 bytes (AES-128) or 32 (AES-256).
  ///   - nonce: 12 bytes, never used before with this key.
  ///   - data: authenticated but not encrypted; must be the same when the message is opened.
  public static func seal(
    _ plaintext: [UInt8], key: UnsafeRawBufferPointer, nonce: [UInt8], additional data: [UInt8]
  ) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: plaintext.count + tagByteCount) { buffer, count in
      let output = UnsafeMutableRawBufferPointer(buffer)
      withContext(key: key, nonce: nonce, isEncrypting: true) { context in
        data.withUnsafeBytes { context.authenticate($0) }
        let written = plaintext.withUnsafeBytes { context.update($0, into: output) }
        let rest = UnsafeMutableRawBufferPointer(rebasing: output[written..<(written + tagByteCount)])
        precondition(written == plaintext.count && context.end(into: rest) == 0, "a stream cipher writes what it reads")
        context.writeTag(to: rest)
      }
      count = plaintext.count + tagByteCount
    }
  }

  /// The plaintext given to ``seal(_:key:nonce:additional:)``; nil if key, nonce, data or any byte differs. The caller
  /// wipes it.
  ///
  /// - Parameters:
  ///   - sealed: the message with its tag of 16 bytes at the end.
  ///   - key: 16 or 32 bytes.
  ///   - nonce: 12 bytes.
  ///   - data: the data that was authenticated with it.
  public static func open(
    _ sealed: [UInt8], key: UnsafeRawBufferPointer, nonce: [UInt8], additional data: [UInt8]
  ) -> [UInt8]? {
    guard sealed.count >= tagByteCount else { return nil }
    let plaintextCount = sealed.count - tagByteCount
    var isRight = false
    let plaintext = [UInt8](unsafeUninitializedCapacity: plaintextCount) { buffer, count in
      let output = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<plaintextCount])
      withContext(key: key, nonce: nonce, isEncrypting: false) { context in
        sealed.withUnsafeBytes { sealed in
          context.expectTag(UnsafeRawBufferPointer(rebasing: sealed[plaintextCount...]))
          data.withUnsafeBytes { context.authenticate($0) }
          _ = context.update(UnsafeRawBufferPointer(rebasing: sealed[..<plaintextCount]), into: output)
        }
        isRight = context.end(into: UnsafeMutableRawBufferPointer(start: nil, count: 0)) != nil
      }
      if !isRight { output.wipe() }
      count = isRight ? plaintextCount : 0
    }
    return isRight ? plaintext : nil
  }

  private static func withContext(
    key: UnsafeRawBufferPointer, nonce: [UInt8], isEncrypting: Bool, _ body: (borrowing CipherContext) -> Void
  ) {
    precondition(key.count == 16 || key.count == 32, "a key has 16 or 32 bytes")
    precondition(nonce.count == nonceByteCount, "the nonce has 12 bytes")
    let cipher = key.count == 16 ? CipherContext.Cipher.aes128GCM : CipherContext.Cipher.aes256GCM
    nonce.withUnsafeBytes { nonce in
      body(CipherContext(cipher, key: key, nonce: nonce, isEncrypting: isEncrypting))
    }
  }
}
