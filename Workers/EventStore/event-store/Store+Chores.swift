import Contracts
import Cryptography
import EventArchive
import EventGate
import EventLoop
import Frames
import Logging
import Nostr
import Storage
import WorkerKit

// What the writer does besides writing events, a slice at a time, in turn with them: events whose time is over, what
// distrusted relays had brought unchecked, room that must be made, segments, words. Only words wait until there is
// nothing else to do.

extension Store {
  /// How often it is looked for events whose time is over. They are not answered with meanwhile.
  static let sweepMilliseconds: UInt64 = 30_000
  /// After a failure, how long until chores are tried again.
  static let retryMilliseconds: UInt64 = 2_000
  /// From one slice of looking for damaged events to the next.
  static let scrubMilliseconds: UInt64 = 2_000
  /// How often it is looked whether all should be looked through again.
  static let scrubRestMilliseconds: UInt64 = 3_600_000
  /// A smaller limit would leave no room for the index of what is kept.
  static let sizeLimitMinimum: Int64 = 16 << 20
  /// Slices of room made in a row while events wait, when they come faster than room is made.
  static let evictionsInRow = 3

  /// One slice of work for the writer.
  enum Chore {
    case sweep
    case recheck
    case evict
    case segment
    case trim
    case index
    case scrub
  }

  /// What is to be done next; nil when there is nothing.
  var nextChore: Chore? {
    if isSweepDue || archive.isAnyoneVanishing { return .sweep }
    if isRecheckDue { return .recheck }
    // What is trimmed need not be made room for.
    if archive.hasTrimWork { return .trim }
    if isEvictionDue { return .evict }
    if archive.hasSegmentWork { return .segment }
    if isIndexingDue { return .index }
    return isScrubDue && gate.isIdle ? .scrub : nil
  }

  func perform(_ chore: Chore) {
    isWriting = true
    choresInRow += 1
    let isFarAbove =
      retention.byteLimit.map { archive.usedByteCount > $0 + $0 / 16 } == true
      || retention.foreignByteLimit.map { archive.foreignByteCount > $0 + $0 / 16 } == true
    isChoreNext = (chore == .evict || chore == .trim) && isFarAbove && choresInRow < Self.evictionsInRow
    EventLoopActor.task { [self] in
      do throws(StorageFault) {
        switch chore {
        case .sweep:
          let commit = try await archive.sweep(now: Self.now)
          gate.removed(commit.gone)
          isSweepDue = !commit.gone.isEmpty
        case .recheck:
          isRecheckDue = false
          rechecked(try await archive.recheck())
        case .evict: try await evict()
        case .segment: try await archive.writeSegmentSlice()
        case .trim: try await archive.trimSlice()
        case .index: try await archive.indexSlice()
        case .scrub: try await scrub()
        }
        recovered()
      } catch {
        failed(error)
        retryTimer.set(afterMilliseconds: Self.retryMilliseconds) { [unowned self] in pump() }
      }
      isWriting = false
      pump()
    }
  }

  func scheduleSweep() {
    sweepTimer.set(afterMilliseconds: Self.sweepMilliseconds) { [unowned self] in
      isSweepDue = true
      isRecheckDue = true
      for relay in unwrittenDistrust { writeDistrust(of: relay) }
      unwrittenDistrust = []
      gauge.lookAgain()
      // A damaged file may have been removed from its place.
      tellStatus()
      scheduleSweep()
      pump()
    }
  }

  // MARK: Damage

  /// Looks through the stored events from now on, slowly.
  func scheduleScrub(afterMilliseconds milliseconds: UInt64 = Store.scrubMilliseconds) {
    scrubTimer.set(afterMilliseconds: milliseconds) { [unowned self] in
      isScrubDue = true
      pump()
    }
  }

  private func scrub() async throws(StorageFault) {
    isScrubDue = false
    defer { scheduleScrub() }
    let slice = try await archive.scrub(now: Self.now)
    defer { if slice.isComplete { scheduleScrub(afterMilliseconds: Self.scrubRestMilliseconds) } }
    guard !slice.removed.isEmpty else { return }
    gate.removedUnknown()
    tellStatus()
    log.error(
      "stored events are damaged, and were removed: the disk or the memory errs",
      metadata: ["events": "\(slice.removed.count)", "first-seq": "\(slice.removed[0])"])
  }

  // MARK: Room

  private var isEvictionDue: Bool {
    let isDue = gauge.isDue(
      usedByteCount: archive.usedByteCount, foreignByteCount: archive.foreignByteCount, retention)
    if gauge.room != room { tell(gauge.room) }
    return isDue
  }

  private func evict() async throws(StorageFault) {
    let slice = try await archive.evict(retention, now: Self.now)
    gate.removed(slice.gone)
    evictedCount += UInt64(slice.gone.count)
    if slice.isExhausted { gauge.exhausted() }
  }

  /// Says once of each change how much room there is.
  private func tell(_ next: RetentionGauge.Room) {
    room = next
    let figures: Logger.Metadata = [
      "used": "\(archive.usedByteCount)", "limit": "\(retention.byteLimit.map { "\($0)" } ?? "none")",
    ]
    switch next {
    case .below: log.info("below the size limit again", metadata: figures)
    case .making: log.info("above the size limit: removing the oldest events", metadata: figures)
    case .exhausted:
      log.warning(
        "above the size limit, and nothing is left that may be removed: what was published here and by keep-authors stays",
        metadata: figures)
    }
    tellStatus()
  }

  // MARK: Settings

  func settingsChanged() {
    do throws(Refusal) {
      try adoptSettings()
      pump()
    } catch {
      log.error("the new settings are not taken", metadata: ["why": "\(error.message)"])
    }
  }

  func adoptSettings() throws(Refusal) {
    let settings = try worker.settings(of: StoreSettings.self)
    try sample(settings)
    var wanted = ArchiveRetention()
    if settings.sizeLimitBytes > 0 { wanted.byteLimit = max(settings.sizeLimitBytes, Self.sizeLimitMinimum) }
    wanted.foreignByteLimit = settings.foreignLimitBytes
    for text in settings.keepAuthors {
      do throws(EntityFault) { wanted.keptAuthors.insert(try PublicKey(spelled: text)) } catch {
        throw Refusal(.failed, "keep-authors: \"\(text)\" is no public key: \(error)")
      }
    }
    if retention != wanted {
      // Of another limit it is told again.
      gauge = RetentionGauge()
    }
    retention = wanted
    let byteCount = settings.recentEventsBytes
    if archive.recentByteCount != byteCount { archive.recentByteCount = byteCount }
  }
}
