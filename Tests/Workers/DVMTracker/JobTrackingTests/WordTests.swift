import Contracts
import JobTracking
import Nostr
import Rendering
import TestSupport
import Testing

/// A word that jobs count what was odd under.
@Suite("Each word for what was odd") struct WordTests {
  static let all: [String] =
    JobDiagnostic.allCases.map(\.rawValue) + JobAnswerFact.Objection.allCases.map(\.word)
    + ZapReceiptFact.Objection.allCases.map(\.word) + [
      JobPicture.lateWord, JobPicture.unknownWalletWord, JobPicture.otherWalletWord, JobPicture.contradictionWord,
      JobPicture.notKeptWord,
    ]

  @Test("has words for people, which stand in the documentation", arguments: all)
  func words(word: String) throws {
    let words = try #require(JobDiagnosticText.words(word))
    let page = try #require(SharedFolder.bytes(ofFile: SharedFolder.repository + "/docs/workers/dvm-tracker.md"))
    #expect(String(decoding: page, as: UTF8.self).contains("| `\(word)` | \(words) |"))
  }
}
