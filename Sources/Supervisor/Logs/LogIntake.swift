public import Clocks
internal import Frames

// What of a worker's lines is kept, decided as cheaply as a flood demands.
//
// The order matters: first the budget, on a line that is still bytes; then, for what passes, text and JSON; then the
// level. A worker that writes 100 MB/s costs a comparison for each line and nothing more, and never waits: a supervisor
// that stopped reading would stop its worker.
//
// Once the budget is spent, all lines are dropped until half of it is free again. Rejected: letting single lines
// through at the long-run rate. One line in fifty, without a sign of the gaps between them, tells a reader nothing; a
// block of whole lines, then "4,211 lines dropped in 3 s" at the very place of the gap, does.

/// What a line says, before it has a time and a worker.
public struct LogMessage: Sendable, Hashable {
  /// How grave it is.
  public var level: LogSeverity
  /// The category of a structured line; `stdout` or `stderr` for plain ones; `log` for what is said about the log
  /// itself.
  public var category: String
  /// The text.
  public var message: String
  /// Further fields.
  public var fields: [String: String]?

  /// A message.
  public init(_ level: LogSeverity, _ category: String, _ message: String, fields: [String: String]? = nil) {
    self.level = level
    self.category = category
    self.message = message
    self.fields = fields
  }

  /// The category of what is said about the log itself. No level hides it.
  static let aboutLog = "log"
}

/// Where a worker wrote a line.
public enum LogSource: String, Sendable {
  /// Plain lines of it are `info`.
  case standardOutput = "stdout"
  /// Plain lines of it are `notice`; structured ones usually come here.
  case standardError = "stderr"
}

/// The gate in front of one worker's log.
///
/// Two states: *open*, and *dropping* since the budget was spent, which ends when half of the burst is free again. Each
/// gap is told by one message when it ends, and by one every ``reportIntervalMilliseconds`` while it lasts; none of
/// them is lost.
public struct LogIntake: Sendable {
  /// The longest a gap goes on untold, in milliseconds.
  public static let reportIntervalMilliseconds: UInt64 = 3_000

  /// Lines dropped because they came too fast; only grows.
  public private(set) var droppedLineCount: UInt64 = 0

  private struct Gap {
    var resumesAt: Instant
    var reportedAt: Instant
    var lineCount: UInt64 = 0

    mutating func tell(_ now: Instant, _ messages: inout [LogMessage]) {
      if lineCount > 0 {
        let sentence = LogIntake.sentence(lineCount, now.milliseconds(since: reportedAt))
        messages.append(LogMessage(.warning, LogMessage.aboutLog, sentence))
      }
      lineCount = 0
      reportedAt = now
    }
  }
  private var budget: LineBudget
  private var gap: Gap?

  /// A gate with a whole burst left.
  public init(linesPerSecond: Int, burstLines: Int) {
    budget = LineBudget(linesPerSecond: linesPerSecond, burstLines: burstLines)
  }

  /// From now on another budget, with a whole burst left.
  mutating func setBudget(linesPerSecond: Int, burstLines: Int) {
    budget = LineBudget(linesPerSecond: linesPerSecond, burstLines: burstLines)
  }

  /// A line came. What is to be kept is appended to `messages`: nothing, the line, or word of a gap and the line.
  public mutating func received(
    _ line: SplitLine, from source: LogSource, levels: LogFilter, now: Instant, messages: inout [LogMessage]
  ) {
    if gap != nil { timerFired(now: now, messages: &messages) }
    if gap == nil {
      if budget.take(now) {
        let message = Self.parse(line, source)
        if levels.shouldKeep(category: message.category, level: message.level) { messages.append(message) }
        return
      }
      gap = Gap(resumesAt: budget.halfFree, reportedAt: now)
    }
    gap?.lineCount += 1
    droppedLineCount += 1
  }

  /// When ``timerFired(now:messages:)`` has something to do; nil while nothing is dropped.
  public var nextDeadline: Instant? {
    gap.map { min($0.resumesAt, $0.reportedAt.advanced(milliseconds: Self.reportIntervalMilliseconds)) }
  }

  /// The deadline has come, or may have: tells of the gap if it ended or has been untold for long.
  public mutating func timerFired(now: Instant, messages: inout [LogMessage]) {
    guard var present = gap else { return }
    let isOver = now >= present.resumesAt
    let elapsed = now.milliseconds(since: present.reportedAt)
    guard isOver || elapsed >= Self.reportIntervalMilliseconds else { return }
    present.tell(now, &messages)
    gap = isOver ? nil : present
  }

  /// Nothing more is to come: tells of a gap at once.
  public mutating func ended(now: Instant, messages: inout [LogMessage]) { gap?.tell(now, &messages) }

  /// `4,211 lines dropped in 3 s`.
  static func sentence(_ lineCount: UInt64, _ milliseconds: UInt64) -> String {
    let tenths = max(1, (milliseconds + 50) / 100)
    let seconds = tenths < 100 && tenths % 10 != 0 ? "\(tenths / 10).\(tenths % 10)" : "\((tenths + 5) / 10)"
    return "\(Wording.lines(lineCount)) dropped in \(seconds) s"
  }

  // MARK: Lines

  /// What a structured line holds.
  private struct Structured: Decodable {
    var level: String
    var category: String
    var message: String
    var fields: [String: String]?
  }

  /// How every JSON object with a member begins, as programs write it. Which key comes first depends on the program:
  /// our own encoder sorts them.
  private static let structuredPrefix = Array(#"{""#.utf8)

  /// A line with the shape of a structured one is read as one; whatever else it is, it is kept as the text it is.
  private static func parse(_ line: SplitLine, _ source: LogSource) -> LogMessage {
    if !line.isCut, line.bytes.starts(with: structuredPrefix) {
      // A line that only looks structured is an answer, not a fault.
      if let read = try? JSONPayload.decode(Structured.self, from: line.bytes),
        let level = LogSeverity(rawValue: read.level)
      {
        return LogMessage(level, read.category, read.message, fields: read.fields)
      }
    }
    switch source {
    case .standardOutput: return LogMessage(.info, source.rawValue, line.text)
    case .standardError: return LogMessage(.notice, source.rawValue, line.text)
    }
  }
}
