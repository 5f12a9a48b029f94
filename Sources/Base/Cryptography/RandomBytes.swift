internal import COpenSSL

/// Random bytes for keys and nonces.
public enum RandomBytes {
  /// Fills `bytes` from libcrypto's generator for private values, which the kernel seeds.
  ///
  /// Ends the process if the machine has no randomness: it must not continue as if it had.
  public static func fill(_ bytes: UnsafeMutableRawBufferPointer) {
    guard let address = bytes.baseAddress else { return }
    precondition(
      RAND_priv_bytes(address.assumingMemoryBound(to: UInt8.self), Int32(bytes.count)) == 1,
      "there are no random numbers")
  }

  /// `count` random bytes.
  public static func make(_ count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      fill(UnsafeMutableRawBufferPointer(buffer))
      initialized = count
    }
  }
}
