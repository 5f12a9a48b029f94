import Clocks
import Testing

@Suite struct WallClockWatchTests {
  private static func instant(_ seconds: Int64) -> Instant { Instant(nanoseconds: UInt64(seconds) * 1_000_000_000) }

  @Test("A clock that is set back or forward is told once, by how much; one that goes is not")
  func steps() {
    var watch = WallClockWatch(wall: 1_000_000, now: Self.instant(50))
    #expect(watch.step(wall: 1_000_100, now: Self.instant(150)) == nil)
    #expect(watch.step(wall: 1_000_100 - 10_800, now: Self.instant(150)) == -10_800)
    #expect(watch.step(wall: 1_000_110 - 10_800, now: Self.instant(160)) == nil)
    #expect(watch.step(wall: 1_000_110, now: Self.instant(160)) == 10_800)
  }

  @Test("Steps too small to be told add up until they are")
  func smallSteps() {
    var watch = WallClockWatch(wall: 1_000, now: Self.instant(0))
    #expect(watch.step(wall: 981, now: Self.instant(0)) == nil)
    #expect(watch.step(wall: 962, now: Self.instant(0)) == -38)
    #expect(watch.step(wall: .min, now: Self.instant(1_000)) != nil)
    #expect(watch.step(wall: .max, now: Self.instant(1_000)) != nil)
  }
}
