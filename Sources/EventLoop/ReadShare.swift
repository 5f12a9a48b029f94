// How much one of many streams reads in a turn of the loop.
//
// Whoever floods a server is read in every turn, and who asks a small question waits for that turn to end. What a turn
// costs goes by the bytes that are read in it, whatever stands in them; so the streams of a server share a number of
// bytes a turn. One alone has all of it. The more were read in the turn before, the less each reads in this one.

/// A number of bytes a turn that the streams of one server share.
@EventLoopActor
public final class ReadShare {
  /// Bytes that are read in a turn, about: what messages of a hundred bytes need some ten milliseconds for.
  public static let byteCountPerTurn = 128 << 10
  /// Bytes that one stream may read in any case: below, calls of the kernel's cost more than what they bring.
  public static let byteCountMinimum = 2 << 10

  private var turn: UInt64 = 0
  private var count = 0
  private var lastCount = 1

  /// Nobody has read yet.
  public init() {}

  /// Bytes that a stream may read now, which it does once a turn.
  func byteCount(in turn: UInt64) -> Int {
    if turn != self.turn {
      lastCount = turn == self.turn + 1 ? max(1, count) : 1
      (self.turn, count) = (turn, 0)
    }
    count += 1
    return max(Self.byteCountMinimum, Self.byteCountPerTurn / max(lastCount, count))
  }
}
