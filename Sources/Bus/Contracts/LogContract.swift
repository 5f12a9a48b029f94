// Logs, as they are kept and told: `supervisor.logs` and `supervisor.log-level`.

/// `supervisor.logs`: answered by parts of ``LogRecord`` arrays, without end when following.
public struct LogsRequest: MethodArguments {
  /// How it is asked.
  public static let example = #"{"worker":"signer","lines":50,"follow":false}"#

  /// Only this worker's lines.
  public var worker: String?
  /// How many past lines.
  public var lines: Int?
  /// Whether to go on with new ones.
  public var follow: Bool?
  /// A request for lines.
  public init(worker: String? = nil, lines: Int? = nil, follow: Bool? = nil) {
    self.worker = worker
    self.lines = lines
    self.follow = follow
  }
}

/// One line of a log, as it stands in the file (JSON, one object a line) and in answers.
public struct LogRecord: Codable, Sendable, Hashable {
  /// Wall time, RFC 3339 in UTC with milliseconds; for people, never for arithmetic.
  public var time: String
  /// The worker that wrote it; `roostd` for the supervisor itself.
  public var worker: String
  /// `trace` … `critical`; plain lines of standard output are `info`, of standard error `notice`.
  public var level: String
  /// The category of a structured line; `stdout` or `stderr` for plain ones.
  public var category: String
  /// The text.
  public var message: String
  /// Further fields of a structured line.
  public var fields: [String: String]?

  /// A line.
  public init(
    time: String, worker: String, level: String, category: String, message: String, fields: [String: String]? = nil
  ) {
    self.time = time
    self.worker = worker
    self.level = level
    self.category = category
    self.message = message
    self.fields = fields
  }
}

/// `supervisor.log-level`.
public struct LogLevelRequest: MethodArguments {
  /// How it is asked.
  public static let example = #"{"category":"audit","level":"debug"}"#

  /// A category; `*` for all without a level of their own.
  public var category: String
  /// `trace`, `debug`, `info`, `notice`, `warning`, `error` or `critical`.
  public var level: String
  /// A new level.
  public init(category: String, level: String) {
    self.category = category
    self.level = level
  }
}

/// The answer to ``LogLevelRequest``: what is in force now.
public struct LogLevelResult: Codable, Sendable {
  /// The category.
  public var category: String
  /// Its level.
  public var level: String
  /// A doubt: whether the category is anybody's.
  public var remark: String?
  /// A result.
  public init(category: String, level: String) {
    self.category = category
    self.level = level
  }
}

/// The categories that Roost's own programs log in. Workers of people's own have what categories they like.
public enum LogCategory {
  /// roostd's, the workers', and those of plain lines on standard output and standard error.
  public static let builtIn = [
    "audit", "bus", "door", "hub", "ingest", "jobs", "local-relay", "log", "plan", "publish", "push", "relay",
    "serving", "signer", "state", "stderr", "stdout", "store", "supervision", "systemd", "worker",
  ]
}
