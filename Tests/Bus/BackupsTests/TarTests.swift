import Clocks
import TestSupport
import Testing

@testable import Backups

@Suite("A tar archive")
struct TarTests {
  @Test("has the headers that POSIX describes", arguments: [0, 511, 8_589_934_591, 8_589_934_592, Int64.max])
  func header(byteCount: Int64) throws {
    let header = TarHeader(name: "state/event-store/events.db", byteCount: byteCount, time: 1_700_000_000)
    #expect(header.bytes.count == 512)
    #expect(TarHeader(header.bytes[...]) == header)
    for index in [0, 124, 135, 148, 156, 257] {
      var changed = header.bytes
      changed[index] ^= 0x40
      #expect(TarHeader(changed[...]) == nil, "\(index)")
    }
  }

  @Test("has no size below zero")
  func negative() {
    var header = TarHeader(name: "a", byteCount: 7, time: 0).bytes
    header.replaceSubrange(124..<136, with: Array("-0000000007\u{0}".utf8))
    header.replaceSubrange(148..<156, with: Array(repeating: 0x20, count: 8))
    let sum = String(header.reduce(0) { $0 + Int($1) }, radix: 8)
    let digits = String(repeating: "0", count: 6 - sum.count) + sum + "\u{0} "
    header.replaceSubrange(148..<156, with: Array(digits.utf8))
    #expect(TarHeader(header[...]) == nil)
  }

  @Test("is read alike, however it is split")
  func split() throws {
    var random = SeededGenerator(seed: 5)
    let files = [("a", 0), ("b", 1), ("c", 512), ("d", 513), ("e", 3_000)]
    var archive: [UInt8] = []
    for (name, count) in files {
      let header = TarHeader(name: name, byteCount: Int64(count), time: 0)
      archive += header.bytes + [UInt8](repeating: 7, count: count)
      archive += [UInt8](repeating: 0, count: header.paddingByteCount)
    }
    archive += [UInt8](repeating: 0, count: 1_024)
    for _ in 0..<100 {
      var (reader, rest): (TarReader, ArraySlice<UInt8>) = (TarReader(), archive[...])
      var found: [(String, Int)] = []
      var ends = 0
      while !rest.isEmpty {
        let count = Int.random(in: 1...700, using: &random)
        try reader.read(rest.prefix(count)) { item in
          switch item {
          case .file(let header): found.append((header.name, 0))
          case .bytes(let bytes): found[found.count - 1].1 += bytes.count
          case .fileEnd: ends += 1
          case .end: break
          }
        }
        rest = rest.dropFirst(count)
      }
      #expect(reader.isComplete && ends == files.count)
      #expect(found.map(\.0) == files.map(\.0) && found.map(\.1) == files.map(\.1))
    }
  }
}
