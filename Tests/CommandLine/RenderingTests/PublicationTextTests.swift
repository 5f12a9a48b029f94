import Contracts
import Testing

@testable import Rendering

@Suite("Publications, as people see them")
struct PublicationTextTests {
  private func publication(_ targets: [PublicationTarget]) -> Publication {
    Publication(
      id: "ab", kind: 1, author: "cd", state: .optimistic, acceptedAt: 0, expiresAt: 60, targets: targets)
  }

  private func target(_ state: PublicationTarget.State, _ message: String? = nil) -> PublicationTarget {
    PublicationTarget(relay: "wss://a.example", state: state, why: "named", message: message)
  }

  @Test(
    "A sum of relays is said in whole sentences",
    arguments: [
      (0, 1, "no relay has it"), (1, 1, "1 relay has it"), (0, 2, "0 of 2 relays have it"),
      (1, 2, "1 of 2 relays has it"), (2, 2, "2 of 2 relays have it"),
    ])
  func summary(taken: Int, all: Int, text: String) {
    let targets = (0..<all).map { target($0 < taken ? .confirmed : .pending) }
    #expect(PublicationText.summary(publication(targets)) == text)
  }

  @Test("Each relay is told of when it is somewhere else, and what it waits for once, however often it is tried")
  func news() {
    var news = PublicationNews()
    func told(_ state: PublicationTarget.State, _ message: String? = nil) -> [String] {
      news.lines(publication([target(state, message)]), .plain)
    }
    #expect(told(.pending).isEmpty)
    #expect(told(.pending, "no such host") == ["waits   wss://a.example: no such host"])
    #expect(told(.sent).isEmpty)
    #expect(told(.pending, "no such host").isEmpty)
    #expect(told(.pending, "wss://a.example cannot be reached: x") == ["waits   wss://a.example: cannot be reached: x"])
    #expect(told(.pending, "error: full") == ["waits   wss://a.example: error: full"])
    #expect(told(.confirmed, "error: full") == ["has it  wss://a.example"])
    #expect(told(.confirmed).isEmpty)
  }
}
