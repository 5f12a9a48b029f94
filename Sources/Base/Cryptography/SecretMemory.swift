internal import COpenSSL

/// Bytes that must stay secret: locked into memory, left out of core dumps, between guard pages, wiped when freed.
///
/// This is libcrypto's secure heap, created on first use. If the machine does not let a process lock memory
/// (`RLIMIT_MEMLOCK`), the bytes are still wiped and not dumped; ``isLocked`` is then false, and a program that keeps
/// keys must report it.
public final class SecretMemory: @unchecked Sendable {  // @unchecked: written by one owner, then only read.
  private let memory: UnsafeMutableRawPointer
  /// The number of bytes.
  public let byteCount: Int

  /// The most bytes that all secrets of one process may use together: some thousand keys.
  public static let heapByteCount = 256 << 10

  /// 1: all of the heap is locked; 2: it exists, but is not locked or not guarded; 0: it does not exist.
  private static let heapState: Int32 = CRYPTO_secure_malloc_init(heapByteCount, 32)

  /// Whether secrets are safe from being swapped out.
  public static var isLocked: Bool { heapState == 1 }

  /// Whether half of the heap would stay free after `byteCount` more bytes. Call this before keeping a secret that may
  /// come in any number and any length. All other secrets have limits that fit into the other half: 256 keys of 128
  /// bytes, and one of each short-lived kind.
  static func hasRoom(for byteCount: Int) -> Bool {
    _ = Self.heapState
    // The heap allocates powers of two.
    var block = 32
    while block < byteCount { block *= 2 }
    return Int(CRYPTO_secure_used()) + block <= heapByteCount / 2
  }

  /// Memory for `byteCount` bytes, 1 … 64 KiB, filled by `fill`.
  ///
  /// - Throws: what `fill` throws; the memory is then freed.
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
    // If `fill` throws, `deinit` still runs, since every property has its value: releasing here would be a second
    // release.
    try fill(UnsafeMutableRawBufferPointer(start: memory, count: byteCount))
  }

  deinit { roost_secure_release(memory, byteCount) }

  /// Lends the bytes. They must not be copied to memory that keeps them.
  public func withBytes<Value, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    try body(UnsafeRawBufferPointer(start: memory, count: byteCount))
  }
}
