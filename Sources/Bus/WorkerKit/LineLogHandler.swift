internal import EventLoop
internal import Frames
internal import Glibc
public import Logging
internal import Synchronization

// How a worker logs: swift-log in front, a line of JSON on standard error behind. A category is a logger's label; its
// level can be changed while the worker runs (`roost log level relay=debug`), so levels are looked up at each line
// instead of being kept in the handlers. Started by hand on a terminal, a worker writes for people instead.

/// Log levels by category, shared by all loggers of the process. `*` is the general one.
public enum LogLevels {
  private static let levels = Mutex<[String: Logger.Level]>(["*": .info])

  /// Replaces all levels; unknown words are left out.
  public static func set(_ words: [String: String]) {
    let parsed = words.compactMapValues { Logger.Level(rawValue: $0) }
    levels.withLock { levels in
      levels = parsed
      if levels["*"] == nil { levels["*"] = .info }
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

  /// Longest line written, in bytes; longer messages are cut with a mark.
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
    let texts = fields.mapValues { "\($0)" }
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
    // One write a line: lines of several threads do not mix, and nothing is lost when the process dies next.
    _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
