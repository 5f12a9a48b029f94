// What may not stand in the source, whatever the compiler says.
import Testing

@Suite("The source")
struct LanguageTests {
  static let product = SourceTree.swiftFiles(below: "Sources") + SourceTree.swiftFiles(below: "Workers")
  static let tests = SourceTree.swiftFiles(below: "Tests") + SourceTree.swiftFiles(below: "Benchmarks")

  // Written in two pieces, so that this file does not find itself.
  static let unfinished = ["TO" + "DO", "FIX" + "ME", "XX" + "X"]
  static let machinePaths = ["/wo" + "rk/", "/ro" + "ot/", "/op" + "t/"]

  @Test("leaves nothing for later")
  func leavesNothingForLater() {
    for file in SourceTree.files where file.path != "LICENSE" {
      for finding in occurrences(of: Self.unfinished, in: file, wholeWord: true) { Issue.record("\(finding)") }
    }
  }

  @Test("names no path of one machine")
  func namesNoPathOfOneMachine() {
    for file in SourceTree.files {
      for finding in occurrences(of: Self.machinePaths, in: file, wholeWord: false) { Issue.record("\(finding)") }
    }
  }

  @Test("handles every error: no forced try, also in tests")
  func handlesEveryError() {
    for file in Self.product + Self.tests {
      for finding in occurrences(of: ["try" + "!"], in: file, wholeWord: false) { Issue.record("\(finding)") }
    }
  }

  @Test("drops no error without a reason, beside the try? or above it in the same paragraph")
  func dropsNoErrorSilently() {
    for file in Self.product where file.contains("tr" + "y?") {
      for number in unexplainedDrops(in: file.lines) {
        Issue.record("\(file):\(number) drops an error: say in a comment why that is right, or handle it")
      }
    }
    func lines(_ text: String) -> [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }
    let drop = "let a = tr" + "y? b()"
    #expect(unexplainedDrops(in: lines(drop)) == [1])
    #expect(unexplainedDrops(in: lines("\(drop)  // None is as good.")) == [])
    #expect(unexplainedDrops(in: lines("// None is as good.\nif c {\n  \(drop)")) == [])
    #expect(unexplainedDrops(in: lines("// Of something else.\n\n\(drop)")) == [3])
  }

  @Test("gives a sentence for every promise about concurrency that the compiler cannot check")
  func givesSentenceForUncheckedPromise() {
    for file in Self.product + Self.tests where promises.contains(where: file.contains) {
      for number in unexplainedPromises(in: file.lines) {
        Issue.record("\(file):\(number) needs a line “// @unchecked: …” that says why this is safe")
      }
    }
  }

  @Test("may put that sentence beside the promise, or in the comments above it")
  func mayPutSentenceBesideOrAbove() {
    let unchecked = "@un" + "checked Sendable"
    func lines(_ text: String) -> [Substring] { text.split(separator: "\n") }
    #expect(unexplainedPromises(in: lines("final class A: \(unchecked) {}")) == [1])
    #expect(unexplainedPromises(in: lines("final class A: \(unchecked) {}  // @unchecked: because")) == [])
    #expect(
      unexplainedPromises(in: lines("// @unchecked: one thread\n// only.\n@frozen\nclass A: \(unchecked) {")) == [])
    #expect(unexplainedPromises(in: lines("// @unchecked: other\nlet a = 1\nclass A: \(unchecked) {")) == [3])
    #expect(unexplainedPromises(in: lines("nonisolated(un" + "safe) var a = 1")) == [1])
  }
}

/// Where words stand in a file, as `path:line: word`.
private func occurrences(of words: [String], in file: SourceFile, wholeWord: Bool) -> [String] {
  guard words.contains(where: file.contains) else { return [] }
  return file.lines.enumerated().flatMap { index, line in
    words.filter { word in
      guard let range = line.firstRange(of: word) else { return false }
      if !wholeWord { return true }
      let before = line[..<range.lowerBound].last
      let after = line[range.upperBound...].first
      return before?.isLetter != true && after?.isLetter != true
    }.map { "\(file):\(index + 1): \($0)" }
  }
}

/// The numbers of the lines that drop an error without a comment, beside them or above and with no empty line
/// between.
private func unexplainedDrops(in lines: [Substring]) -> [Int] {
  lines.indices.filter { index in
    let code = lines[index]
    guard [" ", "("].contains(where: { code.contains($0 + "tr" + "y? ") }), !code.contains("//") else { return false }
    return !lines[..<index].reversed().prefix { !$0.isEmpty }.contains { $0.contains("//") }
  }.map { $0 + 1 }
}

/// What promises the compiler something that it cannot check.
private let promises = ["@un" + "checked Sendable", "nonisolated(un" + "safe)"]

/// The numbers of the lines that take a promise from the compiler without saying why it holds.
private func unexplainedPromises(in lines: [Substring]) -> [Int] {
  let sentence = "// @unchecked: "
  return lines.indices.filter { index in
    let line = lines[index]
    guard promises.contains(where: { line.contains($0) }), !line.drop(while: { $0 == " " }).hasPrefix("//") else {
      return false
    }
    if line.contains(sentence) { return false }
    let above = lines[..<index].reversed().prefix { line in
      let code = line.drop { $0 == " " }
      return code.isEmpty || code.hasPrefix("//") || code.hasPrefix("@")
    }
    return !above.contains { $0.contains(sentence) }
  }.map { $0 + 1 }
}
