internal import Clocks
internal import Contracts

// What waits for a log file, and what happens when it cannot be written. A machine without I/O; `LogFile` is its shell.
//
//     open ──fault──► failing ──retry──► probing ──success──► open
//                        ▲                  │
//                        └──────fault───────┘
//
// One write at a time. During a write, records collect up to a bound. Above it, and while the file fails, records are
// in the ring only and are counted. The count is written as a line of its own at the place of the missing records, so
// that no reader takes the file for complete.

/// Records on their way to a log file.
struct LogFileQueue: Sendable {
  /// The maximum of waiting bytes, as the ring counts them.
  static let pendingByteCountMaximum = 1 << 20
  /// The first wait after a failure, in milliseconds; each further failure doubles it.
  static let firstRetryMilliseconds: UInt64 = 1_000
  /// The longest wait, in milliseconds.
  static let lastRetryMilliseconds: UInt64 = 60_000

  /// A write to make.
  struct Write: Sendable {
    /// In order.
    var records: [LogRecord]
    /// The number of records missing after these, for a line that says so; 0 for no such line.
    var missingCount: UInt64
    /// Whether they are missing because of a failure, and not because they came too fast.
    var followsFailure: Bool
    /// Whether the file is to be opened again by its name.
    var reopens: Bool
  }

  /// What a write changed, for a report.
  enum Change: Sendable, Equatable {
    /// No change.
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

  /// The number of records that are in no file; only grows.
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

  /// When the next write is to be tried after a failure; nil if no retry is due.
  var retryInstant: Instant? {
    if case .failing(_, let retryAt) = state { return retryAt }
    return nil
  }

  /// Whether ``nextWrite(now:)`` would return a write.
  func hasWork(now: Instant) -> Bool {
    guard inFlight == nil else { return false }
    switch state {
    case .probing: return false
    case .failing(_, let retryAt): return now >= retryAt
    case .open: return !pending.isEmpty || missingCount > 0 || wantsReopen
    }
  }

  /// A record for the file arrived.
  mutating func appended(_ record: LogRecord) {
    let size = LogRing.byteCount(of: record)
    // After the first record without room none is taken: the gap is then in one place, after the records that wait.
    guard !isFailing, missingCount == 0, pendingByteCount + size <= Self.pendingByteCountMaximum else {
      missingCount += 1
      lostCount += 1
      return
    }
    pending.append(record)
    pendingByteCount += size
  }

  /// The file must be opened again, with the next write or at once.
  mutating func reopenAsked() {
    wantsReopen = true
    // The person who asks may have fixed the cause: an immediate attempt is worthwhile.
    if case .failing(let delay, _) = state {
      state = .failing(delayMilliseconds: delay, retryAt: Instant(nanoseconds: 0))
    }
  }

  /// The write to make now, if any. ``finished(_:now:)`` must follow it.
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

  /// The write of ``nextWrite(now:)`` is over. `handledCount` of its records, including the line about missing ones,
  /// were handled; `oversizeCount` of these were left out for their size.
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
