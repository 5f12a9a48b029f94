/// HKDF with SHA-256 (RFC 5869): derives keys from secret bytes that are not a key themselves.
public enum HKDF {
  /// Bytes of the result of ``extract(salt:keyMaterial:)``.
  public static let keyByteCount = HMACSHA256.byteCount
  /// The most bytes that one key can be expanded to.
  public static let expandedByteCountMaximum = 255 * HMACSHA256.byteCount

  /// A key, 32 bytes, with the whole strength of the secret.
  public static func extract(salt: UnsafeRawBufferPointer, keyMaterial: UnsafeRawBufferPointer) -> SecretMemory {
    SecretMemory(byteCount: keyByteCount) { key in
      let hmac = HMACSHA256(key: salt)
      hmac.update(keyMaterial)
      hmac.end(into: key)
    }
  }

  /// Fills `output` with bytes derived from the key and `info`. The caller wipes them.
  ///
  /// - Parameters:
  ///   - key: the result of `extract`.
  ///   - info: the purpose of the output; may be empty.
  ///   - output: up to ``expandedByteCountMaximum`` bytes.
  public static func expand(
    _ key: UnsafeRawBufferPointer, info: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) {
    precondition(output.count <= expandedByteCountMaximum, "one key gives up to 8,160 bytes")
    let hmac = HMACSHA256(key: key)
    withWipedBytes(HMACSHA256.byteCount) { block in
      var number: UInt8 = 0
      for start in stride(from: 0, to: output.count, by: HMACSHA256.byteCount) {
        number += 1
        if number > 1 {
          hmac.restart()
          hmac.update(UnsafeRawBufferPointer(block))
        }
        hmac.update(info)
        withUnsafeBytes(of: number) { hmac.update($0) }
        hmac.end(into: block)
        let end = min(start + HMACSHA256.byteCount, output.count)
        UnsafeMutableRawBufferPointer(rebasing: output[start..<end])
          .copyMemory(from: UnsafeRawBufferPointer(rebasing: block[..<(end - start)]))
      }
    }
  }
}
