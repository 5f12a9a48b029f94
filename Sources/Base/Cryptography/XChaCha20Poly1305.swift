// XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03), which libcrypto does not have: ChaCha20-Poly1305 with a nonce of 24
// bytes, long enough to be random for every message, without limit. The key of a message is derived from the key and
// the first 16 bytes of the nonce; the other 8 are the nonce under that key.
//
// The derivation, HChaCha20, is ChaCha20's block function without its last step, which adds the state before the
// rounds. So no round is written here: libcrypto computes the block, and the addition is undone, for the eight words
// whose addends are public (constants, counter, nonce).

/// Encryption that detects every change, of the ciphertext or of the additional data, under a random nonce of 24 bytes.
public enum XChaCha20Poly1305 {
  /// Bytes of a key.
  public static let keyByteCount = 32
  /// Bytes of a nonce.
  public static let nonceByteCount = 24
  /// How many bytes longer the sealed message is.
  public static let tagByteCount = 16

  /// The encrypted message, followed by its tag.
  ///
  /// - Parameters:
  ///   - key: 32 bytes.
  ///   - plaintext: up to 1 GiB.
  ///   - nonce: 24 random bytes.
  ///   - data: authenticated but not encrypted; must be the same when the message is opened.
  public static func seal(
    _ plaintext: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, nonce: UnsafeRawBufferPointer,
    authenticating data: UnsafeRawBufferPointer
  ) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: plaintext.count + tagByteCount) { buffer, count in
      let output = UnsafeMutableRawBufferPointer(buffer)
      withContext(key: key, nonce: nonce, isEncrypting: true) { context in
        context.authenticate(data)
        let written = context.update(plaintext, into: output)
        let rest = UnsafeMutableRawBufferPointer(rebasing: output[written...])
        precondition(written == plaintext.count && context.end(into: rest) == 0, "a stream cipher writes what it reads")
        context.writeTag(to: rest)
      }
      count = plaintext.count + tagByteCount
    }
  }

  /// Opens the result of ``seal(_:key:nonce:authenticating:)``. False, with nothing in `plaintext`, if key, nonce, data
  /// or any byte differs.
  ///
  /// - Parameters:
  ///   - sealed: the message with its tag of 16 bytes at the end.
  ///   - key: 32 bytes.
  ///   - nonce: 24 bytes.
  ///   - data: the data that was authenticated with it.
  ///   - plaintext: memory for exactly 16 bytes fewer than `sealed` has.
  public static func open(
    _ sealed: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, nonce: UnsafeRawBufferPointer,
    authenticating data: UnsafeRawBufferPointer, into plaintext: UnsafeMutableRawBufferPointer
  ) -> Bool {
    guard sealed.count >= tagByteCount else { return false }
    precondition(plaintext.count == sealed.count - tagByteCount, "the plaintext has its room")
    var isRight = false
    withContext(key: key, nonce: nonce, isEncrypting: false) { context in
      context.expectTag(UnsafeRawBufferPointer(rebasing: sealed[plaintext.count...]))
      context.authenticate(data)
      _ = context.update(UnsafeRawBufferPointer(rebasing: sealed[..<plaintext.count]), into: plaintext)
      isRight = context.end(into: UnsafeMutableRawBufferPointer(start: nil, count: 0)) != nil
    }
    if !isRight { plaintext.wipe() }
    return isRight
  }

  private static func withContext(
    key: UnsafeRawBufferPointer, nonce: UnsafeRawBufferPointer, isEncrypting: Bool,
    _ body: (borrowing CipherContext) -> Void
  ) {
    precondition(nonce.count == nonceByteCount, "the nonce has 24 bytes")
    withWipedBytes(keyByteCount) { messageKey in
      deriveKey(of: key, nonce: UnsafeRawBufferPointer(rebasing: nonce[..<16]), into: messageKey)
      withUnsafeTemporaryAllocation(byteCount: 12, alignment: 4) { rest in
        rest.storeBytes(of: 0, as: UInt32.self)
        UnsafeMutableRawBufferPointer(rebasing: rest[4...])
          .copyMemory(from: UnsafeRawBufferPointer(rebasing: nonce[16...]))
        body(
          CipherContext(
            CipherContext.Cipher.chaCha20Poly1305, key: UnsafeRawBufferPointer(messageKey),
            nonce: UnsafeRawBufferPointer(rest), isEncrypting: isEncrypting))
      }
    }
  }

  /// HChaCha20: derives 32 bytes from a key and 16 bytes of nonce.
  static func deriveKey(
    of key: UnsafeRawBufferPointer, nonce: UnsafeRawBufferPointer, into derived: UnsafeMutableRawBufferPointer
  ) {
    precondition(nonce.count == 16 && derived.count == 32, "16 bytes of nonce make a key of 32")
    withWipedBytes(64) { block in
      // The key stream XORed with zeros is the block itself, words in little-endian order.
      _ = block.initializeMemory(as: UInt8.self, repeating: 0)
      ChaCha20.apply(key: key, counterAndNonce: nonce, to: block)
      for index in 0..<4 {
        let first = word(UnsafeRawBufferPointer(block), index) &- constants[index]
        let last = word(UnsafeRawBufferPointer(block), index + 12) &- word(nonce, index)
        derived.storeBytes(of: first.littleEndian, toByteOffset: 4 * index, as: UInt32.self)
        derived.storeBytes(of: last.littleEndian, toByteOffset: 4 * index + 16, as: UInt32.self)
      }
    }
  }

  /// "expand 32-byte k", the first four words of ChaCha20's state.
  private static let constants: [UInt32] = [0x6170_7865, 0x3320_646E, 0x7962_2D32, 0x6B20_6574]

  private static func word(_ bytes: UnsafeRawBufferPointer, _ index: Int) -> UInt32 {
    UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4 * index, as: UInt32.self))
  }
}
