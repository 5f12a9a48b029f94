internal import COpenSSL

// Secret keys as text: PEM (RFC 7468), in PKCS #8 as Apple and Google hand keys out, or in the older form of each kind.
//
// libcrypto reads it, held to one kind of key, and never asks for a passphrase: a daemon has nobody to ask, and an
// encrypted key is refused. What the text claims of a key is not believed but tried, since a public half that belongs
// to another secret would sign, and be trusted by nobody.

enum KeyText {
  /// Most bytes of a text that are read: an RSA key of 8,192 bits has some 6,400.
  static let byteCountMaximum = 8 << 10

  /// The first key of the text; nil when it is none of this kind, is encrypted, or does not sign what its own public
  /// half accepts.
  ///
  /// - Parameters:
  ///   - text: PEM.
  ///   - kind: libcrypto's name for the kind, `EC` or `RSA`.
  ///   - isFit: looks at the numbers before they are computed with.
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
        // A key may stand behind blocks of another kind: `openssl ecparam` writes the curve's name first. Each turn
        // passes one. An error that is left of the last block would end the next.
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

  /// The key as PKCS #8 in PEM, not encrypted. It leaves libcrypto's heap for secrets here.
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
