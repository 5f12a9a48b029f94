import Clocks
import Testing

@Suite("Whether the machine was suspended") struct SuspendDetectorTests {
  @Test("A suspend of more than five seconds is noticed once, a shorter one is not")
  func suspendDetector() {
    var detector = SuspendDetector(monotonic: Instant(nanoseconds: 100), bootNanoseconds: 1_000)
    let second: UInt64 = 1_000_000_000
    #expect(detector.slept(monotonic: Instant(nanoseconds: second), bootNanoseconds: second + 900) == nil)
    #expect(detector.slept(monotonic: Instant(nanoseconds: 2 * second), bootNanoseconds: 7 * second + 900) == nil)
    #expect(
      detector.slept(monotonic: Instant(nanoseconds: 3 * second), bootNanoseconds: 63 * second + 900) == .seconds(60))
    #expect(detector.slept(monotonic: Instant(nanoseconds: 4 * second), bootNanoseconds: 64 * second + 900) == nil)
  }
}
