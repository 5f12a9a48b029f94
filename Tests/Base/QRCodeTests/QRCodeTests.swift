import QRCode
import TestSupport
import Testing

@Suite("A QR code") struct QRCodeTests {
  /// The modules as a terminal shows them: two characters wide, so that they are square; with the margin.
  private static func shown(_ code: QRCode) -> String {
    let range = -QRCode.quietZone..<(code.sideLength + QRCode.quietZone)
    let rows = range.map { row in
      range.map { code.isDark(row: row, column: $0) ? "  " : "██" }.joined()
    }
    return rows.joined(separator: "\n")
  }

  @Test("has the three corners of ISO 18004, and light modules around it")
  func corners() throws {
    let code = try #require(QRCode("npub1ww03602x606vcer9p5lpwrt9fyktnpsuf2kzxvtckd7g6x3g7y4qu0vyke"))
    // 63 bytes at level M are version 5.
    #expect(code.sideLength == 37)
    let far = code.sideLength - 7
    for (row, column) in [(0, 0), (0, far), (far, 0)] {
      for step in 0..<7 {
        #expect(code.isDark(row: row, column: column + step) && code.isDark(row: row + 6, column: column + step))
        #expect(code.isDark(row: row + step, column: column) && code.isDark(row: row + step, column: column + 6))
      }
      #expect(!code.isDark(row: row + 1, column: column + 1) && code.isDark(row: row + 3, column: column + 3))
    }
    for step in -4..<(code.sideLength + 4) {
      #expect(!code.isDark(row: -1, column: step) && !code.isDark(row: code.sideLength, column: step))
    }
  }

  @Test("is not made of nothing, and of no more than the largest holds")
  func bounds() throws {
    #expect(QRCode("") == nil)
    #expect(try #require(QRCode("a")).sideLength == 21)
    let longest = String(repeating: "a", count: QRCode.byteCountMaximum)
    #expect(try #require(QRCode(longest)).sideLength == 177)
    #expect(QRCode(longest + "a") == nil)
  }

  @Test("says to another program what it was made of", .enabled(if: QRReader.isAvailable))
  func readBack() throws {
    let texts = [
      "a", "0123456789", "npub1ww03602x606vcer9p5lpwrt9fyktnpsuf2kzxvtckd7g6x3g7y4qu0vyke", "käse 🤙 %\\\"'",
      String(repeating: "nostr:", count: 100),
    ]
    for text in texts {
      #expect(try QRReader.read(Self.shown(try #require(QRCode(text)))) == ["QRCode \(text)"])
    }
  }
}
