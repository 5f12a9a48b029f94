import Testing

@testable import EventLoop
@testable import TestSupport

@Suite struct ReadShareTests {
  @Test("A stream alone reads the whole share, and of many each a part of it that is never too small")
  func shares() async throws {
    try await LoopThread.run {
      let share = ReadShare()
      #expect(share.byteCount(in: 1) == ReadShare.byteCountPerTurn)
      #expect(share.byteCount(in: 2) == ReadShare.byteCountPerTurn)
      let flood = (0..<32).map { _ in share.byteCount(in: 3) }
      #expect(flood.last == ReadShare.byteCountPerTurn / 32)
      #expect(share.byteCount(in: 4) == ReadShare.byteCountPerTurn / 32, "as many are expected as came before")
      for _ in 0..<1_000 { _ = share.byteCount(in: 5) }
      #expect(share.byteCount(in: 6) == ReadShare.byteCountMinimum)
      #expect(share.byteCount(in: 9) == ReadShare.byteCountPerTurn, "nobody read in between")
    }
  }
}
