internal import Clocks

/// How fast REQs go to one relay: as many at once as in a second, and not faster on the average.
struct RequestPace: Sendable {
  /// When the relay has taken in all that was sent, at the pace.
  private var takenIn = Instant(nanoseconds: 0)
  /// How far ahead of that may be sent.
  static let burstMilliseconds: UInt64 = 1_000

  /// When the next REQ may go.
  func next(spacing: UInt64, isLearned: Bool) -> Instant {
    // A relay that has said `rate-limited` gets no bursts.
    let ahead = isLearned ? 0 : (Self.burstMilliseconds - spacing) * 1_000_000
    return Instant(nanoseconds: takenIn.nanoseconds > ahead ? takenIn.nanoseconds - ahead : 0)
  }

  /// A REQ was sent.
  mutating func sent(spacing: UInt64, at now: Instant) { takenIn = max(takenIn, now).advanced(milliseconds: spacing) }
}
