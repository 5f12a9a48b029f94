public import Cryptography
public import Nostr

// The form of a key file: lines that a person can read, so that a person who finds the file knows that it is secret.
//
//     # A secret key of Roost's signer. … (a warning)
//     roost-key 1
//     account <name>                          (optional: older files do not have it)
//     public-key <64 hexadecimal digits>
//     created-at <seconds since 1970>
//     encrypted-secret ncryptsec1…            (NIP-49; or, without a passphrase:)
//     unencrypted-secret <64 hexadecimal digits>
//     secret none                             (only the public key is here)
//
// The file's name is the account's name. The `account` line has the name for which the file was written. So a copy
// under another name beside the original is recognised as a copy, while a file that was renamed is used under its new
// name. The public key is in the file so that it is known while the account is locked. When the secret is decrypted,
// the two are compared, and if they do not match the file is refused.
//
// `SignerService.seal` encrypts a secret and `SignerService.open` decrypts it, both by NIP49.swift.

/// A stored key.
public struct StoredKey: Sendable {
  /// The form of the secret.
  public enum Secret: Sendable {
    /// Encrypted with a passphrase.
    case encrypted(EncryptedSecretKey)
    /// Without encryption.
    case unencrypted(SecretKey)
    /// It is not here: the account is read along with.
    case absent
  }
  /// The account's name.
  public let name: String
  /// The account for which the file was written; nil when the file does not say.
  public let writtenFor: String?
  /// Its public key; for an encrypted secret, as the file says.
  public let publicKey: PublicKey
  /// When it came to this signer, in seconds since 1970.
  public let createdAt: Int64
  /// The secret.
  public let secret: Secret

  /// Largest file that is read, in bytes.
  public static let byteCountMaximum = 4_096

  /// A key for storing.
  public init(name: String, publicKey: PublicKey, createdAt: Int64, secret: Secret) {
    self.init(name: name, writtenFor: name, publicKey: publicKey, createdAt: createdAt, secret: secret)
  }

  private init(name: String, writtenFor: String?, publicKey: PublicKey, createdAt: Int64, secret: Secret) {
    self.name = name
    self.writtenFor = writtenFor
    self.publicKey = publicKey
    self.createdAt = createdAt
    self.secret = secret
  }

  /// Whether the secret is encrypted with a passphrase.
  public var isEncrypted: Bool { if case .encrypted = secret { true } else { false } }

  /// Whether only the public key is here.
  public var isReadOnly: Bool { if case .absent = secret { true } else { false } }

  /// The file's contents. The caller must wipe them.
  public var contents: [UInt8] {
    var text: [UInt8] = []
    // Reserve once: growing would leave a buffer that is not wiped.
    text.reserveCapacity(Self.byteCountMaximum)
    text.append(contentsOf: (isReadOnly ? Self.publicRemark : Self.remark).utf8)
    text.append(contentsOf: "roost-key 1\naccount \(name)\npublic-key \(publicKey)\ncreated-at \(createdAt)\n".utf8)
    switch secret {
    case .encrypted(let key): text.append(contentsOf: "\(Self.encryptedWord) \(key.text)\n".utf8)
    case .unencrypted(let key):
      text.append(contentsOf: "\(Self.unencryptedWord) ".utf8)
      key.withSecret { secret in
        var digits = Hexadecimal.encode(secret)
        text.append(contentsOf: digits)
        digits.wipe()
      }
      text.append(UInt8(ascii: "\n"))
    case .absent: text.append(contentsOf: "\(Self.absentWord) \(Self.absentValue)\n".utf8)
    }
    return text
  }

  private static let remark =
    "# A secret key of Roost's signer. A person who can read it can act in the name of its owner.\n"
  private static let publicRemark = "# A public key that Roost reads along with. Nothing in this file is secret.\n"
  private static let absentWord = "secret"
  private static let absentValue = "none"
  private static let encryptedWord = "encrypted-secret"
  private static let unencryptedWord = "unencrypted-secret"

  /// Reads a file's contents, which the caller wipes.
  public init(name: String, contents: UnsafeRawBufferPointer) throws(SecretTextFault) {
    var fields: [String: UnsafeRawBufferPointer] = [:]
    for line in contents.split(separator: UInt8(ascii: "\n")) where line.first != UInt8(ascii: "#") {
      guard let space = line.firstIndex(of: UInt8(ascii: " ")) else {
        throw SecretTextFault(description: "it has a line without a value")
      }
      let word = String(decoding: line[..<space], as: UTF8.self)
      guard fields.updateValue(UnsafeRawBufferPointer(rebasing: line[(space + 1)...]), forKey: word) == nil else {
        throw SecretTextFault(description: "it has a line twice")
      }
    }
    func text(_ word: String) -> String? { fields[word].map { String(decoding: $0, as: UTF8.self) } }
    guard let version = text("roost-key") else { throw SecretTextFault(description: "it has no line 'roost-key'") }
    guard version == "1" else { throw SecretTextFault(description: "it is of a newer form than this signer knows") }
    guard let publicKey = text("public-key").flatMap({ PublicKey($0) }) else {
      throw SecretTextFault(description: "its line 'public-key' is missing or wrong")
    }
    guard let createdAt = text("created-at").flatMap({ Int64($0) }), createdAt >= 0 else {
      throw SecretTextFault(description: "its line 'created-at' is missing or wrong")
    }
    let secret: Secret
    if let word = text(Self.absentWord) {
      guard word == Self.absentValue, fields[Self.encryptedWord] == nil, fields[Self.unencryptedWord] == nil else {
        throw SecretTextFault(
          description: "its line '\(Self.absentWord)' must be '\(Self.absentValue)', without a secret beside it")
      }
      secret = .absent
    } else {
      secret = try Self.readSecret(fields[Self.encryptedWord], fields[Self.unencryptedWord])
    }
    if case .unencrypted(let key) = secret, key.publicKey != publicKey {
      throw SecretTextFault(description: "its secret and its public key do not belong together")
    }
    self.init(
      name: name, writtenFor: text("account"), publicKey: publicKey, createdAt: createdAt, secret: secret)
  }

  private static func readSecret(
    _ encrypted: UnsafeRawBufferPointer?, _ unencrypted: UnsafeRawBufferPointer?
  ) throws(SecretTextFault) -> Secret {
    guard let text = encrypted ?? unencrypted, encrypted == nil || unencrypted == nil else {
      throw SecretTextFault(
        description: "it must have one line '\(encryptedWord)' or '\(unencryptedWord)', and not both")
    }
    switch (try SecretText(text), encrypted != nil) {
    case (.encrypted(let key), true): return .encrypted(key)
    case (.plain(let key), false): return .unencrypted(key)
    default: throw SecretTextFault(description: "its secret is of another form than its line says")
    }
  }
}
