internal import Clocks

// Whether the other side of a connection is still there, as a value.
//
//     listening ── silent for the interval ──▶ pinged ── silent for the pong's time ──▶ last look ── silent ──▶ gone
//         ▲                                       │                                         │
//         └────────────── anything comes ─────────┴─────────────────────────────────────────┘
//
// Only what the other side has sent is a sign of life: it is not one that this side continues to read after a pause.
// While reading is paused, the time does not run, because everything that the other side sends stays in the kernel.
//
// When the machine was suspended, the other side may be gone for long. Then the owner has it checked: what had arrived
// before is read first and is no sign of life; then a ping is sent at once, and silence after it ends the connection.
//
//     any state ── checked ──▶ settling ── a moment later ──▶ pinged
//
// The last look is for a process that did not run for a while (stopped, or on a suspended machine): its timer is due
// before the loop has read what arrived meanwhile.

/// The clock of one connection's silence.
struct Liveness {
  /// What a timer leads to.
  enum Step { case nothing, ping, end }

  private enum Phase { case listening, settling, pinged, lastLook }

  private let intervalMilliseconds: UInt64
  private let pongMilliseconds: UInt64
  /// The silence after the last ping that ends the connection.
  private(set) var awaitedMilliseconds: UInt64
  private var phase = Phase.listening
  private var hasHeard = false
  private var deadline = PausableDeadline()
  /// When ``timerFired(at:)`` must be called; nil for never in the present state.
  var due: Instant? { deadline.due }

  /// How long the last look waits for input that has already arrived, in milliseconds.
  static let lastLookMilliseconds: UInt64 = 250
  /// How long input counts as having arrived before the check.
  static let settlingMilliseconds: UInt64 = 250

  /// - Parameter intervalMilliseconds: silence after which a ping is sent; 0 for never.
  init(intervalMilliseconds: UInt64, pongMilliseconds: UInt64) {
    self.intervalMilliseconds = intervalMilliseconds
    self.pongMilliseconds = pongMilliseconds
    awaitedMilliseconds = pongMilliseconds
  }

  /// Reading begins.
  mutating func started(at now: Instant) {
    guard intervalMilliseconds > 0 else { return }
    listen(at: now)
  }

  /// Something was received. Called for each read.
  ///
  /// - Returns: whether ``due`` has changed.
  mutating func heard(at now: @autoclosure () -> Instant) -> Bool {
    hasHeard = true
    guard phase != .listening, phase != .settling else { return false }
    listen(at: now())
    return true
  }

  /// The other side may be gone: a ping follows in a moment, and silence for `milliseconds` after it is the end.
  mutating func checked(withinMilliseconds milliseconds: UInt64, at now: Instant) {
    phase = .settling
    awaitedMilliseconds = milliseconds
    deadline.set(milliseconds: Self.settlingMilliseconds, after: now)
  }

  /// Reading is paused from now on.
  mutating func paused(at now: Instant) { deadline.paused(at: now) }

  /// Reading continues.
  mutating func resumed(at now: Instant) { deadline.resumed(at: now) }

  /// The instant in ``due`` has come.
  mutating func timerFired(at now: Instant) -> Step {
    switch phase {
    case .listening where hasHeard:
      listen(at: now)
      return .nothing
    case .listening:
      awaitedMilliseconds = pongMilliseconds
      return pinged(at: now)
    case .settling: return pinged(at: now)
    case .pinged:
      phase = .lastLook
      deadline.set(milliseconds: Self.lastLookMilliseconds, after: now)
      return .nothing
    case .lastLook:
      deadline.clear()
      return .end
    }
  }

  private mutating func pinged(at now: Instant) -> Step {
    phase = .pinged
    deadline.set(milliseconds: awaitedMilliseconds, after: now)
    return .ping
  }

  private mutating func listen(at now: Instant) {
    phase = .listening
    hasHeard = false
    if intervalMilliseconds > 0 {
      deadline.set(milliseconds: intervalMilliseconds, after: now)
    } else {
      deadline.clear()
    }
  }
}
