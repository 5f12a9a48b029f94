internal import Clocks

/// When something is due, on a clock that stands still while nothing is read: what the other side sends then stays in
/// the kernel.
struct PausableDeadline {
  /// What was left when reading was paused, in nanoseconds; nil while it is not, or nothing is due.
  private var left: UInt64?
  /// When it is due; nil for never, as things are.
  private(set) var due: Instant?

  /// Whether something is due, now or once reading continues.
  var isSet: Bool { due != nil || left != nil }

  /// Nothing is due.
  mutating func clear() { (due, left) = (nil, nil) }

  /// Something is due after a time of reading.
  mutating func set(milliseconds: UInt64, after now: Instant) {
    if left == nil { due = now.advanced(milliseconds: milliseconds) } else { left = milliseconds * 1_000_000 }
  }

  /// Nothing is read from now on.
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
