// The categories of the log: `roost log level` tells a mistyped one by the list of those there are.
import Testing

@Suite("Log categories")
struct CategoryTests {
  @Test("of Roost's own programs are all in the list that people are told")
  func listed() throws {
    let contract = try #require(SourceTree.file("Sources/Bus/Contracts/LogContract.swift"))
    let list = try #require(contract.text.firstMatch(of: #/enum LogCategory \{[^\[]*\[([^\]]*)\]/#)).output.1
    let listed = Set(list.matches(of: #/"([a-z-]+)"/#).map(\.output.1))
    var used: [Substring: SourceFile] = [:]
    for file in LanguageTests.product where file.contains("Logger(label") || file.contains("log(.") {
      for match in file.text.matches(of: #/Logger\(label: "([a-z-]+)"\)/#) { used[match.output.1] = file }
      for match in file.text.matches(of: #/\blog\(\.[a-z]+, "([a-z-]+)"/#) { used[match.output.1] = file }
    }
    #expect(used.count > 5, "the source is read")
    for (category, file) in used where !listed.contains(category) {
      Issue.record("\(file): category '\(category)' is not in LogCategory.builtIn")
    }
  }
}
