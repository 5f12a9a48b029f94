internal import COpenSSL

/// One message under one of libcrypto's ciphers. What it learns of the key is wiped with it.
struct CipherContext: ~Copyable {
  private let context: OpaquePointer

  /// The ciphers, looked up once: that costs as much as encrypting some kilobytes.
  enum Cipher {
    // @unchecked: a cipher is a table of functions that nothing changes after its look-up. So for all of them.
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

  /// Begins with key and nonce of the counts that the cipher has.
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

  /// Adds bytes that are authenticated and not encrypted.
  func authenticate(_ bytes: UnsafeRawBufferPointer) {
    guard let address = bytes.baseAddress, !bytes.isEmpty else { return }
    var count: Int32 = 0
    let isAdded = EVP_CipherUpdate(
      context, nil, &count, address.assumingMemoryBound(to: UInt8.self), Int32(bytes.count))
    precondition(isAdded == 1, "any bytes can be authenticated")
  }

  /// Transforms `input` into `output`, which may be the same memory, and says how many bytes were written: for a block
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

  /// Ends the message: how many bytes were written to `output`; nil when what was decrypted is not what somebody with
  /// the key had encrypted.
  func end(into output: UnsafeMutableRawBufferPointer) -> Int? {
    var count: Int32 = 0
    let isRight = withWipedBytes(Int(EVP_MAX_BLOCK_LENGTH)) { block in
      // A stream cipher writes nothing, but asks for an address.
      let address = (output.baseAddress ?? block.baseAddress)?.assumingMemoryBound(to: UInt8.self)
      return EVP_CipherFinal_ex(context, address, &count) == 1
    }
    if isRight { return Int(count) }
    // What it has left there would be taken for an error of a TLS connection on the same thread.
    ERR_clear_error()
    return nil
  }

  /// The tag of what was encrypted, 16 bytes.
  func writeTag(to tag: UnsafeMutableRawBufferPointer) {
    let isWritten = EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tag.count), tag.baseAddress) == 1
    precondition(isWritten, "what was encrypted has a tag")
  }

  /// The tag that what is decrypted must have, 16 bytes.
  func expectTag(_ tag: UnsafeRawBufferPointer) {
    let address = UnsafeMutableRawPointer(mutating: tag.baseAddress)
    let isTaken = EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), address) == 1
    precondition(isTaken, "a tag can be expected")
  }
}
