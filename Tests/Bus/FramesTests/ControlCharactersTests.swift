import Frames
import Testing

@Suite struct ControlCharactersTests {
  /// Whether a character is escaped; what it is escaped as is looked at besides.
  private func isEscaped(_ value: UInt32) -> Bool {
    guard let scalar = Unicode.Scalar(value) else { return false }
    let shown = ControlCharacters.escaped("a\(scalar)b")
    if shown == "a\(scalar)b" { return false }
    #expect(shown == "a\\u{\(String(value, radix: 16, uppercase: true))}b")
    return true
  }

  @Test("No control character of any of the three sets is left, and everything else stays as it is")
  func escaped() {
    for value in UInt32(0)...0x2FF {
      #expect(isEscaped(value) == (value < 0x20 || (0x7F...0x9F).contains(value) || value == 0xAD), "\(value)")
    }
    #expect(ControlCharacters.escaped("x\u{9B}31m\u{1B}[2J\r\n") == #"x\u{9B}31m\u{1B}[2J\u{D}\u{A}"#)
    #expect(ControlCharacters.escaped("plain ✓ žluť 日本 🐦\u{200D}⬛") == "plain ✓ žluť 日本 🐦\u{200D}⬛")
  }

  @Test("Nor any mark that reorders a line, breaks it or hides in it")
  func marks() {
    let marks: [ClosedRange<UInt32>] = [
      0x202A...0x202E, 0x2066...0x2069, 0x200E...0x200F, 0x061C...0x061C, 0x2028...0x2029, 0xFEFF...0xFEFF,
      0xE0001...0xE007F,
    ]
    for value in marks.joined() { #expect(isEscaped(value), "\(String(value, radix: 16))") }
  }
}
