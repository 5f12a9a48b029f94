internal import Clocks

// How much each of many streams reads in a turn of the loop.
//
// A client that floods a server is read in every turn. A client with a small request waits for the end of that turn,
// some three or four times before it has its answer. So the streams of a server share a number of bytes per turn: the
// more streams there are, the less each may read. The number follows the cost of the bytes: while turns take too long
// it is halved, and while they are short it is doubled. A megabyte of one event is read in a few turns, a megabyte of
// one-byte frames in hundreds.

/// The number of bytes per turn that the streams of one server share.
@EventLoopActor
public final class ReadShare {
  /// The most bytes read in a turn.
  public static let byteCountMaximum = 256 << 10
  /// Bytes that one stream may always read: below this, system calls cost more than the bytes they bring.
  public static let byteCountMinimum = 512
  /// A turn that takes longer than this, in milliseconds, reads too much; one that takes less than a third may read
  /// more.
  public static let turnMilliseconds: UInt64 = 12

  private var turn: UInt64 = 0
  private var begin = Instant(nanoseconds: 0)
  private var budget = byteCountMaximum
  private var count = 0
  private var lastCount = 1

  /// No stream has read yet.
  public init() {}

  /// Bytes that a stream may read now; each stream asks once per turn.
  func byteCount(in turn: UInt64, at now: @autoclosure () -> Instant) -> Int {
    if turn != self.turn { begins(turn, at: now()) }
    count += 1
    return max(Self.byteCountMinimum, budget / max(lastCount, count))
  }

  private func begins(_ turn: UInt64, at now: Instant) {
    // The time since the last turn includes waiting for input. So after a pause the budget starts low, and is soon high
    // again.
    let milliseconds = now.milliseconds(since: begin)
    if milliseconds > Self.turnMilliseconds {
      budget = max(budget / 2, 4 * Self.byteCountMinimum)
    } else if milliseconds < Self.turnMilliseconds / 3 {
      budget = min(budget * 2, Self.byteCountMaximum)
    }
    lastCount = turn == self.turn + 1 ? max(1, count) : 1
    (self.turn, begin, count) = (turn, now, 0)
  }
}
