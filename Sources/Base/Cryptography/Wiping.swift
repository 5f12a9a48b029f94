internal import COpenSSL

// A secret that has served its turn is overwritten, and by libcrypto: a plain loop over memory that nobody reads again
// is one that a compiler leaves out.

extension UnsafeMutableRawBufferPointer {
  /// Overwrites every byte.
  public func wipe() { OPENSSL_cleanse(baseAddress, count) }
}

extension [UInt8] {
  /// Overwrites every byte with zero; the count stays. Copies made before are not reached: whoever wipes has made none.
  public mutating func wipe() { withUnsafeMutableBytes { $0.wipe() } }
}

/// Lends room on the stack for a secret that outlives no call, and wipes it afterwards, however `body` ends.
///
/// - Throws: what `body` throws.
public func withWipedBytes<Value, Failure: Error>(
  _ byteCount: Int, _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Value
) throws(Failure) -> Value {
  let result = withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 16) { bytes -> Result<Value, Failure> in
    defer { bytes.wipe() }
    do throws(Failure) { return .success(try body(bytes)) } catch { return .failure(error) }
  }
  return try result.get()
}
