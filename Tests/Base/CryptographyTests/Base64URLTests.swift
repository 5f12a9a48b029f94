import Clocks
import Cryptography
import TestSupport
import Testing

@Suite struct Base64URLTests {
  @Test(
    "Texts are written and read without padding, with the letters of URLs",
    arguments: [
      ([], ""), (Array("f".utf8), "Zg"), (Array("fo".utf8), "Zm8"), (Array("foo".utf8), "Zm9v"),
      (Array("foob".utf8), "Zm9vYg"), ([0xFB, 0xFF, 0xBF], "-_-_"), ([3, 236, 255, 224, 193], "A-z_4ME"),
    ] as [([UInt8], String)])
  func texts(bytes: [UInt8], text: String) {
    #expect(Base64URL.text(of: bytes) == text)
    #expect(Base64URL.bytes(text) == bytes)
  }

  @Test(
    "A text that writing does not give is refused",
    arguments: [
      "Z", "Zg==", "Zg=", "Zh", "Zm9", "Zm8=", "=", "====", "+/+/", "-_+/", "Zm8\n", " Zm8", "Zm8 ", "Zm9vY", "Zm8é",
      "Zm9v\u{0}", "Zg.Zg",
    ])
  func refused(text: String) { #expect(Base64URL.bytes(text) == nil) }

  @Test("Any bytes are read as they were written", arguments: seeds(4))
  func roundTrip(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for count in 0..<100 {
      let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
      let text = Base64URL.text(of: bytes)
      #expect(Base64URL.bytes(text) == bytes && text.utf8.count == (count * 8 + 5) / 6)
    }
  }

  @Test("No two texts are the same bytes")
  func noTwoSpellings() {
    var seen: [[UInt8]: String] = [:]
    for third in UInt8(0)..<128 {
      for last in UInt8(0)..<128 {
        for text in ["AQ\(UnicodeScalar(third))\(UnicodeScalar(last))", "A\(UnicodeScalar(last))"] {
          guard let bytes = Base64URL.bytes(text) else { continue }
          #expect(seen[bytes] == nil || seen[bytes] == text)
          seen[bytes] = text
        }
      }
    }
    #expect(seen.count == 64 * 64 + 4)
  }
}
