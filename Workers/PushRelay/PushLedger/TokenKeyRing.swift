internal import Cryptography

// The keys that encrypt push tokens.
//
//     # newest first
//     2026-06:base64 of 32 random bytes
//     2025-11:base64 of 32 random bytes
//
// The first key encrypts; each key decrypts what was encrypted under its name. To change keys, put a new one on top and
// have the ledger `rekey`; when nothing is left under the old key, its line can be removed.
//
// No key of the file encrypts anything itself: from each are derived a key for each use (HKDF), and eight bytes by
// which a ledger checks that the key is the one it knows by that name. So a wrong key looks different from a damaged
// file.

/// What is wrong with a key ring, in words that reveal nothing of a key.
public struct TokenKeyRingProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// The line, from 1; nil: the whole ring.
  public let line: Int?
  /// What is wrong, and what would be right.
  public let reason: String

  /// A sentence.
  public var description: String {
    line.map { "the key ring, line \($0): \(reason)" } ?? "the key ring \(reason)"
  }
}

/// Keys for push tokens, the newest first. In memory they are `SecretMemory`.
public final class TokenKeyRing: Sendable {
  /// Most keys.
  public static let keyCountMaximum = 16
  /// Most bytes of a key's name.
  public static let nameByteCountMaximum = 32
  /// Most bytes of a ring's text.
  public static let textByteCountMaximum = 16 << 10

  let keys: [RingKey]

  /// The names of the keys, the newest first.
  public var names: [String] { keys.map(\.name) }

  /// The key that encrypts.
  var newest: RingKey { keys[0] }

  /// Reads a ring: lines `name:base64`, each key 32 bytes; empty lines and those that begin with `#` are skipped.
  ///
  /// - Parameter text: the content of the file; the caller wipes it.
  /// - Throws: what is wrong, and in which line.
  public init(_ text: [UInt8]) throws(TokenKeyRingProblem) {
    guard text.count <= Self.textByteCountMaximum else {
      throw TokenKeyRingProblem(line: nil, reason: "has more than \(Self.textByteCountMaximum) bytes")
    }
    var keys: [RingKey] = []
    var number = 0
    // Slices, not copies: no code would wipe a copied key.
    for line in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      number += 1
      let line = Self.trimmed(line)
      guard let first = line.first, first != UInt8(ascii: "#") else { continue }
      let key = try RingKey(line: line, number: number)
      try Self.check(key, beside: keys, number: number)
      keys.append(key)
    }
    guard !keys.isEmpty else {
      throw TokenKeyRingProblem(line: nil, reason: "holds no key; write a line NAME:KEY, \(RingKey.rule)")
    }
    self.keys = keys
  }

  private static func check(
    _ key: RingKey, beside others: [RingKey], number: Int
  ) throws(TokenKeyRingProblem) {
    if others.count == keyCountMaximum {
      throw TokenKeyRingProblem(line: number, reason: "there are more than \(keyCountMaximum) keys")
    }
    for other in others {
      if other.name == key.name {
        throw TokenKeyRingProblem(line: number, reason: "'\(key.name)' is there twice; each key has its own name")
      }
      if other.mark == key.mark {
        throw TokenKeyRingProblem(
          line: number, reason: "'\(key.name)' is the same key as '\(other.name)'; a new name needs a new key")
      }
    }
  }

  private static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let blanks: [UInt8] = [0x20, 0x09, 0x0D]
    var line = line.drop { blanks.contains($0) }
    while let last = line.last, blanks.contains(last) { line.removeLast() }
    return line
  }

  /// The key of that name.
  func key(_ name: String) -> RingKey? { keys.first { $0.name == name } }
}
