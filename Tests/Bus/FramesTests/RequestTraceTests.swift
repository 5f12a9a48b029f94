import Frames
import Testing

@Suite("Traces") struct RequestTraceTests {
  @Test("are 1 to 16 hexadecimal digits, never 0, and written without zeros before them")
  func text() throws {
    #expect(RequestTrace("9f2C")?.rawValue == 0x9f2c)
    #expect(RequestTrace("00000000000000ff")?.description == "ff")
    #expect(RequestTrace("ffffffffffffffff")?.rawValue == .max)
    for wrong in ["", "0", "0000", "-1", "+1", "1ffffffffffffffff", "x", " 1", "1 "] {
      #expect(RequestTrace(wrong) == nil)
    }
    #expect(RequestTrace(rawValue: 0) == nil)
    for _ in 0..<100 {
      let trace = RequestTrace.random()
      #expect(RequestTrace(trace.description) == trace)
    }
  }
}
