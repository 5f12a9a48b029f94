internal import COpenSSL

/// Comparing what a stranger must not learn about by measuring how long it takes.
public enum ConstantTime {
  /// Whether the bytes are the same. The time depends on how many there are, and on nothing else; of two counts that
  /// differ the answer comes at once.
  public static func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    guard left.count == right.count, let leftAddress = left.baseAddress, let rightAddress = right.baseAddress else {
      return left.isEmpty && right.isEmpty
    }
    return CRYPTO_memcmp(leftAddress, rightAddress, left.count) == 0
  }
}
