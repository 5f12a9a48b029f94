internal import Contracts
internal import Cryptography
internal import JobTracking
internal import Nostr

// Facts as bytes. A start reads thousands of them, so there is no text to parse. Numbers have seven bits in each byte,
// the lowest first; the last byte is without the highest bit. Texts and bytes follow their length; a value that may be
// missing follows 0 or 1. The first byte says which fact it is. Codes are never reused, because an earlier version may
// have written the bytes. Bytes that end too early, or continue after the fact, are not a fact.

struct FactWriter {
  private(set) var bytes: [UInt8] = []

  mutating func byte(_ value: UInt8) { bytes.append(value) }

  mutating func number(_ value: Int64) {
    var rest = UInt64(bitPattern: value &<< 1 ^ value >> 63)
    while rest > 0x7F {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  mutating func flag(_ value: Bool) { bytes.append(value ? 1 : 0) }

  mutating func octets(_ value: Octets32) { bytes += value.bytes }

  mutating func data(_ value: [UInt8]) {
    number(Int64(value.count))
    bytes += value
  }

  mutating func text(_ value: String) { data(Array(value.utf8)) }

  mutating func maybe<Value>(_ value: Value?, _ write: (inout FactWriter, Value) -> Void) {
    flag(value != nil)
    if let value { write(&self, value) }
  }
}

/// Reads what ``FactWriter`` has written; each method returns nil if the bytes do not fit.
struct FactReader {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { position == bytes.count }

  mutating func byte() -> UInt8? {
    guard position < bytes.count else { return nil }
    defer { position += 1 }
    return bytes[position]
  }

  mutating func number() -> Int64? {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), through: 63, by: 7) {
      guard let byte = byte() else { return nil }
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1) }
    }
    return nil
  }

  mutating func integer() -> Int? { number().flatMap { Int(exactly: $0) } }

  mutating func flag() -> Bool? { byte().flatMap { $0 < 2 ? $0 == 1 : nil } }

  mutating func octets() -> Octets32? {
    guard bytes.count - position >= Octets32.byteCount else { return nil }
    defer { position += Octets32.byteCount }
    return Octets32(bytes[position..<position + Octets32.byteCount])
  }

  mutating func data() -> [UInt8]? {
    guard let count = integer(), count >= 0, count <= bytes.count - position else { return nil }
    defer { position += count }
    return Array(bytes[position..<position + count])
  }

  mutating func text() -> String? {
    guard let data = data() else { return nil }
    return String(validating: data, as: UTF8.self)
  }

  /// A value that may be missing. The outer optional is nil if the bytes cannot be read.
  mutating func maybe<Value>(_ read: (inout FactReader) -> Value?) -> Value?? {
    guard let isThere = flag() else { return .none }
    guard isThere else { return .some(nil) }
    guard let value = read(&self) else { return .none }
    return .some(value)
  }
}
