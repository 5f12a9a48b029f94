import JobTracking
import Testing

@Suite("What relays are asked for") struct InterestRoundTests {
  let bench = Bench()

  @Test("begins when it is wanted, once, and ends when it is not")
  func changes() throws {
    _ = try bench.text([Maker()])
    var rounds = InterestRounds()
    let interests = Set(bench.book.interests)
    let begun = rounds.want(interests)
    #expect(begun.begun.map(\.interest) == Array(interests) && begun.ended.isEmpty)
    let none = rounds.want(interests)
    #expect(none.begun.isEmpty && none.ended.isEmpty)
    let round = try #require(begun.begun.first)
    #expect(rounds.goesOn(round))
    let last = rounds.want([])
    #expect(last.begun.isEmpty && last.ended == [round])
    #expect(!rounds.goesOn(round))
  }

  @Test("is asked for by one alone when it is given up and wanted again before whoever asked has noticed")
  func again() throws {
    _ = try bench.text([Maker()])
    var rounds = InterestRounds()
    let interests = Set(bench.book.interests)
    let first = try #require(rounds.want(interests).begun.first)
    _ = rounds.want([])
    let second = try #require(rounds.want(interests).begun.first)
    #expect(first.interest == second.interest)
    #expect(!rounds.goesOn(first) && rounds.goesOn(second))
    #expect(rounds.want([]).ended == [second])
  }
}
