internal import Clocks
internal import Contracts

// What waits for a log file, and what is done when it cannot be written. A machine without I/O; `LogFile` is its shell.
//
//     open ──fault──► failing ──retry──► probing ──success──► open
//                        ▲                  │
//                        └──────fault───────┘
//
// One write at a time. While one is under way, records collect up to a bound; above it, and while the file fails, they
// are in the ring only and are counted. The count is written as a line of its own where the records would have stood: a
// reader of the file is never led to think that it is whole.

/// Records on their way to a log file.
struct LogFileQueue: Sendable {
  /// Most bytes that wait, as the ring counts them.
  static let pendingByteCountMaximum = 1 << 20
  /// The first wait after a failure, in milliseconds; it doubles with each further one.
  static let firstRetryMilliseconds: UInt64 = 1_000
  /// The longest wait, in milliseconds.
  static let lastRetryMilliseconds: UInt64 = 60_000

  /// A write to make.
  struct Write: Sendable {
    /// In order.
    var records: [LogRecord]
    /// Records that are missing after these, to be told in a line; 0 for no such line.
    var missingCount: UInt64
    /// Whether they are missing because of a failure, not because they came too fast.
    var followsFailure: Bool
    /// Whether the file is to be opened again by its name.
    var reopens: Bool
  }

  /// What came of a write, for somebody to hear.
  enum Change: Sendable, Equatable {
    /// As before.
    case none
    /// Writing has begun to fail.
    case failed
    /// Writing succeeds again.
    case recovered
  }

  private enum State: Sendable {
    case open
    case failing(delayMilliseconds: UInt64, retryAt: Instant)
    case probing(delayMilliseconds: UInt64)
  }

  /// Records that are in no file; only grows.
  private(set) var lostCount: UInt64 = 0

  private var state = State.open
  private var pending: [LogRecord] = []
  private var pendingByteCount = 0
  private var inFlight: Write?
  private var missingCount: UInt64 = 0
  private var wantsReopen = false

  /// Whether nothing waits and nothing is being written.
  var isIdle: Bool { inFlight == nil && pending.isEmpty && (missingCount == 0 || isFailing) }

  /// Whether the last write failed.
  var isFailing: Bool {
    if case .open = state { return false }
    return true
  }

  /// When to look again for a write; nil while no retry is due.
  var retryInstant: Instant? {
    if case .failing(_, let retryAt) = state { return retryAt }
    return nil
  }

  /// Whether ``nextWrite(now:)`` would give a write.
  func hasWork(now: Instant) -> Bool {
    guard inFlight == nil else { return false }
    switch state {
    case .probing: return false
    case .failing(_, let retryAt): return now >= retryAt
    case .open: return !pending.isEmpty || missingCount > 0 || wantsReopen
    }
  }

  /// A record for the file.
  mutating func appended(_ record: LogRecord) {
    let size = LogRing.byteCount(of: record)
    // After the first record that finds no room none is taken: the gap is then in one place, behind those that wait.
    guard !isFailing, missingCount == 0, pendingByteCount + size <= Self.pendingByteCountMaximum else {
      missingCount += 1
      lostCount += 1
      return
    }
    pending.append(record)
    pendingByteCount += size
  }

  /// The file is to be opened again, with the next write or at once.
  mutating func reopenAsked() {
    wantsReopen = true
    // Somebody has changed something: worth a try.
    if case .failing(let delay, _) = state {
      state = .failing(delayMilliseconds: delay, retryAt: Instant(nanoseconds: 0))
    }
  }

  /// The write to make now, if there is one. ``finished(_:now:)`` must follow it.
  mutating func nextWrite(now: Instant) -> Write? {
    guard hasWork(now: now) else { return nil }
    if case .failing(let delay, _) = state { state = .probing(delayMilliseconds: delay) }
    let write = Write(
      records: pending, missingCount: missingCount, followsFailure: isFailing, reopens: wantsReopen || isFailing)
    pending.removeAll()
    pendingByteCount = 0
    missingCount = 0
    wantsReopen = false
    inFlight = write
    return write
  }

  /// The write of ``nextWrite(now:)`` is over: this many of its records (the line about missing ones included) were
  /// dealt with, of which some were left out for their size.
  mutating func finished(handledCount: Int, oversizeCount: UInt64, isFault: Bool, now: Instant) -> Change {
    guard let write = inFlight else { preconditionFailure("a write ended that had not begun") }
    inFlight = nil
    missingCount += oversizeCount
    lostCount += oversizeCount
    guard isFault else {
      defer { state = .open }
      return isFailing ? .recovered : .none
    }
    let unwritten = UInt64(max(0, write.records.count - handledCount))
    let isGapTold = write.missingCount == 0 || handledCount > write.records.count
    lostCount += unwritten + UInt64(pending.count)
    missingCount += unwritten + (isGapTold ? 0 : write.missingCount) + UInt64(pending.count)
    pending.removeAll()
    pendingByteCount = 0
    guard case .probing(let lastDelay) = state else {
      fail(afterMilliseconds: Self.firstRetryMilliseconds, now)
      return .failed
    }
    fail(afterMilliseconds: min(lastDelay * 2, Self.lastRetryMilliseconds), now)
    return .none
  }

  private mutating func fail(afterMilliseconds delay: UInt64, _ now: Instant) {
    state = .failing(delayMilliseconds: delay, retryAt: now.advanced(milliseconds: delay))
  }
}
