import Testing

@testable import RoostConfiguration

/// Each `Golden/NAME.conf` is a file with faults, and `Golden/NAME.txt` what is said of it, byte for byte.
@Suite("What is said of files with faults")
struct GoldenTests {
  static let names = [
    "bounds", "calls", "circles", "dates", "jobs", "kinds", "misplaced", "names", "relations", "relays", "roles",
    "serving",
    "signing", "syntax", "syntax-duplicate", "tables", "unknown",
  ]

  @Test("Every fault of a file is told at once, in the order of its lines", arguments: names)
  func golden(name: String) throws {
    let text = try sourceText("\(testFolder)/Golden/\(name).conf")
    let expected = try sourceText("\(testFolder)/Golden/\(name).txt")
    #expect(complaints(about: text).joined(separator: "\n") + "\n" == expected)
  }
}
