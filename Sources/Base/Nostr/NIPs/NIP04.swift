public import Cryptography

// Encrypted direct messages of the first kind (NIP-04): `base64(AES-256-CBC(plaintext))?iv=base64(16 bytes)`.
//
// New messages should not use it: nothing shows whether a message was changed on its way, and its length is visible.
// But older wallets (NIP-47) and remote signers (NIP-46) use it, and old messages must stay readable. Once a content
// has the right form, every failure gives the same fault, because a more precise one would help an attacker who can
// send altered messages.

/// Why a message was not encrypted or not decrypted. Reveals nothing of keys and texts.
public enum NIP04Fault: Error, Hashable, Sendable, CustomStringConvertible {
  /// The other public key is not a point of the curve.
  case badPublicKey(PublicKey)
  /// The text has more bytes than are accepted.
  case plaintextTooLarge(byteCount: Int, maximum: Int)
  /// The content has more bytes than are accepted.
  case contentTooLarge(byteCount: Int, maximum: Int)
  /// The content does not have the form `<base64>?iv=<base64 of 16 bytes>`.
  case badForm
  /// With this key the content does not decrypt to a valid text.
  case undecryptable

  /// The end of a sentence: `the content cannot be decrypted with this key`.
  public var description: String {
    switch self {
    case .badPublicKey(let key): "the public key \(key) is not on the curve"
    case .plaintextTooLarge(let count, let maximum):
      "the text to be encrypted has \(count) bytes, and at most \(maximum) are taken"
    case .contentTooLarge(let count, let maximum): "the content has \(count) bytes, and at most \(maximum) are taken"
    case .badForm: "the content has not the form of NIP-04, <base64>?iv=<base64>"
    case .undecryptable: "the content cannot be decrypted with this key"
    }
  }
}

/// Encryption for old clients, wallets and signers (NIP-04); use ``NIP44`` wherever there is a choice.
public enum NIP04 {
  /// The most bytes of a content: what fits into an event.
  public static let contentByteCountMaximum = ScannedEvent.byteCountMaximum
  /// The most bytes of a text: what stays below ``contentByteCountMaximum`` in Base64, with the vector after it.
  public static let plaintextByteCountMaximum = 786_399

  private static let separator = "?iv="

  /// The content for a text, which only the holders of the two keys can read.
  ///
  /// - Parameters:
  ///   - key: the writer's key.
  ///   - other: the reader's key.
  ///   - text: up to ``plaintextByteCountMaximum`` bytes; may be empty.
  ///   - vector: 16 random bytes; fresh ones unless a test vector gives them.
  /// - Throws: `badPublicKey` or `plaintextTooLarge`.
  public static func encrypt(
    _ text: String, by key: SecretKey, for other: PublicKey, vector: [UInt8]? = nil
  ) throws(NIP04Fault) -> String {
    let plaintext = Array(text.utf8)
    guard plaintext.count <= plaintextByteCountMaximum else {
      throw .plaintextTooLarge(byteCount: plaintext.count, maximum: plaintextByteCountMaximum)
    }
    guard let shared = key.sharedCoordinate(with: other) else { throw .badPublicKey(other) }
    let vector = vector ?? RandomBytes.make(AES256CBC.vectorByteCount)
    let ciphertext = plaintext.withUnsafeBytes { plaintext in
      vector.withUnsafeBytes { vector in
        shared.withBytes { AES256CBC.encrypt(plaintext, key: $0, vector: vector) }
      }
    }
    return Base64.encode(ciphertext) + separator + Base64.encode(vector)
  }

  /// The text of a content.
  public static func decrypt(
    _ content: String, by key: SecretKey, from other: PublicKey
  ) throws(NIP04Fault) -> String {
    let count = content.utf8.count
    guard count <= contentByteCountMaximum else {
      throw .contentTooLarge(byteCount: count, maximum: contentByteCountMaximum)
    }
    let (ciphertext, vector) = try parts(of: content)
    guard let shared = key.sharedCoordinate(with: other) else { throw .badPublicKey(other) }
    let plaintext = ciphertext.withUnsafeBytes { ciphertext in
      vector.withUnsafeBytes { vector in
        shared.withBytes { AES256CBC.decrypt(ciphertext, key: $0, vector: vector) }
      }
    }
    guard var plaintext else { throw .undecryptable }
    defer { plaintext.wipe() }
    guard let text = String(validating: plaintext, as: UTF8.self) else { throw .undecryptable }
    return text
  }

  /// Whether a content has this form, which no other text has by chance.
  static func hasForm(_ content: String) -> Bool {
    guard content.utf8.count <= contentByteCountMaximum else { return false }
    do throws(NIP04Fault) {
      _ = try parts(of: content)
      return true
    } catch {
      return false
    }
  }

  private static func parts(of content: String) throws(NIP04Fault) -> (ciphertext: [UInt8], vector: [UInt8]) {
    // 16 bytes are 24 letters.
    let vectorStart = content.utf8.index(content.utf8.endIndex, offsetBy: -24, limitedBy: content.utf8.startIndex)
    guard let vectorStart, content.utf8[..<vectorStart].suffix(4).elementsEqual(separator.utf8),
      let ciphertext = Base64.decode(content[..<vectorStart].dropLast(4)), !ciphertext.isEmpty,
      let vector = Base64.decode(content[vectorStart...]), vector.count == AES256CBC.vectorByteCount
    else { throw .badForm }
    return (ciphertext, vector)
  }
}
