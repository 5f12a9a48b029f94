internal import Bus
internal import Contracts
internal import EventLoop
internal import Frames
internal import Glibc
public import Logging
internal import Synchronization

// How a worker logs: swift-log as the interface, a line of JSON on standard error as the output. A category is a
// logger's label. Its level can be changed while the worker runs (`roost log level relay=debug`), so levels are looked
// up for each line and not kept in the handlers. A worker that was started by hand on a terminal writes lines for
// people instead.

/// Log levels by category, shared by all loggers of the process. `*` is the default.
public enum LogLevels {
  private static let levels = Mutex<[String: Logger.Level]>(["*": .info])
  /// Whether any category shows `debug` or `trace`.
  private static let hasDetails = Atomic(false)

  /// Whether lines of `debug` or `trace` are wanted in any category. While they are not, what makes such lines for each
  /// message costs one read of this flag.
  public static var areDetailsWanted: Bool { hasDetails.load(ordering: .relaxed) }

  /// Whether lines of level `debug` are wanted in this category.
  public static func isDebugWanted(in category: String) -> Bool {
    areDetailsWanted && level(of: category) <= .debug
  }

  /// Replaces all levels; unknown words are left out.
  public static func set(_ words: [String: String]) {
    let parsed = words.compactMapValues { Logger.Level(rawValue: $0) }
    levels.withLock { levels in
      levels = parsed
      if levels["*"] == nil { levels["*"] = .info }
      hasDetails.store(levels.values.contains { $0 <= .debug }, ordering: .relaxed)
    }
  }

  static func level(of category: String) -> Logger.Level {
    levels.withLock { $0[category] ?? $0["*"] ?? .info }
  }
}

/// Writes structured lines to standard error.
public struct LineLogHandler: LogHandler {
  /// Fields of every line of this logger.
  public var metadata: Logger.Metadata = [:]
  private let category: String
  private let isForPeople: Bool

  /// The longest line, in bytes; longer messages are cut and marked.
  public static let lineByteCountMaximum = 8 << 10

  init(category: String) {
    self.category = category
    isForPeople = isatty(STDERR_FILENO) == 1
  }

  /// The level in force for this category. Setting it on one logger has no effect: levels belong to categories.
  public var logLevel: Logger.Level {
    get { LogLevels.level(of: category) }
    set {}
  }

  /// A field of every line.
  public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  /// Writes one line.
  public func log(event: LogEvent) {
    var fields = metadata
    if let more = event.metadata { fields.merge(more) { $1 } }
    var texts = fields.mapValues { "\($0)" }
    // An empty trace says that the line is about none.
    if texts[LogRecord.traceField]?.isEmpty == true {
      texts[LogRecord.traceField] = nil
    } else if texts[LogRecord.traceField] == nil, let trace = BusTrace.current {
      texts[LogRecord.traceField] = trace.description
    }
    var message = "\(event.message)"
    if message.utf8.count > Self.lineByteCountMaximum {
      message = String(decoding: message.utf8.prefix(Self.lineByteCountMaximum), as: UTF8.self) + " … (cut)"
    }
    var line: [UInt8]
    if isForPeople {
      let tail = texts.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
      line = Array(ControlCharacters.escaped("\(event.level) \(category): \(message)\(tail)").utf8)
    } else {
      line = JSONPayload.encode(
        LogLine(
          level: event.level.rawValue, category: category, message: message, fields: texts.isEmpty ? nil : texts))
    }
    line.append(UInt8(ascii: "\n"))
    // One write for each line: lines of several threads do not mix, and no line is lost when the process dies.
    _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
