internal import COpenSSL

/// SHA-256 (FIPS 180-4), with one context that is reused, and an algorithm that is looked up once: the look-up costs
/// OpenSSL 3 as much as hashing an event.
///
/// Belongs to one thread at a time; code that hashes on several threads has one for each.
public final class SHA256 {
  /// Looked up once per process.
  // @unchecked: libcrypto counts its users, and changes nothing else in it.
  private struct Algorithm: @unchecked Sendable {
    let pointer: OpaquePointer
  }

  private static let algorithm: Algorithm = {
    guard let pointer = EVP_MD_fetch(nil, "SHA256", nil) else { preconditionFailure("libcrypto gives no SHA-256") }
    return Algorithm(pointer: pointer)
  }()

  private let context: OpaquePointer

  /// A hasher.
  ///
  /// A machine whose libcrypto has no SHA-256, or has no memory for a context, cannot run any of this: that is a bug,
  /// not a fault.
  public init() {
    guard let context = EVP_MD_CTX_new() else { preconditionFailure("libcrypto has no memory") }
    self.context = context
  }

  deinit { EVP_MD_CTX_free(context) }

  /// Begins a digest. Discards an unfinished one.
  public func begin() {
    precondition(EVP_DigestInit_ex2(context, Self.algorithm.pointer, nil) == 1, "SHA-256 can always begin")
  }

  /// Adds bytes to the digest.
  @inline(__always)
  public func update(_ bytes: UnsafeRawBufferPointer) {
    precondition(EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1, "SHA-256 takes any bytes")
  }

  /// Ends the digest.
  public func end() -> Octets32 {
    withUnsafeTemporaryAllocation(byteCount: Octets32.byteCount, alignment: 8) { digest in
      guard let address = digest.baseAddress, EVP_DigestFinal_ex(context, address, nil) == 1 else {
        preconditionFailure("SHA-256 can always end")
      }
      return Octets32(at: address)
    }
  }

  /// The digest of `bytes`.
  public func hash(_ bytes: UnsafeRawBufferPointer) -> Octets32 {
    begin()
    update(bytes)
    return end()
  }

  /// The digest of `bytes`.
  public func hash(_ bytes: [UInt8]) -> Octets32 { bytes.withUnsafeBytes { hash($0) } }

  /// The digest of `bytes`, for a caller that needs only one.
  public static func hash(_ bytes: [UInt8]) -> Octets32 { SHA256().hash(bytes) }
}
