public import Cryptography

// A secret key under a passphrase (NIP-49), for storage in a file or transport between machines:
//
//     ncryptsec1…  =  Bech32( 02 | log_n | salt, 16 | nonce, 24 | handling | ciphertext, 48 )
//     ciphertext   =  XChaCha20-Poly1305( key, scrypt(passphrase, salt, 2^log_n), nonce; handling is authenticated )
//
// The text determines how much memory and time opening it takes, and its author may be hostile. So reading and opening
// are two steps, and between them the caller can see the cost and refuse.

/// Why a text is not an encrypted key, or did not open. Reveals nothing of keys and passphrases.
public enum NIP49Fault: Error, Hashable, Sendable, CustomStringConvertible {
  /// Not Bech32.
  case notBech32(Bech32Fault)
  /// Valid Bech32, but not an `ncryptsec`.
  case wrongPrefix
  /// A version other than 2.
  case unknownVersion(UInt8)
  /// Another number of bytes than version 2 requires.
  case wrongByteCount(Int)
  /// Opening would cost more than the limit; the cost as a power of two.
  case tooCostly(logN: Int, maximum: Int)
  /// A cost of zero.
  case badCost
  /// A key security byte that the NIP does not define.
  case unknownHandling(UInt8)
  /// There is not enough memory to derive the key.
  case noMemory(byteCount: Int)
  /// The passphrase is wrong, or the text was changed.
  case wrongPassphrase
  /// The decrypted bytes are not a secret key.
  case notAKey

  /// The end of a sentence: `the passphrase is wrong`.
  public var description: String {
    switch self {
    case .notBech32(let fault): "it is no ncryptsec: \(fault)"
    case .wrongPrefix: "it does not begin with ncryptsec1"
    case .unknownVersion(let version): "it is an ncryptsec of version \(version), which is not supported; 2 is"
    case .wrongByteCount(let count): "it is no ncryptsec: it has \(count) bytes and not 91"
    case .tooCostly(let logN, let maximum):
      "it was encrypted with log_n \(logN), and at most \(maximum) is taken: it would need more than "
        + "\(Scrypt.memoryByteCount(logN: maximum) >> 20) MiB of memory; encrypt the key again with a lower one"
    case .badCost: "it is no ncryptsec: its log_n is 0"
    case .unknownHandling(let byte): "it is no ncryptsec: its key security byte is \(byte) and not 0, 1 or 2"
    case .noMemory(let count): "there are no \(count >> 20) MiB of memory to open it"
    case .wrongPassphrase: "the passphrase is wrong"
    case .notAKey: "what it holds is no secret key"
    }
  }
}

/// How the key was handled before it was encrypted (NIP-49, key security byte).
public enum KeyHandling: UInt8, Hashable, Sendable {
  /// It was stored or pasted unencrypted.
  case insecure = 0
  /// It is not known to have been handled insecurely.
  case notKnownInsecure = 1
  /// Its handling was not tracked.
  case untracked = 2
}

/// A secret key under a passphrase (NIP-49). Reading one opens nothing. Only ``text`` contains it: an attacker that
/// collects many of these texts can try passphrases on all of them.
public struct EncryptedSecretKey: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
  /// The cost of opening, as a power of two, 1 … ``logNMaximum``.
  public let logN: Int
  /// How the key was handled before.
  public let handling: KeyHandling
  private let salt: [UInt8]
  private let nonce: [UInt8]
  private let ciphertext: [UInt8]

  /// The highest accepted cost: 2 GiB of memory, some ten seconds. The NIP's table ends at 22.
  public static let logNMaximum = 21
  /// The default cost for writing: 64 MiB, which a small machine has, and some tenths of a second.
  public static let logNStandard = 16

  private static let prefix = "ncryptsec"
  private static let version: UInt8 = 2
  private static let byteCount = 91
  /// The most characters that are read; version 2 has 162.
  private static let characterCountMaximum = 512

  /// Reads `ncryptsec1…`.
  public init(_ text: String) throws(NIP49Fault) {
    let prefix: String
    let bytes: [UInt8]
    do throws(Bech32Fault) {
      (prefix, bytes) = try Bech32.decode(text, maximumCount: Self.characterCountMaximum)
    } catch {
      throw .notBech32(error)
    }
    guard prefix == Self.prefix else { throw .wrongPrefix }
    guard let version = bytes.first else { throw .wrongByteCount(0) }
    guard version == Self.version else { throw .unknownVersion(version) }
    guard bytes.count == Self.byteCount else { throw .wrongByteCount(bytes.count) }
    let logN = Int(bytes[1])
    guard logN > 0 else { throw .badCost }
    guard logN <= Self.logNMaximum else { throw .tooCostly(logN: logN, maximum: Self.logNMaximum) }
    guard let handling = KeyHandling(rawValue: bytes[42]) else { throw .unknownHandling(bytes[42]) }
    self.logN = logN
    self.handling = handling
    salt = Array(bytes[2..<18])
    nonce = Array(bytes[18..<42])
    ciphertext = Array(bytes[43...])
  }

  /// Encrypts a key. Takes as much time and memory as opening it: not on the loop's thread.
  ///
  /// - Parameters:
  ///   - handling: what is known about how the key was handled.
  ///   - passphrase: the passphrase to open it.
  ///   - key: the key.
  ///   - logN: 1 … ``logNMaximum``; below 16 guessing is cheap.
  ///   - salt: 16 random bytes; fresh ones unless a test vector gives them.
  ///   - nonce: 24 random bytes, likewise.
  /// - Throws: `noMemory`; `tooCostly` or `badCost` for another `logN`.
  public init(
    encrypting key: SecretKey, with passphrase: Passphrase, logN: Int = logNStandard,
    handling: KeyHandling = .untracked, salt: [UInt8] = RandomBytes.make(16), nonce: [UInt8] = RandomBytes.make(24)
  ) throws(NIP49Fault) {
    precondition(salt.count == 16 && nonce.count == 24, "the salt has 16 bytes and the nonce 24")
    guard logN > 0 else { throw .badCost }
    guard logN <= Self.logNMaximum else { throw .tooCostly(logN: logN, maximum: Self.logNMaximum) }
    let passphraseKey = try Self.derive(passphrase, salt: salt, logN: logN)
    self.logN = logN
    self.handling = handling
    self.salt = salt
    self.nonce = nonce
    ciphertext = key.withSecret { secret in
      passphraseKey.withBytes { key in
        nonce.withUnsafeBytes { nonce in
          withUnsafeBytes(of: handling.rawValue) {
            XChaCha20Poly1305.seal(secret, key: key, nonce: nonce, authenticating: $0)
          }
        }
      }
    }
  }

  /// Bytes of memory that are needed to open it.
  public var memoryByteCount: Int { Scrypt.memoryByteCount(logN: logN) }

  /// `ncryptsec1…`
  public var text: String {
    let head = [Self.version, UInt8(logN)] + salt + nonce
    return Bech32.encode(hrp: Self.prefix, data: head + [handling.rawValue] + ciphertext)
  }

  /// `an encrypted secret key`
  public var description: String { "an encrypted secret key" }

  /// Nothing.
  public var customMirror: Mirror { Mirror(self, children: []) }

  /// Opens it. Blocks its thread for up to some ten seconds: do not call it on the loop's.
  ///
  /// - Throws: `noMemory`, `wrongPassphrase` or `notAKey`.
  public func open(with passphrase: Passphrase) throws(NIP49Fault) -> SecretKey {
    let passphraseKey = try Self.derive(passphrase, salt: salt, logN: logN)
    var isOpened = false
    let secret = SecretMemory(byteCount: SecretKey.byteCount) { secret in
      isOpened = passphraseKey.withBytes { key in
        ciphertext.withUnsafeBytes { ciphertext in
          nonce.withUnsafeBytes { nonce in
            withUnsafeBytes(of: handling.rawValue) {
              XChaCha20Poly1305.open(ciphertext, key: key, nonce: nonce, authenticating: $0, into: secret)
            }
          }
        }
      }
    }
    guard isOpened else { throw .wrongPassphrase }
    guard let key = SecretKey(secret) else { throw .notAKey }
    return key
  }

  private static func derive(
    _ passphrase: Passphrase, salt: [UInt8], logN: Int
  ) throws(NIP49Fault) -> SecretMemory {
    let key = passphrase.withBytes { passphrase in
      salt.withUnsafeBytes { Scrypt.derive(passphrase: passphrase, salt: $0, logN: logN) }
    }
    guard let key else { throw .noMemory(byteCount: Scrypt.memoryByteCount(logN: logN)) }
    return key
  }
}
