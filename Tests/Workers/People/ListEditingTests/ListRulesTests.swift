import Addresses
import Nostr
import Testing

@testable import ListEditing

@Suite("Loss, time and freshness of a list")
struct ListRulesTests {
  @Test("a quarter of at least four entries asks first")
  func shrinkage() throws {
    func lost(_ count: Int, of all: Int) -> ListShrinkage? {
      let tags = (0..<all).map { ["relay", "wss://\($0).org"] }
      return ListShrinkage(
        from: contents(10_050, tags + [["alt", "x"]]), to: contents(10_050, Array(tags.dropFirst(count))))
    }
    #expect(lost(1, of: 4)?.sentence == "this removes 1 of your list of 4 relays (kind 10050)")
    #expect(lost(1, of: 5) == nil && lost(2, of: 5) != nil && lost(3, of: 3) == nil && lost(0, of: 8) == nil)
    let profile = contents(0, content: #"{"a":1,"\u202eb":2,"c":3,"d":"","e":4}"#)
    let after = contents(0, content: #"{"c":3,"e":5,"d":""}"#)
    #expect(
      ListShrinkage(from: profile, to: after)?.sentence == "this removes 2 of your profile of 4 fields: a, \\u{202E}b")
    let hidden = contents(
      10_000, content: ListContentsTests.encrypted, hidden: #"[["t","a"],["t","b"],["t","c"],["t","d"]]"#)
    let less = try #require(try hidden.applying([.remove("t", "a", from: .hidden)]))
    #expect(ListShrinkage(from: hidden, to: less)?.lostCount == 1)
  }

  @Test("the next version is later than the newest, and never ahead of the clock")
  func clock() throws {
    #expect(try ListClock.next(after: nil, nowMilliseconds: 10_500) == .at(10))
    #expect(try ListClock.next(after: 9, nowMilliseconds: 10_500) == .at(10))
    #expect(try ListClock.next(after: 10, nowMilliseconds: 10_500) == .wait(milliseconds: 500))
    #expect(try ListClock.next(after: 14, nowMilliseconds: 10_500) == .wait(milliseconds: 4_500))
    #expect(throws: ListFault.ahead(seconds: 5)) { _ = try ListClock.next(after: 15, nowMilliseconds: 10_500) }
    #expect(
      "\(ListFault.ahead(seconds: 59 * 60))".hasPrefix(
        "your newest list is dated 59 minutes ahead of this machine's clock"))
  }

  @Test("a list is fresh when each relay that can be reached has answered, and half of all have")
  func freshness() throws {
    let relays = try (1...5).map { try RelayURL("wss://\($0).org") }
    func fresh(_ answers: [ListFreshness.Answer?]) -> ListFreshness {
      var given: [RelayURL: ListFreshness.Answer] = [:]
      for (relay, answer) in zip(relays, answers) { given[relay] = answer }
      return ListFreshness(relays: Array(relays.prefix(answers.count)), answers: given, now: 1_000)
    }
    let good = fresh([.answered(at: 1_000), .answered(at: 700)])
    #expect(good.isFresh && good.sentence == nil)
    #expect(!fresh([.answered(at: 1_000), .answered(at: 699)]).isFresh)
    #expect(!fresh([.answered(at: 1_001)]).isFresh && !fresh([]).isFresh)
    let half = fresh([.answered(at: 1_000), .unreachable])
    #expect(half.isFresh)
    #expect(half.sentence == "wss://2.org sent no answer in the last 5 minutes (1 of 2 relays did)")
    #expect(!fresh([.answered(at: 1_000), .unreachable, .unreachable]).isFresh)
    #expect(!fresh([.answered(at: 1_000), .answered(at: 1_000), .silent]).isFresh)
    let few = fresh([.unreachable, .unreachable, .unreachable, nil, .answered(at: 990)])
    #expect(
      few.sentence
        == "wss://4.org, wss://1.org, wss://2.org and 1 more sent no answer in the last 5 minutes (1 of 5 relays did)"
    )
  }
}
