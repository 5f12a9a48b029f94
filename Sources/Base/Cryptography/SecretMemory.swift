internal import COpenSSL

/// Bytes that must not be seen: locked into memory, left out of core dumps, between guard pages, wiped when given back.
///
/// It is libcrypto's secure heap, made when first asked for. Where the machine lets a process lock no memory
/// (`RLIMIT_MEMLOCK`), the bytes still are wiped and not dumped; ``isLocked`` then says false, and whoever keeps keys
/// says so.
public final class SecretMemory: @unchecked Sendable {  // @unchecked: written by one owner, then only read.
  private let memory: UnsafeMutableRawPointer
  /// How many there are.
  public let byteCount: Int

  /// All that secrets of one process may take together: some thousand keys.
  public static let heapByteCount = 256 << 10

  /// 1: all of it is locked; 2: it is there, but not locked or not guarded; 0: there is none.
  private static let heapState: Int32 = CRYPTO_secure_malloc_init(heapByteCount, 32)

  /// Whether secrets cannot be swapped out.
  public static var isLocked: Bool { heapState == 1 }

  /// Whether so many bytes more would leave half of the heap to others. What anybody may bring many of, in any length,
  /// asks before it is kept; the rest has bounds that fit: 256 keys of 128 bytes, and one of each thing that is
  /// short-lived.
  static func hasRoom(for byteCount: Int) -> Bool {
    _ = Self.heapState
    // The heap gives powers of two.
    var block = 32
    while block < byteCount { block *= 2 }
    return Int(CRYPTO_secure_used()) + block <= heapByteCount / 2
  }

  /// Room for `byteCount` bytes, 1 … 64 KiB, filled by `fill`; what `fill` throws ends it.
  ///
  /// - Throws: what `fill` throws.
  public init<Failure: Error>(
    byteCount: Int, _ fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
  ) throws(Failure) {
    precondition(byteCount > 0 && byteCount <= 64 << 10, "a secret has 1 byte to 64 KiB")
    _ = Self.heapState
    guard let memory = roost_secure_allocate(byteCount) else {
      preconditionFailure("the \(Self.heapByteCount) bytes for secrets are used up")
    }
    self.memory = memory
    self.byteCount = byteCount
    // If it throws, `deinit` runs all the same, since every property has its value: releasing here would be the second
    // time.
    try fill(UnsafeMutableRawBufferPointer(start: memory, count: byteCount))
  }

  deinit { roost_secure_release(memory, byteCount) }

  /// Lends the bytes. They must not be copied to where they would stay.
  public func withBytes<Value, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    try body(UnsafeRawBufferPointer(start: memory, count: byteCount))
  }
}
