internal import Frames

// Logs, as they are kept and shown: `supervisor.logs` and `supervisor.log-level`.

/// `supervisor.logs`: answered with parts that are arrays of ``LogRecord``, without end when following.
public struct LogsRequest: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"worker":"signer","lines":50,"follow":false,"trace":"9f2c"}"#

  /// Only this worker's lines.
  public var worker: String?
  /// The number of past lines.
  public var lines: Int?
  /// Whether new lines follow.
  public var follow: Bool?
  /// Only lines about the request with this trace, of all workers that worked on it: 1 to 16 hexadecimal digits.
  public var trace: String?

  /// A request for lines.
  public init(worker: String? = nil, lines: Int? = nil, follow: Bool? = nil, trace: String? = nil) {
    self.worker = worker
    self.lines = lines
    self.follow = follow
    self.trace = trace
  }

  /// A trace that is not one.
  public var objection: String? {
    guard let trace, RequestTrace(trace) == nil else { return nil }
    return "'trace' is not 1 to 16 hexadecimal digits"
  }
}

/// One line of a log, as it is written to the file (JSON, one object a line) and sent in answers.
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
  /// Further fields of a structured line. `trace` is the trace of the request that it is about.
  public var fields: [String: String]?

  /// The field with the trace of the request that a line is about.
  public static let traceField = "trace"

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
  /// An example of the arguments.
  public static let example = #"{"category":"audit","level":"debug"}"#

  /// A category; `*` for all categories without a level of their own.
  public var category: String
  /// `trace`, `debug`, `info`, `notice`, `warning`, `error` or `critical`.
  public var level: String
  /// A new level.
  public init(category: String, level: String) {
    self.category = category
    self.level = level
  }
}

/// The answer to ``LogLevelRequest``: the level that is in force now.
public struct LogLevelResult: Codable, Sendable {
  /// The category.
  public var category: String
  /// Its level.
  public var level: String
  /// A warning, such as that no worker logs in this category.
  public var remark: String?
  /// A result.
  public init(category: String, level: String) {
    self.category = category
    self.level = level
  }
}

/// The categories that Roost's own programs log in. A user's own workers may use any category.
public enum LogCategory {
  /// The categories of roostd and the workers, and those of plain lines on standard output and standard error.
  public static let builtIn = [
    "audit", "backup", "bus", "door", "hub", "ingest", "jobs", "links", "local-relay", "log", "mirror", "people",
    "plan", "publish", "push", "relay", "requests", "serving", "signer", "state", "stderr", "stdout", "store",
    "supervision", "systemd",
    "traffic-auth", "traffic-notice", "traffic-publish", "traffic-subscription", "traffic-sync", "worker",
  ]
  /// The categories of messages from and to relays, at level `debug`: see ``TrafficCategory``.
  public static let traffic = TrafficCategory.allCases.map(\.rawValue)
}

/// The categories of the lines about messages from and to relays. Each line has the fields `relay`, `bytes`, and
/// `trace` when the message belongs to a request. As shipped their level hides them; `roost log level
/// traffic-publish=debug` shows them from then on.
public enum TrafficCategory: String, Sendable, Hashable, CaseIterable {
  /// AUTH; never a challenge or a signature.
  case auth = "traffic-auth"
  /// NOTICE, and what no other category has.
  case notice = "traffic-notice"
  /// EVENT to a relay, and its OK.
  case publish = "traffic-publish"
  /// REQ, CLOSE, COUNT; EVENT from a relay, EOSE, CLOSED.
  case subscription = "traffic-subscription"
  /// NEG-OPEN, NEG-MSG, NEG-CLOSE, NEG-ERR.
  case sync = "traffic-sync"
}
