public import Clocks
public import EventArchive

// What the archive's writer does besides writing events, one slice at a time, in turn with batches of events.
//
//    batch ─▶ chore ─▶ batch ─▶ …     while both wait
//    batch ─▶ evict ─▶ evict ─▶ evict ─▶ batch     while the archive is far above its limit
//
// Only the index of words and the scrub wait until no event does. When events keep coming and the index has fallen far
// behind, it gets a turn all the same, so that it never stops for good.

/// One slice of work for the archive's writer.
public enum ArchiveChore: Sendable, Hashable {
  /// Removes events that have expired, or whose author has vanished.
  case sweep
  /// Verifies events that a distrusted relay sent and the store took unchecked.
  case recheck
  /// Removes what is left of deleted events from a segment.
  case trim
  /// Makes room.
  case evict
  /// Removes what a caller names that is over a bound.
  case trimBound
  /// Writes postings to a segment.
  case segment
  /// Indexes words.
  case index
  /// Looks for damaged events.
  case scrub
}

/// What the archive and the gate have to do, as the store sees it before each turn of the writer.
public struct WriterLoad: Sendable {
  /// Whether events of a vanished author wait to be removed.
  public var isAnyoneVanishing = false
  /// Whether a segment waits to be trimmed.
  public var hasTrimWork = false
  /// Whether events that are over a bound wait to be removed.
  public var isOverBound = false
  /// Whether postings wait to be written to a segment.
  public var hasSegmentWork = false
  /// Seqs whose words are not indexed yet.
  public var unsearchedCount: Int64 = 0
  /// Bytes in use.
  public var usedByteCount: Int64 = 0
  /// Bytes of foreign events.
  public var foreignByteCount: Int64 = 0
  /// Whether no event is on its way through the gate.
  public var isGateIdle = true

  /// No work.
  public init() {}
}

/// Decides whether the writer's next turn is a batch or a chore, and which chore. A value without I/O.
public struct ChoreSchedule: Sendable {
  /// Whether a batch or a chore is under way.
  public private(set) var isBusy = false
  /// Whether a chore that is due comes before the next batch.
  public private(set) var isChoreNext = false
  /// Transactions with events since the start.
  public private(set) var transactionCount: UInt64 = 0
  /// Events that were removed to make room, since the start.
  public private(set) var evictedCount: UInt64 = 0
  /// What may be removed to make room.
  public private(set) var retention = ArchiveRetention()
  /// How much room there was at the last look. Other limits change it at the next one, so that no recovery is reported
  /// that did not happen.
  public private(set) var room = RetentionGauge.Room.below

  private var gauge = RetentionGauge()
  private var isSweepDue = true
  private var isRecheckDue = true
  private var isScrubDue = false
  /// Whether chores wait for the end of a pause after a failure.
  private var isPausing = false
  private var choresInRow = 0
  /// Whether the archive was more than a sixteenth above a limit at the last look.
  private var isFarAbove = false
  private var arrivedAt: Instant

  /// Seqs that the index of words may be behind before it gets a turn although events wait.
  static let indexLagMaximum: Int64 = 65_536
  /// Transactions between two such turns.
  static let indexTurn: UInt64 = 8
  /// How long no event must have come before words are indexed. A sender of one run after the other leaves gaps; a
  /// slice that began in each of them would delay the next run.
  public static let indexQuietMilliseconds: UInt64 = 250
  /// Slices of room made in a row while events wait.
  static let evictionsInRow = 3

  /// A writer that has written nothing.
  public init(now: Instant) { arrivedAt = now }

  // MARK: Turns

  /// The chore that is due most; nil when none is.
  public mutating func nextChore(_ load: WriterLoad, now: Instant) -> ArchiveChore? {
    if isPausing { return nil }
    isFarAbove =
      Self.isFarAbove(retention.byteLimit, load.usedByteCount)
      || Self.isFarAbove(retention.foreignByteLimit, load.foreignByteCount)
    if isSweepDue || load.isAnyoneVanishing { return .sweep }
    if isRecheckDue { return .recheck }
    // What is trimmed need not be made room for.
    if load.hasTrimWork { return .trim }
    let isEvictionDue = gauge.isDue(
      usedByteCount: load.usedByteCount, foreignByteCount: load.foreignByteCount, retention)
    room = gauge.room
    if isEvictionDue { return .evict }
    if load.isOverBound { return .trimBound }
    if load.hasSegmentWork { return .segment }
    if isIndexingDue(load, now) { return .index }
    return isScrubDue && load.isGateIdle ? .scrub : nil
  }

  private static func isFarAbove(_ limit: Int64?, _ byteCount: Int64) -> Bool {
    limit.map { byteCount > $0 + $0 / 16 } ?? false
  }

  private func isIndexingDue(_ load: WriterLoad, _ now: Instant) -> Bool {
    guard load.unsearchedCount > 0 else { return false }
    if load.isGateIdle, now.milliseconds(since: arrivedAt) >= Self.indexQuietMilliseconds { return true }
    return load.unsearchedCount > Self.indexLagMaximum && transactionCount % Self.indexTurn == 0
  }

  /// A batch is being written. The next turn is a chore's.
  public mutating func batchBegan() {
    begin()
    isChoreNext = true
    choresInRow = 0
  }

  /// A batch was written by a transaction.
  public mutating func transactionCommitted() { transactionCount += 1 }

  /// A chore is under way. The next turn is a batch's, unless the archive is so far above a limit that events come
  /// faster than room is made.
  public mutating func choreBegan(_ chore: ArchiveChore) {
    begin()
    choresInRow += 1
    isChoreNext = (chore == .evict || chore == .trim) && isFarAbove && choresInRow < Self.evictionsInRow
    if chore == .recheck { isRecheckDue = false }
    if chore == .scrub { isScrubDue = false }
  }

  private mutating func begin() {
    precondition(!isBusy, "the writer does one thing at a time")
    isBusy = true
  }

  /// The batch or the chore is over.
  public mutating func ended() {
    precondition(isBusy, "only what began ends")
    isBusy = false
  }

  // MARK: Events

  /// Events have come in.
  public mutating func eventsArrived(at now: Instant) { arrivedAt = now }

  /// A slice of expired events was removed.
  public mutating func swept(_ count: Int) { isSweepDue = count > 0 }

  /// A slice of unchecked events was verified; there may be more.
  public mutating func recheckedPart() { isRecheckDue = true }

  /// A relay is distrusted from now on.
  public mutating func relayDistrusted() { isRecheckDue = true }

  /// Room was made.
  ///
  /// - Parameters:
  ///   - count: how many events were removed.
  ///   - isExhausted: whether nothing is left that may be removed.
  public mutating func evicted(_ count: Int, isExhausted: Bool) {
    evictedCount += UInt64(count)
    if isExhausted { gauge.exhausted() }
    room = gauge.room
  }

  /// A chore failed: chores wait until ``pauseEnded()``.
  public mutating func choreFailed() { isPausing = true }

  /// Chores may be tried again.
  public mutating func pauseEnded() { isPausing = false }

  /// It is time to look for expired events, and to try again what was found impossible.
  public mutating func sweepTimerFired() {
    isSweepDue = true
    isRecheckDue = true
    gauge.lookAgain()
  }

  /// It is time to look for damaged events.
  public mutating func scrubTimerFired() { isScrubDue = true }

  /// Other limits hold from now on.
  public mutating func limitsChanged(_ retention: ArchiveRetention) {
    guard self.retention != retention else { return }
    gauge = RetentionGauge()
    self.retention = retention
  }
}
