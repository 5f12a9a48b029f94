internal import Clocks

/// The time limit of a message that has begun and not ended.
///
/// A message holds memory that all connections share. So in each period it must grow by ``leastByteCount`` or end. A
/// slow line gets several periods for a large message; a client that only holds memory gets one. While reading is
/// paused the time does not run, because what the other side sends stays in the kernel.
struct MessageClock {
  /// Bytes by which a message must grow in a period.
  static let leastByteCount = 64 << 10

  private let periodMilliseconds: UInt64
  private var byteCount = 0
  private var countAtStart = 0
  /// Whether a message without progress is checked once more: a process that was stopped reads first.
  private var isLastLook = false
  private var deadline = PausableDeadline()
  /// When ``timerFired(at:)`` must be called; nil for never.
  var due: Instant? { deadline.due }

  /// - Parameter periodMilliseconds: 0 for no bound.
  init(periodMilliseconds: UInt64) { self.periodMilliseconds = periodMilliseconds }

  /// A read took place.
  ///
  /// - Parameters:
  ///   - heldByteCount: the bytes held of an unfinished message; nil without such a message.
  ///   - hasEnded: whether a message has ended in that read: then the held one is another.
  ///   - now: the instant of the read.
  /// - Returns: whether ``due`` has changed.
  mutating func received(heldByteCount: Int?, hasEnded: Bool, at now: @autoclosure () -> Instant) -> Bool {
    guard periodMilliseconds > 0 else { return false }
    guard let heldByteCount else {
      let wasDue = due != nil
      deadline.clear()
      return wasDue
    }
    byteCount = heldByteCount
    guard hasEnded || !deadline.isSet else { return false }
    begin(at: now())
    return due != nil
  }

  /// Reading is paused from now on.
  mutating func paused(at now: Instant) { deadline.paused(at: now) }

  /// Reading continues.
  mutating func resumed(at now: Instant) { deadline.resumed(at: now) }

  /// The instant in ``due`` has come.
  ///
  /// - Returns: whether the message is given up; if not, there is a new ``due``.
  mutating func timerFired(at now: Instant) -> Bool {
    guard let due, now >= due else { return false }
    guard byteCount - countAtStart >= Self.leastByteCount else {
      guard !isLastLook else {
        deadline.clear()
        return true
      }
      isLastLook = true
      deadline.set(milliseconds: Liveness.lastLookMilliseconds, after: now)
      return false
    }
    begin(at: now)
    return false
  }

  private mutating func begin(at now: Instant) {
    countAtStart = byteCount
    isLastLook = false
    deadline.set(milliseconds: periodMilliseconds, after: now)
  }
}
