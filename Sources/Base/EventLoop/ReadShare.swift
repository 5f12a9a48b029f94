internal import Clocks

// How much one of many streams reads in a turn of the loop.
//
// Whoever floods a server is read in every turn, and who asks a small question waits for that turn to end, some three
// or four times until he has his answer. So the streams of a server share a number of bytes a turn, the less for each
// the more there are; and the number follows what bytes cost: while turns take too long it is halved, and while they
// are short it is doubled. A megabyte of one event is read in a few turns, a megabyte of frames of one byte in
// hundreds.

/// A number of bytes a turn that the streams of one server share.
@EventLoopActor
public final class ReadShare {
  /// Most bytes that are read in a turn.
  public static let byteCountMaximum = 256 << 10
  /// Bytes that one stream may read in any case: below, calls of the kernel's cost more than what they bring.
  public static let byteCountMinimum = 512
  /// A turn that takes longer than this, in milliseconds, reads too much; one that takes a third could read more.
  public static let turnMilliseconds: UInt64 = 12

  private var turn: UInt64 = 0
  private var begin = Instant(nanoseconds: 0)
  private var budget = byteCountMaximum
  private var count = 0
  private var lastCount = 1

  /// Nobody has read yet.
  public init() {}

  /// Bytes that a stream may read now, which it does once a turn.
  func byteCount(in turn: UInt64, at now: @autoclosure () -> Instant) -> Int {
    if turn != self.turn { begins(turn, at: now()) }
    count += 1
    return max(Self.byteCountMinimum, budget / max(lastCount, count))
  }

  private func begins(_ turn: UInt64, at now: Instant) {
    // A turn that waited for input was not long: whoever reads after it begins low, and is high again in a moment.
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
