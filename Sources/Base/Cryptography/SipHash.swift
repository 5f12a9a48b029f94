/// SipHash-2-4: a 64-bit hash with a key; without the key it cannot be predicted.
///
/// For keys of indexes whose contents strangers write: without a secret, an attacker could make a thousand tag values
/// with the same hash. Swift's own `Hasher` is as good, but gives different values in each process.
public struct SipHash: Sendable, Hashable {
  private let key: (UInt64, UInt64)

  /// A hash function with a key of two words.
  public init(key first: UInt64, _ second: UInt64) { key = (first, second) }

  /// The hash of these bytes.
  public func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var state = State(key)
    let words = bytes.count / 8
    for index in 0..<words {
      state.take(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self)))
    }
    var last = UInt64(truncatingIfNeeded: bytes.count) << 56
    for index in (words * 8)..<bytes.count { last |= UInt64(bytes[index]) << UInt64(8 * (index & 7)) }
    return state.finish(last)
  }

  /// The hash of these bytes.
  public func hash(_ bytes: [UInt8]) -> UInt64 { bytes.withUnsafeBytes { hash($0) } }

  /// Whether both have the same key.
  public static func == (left: SipHash, right: SipHash) -> Bool { left.key == right.key }

  /// Hashes the key.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(key.0)
    hasher.combine(key.1)
  }

  private struct State {
    var v0, v1, v2, v3: UInt64

    init(_ key: (UInt64, UInt64)) {
      v0 = key.0 ^ 0x736F_6D65_7073_6575
      v1 = key.1 ^ 0x646F_7261_6E64_6F6D
      v2 = key.0 ^ 0x6C79_6765_6E65_7261
      v3 = key.1 ^ 0x7465_6462_7974_6573
    }

    @inline(__always)
    mutating func round() {
      v0 &+= v1
      v1 = (v1 << 13 | v1 >> 51) ^ v0
      v0 = v0 << 32 | v0 >> 32
      v2 &+= v3
      v3 = (v3 << 16 | v3 >> 48) ^ v2
      v0 &+= v3
      v3 = (v3 << 21 | v3 >> 43) ^ v0
      v2 &+= v1
      v1 = (v1 << 17 | v1 >> 47) ^ v2
      v2 = v2 << 32 | v2 >> 32
    }

    @inline(__always)
    mutating func take(_ word: UInt64) {
      v3 ^= word
      round()
      round()
      v0 ^= word
    }

    @inline(__always)
    mutating func finish(_ last: UInt64) -> UInt64 {
      take(last)
      v2 ^= 0xFF
      for _ in 0..<4 { round() }
      return v0 ^ v1 ^ v2 ^ v3
    }
  }
}
