/// Little-endian numbers in the layouts of the contracts.
public enum LittleEndian {
  /// Reads the number in `count` bytes from `start`.
  @inline(__always)
  public static func number(_ bytes: [UInt8], _ start: Int, _ count: Int) -> UInt64 {
    var number: UInt64 = 0
    for index in 0..<count { number |= UInt64(bytes[start + index]) << UInt64(8 * index) }
    return number
  }

  /// Appends the lowest `count` bytes of a number.
  @inline(__always)
  public static func append(_ number: UInt64, _ count: Int, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0.prefix(count)) }
  }
}
