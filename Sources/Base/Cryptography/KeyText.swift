internal import COpenSSL

// Secret keys as text: PEM (RFC 7468), in PKCS #8 as Apple and Google hand out keys, or in the older format of each
// kind.
//
// libcrypto reads the text, restricted to one kind of key, and never prompts for a passphrase: a daemon has no one to
// prompt, so an encrypted key is refused. The public half in the text is not believed but tested: a key whose public
// half belongs to another secret would sign, but no verifier would accept its signatures.

enum KeyText {
  /// The most bytes of text that are read: an RSA key of 8,192 bits has some 6,400.
  static let byteCountMaximum = 8 << 10

  /// The first key in the text; nil if it has none of this kind, is encrypted, or makes signatures that its own public
  /// half does not accept.
  ///
  /// - Parameters:
  ///   - text: PEM.
  ///   - kind: libcrypto's name for the kind, `EC` or `RSA`.
  ///   - isFit: checks the key's numbers before any computation with them.
  static func read(_ text: UnsafeRawBufferPointer, kind: String, isFit: (LibraryKey) -> Bool) -> LibraryKey? {
    guard !text.isEmpty, text.count <= byteCountMaximum, let key = LibraryKey.secret({ decode(text, kind: kind) }),
      EVP_PKEY_is_a(key.pointer, kind) == 1, isFit(key)
    else { return nil }
    let message = Array("Is the public half the secret's?".utf8)
    guard let signature = key.sign(message, digest: "SHA256") else { return nil }
    return key.isValid(signature, of: message, digest: "SHA256") ? key : nil
  }

  private static func decode(_ text: UnsafeRawBufferPointer, kind: String) -> OpaquePointer? {
    guard let source = BIO_new_mem_buf(text.baseAddress, Int32(text.count)) else {
      preconditionFailure("libcrypto has no memory")
    }
    defer { BIO_free(source) }
    var key: OpaquePointer?
    kind.withCString { kind in
      withUnsafeMutablePointer(to: &key) { key in
        guard let decoder = roost_pem_decoder(key, kind) else { preconditionFailure("libcrypto has no memory") }
        defer { OSSL_DECODER_CTX_free(decoder) }
        OSSL_DECODER_CTX_set_pem_password_cb(decoder, { _, _, _, _ in -1 }, nil)
        // The key may come after blocks of another kind: `openssl ecparam` writes the curve's name first. Each round
        // skips one block. An error left over from the last block would end the next round.
        ERR_clear_error()
        var place = 0
        while OSSL_DECODER_from_bio(decoder, source) != 1 || key.pointee == nil {
          let next = roost_bio_place(source)
          guard roost_bio_is_at_end(source) == 0, next > place else { return }
          place = next
          ERR_clear_error()
        }
      }
    }
    return key
  }

  /// The key as unencrypted PKCS #8 in PEM. Here the secret leaves libcrypto's heap for secrets.
  static func write(_ key: LibraryKey) -> String {
    guard let target = BIO_new(BIO_s_secmem()) else { preconditionFailure("libcrypto has no memory") }
    defer { BIO_free(target) }
    precondition(
      PEM_write_bio_PKCS8PrivateKey(target, key.pointer, nil, nil, 0, nil, nil) == 1, "a pair can be written")
    var address: UnsafeMutablePointer<CChar>?
    let count = roost_bio_bytes(target, &address)
    return String(decoding: UnsafeRawBufferPointer(start: address, count: count), as: UTF8.self)
  }
}
