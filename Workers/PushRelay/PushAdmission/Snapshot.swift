internal import Cryptography

// The format of a snapshot of the windows, which the ledger keeps beside what they admitted. Numbers are little-endian:
//
//      0   8 bytes  "PUSHLIM2"
//      8  16 bytes  the key of the hash
//     24  i64       the steady time, seconds
//     32  i64       the wall clock then, Unix seconds
//     40            the relay's own window as one entry of key 0, then each table:
//                   u32 length of the window, u32 entries, the entries, u32 shadows, the shadows
//     end 32 bytes  SHA-256 of all before
//
//     an entry: u64 key, u32 newest slot, 8 × u32 counts
//
// It has no public keys and no addresses, only hashes of them. But the hash's key is in it: a reader of the ledger can
// check whether a known key has spent something.

struct SnapshotWriter {
  private(set) var bytes = Array("PUSHLIM2".utf8)

  mutating func write(_ number: some FixedWidthInteger) { withUnsafeBytes(of: number.littleEndian) { bytes += $0 } }

  mutating func write(_ key: UInt64, _ window: SlidingWindow) {
    write(key)
    write(window.newest)
    for index in 0..<8 { write(window.counts[index]) }
  }

  func finished() -> [UInt8] { bytes + SHA256.hash(bytes).bytes }
}

struct SnapshotReader {
  private var rest: ArraySlice<UInt8>

  /// Begins after the first eight bytes; nil for bytes that are not a complete snapshot.
  init?(_ bytes: [UInt8]) {
    let content = bytes.dropLast(Octets32.byteCount)
    guard content.starts(with: Array("PUSHLIM2".utf8)),
      SHA256.hash(Array(content)).bytes.elementsEqual(bytes.suffix(Octets32.byteCount))
    else { return nil }
    rest = content.dropFirst(8)
  }

  mutating func read<Number: FixedWidthInteger>(_ type: Number.Type) -> Number? {
    let count = Number.bitWidth / 8
    guard rest.count >= count else { return nil }
    var number: Number = 0
    for byte in rest.prefix(count).reversed() { number = number << 8 | Number(truncatingIfNeeded: byte) }
    rest = rest.dropFirst(count)
    return number
  }

  mutating func readNumber() -> UInt32? { read(UInt32.self) }

  mutating func readWindow() -> (UInt64, SlidingWindow)? {
    guard let key = read(UInt64.self), let newest = readNumber() else { return nil }
    var counts = SIMD8<UInt32>(repeating: 0)
    for index in 0..<8 {
      guard let count = read(UInt32.self) else { return nil }
      counts[index] = count
    }
    return (key, SlidingWindow(newest: newest, counts: counts))
  }

  var isAtEnd: Bool { rest.isEmpty }
}
