internal import Cryptography

// What a worker stores for an account so that it can be read only while the account is unlocked.
//
//     data key (32 random bytes, of one account and one role)
//        ├─ HKDF "seal"    ─▶ XChaCha20-Poly1305: nonce (24 random bytes) | ciphertext | tag (16)
//        └─ HKDF "look up" ─▶ HMAC-SHA256: where something is, without saying what it is
//
// The purpose is authenticated with each sealed value, so that one cannot be put in the place of another: a draft does
// not open as a mute list. With a random nonce of 24 bytes one key is good for more values than any disk has.

/// A data key: seals what a worker stores for one account. The key is in wiped memory; the last reference wipes it.
public final class DataKey: Sendable {
  /// Bytes of a data key.
  public static let byteCount = 32
  /// How many bytes longer a sealed value is.
  public static let sealByteCount = XChaCha20Poly1305.nonceByteCount + XChaCha20Poly1305.tagByteCount

  private let sealing: SecretMemory
  private let lookUp: SecretMemory

  /// A data key of 32 bytes, which the caller wipes.
  public init(_ bytes: UnsafeRawBufferPointer) {
    precondition(bytes.count == Self.byteCount, "a data key has 32 bytes")
    sealing = Self.derived(from: bytes, "roost data key 1: seal")
    lookUp = Self.derived(from: bytes, "roost data key 1: look up")
  }

  private static func derived(from key: UnsafeRawBufferPointer, _ purpose: String) -> SecretMemory {
    SecretMemory(byteCount: byteCount) { output in
      Array(purpose.utf8).withUnsafeBytes { HKDF.expand(key, info: $0, into: output) }
    }
  }

  /// Seals bytes, up to 1 GiB.
  ///
  /// - Parameters:
  ///   - bytes: what is stored.
  ///   - purpose: what it is, such as `draft 17`; the same is needed to open it.
  public func seal(_ bytes: [UInt8], for purpose: String) -> [UInt8] {
    let nonce = RandomBytes.make(XChaCha20Poly1305.nonceByteCount)
    let sealed = sealing.withBytes { key in
      nonce.withUnsafeBytes { nonce in
        Array(purpose.utf8).withUnsafeBytes { purpose in
          bytes.withUnsafeBytes { XChaCha20Poly1305.seal($0, key: key, nonce: nonce, authenticating: purpose) }
        }
      }
    }
    return nonce + sealed
  }

  /// Seals a text.
  ///
  /// - Parameters:
  ///   - text: what is stored.
  ///   - purpose: what it is.
  public func seal(_ text: String, for purpose: String) -> [UInt8] {
    var bytes = Array(text.utf8)
    defer { bytes.wipe() }
    return seal(bytes, for: purpose)
  }

  /// The bytes given to `seal(_:for:)`; nil if key, purpose or any byte differs. The caller wipes them.
  ///
  /// - Parameters:
  ///   - sealed: the sealed value.
  ///   - purpose: what it is.
  public func open(_ sealed: [UInt8], for purpose: String) -> [UInt8]? {
    let count = sealed.count - Self.sealByteCount
    guard count >= 0 else { return nil }
    var isRight = false
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      sealed.withUnsafeBytes { sealed in
        let nonce = UnsafeRawBufferPointer(rebasing: sealed[..<XChaCha20Poly1305.nonceByteCount])
        let rest = UnsafeRawBufferPointer(rebasing: sealed[XChaCha20Poly1305.nonceByteCount...])
        let output = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<count])
        isRight = sealing.withBytes { key in
          Array(purpose.utf8).withUnsafeBytes { purpose in
            XChaCha20Poly1305.open(rest, key: key, nonce: nonce, authenticating: purpose, into: output)
          }
        }
      }
      initialized = isRight ? count : 0
    }
    return isRight ? bytes : nil
  }

  /// The text given to `seal(_:for:)`; nil as for bytes.
  ///
  /// - Parameters:
  ///   - sealed: the sealed value.
  ///   - purpose: what it is.
  public func text(_ sealed: [UInt8], for purpose: String) -> String? {
    guard var bytes = open(sealed, for: purpose) else { return nil }
    defer { bytes.wipe() }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// A keyed hash, 32 bytes, by which something is found again: equal values have equal hashes, and without the key a
  /// hash says nothing of its value.
  ///
  /// - Parameters:
  ///   - value: what is looked up.
  ///   - purpose: what it is; the same value has another hash for another purpose.
  public func hash(_ value: some Sequence<UInt8>, for purpose: String) -> [UInt8] {
    // The purpose has its length before it, so that no part of it can be taken for the value.
    let count = withUnsafeBytes(of: UInt32(purpose.utf8.count).littleEndian) { Array($0) }
    let message = count + Array(purpose.utf8) + Array(value)
    return [UInt8](unsafeUninitializedCapacity: HMACSHA256.byteCount) { buffer, initialized in
      lookUp.withBytes { key in
        let code = HMACSHA256(key: key)
        message.withUnsafeBytes { code.update($0) }
        code.end(into: UnsafeMutableRawBufferPointer(buffer))
      }
      initialized = HMACSHA256.byteCount
    }
  }
}
