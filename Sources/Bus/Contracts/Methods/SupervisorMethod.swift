public import Frames

/// The methods of the supervisor.
public enum SupervisorMethod {
  /// The state of the supervisor, its workers and its clients.
  public static let status = Method<StatusRequest, SupervisorStatus>(
    1, "supervisor.status", of: .supervisor, for: [.client, .localRelay, .backup, .people],
    "The state of the supervisor, its workers and its clients.")
  /// Starts a worker.
  public static let start = Method<WorkerCommand, WorkerCommandResult>(
    2, "supervisor.start", of: .supervisor, for: [.client],
    "Starts a worker. Answered when the worker is ready or has failed.")
  /// Stops a worker.
  public static let stop = Method<StopCommand, WorkerCommandResult>(
    3, "supervisor.stop", of: .supervisor, for: [.client],
    "Stops a worker after it has drained. Answered when it has stopped.")
  /// Restarts a worker.
  public static let restart = Method<WorkerCommand, WorkerCommandResult>(
    4, "supervisor.restart", of: .supervisor, for: [.client],
    "Stops and starts a worker. Answered when the worker is ready or has failed.")
  /// Holds or releases a worker.
  public static let hold = Method<HoldCommand, WorkerCommandResult>(
    5, "supervisor.hold", of: .supervisor, for: [.client],
    "Keeps a worker stopped, with its queue, or releases it.")
  /// A token for a worker that a person starts by hand.
  public static let attach = Method<AttachRequest, AttachGrant>(
    6, "supervisor.attach", of: .supervisor, for: [.client],
    "A token with which a worker that is started by hand can join once. For the supervisor's own user only.",
    refuses: [.denied])
  /// Reads the configuration again.
  public static let reload = Method<ReloadRequest, ReloadResult>(
    7, "supervisor.reload", of: .supervisor, for: [.client],
    "Reads the configuration file again and applies what changed, or says what would change.")
  /// Log lines.
  public static let logs = Stream<LogsRequest, [LogRecord], [LogRecord]>(
    8, "supervisor.logs", of: .supervisor, for: [.client],
    "Log lines of workers, in parts of several lines; with `follow` until the caller cancels.")
  /// Sets a log level.
  public static let logLevel = Method<LogLevelRequest, LogLevelResult>(
    9, "supervisor.log-level", of: .supervisor, for: [.client],
    "Sets or shows the log level of a category.")
  /// Explains a worker's state.
  public static let why = Method<WhyRequest, WhyResult>(
    10, "supervisor.why", of: .supervisor, for: [.client],
    "Explains the state of a worker, with its last log lines.")
  /// Dead letters.
  public static let deadLetters = Method<DeadLettersRequest, DeadLettersResult>(
    11, "supervisor.dead-letters", of: .supervisor, for: [.client],
    "Lists, shows, retries or drops dead letters: messages that were set aside because workers died of them.")
  /// Checks the supervisor, its workers and their files.
  public static let doctor = Method<NoArguments, DoctorResult>(
    12, "supervisor.doctor", of: .supervisor, for: [.client],
    "Checks the supervisor, its workers and their files.")
  /// Ends the supervisor.
  public static let shutdown = Method<NoArguments, WorkerCommandResult>(
    13, "supervisor.shutdown", of: .supervisor, for: [.client],
    "Stops all workers and ends the supervisor.")
  /// Records a worker's messages.
  public static let record = Stream<RecordRequest, RecordProgress, RecordAnswer>(
    14, "supervisor.record", of: .supervisor, for: [.client],
    "Writes the messages between a worker and the hub into a file. For the supervisor's own user only.",
    refuses: [.denied])
  /// The version of the supervisor.
  public static let version = Method<NoArguments, SupervisorVersion>(
    15, "supervisor.version", of: .supervisor, for: [.client],
    "The version of the supervisor, without a look at its workers.")
  /// The configuration file.
  public static let configuration = Method<NoArguments, SupervisorConfigurationFile>(
    16, "supervisor.configuration", of: .supervisor, for: [.client, .backup],
    "The configuration file and the names of the state directories, for a backup. For the supervisor's own user only.",
    refuses: [.denied])

  static let all: [MethodDeclaration] = [
    status.declaration, start.declaration, stop.declaration, restart.declaration, hold.declaration, attach.declaration,
    reload.declaration, logs.declaration, logLevel.declaration, why.declaration, deadLetters.declaration,
    doctor.declaration, shutdown.declaration, record.declaration, version.declaration, configuration.declaration,
    SupervisorTopic.events.declaration,
  ]
}

/// The topics of the supervisor.
public enum SupervisorTopic {
  /// Changes of workers' states.
  public static let events = Topic<SupervisorEvent>(
    32, "supervisor.events", of: .supervisor, for: [.client], "Each change of a worker's state, with its reason.")
}

/// The answer of `supervisor.configuration`.
public struct SupervisorConfigurationFile: Codable, Payload, Hashable {
  /// Its path; nil when roostd runs without one.
  public var path: String?
  /// Its text.
  public var text: String
  /// The folders in the state directory that belong to workers, of this configuration or of an earlier one.
  public var folders: [String]

  /// The most bytes of a configuration file.
  public static let byteCountMaximum = 256 << 10

  /// A file.
  public init(path: String?, text: String, folders: [String]) {
    (self.path, self.text, self.folders) = (path, text, folders)
  }
}

/// The answer of `supervisor.version`.
public struct SupervisorVersion: Codable, Payload, Hashable {
  /// The version of roostd, such as `1.2.3`.
  public var version: String
  /// The version of the protocol, as in each frame.
  public var protocolVersion: UInt8

  /// A version.
  public init(version: String, protocolVersion: UInt8) {
    self.version = version
    self.protocolVersion = protocolVersion
  }
}

extension SupervisorStatus: Payload {}
extension WorkerCommandResult: Payload {}
extension AttachGrant: Payload {}
extension ReloadResult: Payload {}
extension LogLevelResult: Payload {}
extension WhyResult: Payload {}
extension DeadLettersResult: Payload {}
extension DoctorResult: Payload {}
extension RecordProgress: Payload {}
extension SupervisorEvent: Payload {}

/// The terminal answer of `supervisor.record`.
public enum RecordAnswer: Payload {
  /// The recording has ended.
  case ended(RecordResult)
  /// The answer of a request with `ends`: the recording that it ends.
  case ending(RecordProgress)

  /// The form of either case.
  public static var form: PayloadForm { .either([.json(RecordResult.self), .json(RecordProgress.self)]) }

  /// Reads either case.
  public static func read(_ bytes: [UInt8], isRaw: Bool, of method: String) throws(Refusal) -> Self {
    // A result has members that a progress does not have.
    if let result = try? JSONPayload.decode(RecordResult.self, from: bytes) { return .ended(result) }
    return .ending(try JSONPayload.decode(RecordProgress.self, from: bytes))
  }

  /// JSON.
  public var written: (bytes: [UInt8], isRaw: Bool) {
    switch self {
    case .ended(let result): (JSONPayload.encode(result), false)
    case .ending(let progress): (JSONPayload.encode(progress), false)
    }
  }
}
