// Secret keys in texts that must not contain them: texts that are about to be signed, shown or stored.
//
// What is signed goes to relays, and cannot be taken back. So a text is searched for anything that begins like a secret
// key and is as long as one. Checksums are not checked: from a key with one wrong letter, an attacker finds the right
// one by trying a few thousand possibilities. A key in hexadecimal digits cannot be distinguished from a public key or
// an id.

/// A secret key somewhere in a text. Reveals nothing of the key.
public enum SpottedSecret: String, Hashable, Sendable, CustomStringConvertible {
  /// A plain key (NIP-19).
  case nsec
  /// A key under a passphrase (NIP-49): as safe as the passphrase against an attacker with unlimited time.
  case ncryptsec

  /// `nsec1`
  private var beginning: String { rawValue + "1" }

  /// Characters of the data and the checksum: 32 bytes, or 91.
  private var characterCount: Int {
    switch self {
    case .nsec: 58
    case .ncryptsec: 152
    }
  }

  /// The description for people: `a secret key (nsec1…)`.
  public var description: String {
    switch self {
    case .nsec: "a secret key (nsec1…)"
    case .ncryptsec: "a secret key under a passphrase (ncryptsec1…)"
    }
  }

  /// The first secret key in a text, in lower or upper case; nil if there is no key in it.
  public init?(in text: String) {
    let bytes = Array(text.utf8)
    for secret in [Self.nsec, .ncryptsec] where secret.places(in: bytes, secret.characterCount).next() != nil {
      self = secret
      return
    }
    return nil
  }

  /// The text with `nsec1…` in place of each secret key, and of anything that could be the beginning of a key.
  public static func redacted(_ text: String) -> String {
    var bytes = Array(text.utf8)
    for secret in [nsec, .ncryptsec] {
      for place in Array(secret.places(in: bytes, fragmentCountMinimum)).reversed() {
        bytes.replaceSubrange(place, with: Array("\(secret.beginning)…".utf8))
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// From this many characters after the beginning on, a piece counts as part of a key when a text is shown.
  private static let fragmentCountMinimum = 8

  /// The places where a text begins like a key and continues with `count` or more characters.
  private func places(in bytes: [UInt8], _ count: Int) -> AnyIterator<Range<Int>> {
    let beginning = Array(beginning.utf8)
    var position = 0
    return AnyIterator {
      while position + beginning.count + count <= bytes.count {
        defer { position += 1 }
        guard zip(beginning, bytes[position...]).allSatisfy({ $0 == Self.lowerCase($1) }) else { continue }
        let start = position + beginning.count
        let end = bytes[start...].firstIndex { !Self.characters.contains(Self.lowerCase($0)) } ?? bytes.count
        guard end - start >= count else { continue }
        defer { position = end - 1 }
        return position..<end
      }
      return nil
    }
  }

  private static func lowerCase(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte + 0x20 : byte }
  private static let characters = Set("qpzry9x8gf2tvdw0s3jn54khce6mua7l".utf8)
}
