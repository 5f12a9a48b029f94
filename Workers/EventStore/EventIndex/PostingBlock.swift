// The postings of one term in one segment, as the database stores them: blocks of up to 128, newest first.
//
//     varint  how many
//     then for each:  varint  seconds to the one before (the first: to 0, zigzag)
//                     varint  seq minus the one before's (zigzag)
//
// A row for each posting would take three times the space and time, most of it for the key.

/// A block of postings of one term.
public struct PostingBlock: Sendable, Hashable {
  /// A posting without its term.
  public struct Entry: Hashable, Sendable {
    /// The event's `created_at`.
    public let time: Int64
    /// The event's seq.
    public let seq: Int64

    /// An entry.
    public init(time: Int64, seq: Int64) {
      self.time = time
      self.seq = seq
    }
  }

  /// The entries, newest first.
  public let entries: [Entry]

  /// The most entries of a block. It then takes some 500 bytes, which fit a page of the database without overflow.
  public static let entryCountMaximum = 128

  /// A block of these entries, which must be newest first.
  public init(_ entries: [Entry]) { self.entries = entries }

  /// The encoded block.
  public var bytes: [UInt8] {
    var bytes: [UInt8] = []
    Varint.append(UInt64(entries.count), to: &bytes)
    var last = Entry(time: 0, seq: 0)
    for entry in entries {
      Varint.append(Varint.zigzag(last.time &- entry.time), to: &bytes)
      Varint.append(Varint.zigzag(entry.seq &- last.seq), to: &bytes)
      last = entry
    }
    return bytes
  }

  /// Reads a block; nil when the bytes are not one.
  public init?(_ bytes: UnsafeRawBufferPointer) {
    var position = 0
    guard let count = Varint.read(bytes, &position), count <= UInt64(Self.entryCountMaximum) else { return nil }
    var entries: [Entry] = []
    entries.reserveCapacity(Int(count))
    var last = Entry(time: 0, seq: 0)
    for _ in 0..<count {
      guard let time = Varint.read(bytes, &position), let seq = Varint.read(bytes, &position) else { return nil }
      last = Entry(time: last.time &- Varint.unzigzag(time), seq: last.seq &+ Varint.unzigzag(seq))
      entries.append(last)
    }
    guard position == bytes.count else { return nil }
    self.entries = entries
  }
}

/// Numbers with seven bits in a byte, the lowest first; the top bit says that more bytes follow.
enum Varint {
  @inline(__always)
  static func append(_ number: UInt64, to bytes: inout [UInt8]) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  @inline(__always)
  static func read(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) -> UInt64? {
    var number: UInt64 = 0
    var shift: UInt64 = 0
    while position < bytes.count, shift < 64 {
      let byte = bytes[position]
      position += 1
      number |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return number }
      shift += 7
    }
    return nil
  }

  @inline(__always)
  static func zigzag(_ number: Int64) -> UInt64 { UInt64(bitPattern: number << 1 ^ number >> 63) }
  @inline(__always)
  static func unzigzag(_ number: UInt64) -> Int64 { Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1) }
}
