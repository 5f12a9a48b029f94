// A file of 500 lines has two subjects, and a function that does not fit a screen cannot be seen at once.
// `swift format` has rules for neither, and for the width of code only: it lets a comment run on.
import Testing

@Suite("The sizes")
struct SizeTests {
  static let fileLineMaximum = 500
  /// House style aims at 40; beyond 90 no reason is good enough.
  static let functionLineMaximum = 90
  /// As for code, in `.swift-format`.
  static let columnMaximum = 120
  static let code = SourceTree.files.filter { ["swift", "c", "h", "py", "sh"].contains($0.kind) }

  @Test("of files stay at 500 lines")
  func ofFiles() {
    for file in Self.code where file.path != MemberTextsTests.path {
      let count = file.lines.count
      #expect(count <= Self.fileLineMaximum, "\(file) has \(count) lines: find its second subject")
    }
  }

  @Test("of functions stay at 90 lines")
  func ofFunctions() {
    for file in Self.code {
      for function in functions(in: file) where function.lineCount > Self.functionLineMaximum {
        Issue.record("\(file):\(function.line) is a function of \(function.lineCount) lines")
      }
    }
  }

  @Test("of comments stay at 120 columns")
  func ofComments() {
    for file in Self.code where file.kind == "swift" {
      for number in longComments(in: file) { Issue.record("\(file):\(number) is a comment of more than 120 columns") }
    }
  }

  @Test("of comments are measured in characters, beside code too, and a comment's mark in a text is none")
  func commentsAreMeasured() {
    let text = String(repeating: "é", count: 117)
    let lines = [
      "// \(text)", "// \(text)é", "/// \(text)", "  let a = 1  // \(text)", "\"https://\(text)é\"", "\(text)\(text)",
    ]
    #expect(longComments(in: SourceFile(path: "a.swift", text: lines.joined(separator: "\n"))) == [2, 3, 4])
  }

  @Test("are measured from the line that opens a function to the line that closes it")
  func areMeasured() {
    let swift = """
      struct A {
        public init() {
          if true {
          }
        }
        var short: Int { 1 }
        @inlinable
        static func long(
          a: Int
        ) -> Int {
          let inner = { 2 }
          return inner()
        }
      }
      """
    #expect(
      functions(in: SourceFile(path: "a.swift", text: swift)) == [
        Function(line: 2, lineCount: 4), Function(line: 8, lineCount: 6),
      ])
    let c = "static int f(int a,\n             int b) {\n  return 1;\n}\nint x;\nint g(void) { return 2; }\n"
    #expect(functions(in: SourceFile(path: "a.c", text: c)) == [Function(line: 2, lineCount: 3)])
  }
}

/// Where a function opens (lines count from 1) and how many lines it takes.
struct Function: Equatable {
  var line: Int
  var lineCount: Int
}

/// The numbers of the lines of a Swift file that a comment makes longer than they may be.
func longComments(in file: SourceFile) -> [Int] {
  file.lines.enumerated().filter { _, line in
    guard line.utf8.count > SizeTests.columnMaximum, line.count > SizeTests.columnMaximum else { return false }
    let code = line.drop { $0 == " " }
    // Beside code a comment has two blanks in front; `https://` in a text has none.
    return code.hasPrefix("//") || line.contains("  // ")
  }.map { $0.offset + 1 }
}

/// The functions of a Swift or C file that take more than one line. Both are formatted, so a function ends at the first
/// closing brace that stands where its opening line begins.
func functions(in file: SourceFile) -> [Function] {
  let lines = file.lines
  return lines.indices.compactMap { index in
    let line = lines[index]
    guard file.kind == "swift" ? opensSwiftFunction(line) : file.kind == "c" && opensCFunction(line) else { return nil }
    let indent = line.prefix { $0 == " " }
    let closing = lines[index...].dropFirst().firstIndex { $0 == (file.kind == "c" ? "}" : indent + "}") }
    // A declaration in a protocol has no body: the next closing brace at its place belongs to something else.
    guard let closing, lines[index..<closing].contains(where: { $0.hasSuffix("{") }) else { return nil }
    return Function(line: index + 1, lineCount: closing - index + 1)
  }
}

private func opensSwiftFunction(_ line: Substring) -> Bool {
  let code = line.drop { $0 == " " }
  guard !code.hasPrefix("//"), !code.hasSuffix("}") else { return false }
  let words = code.split { " (<?".contains($0) }
  let modifiers: Set<Substring> = [
    "public", "package", "internal", "private", "fileprivate", "static", "final", "override", "mutating", "nonisolated",
    "consuming", "borrowing", "convenience", "required", "isolated",
  ]
  guard let word = words.first(where: { !$0.hasPrefix("@") && !modifiers.contains($0) }) else { return false }
  return ["func", "init", "deinit", "subscript"].contains(word)
}

private func opensCFunction(_ line: Substring) -> Bool {
  guard let first = line.first else { return false }
  return (first.isLetter || first.isWhitespace) && line.hasSuffix(") {") && !isCStatement(line)
}

private func isCStatement(_ line: Substring) -> Bool {
  let word = line.drop { $0 == " " || $0 == "}" }.prefix { $0.isLetter }
  return ["if", "for", "while", "switch", "else", "do"].contains(word)
}
