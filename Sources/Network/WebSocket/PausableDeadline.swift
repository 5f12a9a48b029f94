internal import Clocks

/// A deadline on a clock that does not run while reading is paused: what the other side sends then stays in the kernel.
struct PausableDeadline {
  /// The remaining time when reading was paused, in nanoseconds; nil while reading continues, or without a deadline.
  private var left: UInt64?
  /// The instant of the deadline; nil for never in the present state.
  private(set) var due: Instant?

  /// Whether a deadline is set, now or once reading continues.
  var isSet: Bool { due != nil || left != nil }

  /// Removes the deadline.
  mutating func clear() { (due, left) = (nil, nil) }

  /// Sets the deadline after this much time of reading.
  mutating func set(milliseconds: UInt64, after now: Instant) {
    if left == nil { due = now.advanced(milliseconds: milliseconds) } else { left = milliseconds * 1_000_000 }
  }

  /// Reading is paused from now on.
  mutating func paused(at now: Instant) {
    guard let due else { return }
    left = due > now ? due.nanoseconds - now.nanoseconds : 0
    self.due = nil
  }

  /// Reading continues.
  mutating func resumed(at now: Instant) {
    guard let left else { return }
    self.left = nil
    due = now.advanced(nanoseconds: left)
  }
}
