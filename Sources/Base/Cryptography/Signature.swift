internal import CSecp256k1

/// A BIP-340 signature, 64 bytes. `isValid` checks it.
public struct Signature: Hashable, Sendable, CustomStringConvertible {
  /// The first half: the x coordinate of the point R, big-endian. Nothing is checked.
  public let point: Octets32
  /// The second half: the integer s, big-endian. Nothing is checked.
  public let scalar: Octets32

  /// Bytes of a signature.
  public static let byteCount = 64

  /// A signature of these two halves.
  public init(point: Octets32, scalar: Octets32) {
    self.point = point
    self.scalar = scalar
  }

  /// Reads 64 bytes at `address`.
  @inline(__always)
  public init(at address: UnsafeRawPointer) {
    point = Octets32(at: address)
    scalar = Octets32(at: address + Octets32.byteCount)
  }

  /// Reads 128 lower-case hexadecimal digits at `address`; nil if any of them is not such a digit.
  @inline(__always)
  public init?(hexadecimalAt address: UnsafeRawPointer) {
    var doubt: Hexadecimal.Doubt = 0
    point = Octets32(hexadecimalAt: address, &doubt)
    scalar = Octets32(hexadecimalAt: address + 64, &doubt)
    if doubt != 0 { return nil }
  }

  /// Reads 128 lower-case hexadecimal digits; nil for anything else.
  public init?(_ text: String) {
    guard let bytes = Hexadecimal.decode(text.utf8), bytes.count == Self.byteCount,
      let point = Octets32(bytes[..<32]), let scalar = Octets32(bytes[32...])
    else { return nil }
    self.point = point
    self.scalar = scalar
  }

  /// The 64 bytes.
  public var bytes: [UInt8] { point.bytes + scalar.bytes }

  /// The 128 lower-case hexadecimal digits.
  public var description: String { point.description + scalar.description }

  /// Whether the holder of `key` signed the 32 bytes of `message` (BIP-340).
  ///
  /// Costs about 30 µs; may be called on any thread.
  public func isValid(for message: Octets32, by key: ParsedPublicKey) -> Bool {
    withUnsafeTemporaryAllocation(byteCount: Octets32.byteCount, alignment: 8) { bytes in
      guard let address = bytes.baseAddress else { return false }
      message.write(to: address)
      return isValid(for: UnsafeRawBufferPointer(bytes), by: key)
    }
  }

  /// The same for a message of any length.
  public func isValid(for message: UnsafeRawBufferPointer, by key: ParsedPublicKey) -> Bool {
    withUnsafeTemporaryAllocation(byteCount: Self.byteCount, alignment: 8) { bytes in
      guard let address = bytes.baseAddress else { return false }
      point.write(to: address)
      scalar.write(to: address + Octets32.byteCount)
      return withUnsafePointer(to: key.point) { point in
        secp256k1_schnorrsig_verify(
          Curve.context, address.assumingMemoryBound(to: UInt8.self),
          message.baseAddress?.assumingMemoryBound(to: UInt8.self), message.count, point) == 1
      }
    }
  }
}
