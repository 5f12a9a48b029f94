import Clocks
import RelayDials
import Testing

@Suite("Look-ups of names")
struct NameLookUpsTests {
  private func second(_ number: UInt64) -> Instant { Instant(nanoseconds: (1_000 + number) * 1_000_000_000) }

  @Test("Thirty within a minute, and then one for each that is a minute ago")
  func rate() {
    var names = NameLookUps<Int>()
    for number in 0..<30 as Range<UInt64> { #expect(names.begin(at: second(number)) == nil) }
    #expect(names.begin(at: second(30)) == 30_000)
    #expect(names.begin(at: second(60)) == nil)
    #expect(names.begin(at: second(60)) == 1_000)
  }

  @Test("An answer is kept for half an hour, and of more than 1,024 the newest")
  func answers() {
    var names = NameLookUps<Int>()
    names.answered("bob@b.example", 1, at: second(0))
    #expect(names.answer(for: "bob@b.example", at: second(1_799)) == 1)
    #expect(names.answer(for: "bob@b.example", at: second(1_800)) == nil)
    names.answered("bob@b.example", 2, at: second(3_700))
    for number in 0..<1_023 { names.answered("\(number)@b.example", number, at: second(3_701)) }
    #expect(names.answer(for: "bob@b.example", at: second(3_702)) == 2)
    names.answered("last@b.example", 3, at: second(3_702))
    #expect(names.answer(for: "bob@b.example", at: second(3_702)) == nil)
    #expect(names.answer(for: "0@b.example", at: second(3_702)) == 0)
    names.forgetAnswers()
    #expect(names.answer(for: "last@b.example", at: second(3_702)) == nil)
  }
}
