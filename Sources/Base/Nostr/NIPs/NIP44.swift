public import Cryptography

// Encrypted payloads, version 2 (NIP-44).
//
//     base64( 02 | nonce, 32 | ciphertext | code, 32 )
//     ciphertext = ChaCha20( length | plaintext | zeros )        code = HMAC-SHA256( nonce | ciphertext )
//
// The length takes two bytes, or, for 65,536 bytes and more, two zeros and four bytes. Zeros pad the plaintext to one
// of a few sizes, so that the size of a payload reveals little. One buffer serves both directions: the plaintext is
// encrypted in place; a ciphertext is decrypted in place after its code was checked, and wiped after the plaintext was
// copied out.
//
// A payload is checked in the order of cost: its length, its first letter, Base64, the version, the code. The NIP
// requires the event's signature to be verified before all of these; that is the caller's task.

/// Why a text was not encrypted or a payload not decrypted. Reveals nothing of keys and texts.
public enum NIP44Fault: Error, Hashable, Sendable, CustomStringConvertible {
  /// The other public key is not a point of the curve.
  case badPublicKey(PublicKey)
  /// Nothing to encrypt: a plaintext has at least one byte.
  case emptyPlaintext
  /// The plaintext has more bytes than are accepted.
  case plaintextTooLarge(byteCount: Int, maximum: Int)
  /// The payload is shorter than any valid one.
  case payloadTooShort(byteCount: Int)
  /// The payload has more bytes than are accepted.
  case payloadTooLarge(byteCount: Int, maximum: Int)
  /// The payload has a version other than 2; nil if it begins with `#`, which marks a version that is not Base64.
  case unknownVersion(UInt8?)
  /// The payload is not Base64.
  case notBase64
  /// The code is wrong: another key was used, or the payload was changed.
  case wrongCode
  /// The code is right, but length and padding do not match.
  case badPadding
  /// The plaintext is not UTF-8.
  case notUTF8

  /// The end of a sentence: `its code is wrong; …`.
  public var description: String {
    switch self {
    case .badPublicKey(let key): "the public key \(key) is not on the curve"
    case .emptyPlaintext: "there is nothing to encrypt"
    case .plaintextTooLarge(let count, let maximum):
      "the text to be encrypted has \(count) bytes, and at most \(maximum) are taken"
    case .payloadTooShort(let count): "the payload has \(count) bytes, too few for any"
    case .payloadTooLarge(let count, let maximum): "the payload has \(count) bytes, and at most \(maximum) are taken"
    case .unknownVersion(let version?): "the payload is of version \(version), which is not supported; 2 is"
    case .unknownVersion(nil): "the payload is of a version to come, which is not supported; 2 is"
    case .notBase64: "the payload is not Base64"
    case .wrongCode: "the payload's code is wrong: it is for another key, or was changed"
    case .badPadding: "the payload's padding is wrong"
    case .notUTF8: "the decrypted text is not UTF-8"
    }
  }
}

/// The key for all payloads between two parties, the same from both sides and permanent (NIP-44): to be protected like
/// a secret key. Computing one costs more than a signature check, so keep it for decrypting many payloads of one
/// author.
public struct ConversationKey: Sendable {
  let memory: SecretMemory

  /// Bytes of a key.
  public static let byteCount = 32

  /// The key of a conversation between the holders of `key` and `other`, which may be the same key.
  ///
  /// - Throws: `badPublicKey`.
  public init(_ key: SecretKey, _ other: PublicKey) throws(NIP44Fault) {
    guard let shared = key.sharedCoordinate(with: other) else { throw .badPublicKey(other) }
    memory = shared.withBytes { shared in
      Array("nip44-v2".utf8).withUnsafeBytes { HKDF.extract(salt: $0, keyMaterial: shared) }
    }
  }

  /// A key that was computed before, 32 bytes.
  public init(_ memory: SecretMemory) {
    precondition(memory.byteCount == Self.byteCount, "a conversation key has 32 bytes")
    self.memory = memory
  }
}

/// Encryption between two keys (NIP-44, version 2). Pure; safe on any thread.
public enum NIP44 {
  /// The most bytes of a payload, encrypted or decrypted: what fits into an event. The NIP would allow 5.7 GB.
  public static let payloadByteCountMaximum = ScannedEvent.byteCountMaximum
  /// The fewest bytes of a payload: a plaintext of 1 to 32 bytes.
  public static let payloadByteCountMinimum = 132
  /// The most bytes of a plaintext: the largest that stays below ``payloadByteCountMaximum`` after padding.
  public static let plaintextByteCountMaximum = 5 << 17

  private static let version: UInt8 = 2
  private static let nonceByteCount = 32
  /// From this number of bytes on, the length is written in the longer form.
  private static let longFormThreshold = 65_536

  /// The payload for `plaintext`.
  ///
  /// - Parameters:
  ///   - plaintext: 1 … ``plaintextByteCountMaximum`` bytes of UTF-8.
  ///   - key: the conversation's key.
  ///   - nonce: 32 bytes that are used once; fresh random ones unless a test vector gives them.
  /// - Throws: `emptyPlaintext` or `plaintextTooLarge`.
  public static func encrypt(
    _ plaintext: [UInt8], with key: ConversationKey, nonce: [UInt8]? = nil
  ) throws(NIP44Fault) -> String {
    guard !plaintext.isEmpty else { throw .emptyPlaintext }
    guard plaintext.count <= plaintextByteCountMaximum else {
      throw .plaintextTooLarge(byteCount: plaintext.count, maximum: plaintextByteCountMaximum)
    }
    let nonce = nonce ?? RandomBytes.make(nonceByteCount)
    precondition(nonce.count == nonceByteCount, "the nonce has 32 bytes")
    var payload: [UInt8] = [version] + nonce
    let start = payload.count
    let end = start + lengthByteCount(of: plaintext.count) + paddedByteCount(of: plaintext.count)
    payload.reserveCapacity(end + HMACSHA256.byteCount)
    appendLength(plaintext.count, to: &payload)
    payload.append(contentsOf: plaintext)
    payload.append(contentsOf: repeatElement(0, count: end + HMACSHA256.byteCount - payload.count))
    payload.withUnsafeMutableBytes { payload in
      MessageKeys.derive(from: key, nonce: part(payload, 1..<start)) { keys in
        ChaCha20.apply(
          key: keys.cipherKey, nonce: keys.cipherNonce,
          to: UnsafeMutableRawBufferPointer(rebasing: payload[start..<end]))
        let hmac = HMACSHA256(key: keys.codeKey)
        hmac.update(part(payload, 1..<end))
        hmac.end(into: UnsafeMutableRawBufferPointer(rebasing: payload[end...]))
      }
    }
    return Base64.encode(payload)
  }

  /// The payload for a text. See ``encrypt(_:with:nonce:)-([UInt8],_,_)``.
  public static func encrypt(_ text: String, with key: ConversationKey) throws(NIP44Fault) -> String {
    try encrypt(Array(text.utf8), with: key)
  }

  /// The plaintext of a payload, as bytes that need not be UTF-8. The caller has verified the event that contained it.
  public static func decrypt(_ payload: String, with key: ConversationKey) throws(NIP44Fault) -> [UInt8] {
    var bytes = try decode(payload)
    defer { bytes.wipe() }
    let start = 1 + nonceByteCount
    let end = bytes.count - HMACSHA256.byteCount
    let result = bytes.withUnsafeMutableBytes { bytes -> Result<[UInt8], NIP44Fault> in
      let isRight = MessageKeys.derive(from: key, nonce: part(bytes, 1..<start)) { keys in
        guard HMACSHA256.isValid(part(bytes, end..<bytes.count), of: [part(bytes, 1..<end)], key: keys.codeKey) else {
          return false
        }
        ChaCha20.apply(
          key: keys.cipherKey, nonce: keys.cipherNonce, to: UnsafeMutableRawBufferPointer(rebasing: bytes[start..<end]))
        return true
      }
      guard isRight else { return .failure(.wrongCode) }
      guard let plaintext = plaintext(of: part(bytes, start..<end)) else { return .failure(.badPadding) }
      return .success(Array(plaintext))
    }
    return try result.get()
  }

  /// The text of a payload. See ``decrypt(_:with:)``.
  ///
  /// - Throws: also `notUTF8`.
  public static func decryptText(_ payload: String, with key: ConversationKey) throws(NIP44Fault) -> String {
    var bytes = try decrypt(payload, with: key)
    defer { bytes.wipe() }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .notUTF8 }
    return text
  }

  /// The size to which a plaintext is padded: at least 32 bytes, then one of eight sizes between each power of two and
  /// the next.
  ///
  /// - Parameter byteCount: of the plaintext, 1 … 2^32-1.
  public static func paddedByteCount(of byteCount: Int) -> Int {
    precondition(byteCount > 0 && byteCount <= UInt32.max, "a plaintext has 1 to 2^32-1 bytes")
    if byteCount <= 32 { return 32 }
    let nextPower = 1 << (Int.bitWidth - (byteCount - 1).leadingZeroBitCount)
    let step = max(32, nextPower / 8)
    return ((byteCount - 1) / step + 1) * step
  }

  /// Whether a text is Base64 of the right version, and not shorter than the shortest payload.
  static func hasForm(_ payload: String) -> Bool {
    do throws(NIP44Fault) {
      _ = try decode(payload)
      return true
    } catch {
      return false
    }
  }

  // MARK: The payload's parts

  /// Version, nonce, ciphertext and code, together at least as long as in the smallest payload.
  private static func decode(_ payload: String) throws(NIP44Fault) -> [UInt8] {
    guard payload.utf8.first != UInt8(ascii: "#") else { throw .unknownVersion(nil) }
    let count = payload.utf8.count
    guard count >= payloadByteCountMinimum else { throw .payloadTooShort(byteCount: count) }
    guard count <= payloadByteCountMaximum else {
      throw .payloadTooLarge(byteCount: count, maximum: payloadByteCountMaximum)
    }
    guard let bytes = Base64.decode(payload) else { throw .notBase64 }
    guard bytes[0] == version else { throw .unknownVersion(bytes[0]) }
    // 132 letters may encode two bytes too few.
    guard bytes.count >= payloadByteCountMinimum / 4 * 3 else { throw .payloadTooShort(byteCount: count) }
    return bytes
  }

  private static func lengthByteCount(of byteCount: Int) -> Int { byteCount < longFormThreshold ? 2 : 6 }

  private static func appendLength(_ byteCount: Int, to payload: inout [UInt8]) {
    if byteCount >= longFormThreshold {
      payload.append(contentsOf: [0, 0])
      withUnsafeBytes(of: UInt32(byteCount).bigEndian) { payload.append(contentsOf: $0) }
    } else {
      withUnsafeBytes(of: UInt16(byteCount).bigEndian) { payload.append(contentsOf: $0) }
    }
  }

  /// The plaintext between its length and padding; nil if these do not match, or the length has the wrong form.
  private static func plaintext(of padded: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    var count = Int(UInt16(bigEndian: padded.loadUnaligned(as: UInt16.self)))
    if count == 0 {
      count = Int(UInt32(bigEndian: padded.loadUnaligned(fromByteOffset: 2, as: UInt32.self)))
      guard count >= longFormThreshold else { return nil }
    }
    let start = lengthByteCount(of: count)
    guard padded.count == start + paddedByteCount(of: count) else { return nil }
    return UnsafeRawBufferPointer(rebasing: padded[start..<(start + count)])
  }

  private static func part(_ bytes: UnsafeMutableRawBufferPointer, _ range: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[range])
  }
}

/// The three keys of one message, stored one after the other for the duration of a call.
struct MessageKeys {
  private let bytes: UnsafeMutableRawBufferPointer

  var cipherKey: UnsafeRawBufferPointer { part(0..<32) }
  var cipherNonce: UnsafeRawBufferPointer { part(32..<44) }
  var codeKey: UnsafeRawBufferPointer { part(44..<76) }

  private func part(_ range: Range<Int>) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[range]) }

  /// Lends the keys of the message with this nonce, and wipes them.
  static func derive<Value>(
    from key: ConversationKey, nonce: UnsafeRawBufferPointer, _ body: (MessageKeys) -> Value
  ) -> Value {
    withWipedBytes(76) { bytes in
      key.memory.withBytes { HKDF.expand($0, info: nonce, into: bytes) }
      return body(MessageKeys(bytes: bytes))
    }
  }
}
