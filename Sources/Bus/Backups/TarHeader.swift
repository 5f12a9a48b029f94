// A backup is a tar archive (POSIX ustar), so that every system can list and unpack it. Here is only what a backup
// needs: plain files, one header of 512 bytes each, and their bytes, filled up with zeros to a multiple of 512.
//
//     0 name 100 │ 100 mode 8 │ 108 uid 8 │ 116 gid 8 │ 124 size 12 │ 136 mtime 12 │ 148 checksum 8 │ 156 type │ …
//     257 "ustar" 0 "00" │ … 512
//
// Numbers are octal text. A size of 8 GiB and more has the top bit of its first byte set, and is binary, big-endian.

/// The header of a file in a tar archive.
struct TarHeader: Hashable {
  /// The size of a header, and the unit of an archive.
  static let blockByteCount = 512
  /// The longest name, in bytes.
  static let nameByteCountMaximum = 100

  /// The name, with the folders in which it is.
  let name: String
  /// The size of the file.
  let byteCount: Int64
  /// When it was made, seconds since 1970.
  let time: Int64

  /// The zeros after a file of this size.
  var paddingByteCount: Int { Int((512 - byteCount % 512) % 512) }

  init(name: String, byteCount: Int64, time: Int64) {
    (self.name, self.byteCount, self.time) = (name, byteCount, time)
  }

  /// The 512 bytes.
  var bytes: [UInt8] {
    precondition(name.utf8.count <= Self.nameByteCountMaximum, "the names of a backup are short")
    var block = [UInt8](repeating: 0, count: Self.blockByteCount)
    func put(_ text: some Sequence<UInt8>, at offset: Int) {
      for (index, byte) in text.enumerated() { block[offset + index] = byte }
    }
    put(name.utf8, at: 0)
    put(Self.octal(0o600, digits: 7), at: 100)
    put(Self.octal(0, digits: 7), at: 108)
    put(Self.octal(0, digits: 7), at: 116)
    if byteCount < 1 << 33 {
      put(Self.octal(byteCount, digits: 11), at: 124)
    } else {
      block[124] = 0x80
      for index in 0..<8 { block[128 + index] = UInt8(truncatingIfNeeded: byteCount >> (8 * (7 - index))) }
    }
    put(Self.octal(max(0, time), digits: 11), at: 136)
    block[156] = UInt8(ascii: "0")
    put("ustar\u{0}00".utf8, at: 257)
    put(Self.octal(Self.sum(block), digits: 6), at: 148)
    block[155] = UInt8(ascii: " ")
    return block
  }

  /// Reads a header; nil if it is not one of a plain file, or its checksum is wrong.
  init?(_ block: ArraySlice<UInt8>) {
    let block = Array(block)
    guard block.count == Self.blockByteCount, block[257..<262].elementsEqual("ustar".utf8),
      block[156] == UInt8(ascii: "0"), Self.number(block[148..<156]) == Self.sum(block),
      let time = Self.number(block[136..<148])
    else { return nil }
    if block[124] == 0x80 {
      let size = block[128..<136].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      guard block[125..<128].allSatisfy({ $0 == 0 }), size <= Int64.max else { return nil }
      byteCount = Int64(size)
    } else {
      guard let size = Self.number(block[124..<136]) else { return nil }
      byteCount = size
    }
    let text = block[0..<100].prefix { $0 != 0 }
    guard let name = String(validating: text, as: UTF8.self), !name.isEmpty else { return nil }
    (self.name, self.time) = (name, time)
  }

  /// The sum of all bytes, the checksum's own counted as spaces.
  private static func sum(_ block: [UInt8]) -> Int64 {
    block.enumerated().reduce(0) { $0 + Int64((148..<156).contains($1.offset) ? 0x20 : $1.element) }
  }

  private static func octal(_ number: Int64, digits: Int) -> [UInt8] {
    let text = Array(String(number, radix: 8).utf8)
    return [UInt8](repeating: UInt8(ascii: "0"), count: digits - text.count) + text
  }

  private static func number(_ field: ArraySlice<UInt8>) -> Int64? {
    let digits = field.prefix { $0 != 0 && $0 != 0x20 }
    // Without a sign, which `Int64` would take.
    guard digits.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "7") ~= $0 }) else { return nil }
    return Int64(String(decoding: digits, as: UTF8.self), radix: 8)
  }
}
