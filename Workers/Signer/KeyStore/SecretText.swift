public import Cryptography
public import Nostr

/// Why a text is no secret key. Contains nothing of the text.
public struct SecretTextFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// The end of a sentence: `it is no secret key`.
  public let description: String

  /// A fault with this description.
  public init(description: String) { self.description = description }
}

/// A secret key as a person or a service manager enters it.
public enum SecretText: Sendable {
  /// `nsec1…` or 64 hexadecimal digits.
  case plain(SecretKey)
  /// `ncryptsec1…` (NIP-49), which a passphrase decrypts.
  case encrypted(EncryptedSecretKey)

  /// Reads a text, which the caller wipes; surrounding white space is ignored.
  public init(_ text: UnsafeRawBufferPointer) throws(SecretTextFault) {
    let text = Self.trimmed(text)
    if Self.begins(text, "nsec1") {
      do throws(EntityFault) { self = .plain(try SecretKey.read(nsec: text)) } catch {
        throw SecretTextFault(description: "it is no nsec: \(error)")
      }
    } else if Self.begins(text, "ncryptsec1") {
      // An encrypted key needs no wiping.
      let copy = String(decoding: text, as: UTF8.self)
      do throws(NIP49Fault) { self = .encrypted(try EncryptedSecretKey(copy)) } catch {
        throw SecretTextFault(description: "\(error)")
      }
    } else if text.count == 2 * SecretKey.byteCount {
      self = .plain(try Self.readHexadecimal(text))
    } else if Self.begins(text, "npub1") {
      throw SecretTextFault(description: "it is a public key (npub); a secret one begins with nsec1 or ncryptsec1")
    } else {
      throw SecretTextFault(description: "it is no secret key: neither nsec1…, ncryptsec1… nor 64 hexadecimal digits")
    }
  }

  private static func readHexadecimal(_ text: UnsafeRawBufferPointer) throws(SecretTextFault) -> SecretKey {
    // Upper case is accepted too, because some programs print it.
    let key = withWipedBytes(SecretKey.byteCount) { bytes -> SecretKey? in
      for index in 0..<bytes.count {
        guard let high = digit(text[2 * index]), let low = digit(text[2 * index + 1]) else { return nil }
        bytes[index] = high << 4 | low
      }
      return SecretKey(bytes: UnsafeRawBufferPointer(bytes))
    }
    guard let key else { throw SecretTextFault(description: "it is no secret key: not 64 hexadecimal digits of one") }
    return key
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x37
    case 0x61...0x66: byte - 0x57
    default: nil
    }
  }

  private static func begins(_ text: UnsafeRawBufferPointer, _ prefix: StaticString) -> Bool {
    guard text.count >= prefix.utf8CodeUnitCount else { return false }
    // Bech32 may be in upper case.
    return (0..<prefix.utf8CodeUnitCount).allSatisfy { text[$0] | 0x20 == prefix.utf8Start[$0] | 0x20 }
  }

  private static func trimmed(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
    guard let first = text.firstIndex(where: { !isSpace($0) }), let last = text.lastIndex(where: { !isSpace($0) })
    else {
      return UnsafeRawBufferPointer(rebasing: text[..<0])
    }
    return UnsafeRawBufferPointer(rebasing: text[first...last])
  }
}
