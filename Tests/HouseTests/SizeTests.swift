// A file of 500 lines has two subjects, and a function that does not fit a screen cannot be seen at once.
// `swift format` has rules for neither.
import Testing

@Suite("The sizes")
struct SizeTests {
  static let fileLineMaximum = 500
  /// House style aims at 40; beyond 90 no reason is good enough.
  static let functionLineMaximum = 90
  static let code = SourceTree.files.filter { ["swift", "c", "h", "py", "sh"].contains($0.kind) }

  @Test("of files stay at 500 lines")
  func ofFiles() {
    for file in Self.code {
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
