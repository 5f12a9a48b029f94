internal import Cryptography

/// One key of a ring: the keys derived from it for each use, and its name. The key itself is not kept.
final class RingKey: Sendable {
  /// Its name in the ring.
  let name: String
  /// Eight bytes derived from the key that reveal nothing of it: by them the ledger checks that this is the key that it
  /// knows by this name.
  let mark: [UInt8]
  /// For tokens.
  let token: SecretMemory
  /// For the ledger's own key.
  let ledger: SecretMemory
  /// For what platforms gave this relay.
  let credential: SecretMemory

  /// How a key is written.
  static let rule = "KEY being 32 random bytes in base64 (head -c 32 /dev/urandom | base64)"
  private static let byteCount = 32
  private static let digitCount = 44

  /// Reads `name:base64`.
  init(line: ArraySlice<UInt8>, number: Int) throws(TokenKeyRingProblem) {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
      throw TokenKeyRingProblem(line: number, reason: "is not NAME:KEY, \(Self.rule)")
    }
    let name = line[..<colon]
    guard !name.isEmpty, name.count <= TokenKeyRing.nameByteCountMaximum, name.allSatisfy(Self.isOfName) else {
      throw TokenKeyRingProblem(
        line: number,
        reason: "the name before the colon is not 1 to \(TokenKeyRing.nameByteCountMaximum) letters, digits, '-', "
          + "'_' or '.'")
    }
    let digits = line[(colon + 1)...]
    var problem: String?
    let root = SecretMemory(byteCount: Self.byteCount) { problem = Self.decode(digits, into: $0) }
    if let problem { throw TokenKeyRingProblem(line: number, reason: problem) }
    self.name = String(decoding: name, as: UTF8.self)
    token = KeyDerivation.key(root, "roost push-relay 1 token")
    ledger = KeyDerivation.key(root, "roost push-relay 1 ledger key")
    credential = KeyDerivation.key(root, "roost push-relay 1 credential")
    mark = KeyDerivation.key(root, "roost push-relay 1 mark").withBytes { Array($0.prefix(8)) }
  }

  private static func isOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
    default: false
    }
  }

  /// Decodes canonical base64 into memory that will be wiped; returns what is wrong, if anything. The decoder in Base
  /// returns an array, which no code would wipe.
  private static func decode(_ text: ArraySlice<UInt8>, into bytes: UnsafeMutableRawBufferPointer) -> String? {
    guard text.count == digitCount, text.last == UInt8(ascii: "=") else {
      return "the key is not \(byteCount) bytes in base64, which are \(digitCount) characters, the last one '='"
    }
    var (bits, bitCount, index): (UInt32, Int, Int) = (0, 0, 0)
    for digit in text.dropLast() {
      guard let value = value(digit) else { return "the key has a character that is not one of base64" }
      bits = bits << 6 | value
      bitCount += 6
      guard bitCount >= 8 else { continue }
      bitCount -= 8
      bytes[index] = UInt8(truncatingIfNeeded: bits >> UInt32(bitCount))
      index += 1
    }
    return bits & 3 == 0 ? nil : "the key is not base64 as it is written: its last character says more than 32 bytes"
  }

  private static func value(_ digit: UInt8) -> UInt32? {
    switch digit {
    case 0x41...0x5A: UInt32(digit) - 0x41
    case 0x61...0x7A: UInt32(digit) - 0x61 + 26
    case 0x30...0x39: UInt32(digit) - 0x30 + 52
    case 0x2B: 62
    case 0x2F: 63
    default: nil
    }
  }
}

/// Derives keys from keys.
enum KeyDerivation {
  /// 32 bytes for one use (HKDF-Expand alone, since the root is random in all its bytes).
  static func key(_ root: SecretMemory, _ use: String) -> SecretMemory {
    SecretMemory(byteCount: HKDF.keyByteCount) { output in
      root.withBytes { root in
        Array(use.utf8).withUnsafeBytes { HKDF.expand(root, info: $0, into: output) }
      }
    }
  }
}
