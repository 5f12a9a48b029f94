// Words that a reader stumbles over, and names that mean two things.
import Testing

@Suite("The words")
struct PlainWordsTests {
  /// Of people only, or not plain: the page says "the relay", "no longer", "again", "is", "continues".
  static let unwanted = [
    "whoever", "somebody", "nobody", "anybody", "is told", "are told", "was told", "were told", "is none", "are none",
    "any more", "anew", "stands", "goes on", "as far as", "he", "him", "his", "himself",
  ]

  @Test("of documents are plain, outside of code and of what a program prints")
  func documents() {
    for file in SourceTree.files where file.kind == "md" {
      let places = Self.prose(file.lines).flatMap { line in
        Self.found(in: line.text).map { "\(file):\(line.number): \($0)" }
      }
      #expect(places.isEmpty, "\(places.joined(separator: "\n"))")
    }
  }

  @Test("of messages are plain: refusals, log lines, the command line, the pages")
  func output() {
    for file in LanguageTests.product {
      var isBlock = false
      for (index, line) in file.lines.enumerated() where !line.drop(while: { $0 == " " }).hasPrefix("//") {
        let wasBlock = isBlock
        if line.contains("\"\"\"") { isBlock.toggle() }
        let texts = wasBlock ? [line] : Self.literals(line)
        for text in texts {
          for word in Self.found(in: text) { Issue.record("\(file):\(index + 1): \(word)") }
        }
      }
    }
  }

  @Test("of comments are plain")
  func comments() {
    for file in LanguageTests.product {
      for (index, line) in file.lines.enumerated() {
        guard let range = line.firstRange(of: "//") else { continue }
        for word in Self.found(in: line[range.upperBound...]) { Issue.record("\(file):\(index + 1): \(word)") }
      }
    }
  }

  @Test("that name a type name one: a top-level name stands once")
  func names() {
    var places: [Substring: [String]] = [:]
    let kinds: Set<Substring> = ["struct", "class", "enum", "actor", "protocol", "typealias"]
    let before: Set<Substring> = ["public", "package", "final", "indirect", "nonisolated"]
    for file in LanguageTests.product {
      for line in file.lines where line.first?.isLetter == true {
        let words = line.split(separator: " ").drop { before.contains($0) || $0.hasPrefix("@") }
        guard words.count > 1, let kind = words.first, kinds.contains(kind) else { continue }
        let name = words[words.startIndex + 1].prefix { $0.isLetter || $0.isNumber || $0 == "_" }
        places[name, default: []].append(file.path)
      }
    }
    for (name, files) in places where files.count > 1 { Issue.record("\(name): \(files.joined(separator: ", "))") }
    #expect(places.count > 1_000)
  }

  @Test("are found as words, and not in code")
  func reading() {
    #expect(Self.found(in: "Then he asks") == ["he"] && Self.found(in: "then the relay").isEmpty)
    #expect(Self.found(in: "Nobody is told, any more.") == ["nobody", "is told", "any more"])
    let lines: [Substring] = ["Whoever `nobody` asks", "    nobody", "```", "somebody", "```", "done"]
    #expect(Self.prose(lines).map(\.text) == ["Whoever  asks", "done"])
    #expect(Self.literals(#"a("one \"two\"", b, "three")"#) == [#"one \"two\""#, "three"])
  }

  /// The lines of a page without code: neither blocks nor spans.
  private static func prose(_ lines: [Substring]) -> [(number: Int, text: String)] {
    var isBlock = false
    var found: [(Int, String)] = []
    for (index, line) in lines.enumerated() {
      if line.drop(while: { $0 == " " }).hasPrefix("```") {
        isBlock.toggle()
      } else if !isBlock, !line.hasPrefix("    ") {
        let parts = line.split(separator: "`", omittingEmptySubsequences: false)
        found.append((index + 1, parts.enumerated().filter { $0.offset % 2 == 0 }.map { String($0.element) }.joined()))
      }
    }
    return found
  }

  /// The texts in quotes of a line of Swift.
  private static func literals(_ line: Substring) -> [Substring] {
    var found: [Substring] = []
    var start: Substring.Index?
    var isEscaped = false
    for index in line.indices {
      if isEscaped {
        isEscaped = false
      } else if line[index] == "\\" {
        isEscaped = true
      } else if line[index] == "\"" {
        if let from = start { found.append(line[from..<index]) }
        start = start == nil ? line.index(after: index) : nil
      }
    }
    return found
  }

  /// The unwanted words of a text, in their order.
  private static func found(in text: some StringProtocol) -> [String] {
    let words = text.split { !$0.isLetter }.map { $0.lowercased() }
    return words.indices.flatMap { index in
      (1...3).compactMap { count in
        guard index + count <= words.count else { return nil }
        let phrase = words[index..<index + count].joined(separator: " ")
        return Self.unwantedSet.contains(phrase) ? phrase : nil
      }
    }
  }

  private static let unwantedSet = Set(unwanted)
}
