public import Clocks
internal import Contracts
public import EventLoop

// All logs of a running system: what workers write to their pipes and what the supervisor itself logs.
//
//     LogPipe ─ lines ─► LogIntake ─ messages ─► WorkerLogs ─ records ─┬─► LogRing    what `roost logs` shows at once
//                        budget, levels          time, worker,      ├─► LogFile    what is there tomorrow
//                                                number             └─► followers  `roost logs -f`
//
// Every part is bounded, and where a bound drops something, a reader will see that. Nothing here ever makes a worker
// wait, and nothing here waits for a disk or for a reader.

/// What is kept of logs, and where.
public struct WorkerLogSettings: Sendable, Hashable {
  /// The directory of the files, absolute; nil keeps records in memory only.
  public var directory: String?
  /// The bounds of each worker's files.
  public var rotation = RotationLimits()
  /// Lines a second that one worker may write in the long run: 1 … 1,000,000.
  public var linesPerSecond = 2_000
  /// Lines that a worker may write at once; at least 1.
  public var burstLines = 4_000
  /// The longest line that is kept whole, in bytes; at least 1. Applies to pipes opened from now on.
  public var lineByteCountMaximum = LineSplitter.lineByteCountMaximum

  /// The defaults, with files in this directory.
  public init(directory: String?) { self.directory = directory }
}

/// Records in order, and how many before them are no longer in memory.
public struct LogPage: Sendable {
  /// In order of arrival.
  public var entries: [LogEntry]
  /// Records after the requested position that are no longer in memory.
  public var missedCount: UInt64
}

/// The registration of a follower; ``WorkerLogs/unfollow(_:)`` ends it.
public struct LogFollower: Hashable, Sendable {
  fileprivate let id: UInt64
}

/// The logs of all workers.
@EventLoopActor
public final class WorkerLogs {
  /// The maximum number of workers with a log of their own. Lines of further workers go into one common log,
  /// ``overflowJournal``; their records have the name of the worker.
  public static let journalCountMaximum = 256
  /// The log of all workers beyond the maximum.
  public static let overflowJournal = "others"
  /// The longest name of a worker in a record, in bytes; longer names are cut.
  public static let workerByteCountMaximum = 128

  /// Which lines are kept.
  public private(set) var levels: LogFilter
  /// The number of the newest record of all; 0 before the first.
  public private(set) var lastArrival: UInt64 = 0

  private var settings: WorkerLogSettings
  private let files: any FileOperations
  private let wallClock: @EventLoopActor () -> WallTime
  private var journals: [String: Journal] = [:]
  private let reportTimer = LoopTimer()
  private var followers: [LogFollower: Follower] = [:]
  private var nextFollower: UInt64 = 1
  private var undelivered: [LogEntry] = []

  private struct Follower {
    var worker: String?
    var after: UInt64
    var handler: @EventLoopActor ([LogEntry]) -> Void
  }

  /// A book without records.
  public init(
    settings: WorkerLogSettings, levels: LogFilter = LogFilter(), files: any FileOperations = SystemFiles(),
    wallClock: @escaping @EventLoopActor () -> WallTime = { WallTime.now }
  ) {
    self.settings = settings
    self.levels = levels
    self.files = files
    self.wallClock = wallClock
  }

  // MARK: Writing

  /// Keeps a line of a worker, or of the supervisor itself, if its level is high enough. Its rate is not bounded,
  /// because the supervisor writes it.
  public func append(worker: String, _ message: LogMessage) {
    guard levels.shouldKeep(category: message.category, level: message.level) else { return }
    let journal = journal(of: worker)
    keep(message, in: journal, worker: Self.cut(worker))
  }

  /// Takes a line that a worker wrote, through its budget. ``settle(_:)`` follows after the lines of this read.
  func received(_ line: SplitLine, from source: LogSource, in journal: Journal) {
    journal.intake.received(
      line, from: source, levels: levels, now: EventLoop.process.turnStart, messages: &journal.gathered)
  }

  /// Keeps the messages that the lines of a read have produced, under this worker's name.
  func settle(_ journal: Journal, worker: String) {
    let messages = journal.gathered
    journal.gathered.removeAll(keepingCapacity: true)
    for message in messages { keep(message, in: journal, worker: worker) }
    if journal.intake.nextDeadline != nil { setReportTimer() }
  }

  /// The journal for the lines of a worker.
  func journal(of worker: String) -> Journal {
    if let journal = journals[worker] { return journal }
    let isFull = journals.count >= Self.journalCountMaximum
    let name = isFull ? Self.overflowJournal : worker
    if let journal = journals[name] { return journal }
    let journal = Journal(name: Self.cut(name), settings: settings)
    if let directory = settings.directory { journal.file = makeFile(for: journal, in: directory) }
    journals[name] = journal
    return journal
  }

  private func makeFile(for journal: Journal, in directory: String) -> LogFile {
    let worker = journal.name
    let file = LogFile(
      directory: directory, name: LogFileName.encode(worker), limits: settings.rotation, files: files
    ) { [wallClock] message in
      LogRecord(message, worker: worker, time: wallClock())
    }
    file.onNote = { [weak self, weak journal] note in
      guard let self, let journal else { return }
      remember(LogRecord(note, worker: worker, time: wallClock()), in: journal)
    }
    return file
  }

  private func keep(_ message: LogMessage, in journal: Journal, worker: String) {
    let record = LogRecord(message, worker: worker, time: wallClock())
    remember(record, in: journal)
    journal.file?.append(record)
  }

  private func remember(_ record: LogRecord, in journal: Journal) {
    lastArrival += 1
    let entry = journal.ring.append(record, arrival: lastArrival)
    guard !followers.isEmpty else { return }
    // Delivered by a job of its own, so that a follower that logs does not call itself.
    if undelivered.isEmpty { EventLoopActor.task { [weak self] in self?.deliver() } }
    undelivered.append(entry)
  }

  /// One timer for all gaps that must be reported.
  private func setReportTimer() {
    guard let next = journals.values.compactMap(\.intake.nextDeadline).min() else { return }
    reportTimer.set(at: next) { [weak self] in self?.reportGaps() }
  }

  private func reportGaps() {
    for journal in journals.values where journal.intake.nextDeadline != nil {
      journal.intake.timerFired(now: EventLoop.process.now, messages: &journal.gathered)
      settle(journal, worker: journal.name)
    }
  }

  // MARK: Reading

  /// The last records, at most `lines`, of one worker or of all, in order of arrival.
  public func tail(worker: String? = nil, lines: Int) -> [LogEntry] {
    let entries = journals(of: worker).flatMap { $0.ring.entries.suffix(max(0, lines)) }
    return Array(entries.sorted { $0.arrival < $1.arrival }.suffix(max(0, lines)))
  }

  /// Records of all workers that arrived after the one numbered `arrival`, the oldest first and at most `limit`.
  public func entries(afterArrival arrival: UInt64, limit: Int) -> LogPage {
    let entries = journals.values.flatMap { $0.ring.entries.reversed().prefix { $0.arrival > arrival } }
    let expected = lastArrival > arrival ? lastArrival - arrival : 0
    let ordered = entries.sorted { $0.arrival < $1.arrival }
    return LogPage(entries: Array(ordered.prefix(max(0, limit))), missedCount: expected - UInt64(entries.count))
  }

  /// Records of one worker after the one with this number in its log, the oldest first and at most `limit`.
  public func entries(of worker: String, afterNumber number: UInt64, limit: Int) -> LogPage {
    guard let journal = journals[worker] else { return LogPage(entries: [], missedCount: 0) }
    let (entries, missed) = journal.ring.entries(after: number)
    return LogPage(entries: Array(entries.prefix(max(0, limit))), missedCount: missed)
  }

  /// Calls back with the records that arrive from now on, of one worker or of all, in order, some at a time. A follower
  /// that cannot take them remembers the last number it has, and asks for the rest later.
  public func follow(
    worker: String? = nil, _ handler: @escaping @EventLoopActor ([LogEntry]) -> Void
  ) -> LogFollower {
    let follower = LogFollower(id: nextFollower)
    nextFollower += 1
    followers[follower] = Follower(worker: worker, after: lastArrival, handler: handler)
    return follower
  }

  /// Ends a registration.
  public func unfollow(_ follower: LogFollower) { followers[follower] = nil }

  private func deliver() {
    let entries = undelivered
    undelivered.removeAll()
    for (id, follower) in followers where followers[id] != nil {
      let wanted = entries.filter { entry in
        entry.arrival > follower.after && (follower.worker == nil || follower.worker == entry.record.worker)
      }
      if !wanted.isEmpty { follower.handler(wanted) }
    }
  }

  private func journals(of worker: String?) -> [Journal] {
    guard let worker else { return Array(journals.values) }
    return journals[worker].map { [$0] } ?? []
  }

  /// The number of a worker's lines that were dropped because they came too fast.
  public func droppedLineCount(of worker: String) -> UInt64 { journals[worker]?.intake.droppedLineCount ?? 0 }

  /// The number of a worker's records that should be in a file and are not.
  public func lostRecordCount(of worker: String) -> UInt64 { journals[worker]?.file?.lostRecordCount ?? 0 }

  /// The longest line that is kept whole, in bytes, for pipes opened now.
  var lineByteCountMaximum: Int { settings.lineByteCountMaximum }

  // MARK: Changing

  /// Sets the least level of a category (`*`: of all without one of their own) from the next line on.
  ///
  /// - Returns: false, and nothing changes, if the table of levels is full.
  public func setLevel(_ category: String, _ level: LogSeverity) -> Bool { levels.set(category, level) }

  /// Adopts a changed configuration. All budgets start full again; the directory does not change.
  public func apply(_ changed: WorkerLogSettings, levels: LogFilter) {
    let directory = settings.directory
    settings = changed
    settings.directory = directory
    self.levels = levels
    for journal in journals.values {
      journal.intake.setBudget(linesPerSecond: settings.linesPerSecond, burstLines: settings.burstLines)
      journal.file?.limits = settings.rotation
    }
  }

  /// Opens all files again by their names (SIGUSR1).
  public func reopen() {
    for journal in journals.values { journal.file?.reopen() }
  }

  /// Reports the open gaps, then waits until all files are written, but not beyond `deadline`. Returns whether
  /// everything is in its file.
  public func flush(until deadline: Instant) async -> Bool {
    for journal in journals.values {
      journal.intake.ended(now: EventLoop.process.now, messages: &journal.gathered)
      settle(journal, worker: journal.name)
    }
    var isWhole = true
    for file in journals.values.compactMap(\.file) {
      if !(await file.flush(until: deadline)) { isWhole = false }
    }
    return isWhole
  }

  private static func cut(_ name: String) -> String {
    name.utf8.count <= workerByteCountMaximum
      ? name : String(decoding: name.utf8.prefix(workerByteCountMaximum), as: UTF8.self)
  }
}

extension LogRecord {
  init(_ message: LogMessage, worker: String, time: WallTime) {
    self.init(
      time: time.text, worker: worker, level: message.level.rawValue, category: message.category,
      message: message.message, fields: message.fields)
  }
}
