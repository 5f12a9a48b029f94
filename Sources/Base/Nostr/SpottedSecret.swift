// Secret keys in texts in which they must not be: what is about to be signed, shown or written down.
//
// What is signed goes to relays, and nothing brings it back. So a text is looked through for what begins as a secret
// key does and goes on for as long as one. Checksums are not asked: a key with one letter wrong gives itself away to
// whoever tries the few thousand letters it could be. A key in hexadecimal digits cannot be told from a public key, nor
// from an id.

/// A secret key that stands somewhere in a text. Says nothing of the key.
public enum SpottedSecret: String, Hashable, Sendable, CustomStringConvertible {
  /// A key as it is (NIP-19).
  case nsec
  /// One under a passphrase (NIP-49): as safe as the passphrase is against whoever has all the time there is.
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

  /// What people are told that it is: `a secret key (nsec1…)`.
  public var description: String {
    switch self {
    case .nsec: "a secret key (nsec1…)"
    case .ncryptsec: "a secret key under a passphrase (ncryptsec1…)"
    }
  }

  /// The first secret key in a text, in lower or upper case; nil when there is none.
  public init?(in text: String) {
    let bytes = Array(text.utf8)
    for secret in [Self.nsec, .ncryptsec] where secret.places(in: bytes, secret.characterCount).next() != nil {
      self = secret
      return
    }
    return nil
  }

  /// The text with `nsec1…` in the place of each secret key, and of what could be the beginning of one.
  public static func redacted(_ text: String) -> String {
    var bytes = Array(text.utf8)
    for secret in [nsec, .ncryptsec] {
      for place in Array(secret.places(in: bytes, fragmentCountMinimum)).reversed() {
        bytes.replaceSubrange(place, with: Array("\(secret.beginning)…".utf8))
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// So many characters behind the beginning are taken for a piece of a key when a text is shown.
  private static let fragmentCountMinimum = 8

  /// Where something begins as a key does and has `count` or more characters behind that.
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
