import Clocks
import Testing

@testable import EventLoop
@testable import TestSupport

@Suite struct ReadShareTests {
  @Test("A stream alone reads the whole share, and of many each a part of it that is never too small")
  func shares() async throws {
    try await LoopThread.run {
      let share = ReadShare()
      @EventLoopActor func bytes(_ turn: UInt64) -> Int {
        share.byteCount(in: turn, at: Instant(nanoseconds: turn * 1_000_000))
      }
      #expect(bytes(1) == ReadShare.byteCountMaximum && bytes(2) == ReadShare.byteCountMaximum)
      #expect((0..<32).map { _ in bytes(3) }.last == ReadShare.byteCountMaximum / 32)
      #expect(bytes(4) == ReadShare.byteCountMaximum / 32, "as many are expected as came before")
      for _ in 0..<1_000 { _ = bytes(5) }
      #expect(bytes(6) == ReadShare.byteCountMinimum)
      #expect(bytes(9) == ReadShare.byteCountMaximum, "nobody read in between")
    }
  }

  @Test("While turns take long less is read in each, and while they are short more again")
  func pace() async throws {
    try await LoopThread.run {
      let share = ReadShare()
      var (turn, now) = (UInt64(0), Instant(nanoseconds: 0))
      @EventLoopActor func bytes(afterMilliseconds milliseconds: UInt64) -> Int {
        turn += 1
        now = now.advanced(milliseconds: milliseconds)
        return share.byteCount(in: turn, at: now)
      }
      _ = bytes(afterMilliseconds: 1)
      #expect(bytes(afterMilliseconds: 50) == ReadShare.byteCountMaximum / 2)
      #expect(bytes(afterMilliseconds: 50) == ReadShare.byteCountMaximum / 4)
      #expect(bytes(afterMilliseconds: 8) == ReadShare.byteCountMaximum / 4, "neither long nor short")
      #expect(bytes(afterMilliseconds: 1) == ReadShare.byteCountMaximum / 2)
      for _ in 0..<20 { _ = bytes(afterMilliseconds: 50) }
      #expect(bytes(afterMilliseconds: 50) == 4 * ReadShare.byteCountMinimum)
    }
  }
}
