// Messages that a push service carries but cannot read (RFC 8291), in the coding aes128gcm (RFC 8188) with one record:
//
//     salt 16 │ record size 4 │ 65 │ sender's key 65 │ AES-128-GCM of: plaintext │ 2        tag 16
//
// The browser provides its public key and 16 bytes that the push service does not know. The sender makes a key for this
// one message. The shared secret of both keys, mixed with those 16 bytes and both public keys, gives together with the
// salt the key and the nonce of the record. The 2 marks the last record; zeros may follow it.

/// Messages of Web Push, encrypted for one subscription.
public enum WebPushEncryption {
  /// Length of the secret that subscription and sender know, and the push service does not.
  public static let authenticationByteCount = 16
  /// Bytes of a message's salt.
  public static let saltByteCount = 16
  /// The most bytes of plaintext: a push service need not accept bodies of more than 4,096.
  public static let plaintextByteCountMaximum = 3_993

  private static let recordByteCount = 4_096
  private static let headerByteCount = saltByteCount + 4 + 1 + P256.publicKeyByteCount

  /// The body of a push message with `Content-Encoding: aes128gcm`: 103 bytes longer than the plaintext.
  ///
  /// - Parameters:
  ///   - plaintext: up to ``plaintextByteCountMaximum`` bytes.
  ///   - publicKey: the subscription's `p256dh`, 65 bytes.
  ///   - authentication: the subscription's `auth`, 16 bytes.
  /// - Returns: nil if the plaintext is longer, the key is not a point of P-256 or the secret has another length.
  public static func body(_ plaintext: [UInt8], publicKey: [UInt8], authentication: [UInt8]) -> [UInt8]? {
    body(
      plaintext, publicKey: publicKey, authentication: authentication, salt: RandomBytes.make(saltByteCount),
      serverKey: .generate())
  }

  /// The same with a salt of 16 bytes and the sender's key for this message, which must not be used for another one:
  /// for test vectors.
  public static func body(
    _ plaintext: [UInt8], publicKey: [UInt8], authentication: [UInt8], salt: [UInt8], serverKey: P256SecretKey
  ) -> [UInt8]? {
    precondition(salt.count == saltByteCount, "a salt has 16 bytes")
    guard plaintext.count <= plaintextByteCountMaximum, authentication.count == authenticationByteCount,
      let shared = serverKey.sharedSecret(with: publicKey)
    else { return nil }
    let secrets = Secrets(
      shared: shared, authentication: authentication, receiver: publicKey, sender: serverKey.publicKey)
    var record = plaintext + [2]
    defer { record.wipe() }
    let size = UInt32(recordByteCount)
    return salt + [UInt8(size >> 24), UInt8(size >> 16 & 255), UInt8(size >> 8 & 255), UInt8(size & 255)]
      + [UInt8(P256.publicKeyByteCount)] + serverKey.publicKey
      + secrets.withRecordKey(salt: salt) { AESGCM.seal(record, key: $0, nonce: $1, additional: []) }
  }

  /// The plaintext of a body of one record, opened by the subscription's owner; nil if it was not made for this key and
  /// secret, or has another form.
  public static func opened(_ body: [UInt8], by key: P256SecretKey, authentication: [UInt8]) -> [UInt8]? {
    guard authentication.count == authenticationByteCount, body.count >= headerByteCount + 1 + AESGCM.tagByteCount,
      Int(body[saltByteCount + 4]) == P256.publicKeyByteCount
    else { return nil }
    let size = body[saltByteCount..<(saltByteCount + 4)].reduce(0) { $0 << 8 | Int($1) }
    let sender = Array(body[(headerByteCount - P256.publicKeyByteCount)..<headerByteCount])
    let sealed = Array(body[headerByteCount...])
    guard sealed.count <= size, let shared = key.sharedSecret(with: sender) else { return nil }
    let secrets = Secrets(shared: shared, authentication: authentication, receiver: key.publicKey, sender: sender)
    let record = secrets.withRecordKey(salt: Array(body[..<saltByteCount])) {
      AESGCM.open(sealed, key: $0, nonce: $1, additional: [])
    }
    guard var record else { return nil }
    defer { record.wipe() }
    guard let end = record.lastIndex(where: { $0 != 0 }), record[end] == 2 else { return nil }
    return Array(record[..<end])
  }

  /// The secret that both ends share, before the salt.
  private struct Secrets {
    private let keyMaterial: SecretMemory

    /// Mixes the shared secret of both keys with the subscription's secret and with both public keys (RFC 8291, 3.4).
    init(shared: SecretMemory, authentication: [UInt8], receiver: [UInt8], sender: [UInt8]) {
      let key = shared.withBytes { shared in
        authentication.withUnsafeBytes { HKDF.extract(salt: $0, keyMaterial: shared) }
      }
      let info = Array("WebPush: info\u{0}".utf8) + receiver + sender
      keyMaterial = SecretMemory(byteCount: 32) { output in
        key.withBytes { key in info.withUnsafeBytes { HKDF.expand(key, info: $0, into: output) } }
      }
    }

    /// Lends key and nonce of the first record (RFC 8188, 2.2 and 2.3), and wipes the key.
    func withRecordKey<Value>(salt: [UInt8], _ body: (UnsafeRawBufferPointer, [UInt8]) -> Value) -> Value {
      let key = keyMaterial.withBytes { material in
        salt.withUnsafeBytes { HKDF.extract(salt: $0, keyMaterial: material) }
      }
      func expand(_ info: String, into output: UnsafeMutableRawBufferPointer) {
        key.withBytes { key in Array(info.utf8).withUnsafeBytes { HKDF.expand(key, info: $0, into: output) } }
      }
      var nonce = [UInt8](repeating: 0, count: AESGCM.nonceByteCount)
      nonce.withUnsafeMutableBytes { expand("Content-Encoding: nonce\u{0}", into: $0) }
      return withWipedBytes(16) { recordKey in
        expand("Content-Encoding: aes128gcm\u{0}", into: recordKey)
        return body(UnsafeRawBufferPointer(recordKey), nonce)
      }
    }
  }
}
