import RelaySession
import Testing

@Suite("Forged events of a relay")
struct ForgeryTests {
  @Test("One that comes again and again is one, as long as it is remembered")
  func different() {
    var forgeries = Forgeries()
    for _ in 0..<10 { forgeries.note("one") }
    #expect(forgeries.count == 1)
    for number in 0..<Forgeries.rememberedMaximum { forgeries.note("\(number)") }
    forgeries.note("one")
    #expect(forgeries.count == 2 + UInt64(Forgeries.rememberedMaximum))
  }
}
