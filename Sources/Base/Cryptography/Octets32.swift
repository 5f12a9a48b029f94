/// 32 bytes that are compared, hashed and copied as a value: an event id, a public key, a digest.
///
/// Stored as four big-endian words, so that their order is the order of the bytes, and equality takes four comparisons.
public struct Octets32: Hashable, Sendable, Comparable, CustomStringConvertible {
  private let words: (UInt64, UInt64, UInt64, UInt64)

  /// Bytes of the value.
  public static let byteCount = 32

  /// Reads 32 bytes at `address`.
  @inline(__always)
  public init(at address: UnsafeRawPointer) {
    words = (
      UInt64(bigEndian: address.loadUnaligned(as: UInt64.self)),
      UInt64(bigEndian: address.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
      UInt64(bigEndian: address.loadUnaligned(fromByteOffset: 16, as: UInt64.self)),
      UInt64(bigEndian: address.loadUnaligned(fromByteOffset: 24, as: UInt64.self))
    )
  }

  /// Takes exactly 32 bytes; nil for any other count.
  public init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    self = Array(bytes).withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { preconditionFailure("32 bytes have an address") }
      return Octets32(at: base)
    }
  }

  /// Reads 64 hexadecimal digits at `address`, lower case only, as NIP-01 requires; nil if any of them is not a digit.
  @inline(__always)
  public init?(hexadecimalAt address: UnsafeRawPointer) {
    var doubt: Hexadecimal.Doubt = 0
    self.init(hexadecimalAt: address, &doubt)
    if doubt != 0 { return nil }
  }

  @inline(__always)
  init(hexadecimalAt address: UnsafeRawPointer, _ doubt: inout Hexadecimal.Doubt) {
    words = (
      Hexadecimal.word(at: address, &doubt), Hexadecimal.word(at: address + 16, &doubt),
      Hexadecimal.word(at: address + 32, &doubt), Hexadecimal.word(at: address + 48, &doubt)
    )
  }

  /// Reads 64 lower-case hexadecimal digits; nil for anything else.
  public init?(hexadecimal digits: some Collection<UInt8>) {
    guard digits.count == 2 * Self.byteCount else { return nil }
    let value = Array(digits).withUnsafeBytes { bytes in bytes.baseAddress.flatMap { Octets32(hexadecimalAt: $0) } }
    guard let value else { return nil }
    self = value
  }

  /// Reads 64 lower-case hexadecimal digits; nil for anything else.
  public init?(_ text: String) { self.init(hexadecimal: text.utf8) }

  /// Writes the 32 bytes to `address`.
  @inline(__always)
  public func write(to address: UnsafeMutableRawPointer) {
    address.storeBytes(of: words.0.bigEndian, as: UInt64.self)
    address.storeBytes(of: words.1.bigEndian, toByteOffset: 8, as: UInt64.self)
    address.storeBytes(of: words.2.bigEndian, toByteOffset: 16, as: UInt64.self)
    address.storeBytes(of: words.3.bigEndian, toByteOffset: 24, as: UInt64.self)
  }

  /// The 32 bytes.
  public var bytes: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Self.byteCount) { buffer, count in
      if let base = buffer.baseAddress { write(to: base) }
      count = Self.byteCount
    }
  }

  /// Lends the 32 bytes for a call.
  public func withUnsafeBytes<Value>(_ body: (UnsafeRawBufferPointer) throws -> Value) rethrows -> Value {
    try withUnsafeTemporaryAllocation(byteCount: Self.byteCount, alignment: 8) { bytes in
      if let address = bytes.baseAddress { write(to: address) }
      return try body(UnsafeRawBufferPointer(bytes))
    }
  }

  /// Appends the 64 lower-case hexadecimal digits.
  public func appendHexadecimal(to text: inout [UInt8]) {
    withUnsafeTemporaryAllocation(byteCount: 2 * Self.byteCount, alignment: 8) { digits in
      guard let address = digits.baseAddress else { return }
      Hexadecimal.store(words.0, to: address)
      Hexadecimal.store(words.1, to: address + 16)
      Hexadecimal.store(words.2, to: address + 32)
      Hexadecimal.store(words.3, to: address + 48)
      text.append(contentsOf: digits)
    }
  }

  /// The first eight bytes as a big-endian number; for a digest, as good as random.
  @inline(__always)
  public var firstWord: UInt64 { words.0 }

  /// The 64 lower-case hexadecimal digits.
  public var description: String { Hexadecimal.text(of: bytes) }

  /// Whether all 32 bytes are equal. Not in constant time: this type holds nothing secret.
  @inline(__always)
  public static func == (left: Octets32, right: Octets32) -> Bool { left.words == right.words }

  /// The order of the bytes; the first byte counts most.
  @inline(__always)
  public static func < (left: Octets32, right: Octets32) -> Bool { left.words < right.words }

  /// Hashes the 32 bytes.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(words.0)
    hasher.combine(words.1)
    hasher.combine(words.2)
    hasher.combine(words.3)
  }
}
