internal import COpenSSL

/// One message under one of libcrypto's ciphers. Everything derived from the key is wiped when the context is freed.
struct CipherContext: ~Copyable {
  private let context: OpaquePointer

  /// The ciphers, looked up once: a look-up costs as much as encrypting some kilobytes.
  enum Cipher {
    // @unchecked: a cipher is a table of functions that nothing changes after its look-up. The same holds for all of
    // them.
    nonisolated(unsafe) static let chaCha20 = fetch("ChaCha20")
    // @unchecked: as above.
    nonisolated(unsafe) static let chaCha20Poly1305 = fetch("ChaCha20-Poly1305")
    // @unchecked: as above.
    nonisolated(unsafe) static let aes256CBC = fetch("AES-256-CBC")
    // @unchecked: as above.
    nonisolated(unsafe) static let aes128GCM = fetch("AES-128-GCM")
    // @unchecked: as above.
    nonisolated(unsafe) static let aes256GCM = fetch("AES-256-GCM")

    private static func fetch(_ name: String) -> OpaquePointer {
      guard let cipher = EVP_CIPHER_fetch(nil, name, nil) else { preconditionFailure("libcrypto gives no \(name)") }
      return cipher
    }
  }

  /// The most bytes of one message: libcrypto counts in `int`, and writes up to one block more than it reads.
  static let byteCountMaximum = 1 << 30

  /// Begins a message; key and nonce must have the lengths that the cipher requires.
  init(_ cipher: OpaquePointer, key: UnsafeRawBufferPointer, nonce: UnsafeRawBufferPointer, isEncrypting: Bool) {
    precondition(key.count == Int(EVP_CIPHER_get_key_length(cipher)), "the cipher's key has another length")
    precondition(nonce.count == Int(EVP_CIPHER_get_iv_length(cipher)), "the cipher's nonce has another length")
    guard let context = EVP_CIPHER_CTX_new() else { preconditionFailure("libcrypto has no memory") }
    self.context = context
    let isBegun = EVP_CipherInit_ex2(
      context, cipher, key.baseAddress?.assumingMemoryBound(to: UInt8.self),
      nonce.baseAddress?.assumingMemoryBound(to: UInt8.self), isEncrypting ? 1 : 0, nil)
    precondition(isBegun == 1, "a cipher takes any key and nonce")
  }

  deinit { EVP_CIPHER_CTX_free(context) }

  /// Adds bytes that are authenticated but not encrypted.
  func authenticate(_ bytes: UnsafeRawBufferPointer) {
    guard let address = bytes.baseAddress, !bytes.isEmpty else { return }
    var count: Int32 = 0
    let isAdded = EVP_CipherUpdate(
      context, nil, &count, address.assumingMemoryBound(to: UInt8.self), Int32(bytes.count))
    precondition(isAdded == 1, "any bytes can be authenticated")
  }

  /// Transforms `input` into `output`, which may be the same memory. Returns how many bytes were written: with a block
  /// cipher up to one block fewer or more than were read.
  func update(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> Int {
    precondition(input.count <= Self.byteCountMaximum, "a message under one key has a bound")
    precondition(output.count >= input.count, "the output has room")
    guard let from = input.baseAddress, let to = output.baseAddress, !input.isEmpty else { return 0 }
    var count: Int32 = 0
    let isDone = EVP_CipherUpdate(
      context, to.assumingMemoryBound(to: UInt8.self), &count, from.assumingMemoryBound(to: UInt8.self),
      Int32(input.count))
    precondition(isDone == 1, "a cipher takes any bytes")
    return Int(count)
  }

  /// Ends the message. Returns how many bytes were written to `output`; nil if the decrypted message is not what a
  /// holder of the key encrypted.
  func end(into output: UnsafeMutableRawBufferPointer) -> Int? {
    var count: Int32 = 0
    let isRight = withWipedBytes(Int(EVP_MAX_BLOCK_LENGTH)) { block in
      // A stream cipher writes nothing, but requires an address.
      let address = (output.baseAddress ?? block.baseAddress)?.assumingMemoryBound(to: UInt8.self)
      return EVP_CipherFinal_ex(context, address, &count) == 1
    }
    if isRight { return Int(count) }
    // An error left in libcrypto's queue would be attributed to a TLS connection on the same thread.
    ERR_clear_error()
    return nil
  }

  /// The tag of the encrypted message, 16 bytes.
  func writeTag(to tag: UnsafeMutableRawBufferPointer) {
    let isWritten = EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tag.count), tag.baseAddress) == 1
    precondition(isWritten, "what was encrypted has a tag")
  }

  /// The tag that the message to decrypt must have, 16 bytes.
  func expectTag(_ tag: UnsafeRawBufferPointer) {
    let address = UnsafeMutableRawPointer(mutating: tag.baseAddress)
    let isTaken = EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), address) == 1
    precondition(isTaken, "a tag can be expected")
  }
}
