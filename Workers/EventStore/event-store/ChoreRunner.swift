import Contracts
import Cryptography
import EventArchive
import EventGate
import EventLoop
import Frames
import Logging
import Nostr
import Storage

/// Does the archive's chores (``ArchiveChore``), when the ``ChoreSchedule`` says that they are due.
@EventLoopActor
final class ChoreRunner {
  /// Called with the events that a chore has removed; nil when their ids are not known. They may come again.
  var onRemoval: (@EventLoopActor ([EventID]?) -> Void)?
  /// Called when a chore may be due.
  var onDue: (@EventLoopActor () -> Void)?
  /// Called now and then, for work that failed and is to be tried again.
  var onSweep: (@EventLoopActor () -> Void)?
  /// Called when the status line may be another.
  var onStatus: (@EventLoopActor () -> Void)?

  /// Whose turn it is.
  var schedule = ChoreSchedule(now: EventLoop.process.now)
  /// How much room there is, as the log has it.
  private(set) var room = RetentionGauge.Room.below

  /// What callers have had removed that is over a bound, the first first.
  private var bounded: [BoundedRemoval] = []
  private let boundedEnded = Signal()
  private let archive: EventArchive
  private let health: StoreHealth
  private let log: Logger
  private let quietTimer = LoopTimer()
  private let sweepTimer = LoopTimer()
  private let pauseTimer = LoopTimer()
  private let scrubTimer = LoopTimer()

  /// How often expired events are removed. No answer has them meanwhile.
  private static let sweepMilliseconds: UInt64 = 30_000
  /// From one slice of the scrub to the next.
  private static let scrubMilliseconds: UInt64 = 2_000
  /// From the end of a scrub to the next beginning.
  private static let scrubRestMilliseconds: UInt64 = 3_600_000
  /// A smaller limit would leave no room for the index of what is kept.
  private static let sizeLimitMinimum: Int64 = 16 << 20

  init(_ archive: EventArchive, _ health: StoreHealth, _ log: Logger) {
    (self.archive, self.health, self.log) = (archive, health, log)
    setSweepTimer()
    setScrubTimer(afterMilliseconds: Self.scrubMilliseconds)
  }

  // MARK: Timers

  private func setSweepTimer() {
    sweepTimer.set(afterMilliseconds: Self.sweepMilliseconds) { [unowned self] in
      schedule.sweepTimerFired()
      onSweep?()
      setSweepTimer()
      onDue?()
    }
  }

  private func setScrubTimer(afterMilliseconds milliseconds: UInt64) {
    scrubTimer.set(afterMilliseconds: milliseconds) { [unowned self] in
      schedule.scrubTimerFired()
      onDue?()
    }
  }

  /// Words wait to be indexed until no event has come for a while: looks again then.
  func awaitQuiet(isGateIdle: Bool) {
    guard archive.hasSearchWork, isGateIdle, !schedule.isBusy, !quietTimer.isSet else { return }
    quietTimer.set(afterMilliseconds: ChoreSchedule.indexQuietMilliseconds) { [unowned self] in onDue?() }
  }

  // MARK: Chores

  /// The chore that is due most; nil when none is.
  func next(isGateIdle: Bool) -> ArchiveChore? {
    var load = WriterLoad()
    load.isAnyoneVanishing = archive.isAnyoneVanishing
    load.hasTrimWork = archive.hasTrimWork
    load.isOverBound = !bounded.isEmpty
    load.hasSegmentWork = archive.hasSegmentWork
    load.unsearchedCount = archive.lastSeq - archive.searchedSeq
    load.usedByteCount = archive.usedByteCount
    load.foreignByteCount = archive.foreignByteCount
    load.isGateIdle = isGateIdle
    let chore = schedule.nextChore(load, now: EventLoop.process.now)
    if schedule.room != room { roomChanged(to: schedule.room) }
    return chore
  }

  /// Does a chore that is due.
  func run(_ chore: ArchiveChore) {
    schedule.choreBegan(chore)
    EventLoopActor.task { [self] in
      do throws(StorageFault) {
        try await perform(chore)
        health.recovered()
      } catch {
        health.failed(error)
        schedule.choreFailed()
        pauseTimer.set(afterMilliseconds: StoreHealth.retryMilliseconds) { [unowned self] in
          schedule.pauseEnded()
          onDue?()
        }
      }
      schedule.ended()
      onDue?()
    }
  }

  private func perform(_ chore: ArchiveChore) async throws(StorageFault) {
    switch chore {
    case .sweep:
      let gone = try await archive.sweep(now: Store.now).gone
      onRemoval?(gone)
      schedule.swept(gone.count)
    case .recheck:
      let slice = try await archive.recheck()
      onRemoval?(slice.removed)
      if !slice.isComplete { schedule.recheckedPart() }
      guard !slice.removed.isEmpty else { return }
      log.error(
        "forged events were stored unchecked, and are removed",
        metadata: ["removed": "\(slice.removed.count)", "sound": "\(slice.soundCount)"])
    case .evict:
      let slice = try await archive.evict(schedule.retention, now: Store.now)
      onRemoval?(slice.gone)
      schedule.evicted(slice.gone.count, isExhausted: slice.isExhausted)
    case .trimBound: try await removeBounded()
    case .segment: try await archive.writeSegmentSlice()
    case .trim: try await archive.trimSlice()
    case .index: try await archive.indexSlice()
    case .scrub: try await scrub()
    }
  }

  // MARK: Bounds

  /// The most removals that wait.
  static let boundedMaximum = 4

  /// Whether a further removal would be one too many.
  var isBoundedFull: Bool { bounded.count >= Self.boundedMaximum }

  /// Removes events that are over a bound, slice by slice, in turn with what else is written.
  ///
  /// - Parameters:
  ///   - seqs: the events.
  ///   - isForgetting: whether also what is never removed for a bound is removed, because its account is forgotten.
  /// - Returns: how many events went, and their bytes.
  func remove(_ seqs: [Int64], isForgetting: Bool = false) async throws(StorageFault) -> (count: Int, byteCount: Int64)
  {
    guard !seqs.isEmpty else { return (0, 0) }
    let removal = BoundedRemoval(seqs, isForgetting: isForgetting)
    bounded.append(removal)
    onDue?()
    await boundedEnded.wait { removal.isOver }
    if let fault = removal.fault { throw fault }
    return (removal.count, removal.byteCount)
  }

  private func removeBounded() async throws(StorageFault) {
    guard let removal = bounded.first else { return }
    do throws(StorageFault) {
      let slice = removal.seqs.prefix(EventArchive.boundedEventCount)
      let removed: (gone: [EventID], byteCount: Int64)
      if removal.isForgetting {
        removed = (try await archive.forget(slice, now: Store.now), 0)
      } else {
        removed = try await archive.remove(slice, kept: schedule.retention.keptAuthors, now: Store.now)
      }
      onRemoval?(removed.gone)
      removal.count += removed.gone.count
      removal.byteCount += removed.byteCount
      removal.seqs.removeFirst(slice.count)
    } catch {
      removal.fault = error
    }
    guard removal.isOver else { return }
    bounded.removeFirst()
    boundedEnded.raise()
    if let fault = removal.fault { throw fault }
  }

  /// Looks for damaged events in a slice, which removes them.
  private func scrub() async throws(StorageFault) {
    var pause = Self.scrubMilliseconds
    defer { setScrubTimer(afterMilliseconds: pause) }
    let slice = try await archive.scrub(now: Store.now)
    if slice.isComplete { pause = Self.scrubRestMilliseconds }
    guard let first = slice.removed.first else { return }
    onRemoval?(nil)
    onStatus?()
    log.error(
      "stored events are damaged, and were removed: the disk or the memory errs",
      metadata: ["events": "\(slice.removed.count)", "first-seq": "\(first)"])
  }

  // MARK: Room

  /// Logs each change once.
  private func roomChanged(to next: RetentionGauge.Room) {
    room = next
    let figures: Logger.Metadata = [
      "used": "\(archive.usedByteCount)", "limit": "\(schedule.retention.byteLimit.map { "\($0)" } ?? "none")",
    ]
    switch next {
    case .below: log.info("below the size limit again", metadata: figures)
    case .making: log.info("above the size limit: removing the oldest events", metadata: figures)
    case .exhausted:
      log.warning(
        "above the size limit, and nothing is left that may be removed: what was published here and by keep-authors stays",
        metadata: figures)
    }
    onStatus?()
  }

  /// Takes over the limits of the settings.
  func adopt(_ settings: StoreSettings) throws(Refusal) {
    var retention = ArchiveRetention()
    if settings.sizeLimitBytes > 0 { retention.byteLimit = max(settings.sizeLimitBytes, Self.sizeLimitMinimum) }
    retention.foreignByteLimit = settings.foreignLimitBytes
    for text in settings.keepAuthors {
      do throws(EntityFault) { retention.keptAuthors.insert(try PublicKey(spelled: text)) } catch {
        throw Refusal(.failed, "keep-authors: \"\(text)\" is no public key: \(error)")
      }
    }
    schedule.limitsChanged(retention)
  }
}

/// What a caller has removed that is over a bound.
@EventLoopActor
private final class BoundedRemoval {
  var seqs: ArraySlice<Int64>
  var count = 0
  var byteCount: Int64 = 0
  var fault: StorageFault?
  let isForgetting: Bool
  var isOver: Bool { seqs.isEmpty || fault != nil }

  init(_ seqs: [Int64], isForgetting: Bool) { (self.seqs, self.isForgetting) = (seqs[...], isForgetting) }
}
