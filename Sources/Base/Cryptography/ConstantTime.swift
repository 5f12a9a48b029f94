internal import COpenSSL

/// Comparison of bytes about which the running time must reveal nothing.
public enum ConstantTime {
  /// Whether the bytes are equal. The time depends on their count only; if the counts differ, the answer comes at once.
  public static func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    guard left.count == right.count, let leftAddress = left.baseAddress, let rightAddress = right.baseAddress else {
      return left.isEmpty && right.isEmpty
    }
    return CRYPTO_memcmp(leftAddress, rightAddress, left.count) == 0
  }
}
