public import Clocks
public import Contracts
public import EventLoop
internal import LinuxSystem

/// One worker's log on disk: JSON lines in NAME.log, rotated into NAME.log.1 … .N.
///
/// `append` returns at once and cannot fail: its caller is the supervisor, which must not depend on a disk. Writing
/// happens on the thread pool, one write at a time. Records that the file cannot take are counted, and reported twice:
/// in the file at the place of the gap, and once through `onNote`.
@EventLoopActor
public final class LogFile {
  /// Called when writing begins to fail and when it succeeds again. The message is for memory, not for this file.
  public var onNote: (@EventLoopActor (LogMessage) -> Void)?
  /// The bounds of the files; they apply from the next write on.
  public var limits: RotationLimits
  /// The number of records that are in no file; only grows.
  public var lostRecordCount: UInt64 { queue.lostCount }
  /// Whether the last write failed, and later ones wait for a retry.
  public var isFailing: Bool { queue.isFailing }

  private let path: String
  private let makeRecord: @EventLoopActor (LogMessage) -> LogRecord
  private let writer: PoolOwned<LogFileWriter>
  private var queue = LogFileQueue()
  private var isRunning = false
  private let retryTimer = LoopTimer()
  private var flushing: [CheckedContinuation<Void, Never>] = []

  /// A log file `name` in `directory`; both are made when the first record comes. `makeRecord` adds time and worker to
  /// messages about the file itself.
  public init(
    directory: String, name: String, limits: RotationLimits, files: any FileOperations = SystemFiles(),
    makeRecord: @escaping @EventLoopActor (LogMessage) -> LogRecord
  ) {
    path = "\(directory)/\(name)"
    self.limits = limits
    self.makeRecord = makeRecord
    writer = PoolOwned(LogFileWriter(directory: directory, name: name, files: files))
  }

  isolated deinit {
    let writer = writer
    EventLoopActor.task { await writer.use { $0.close() } }
  }

  /// Takes a record for the file.
  public func append(_ record: LogRecord) {
    queue.appended(record)
    writeSoon()
  }

  /// Opens the file again by its name, for a program that has moved it away (SIGUSR1). A failing file is tried at once.
  public func reopen() {
    queue.reopenAsked()
    writeSoon()
  }

  /// Waits until all records are written, but not beyond `deadline`: a pool thread that hangs on the disk delays no
  /// caller longer. Returns whether no record waits and the file does not fail.
  public func flush(until deadline: Instant) async -> Bool {
    writeSoon()
    let timer = LoopTimer()
    while isRunning, EventLoop.process.now < deadline {
      await withCheckedContinuation { continuation in
        flushing.append(continuation)
        timer.set(at: deadline) { [weak self] in self?.wakeFlushing() }
      }
    }
    timer.cancel()
    return queue.isIdle && !queue.isFailing
  }

  private func wakeFlushing() {
    let woken = flushing
    flushing.removeAll()
    for continuation in woken { continuation.resume() }
  }

  /// Writes in the next round of jobs, so that everything appended in one turn goes into one write.
  private func writeSoon() {
    guard !isRunning, queue.hasWork(now: EventLoop.process.now) else { return }
    isRunning = true
    EventLoopActor.task { [self] in await writeAll() }
  }

  private func writeAll() async {
    while let write = queue.nextWrite(now: EventLoop.process.now) {
      var records = write.records
      if write.missingCount > 0 { records.append(makeRecord(Self.gap(write))) }
      let batch = records
      let limits = limits
      let outcome = await writer.use { $0.write(batch, limits: limits, reopens: write.reopens) }
      let change = queue.finished(
        handledCount: outcome.handledCount, oversizeCount: outcome.oversizeCount, isFault: outcome.fault != nil,
        now: EventLoop.process.now)
      tell(change, outcome.fault)
    }
    isRunning = false
    setRetryTimer()
    wakeFlushing()
  }

  private func setRetryTimer() {
    guard let retry = queue.retryInstant else { return }
    retryTimer.set(at: retry) { [weak self] in
      guard let self else { return }
      writeSoon()
      // The loop counts whole milliseconds, so a timer may fire a little before its instant; nothing else would start
      // the write.
      if !isRunning { setRetryTimer() }
    }
  }

  private func tell(_ change: LogFileQueue.Change, _ fault: SystemFault?) {
    switch change {
    case .none: return
    case .failed:
      let reason = fault.map { "\($0)" } ?? "unknown"
      let seconds = LogFileQueue.firstRetryMilliseconds / 1_000
      onNote?(
        LogMessage(
          .error, LogMessage.aboutLog,
          "the log file cannot be written and lines are kept in memory only; next attempt in \(seconds) s. \(reason)",
          fields: ["path": path]))
    case .recovered:
      onNote?(LogMessage(.notice, LogMessage.aboutLog, "the log file is written again", fields: ["path": path]))
    }
  }

  private static func gap(_ write: LogFileQueue.Write) -> LogMessage {
    let reason = write.followsFailure ? "this file could not be written" : "they came faster than the disk took them"
    return LogMessage(
      .warning, LogMessage.aboutLog, "\(Wording.lines(write.missingCount)) missing here: \(reason)")
  }
}
