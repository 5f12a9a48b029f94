internal import COpenSSL

/// HMAC with SHA-256 (RFC 2104): shows whether the author of a message knew the key.
///
///     let code = HMACSHA256(key: key)
///     code.update(message)
///     code.end(into: out)
///
/// Everything derived from the key is wiped when the value is destroyed.
public struct HMACSHA256: ~Copyable {
  private let context: OpaquePointer

  /// Bytes of a code.
  public static let byteCount = 32

  /// A context with a hash but no key, which is only ever copied: setting the hash on a new context costs OpenSSL 3
  /// more than hashing.
  // @unchecked: it is created once and not changed afterwards; libcrypto counts copies of its contents with atomics.
  nonisolated(unsafe) private static let template: OpaquePointer = {
    guard let algorithm = EVP_MAC_fetch(nil, "HMAC", nil), let context = EVP_MAC_CTX_new(algorithm) else {
      preconditionFailure("libcrypto gives no HMAC")
    }
    EVP_MAC_free(algorithm)
    precondition(roost_mac_set_sha256(context) == 1, "HMAC takes SHA-256")
    return context
  }()

  /// Begins a code with this key, which may have any length.
  public init(key: UnsafeRawBufferPointer) {
    guard let context = EVP_MAC_CTX_dup(Self.template) else { preconditionFailure("libcrypto has no memory") }
    self.context = context
    // Without an address libcrypto would take the empty key for a missing one.
    let isBegun = withUnsafeBytes(of: UInt8(0)) { nothing in
      let address = key.baseAddress ?? nothing.baseAddress
      return EVP_MAC_init(context, address?.assumingMemoryBound(to: UInt8.self), key.count, nil) == 1
    }
    precondition(isBegun, "HMAC takes any key")
  }

  deinit { EVP_MAC_CTX_free(context) }

  /// Begins again, with the same key.
  public func restart() {
    precondition(EVP_MAC_init(context, nil, 0, nil) == 1, "HMAC can always begin again")
  }

  /// Adds bytes of the message.
  public func update(_ bytes: UnsafeRawBufferPointer) {
    let isAdded = EVP_MAC_update(context, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count) == 1
    precondition(isAdded, "HMAC takes any bytes")
  }

  /// Ends the message and writes its code, 32 bytes. After that, only ``restart()`` is allowed.
  public func end(into code: UnsafeMutableRawBufferPointer) {
    precondition(code.count == Self.byteCount, "a code has 32 bytes")
    var count = 0
    let isEnded = EVP_MAC_final(context, code.baseAddress?.assumingMemoryBound(to: UInt8.self), &count, code.count) == 1
    precondition(isEnded && count == Self.byteCount, "HMAC can always end")
  }

  /// Whether `code` is the code of the message, in constant time.
  public static func isValid(
    _ code: UnsafeRawBufferPointer, of message: [UnsafeRawBufferPointer], key: UnsafeRawBufferPointer
  ) -> Bool {
    withWipedBytes(byteCount) { right in
      let hmac = HMACSHA256(key: key)
      for part in message { hmac.update(part) }
      hmac.end(into: right)
      return ConstantTime.areEqual(UnsafeRawBufferPointer(right), code)
    }
  }
}
