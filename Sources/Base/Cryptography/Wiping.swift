internal import COpenSSL

// A secret is overwritten after its use. libcrypto does it, because a compiler may omit a plain loop over memory that
// is never read again.

extension UnsafeMutableRawBufferPointer {
  /// Overwrites every byte.
  public func wipe() { OPENSSL_cleanse(baseAddress, count) }
}

extension [UInt8] {
  /// Overwrites every byte with zero; the count stays. It does not reach earlier copies: the caller must not have made
  /// any.
  public mutating func wipe() { withUnsafeMutableBytes { $0.wipe() } }
}

/// Lends memory on the stack for a secret that is needed for one call only, and wipes it afterwards, however `body`
/// ends.
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
