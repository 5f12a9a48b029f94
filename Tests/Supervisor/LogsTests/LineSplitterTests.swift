import Clocks
import Logs
import TestSupport
import Testing

@Suite("Lines") struct LineSplitterTests {
  @Test("come out the same however the bytes are cut into pieces")
  func anySplit() {
    let seed = seeds(1)[0]
    var random = SeededGenerator(seed: seed)
    for _ in 0..<400 {
      let limit = Int.random(in: 1...20, using: &random)
      let alphabet: [UInt8] = [UInt8(ascii: "\n"), 0, 0x1B, 0xC3, 0xA4, 0xFF, UInt8(ascii: "a")]
      let bytes = (0..<Int.random(in: 0...120, using: &random)).map { _ in
        alphabet[Int.random(in: alphabet.indices, using: &random)]
      }
      var whole = LineSplitter(lineByteCountMaximum: limit)
      let expected = lines(&whole, [bytes[...]])
      var pieces: [ArraySlice<UInt8>] = []
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = Int.random(in: 1...min(rest.count, 30), using: &random)
        pieces.append(rest.prefix(count))
        rest = rest.dropFirst(count)
      }
      var cut = LineSplitter(lineByteCountMaximum: limit)
      #expect(lines(&cut, pieces) == expected, "seed \(seed)")
      #expect(cut.cutLineCount == whole.cutLineCount && cut.cutByteCount == whole.cutByteCount, "seed \(seed)")
      #expect(expected == slow(bytes, limit), "seed \(seed)")
    }
  }

  @Test("over the limit are cut with a mark, and the rest up to the newline is counted")
  func longLine() {
    var splitter = LineSplitter(lineByteCountMaximum: 10)
    let text = "0123456789\n0123456789x\n" + String(repeating: "y", count: 100) + "\nshort\n"
    #expect(
      lines(&splitter, [Array(text.utf8)[...]])
        == ["0123456789", "0123456789 … (cut)", "yyyyyyyyyy … (cut)", "short"])
    #expect(splitter.cutLineCount == 2)
    #expect(splitter.cutByteCount == 91)
  }

  @Test("without end are seen once the limit is passed, and hold no more memory than it")
  func endlessLine() {
    var splitter = LineSplitter()
    var count = 0
    let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 1_000)
    for _ in 0..<1_000 { piece.withUnsafeBytes { splitter.received($0) { _ in count += 1 } } }
    #expect(count == 1)
    #expect(splitter.cutByteCount == 1_000_000 - UInt64(LineSplitter.lineByteCountMaximum))
  }

  @Test("are not cut in the middle of a character")
  func cutCharacter() {
    for (limit, expected) in [(2, "a"), (3, "aä"), (4, "aä"), (5, "aä"), (6, "aä€"), (9, "aä€"), (10, "aä€😀")] {
      var splitter = LineSplitter(lineByteCountMaximum: limit)
      #expect(lines(&splitter, [Array("aä€😀zz\n".utf8)[...]]) == [expected + " … (cut)"])
    }
  }

  @Test("keep control bytes, and bytes that are no UTF-8 become the sign for it")
  func strangeBytes() {
    var splitter = LineSplitter()
    #expect(lines(&splitter, [[0, 27, 13, 10, 0xFF, 0x41, 10, 10]]) == ["\0\u{1B}\r", "\u{FFFD}A", ""])
  }

  @Test("at the end of the stream count without a newline, but not when nothing is left")
  func lastLine() {
    var splitter = LineSplitter()
    #expect(lines(&splitter, [Array("a\nlast".utf8)[...]]) == ["a", "last"])
    #expect(lines(&splitter, []) == [])
  }

  private func lines(_ splitter: inout LineSplitter, _ pieces: [ArraySlice<UInt8>]) -> [String] {
    var lines: [String] = []
    for piece in pieces { piece.withUnsafeBytes { splitter.received($0) { lines.append($0.text) } } }
    splitter.ended { lines.append($0.text) }
    return lines
  }

  /// The same, obviously.
  private func slow(_ bytes: [UInt8], _ limit: Int) -> [String] {
    var parts = bytes.split(separator: 10, omittingEmptySubsequences: false).map(Array.init)
    if parts.last?.isEmpty == true { parts.removeLast() }
    return parts.map { part in
      guard part.count > limit else { return String(decoding: part, as: UTF8.self) }
      var kept = Array(part[..<limit])
      // In these bytes only C3 begins a character of more than one byte.
      if kept.last == 0xC3 { kept.removeLast() }
      return String(decoding: kept, as: UTF8.self) + " … (cut)"
    }
  }
}
