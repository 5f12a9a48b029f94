public import Clocks
internal import Frames

// Decides which of a worker's lines are kept, as cheaply as a flood demands.
//
// The order matters: first the budget, on a line that is still bytes; then, for lines that pass, text and JSON; then
// the level. A worker that writes 100 MB/s costs one comparison a line and no more, and never waits: a supervisor that
// stopped reading would stop its worker.
//
// Once the budget is spent, all lines are dropped until half of it is free again. Rejected: letting single lines
// through at the long-run rate. One line in fifty, without a sign of the gaps between them, is useless to a reader; a
// block of whole lines, and then "4,211 lines dropped in 3 s" at the very place of the gap, is useful.

/// The content of a line, before it has a time and a worker.
public struct LogMessage: Sendable, Hashable {
  /// How severe it is.
  public var level: LogSeverity
  /// The category of a structured line; `stdout` or `stderr` for plain lines; `log` for messages about the log itself.
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

  /// The category of messages about the log itself. No level hides it.
  static let aboutLog = "log"
}

/// Where a worker wrote a line.
public enum LogSource: String, Sendable {
  /// Its plain lines are `info`.
  case standardOutput = "stdout"
  /// Its plain lines are `notice`; structured lines usually come here.
  case standardError = "stderr"
}

/// The gate in front of one worker's log.
///
/// Two states: *open*, and *dropping* after the budget was spent, which ends when half of the burst is free again. One
/// message reports each gap when it ends, and one every ``reportIntervalMilliseconds`` while it lasts; no such message
/// is lost.
public struct LogIntake: Sendable {
  /// The longest time without a report on a gap, in milliseconds.
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

  /// Sets another budget from now on, with a whole burst left.
  mutating func setBudget(linesPerSecond: Int, burstLines: Int) {
    budget = LineBudget(linesPerSecond: linesPerSecond, burstLines: burstLines)
  }

  /// A line arrived. Appends what is to be kept to `messages`: nothing, the line, or a report on a gap and the line.
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

  /// When ``timerFired(now:messages:)`` has something to do; nil if nothing is dropped.
  public var nextDeadline: Instant? {
    gap.map { min($0.resumesAt, $0.reportedAt.advanced(milliseconds: Self.reportIntervalMilliseconds)) }
  }

  /// The deadline has come, or may have: reports the gap if it has ended or was not reported for long.
  public mutating func timerFired(now: Instant, messages: inout [LogMessage]) {
    guard var present = gap else { return }
    let isOver = now >= present.resumesAt
    let elapsed = now.milliseconds(since: present.reportedAt)
    guard isOver || elapsed >= Self.reportIntervalMilliseconds else { return }
    present.tell(now, &messages)
    gap = isOver ? nil : present
  }

  /// The stream has ended: reports a gap at once.
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
  /// Roost's own encoder sorts them.
  private static let structuredPrefix = Array(#"{""#.utf8)

  /// Reads a line that has the form of a structured one; a line that is not, is kept as text.
  private static func parse(_ line: SplitLine, _ source: LogSource) -> LogMessage {
    if !line.isCut, line.bytes.starts(with: structuredPrefix) {
      // `try?`: a line that only looks structured is an answer, not a fault.
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
