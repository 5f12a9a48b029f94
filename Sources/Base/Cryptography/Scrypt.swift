internal import COpenSSL

/// scrypt (RFC 7914): derives a key from a passphrase, slowly and with much memory, so that each guess costs the same.
///
/// It blocks its thread, from milliseconds to half a minute: never call it on the loop's thread.
public enum Scrypt {
  /// The bytes of memory that a derivation needs: 64 MiB for `logN` 16 and a block size of 8, twice as many for each
  /// further step of `logN`.
  ///
  /// - Parameters:
  ///   - logN: 1 … 30, the cost as a power of 2.
  ///   - blockSize: 1 … 64.
  ///   - parallelism: 1 … 64.
  public static func memoryByteCount(logN: Int, blockSize: Int = 8, parallelism: Int = 1) -> Int {
    precondition((1...30).contains(logN), "the cost is 2^1 to 2^30")
    precondition((1...64).contains(blockSize) && (1...64).contains(parallelism), "block size and parallelism are small")
    return 128 * blockSize * parallelism + 128 * blockSize * ((1 << logN) + 2)
  }

  /// The key of a passphrase; nil if the machine does not have the memory. If the kernel promises more memory than
  /// exists, it may kill the process instead: the caller bounds `logN`.
  ///
  /// - Parameters:
  ///   - salt: any bytes.
  ///   - logN: the cost: 2 to this power.
  ///   - blockSize: r of RFC 7914.
  ///   - parallelism: p of RFC 7914.
  ///   - passphrase: any bytes.
  ///   - byteCount: of the key, 1 … 64.
  public static func derive(
    passphrase: UnsafeRawBufferPointer, salt: UnsafeRawBufferPointer, logN: Int, blockSize: Int = 8,
    parallelism: Int = 1, byteCount: Int = 32
  ) -> SecretMemory? {
    precondition((1...64).contains(byteCount), "a key has up to 64 bytes")
    let memory = memoryByteCount(logN: logN, blockSize: blockSize, parallelism: parallelism)
    var isDerived = false
    let key = SecretMemory(byteCount: byteCount) { key in
      isDerived =
        EVP_PBE_scrypt(
          passphrase.baseAddress?.assumingMemoryBound(to: CChar.self), passphrase.count,
          salt.baseAddress?.assumingMemoryBound(to: UInt8.self), salt.count, 1 << UInt64(logN), UInt64(blockSize),
          UInt64(parallelism), UInt64(memory), key.baseAddress?.assumingMemoryBound(to: UInt8.self), key.count) == 1
    }
    if isDerived { return key }
    ERR_clear_error()
    return nil
  }
}
