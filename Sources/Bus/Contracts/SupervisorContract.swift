// The supervisor's own methods, `supervisor.*`: the requests and answers of `roost status`, `why`, `logs` and the
// others. All JSON.

/// `supervisor.status`.
public struct StatusRequest: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"memory":true}"#

  /// Also measure proportional memory, which costs a walk through the pages of each process.
  public var memory: Bool?
  /// A request.
  public init(memory: Bool? = nil) { self.memory = memory }
}

/// The answer to ``StatusRequest``: the state of the supervisor, its workers and its clients.
public struct SupervisorStatus: Codable, Sendable {
  /// Version of roostd.
  public var version: String
  /// Process id of roostd.
  public var pid: Int32
  /// Milliseconds since roostd started.
  public var uptimeMilliseconds: UInt64
  /// The configuration file.
  public var configuration: String
  /// The socket.
  public var socket: String
  /// Resident memory of roostd, in bytes.
  public var residentBytes: UInt64?
  /// Payload bytes kept in mailboxes and with unanswered requests.
  public var keptBytes: Int
  /// Counters of the hub, by name; they only grow.
  public var counters: [String: UInt64]
  /// Number of dead letters.
  public var deadLetters: Int
  /// The latest of them, the latest first, without their payloads; at most ``latestMaximum``. Absent: none, or an
  /// answer of an earlier version.
  public var latestDeadLetters: [DeadLetterRecord]?

  /// The maximum number of dead letters in `latestDeadLetters`.
  public static let latestMaximum = 8
  /// The workers, in the order of the file.
  public var workers: [WorkerStatus]
  /// Clients connected now.
  public var clients: [ClientStatus]

  /// A status with these contents.
  public init(
    version: String, pid: Int32, uptimeMilliseconds: UInt64, configuration: String, socket: String,
    residentBytes: UInt64?, keptBytes: Int, counters: [String: UInt64], deadLetters: Int, workers: [WorkerStatus],
    clients: [ClientStatus]
  ) {
    self.version = version
    self.pid = pid
    self.uptimeMilliseconds = uptimeMilliseconds
    self.configuration = configuration
    self.socket = socket
    self.residentBytes = residentBytes
    self.keptBytes = keptBytes
    self.counters = counters
    self.deadLetters = deadLetters
    self.workers = workers
    self.clients = clients
  }
}

/// One worker in ``SupervisorStatus``.
public struct WorkerStatus: Codable, Sendable {
  /// Its name in `supervisor.conf`.
  public var name: String
  /// Its role.
  public var role: String
  /// Its state.
  public var state: WorkerStateWord
  /// Milliseconds in this state.
  public var sinceMilliseconds: UInt64
  /// Process id, while it runs.
  public var pid: Int32?
  /// The worker's generation.
  public var generation: UInt32
  /// Restarts that the circuit breaker counts now.
  public var restarts: Int
  /// The number of restarts that the circuit breaker allows.
  public var restartLimit: Int
  /// Milliseconds until the next attempt, while one is planned.
  public var nextAttemptMilliseconds: UInt64?
  /// How its last process ended, in words.
  public var lastExit: String?
  /// Frames in its mailbox.
  public var mailboxFrames: Int
  /// Messages in flight to it.
  public var inHand: Int
  /// Milliseconds since its work last made progress, while it owes an answer.
  public var busyMilliseconds: UInt64?
  /// Resident memory in bytes.
  public var residentBytes: UInt64?
  /// Proportional memory in bytes, when the request asked for it.
  public var proportionalBytes: UInt64?
  /// The sandbox that it could set up.
  public var sandbox: String?
  /// The worker's own status line.
  public var text: String?
  /// Log lines that were dropped because it wrote too fast.
  public var droppedLogLines: UInt64

  /// A worker that is not running.
  public init(name: String, role: String, state: WorkerStateWord) {
    self.name = name
    self.role = role
    self.state = state
    sinceMilliseconds = 0
    generation = 0
    restarts = 0
    restartLimit = 0
    mailboxFrames = 0
    inHand = 0
    droppedLogLines = 0
  }
}

/// One client in ``SupervisorStatus``.
public struct ClientStatus: Codable, Sendable {
  /// The name that it gave.
  public var name: String
  /// Its process id, from the kernel.
  public var pid: Int32
  /// Requests without an answer yet.
  public var outstanding: Int
  /// Frames in its mailbox.
  public var mailboxFrames: Int

  /// A client.
  public init(name: String, pid: Int32, outstanding: Int, mailboxFrames: Int) {
    self.name = name
    self.pid = pid
    self.outstanding = outstanding
    self.mailboxFrames = mailboxFrames
  }
}

/// `supervisor.start` and `supervisor.restart`: answered when the worker is ready or has failed.
public struct WorkerCommand: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"worker":"signer"}"#

  /// The worker's name.
  public var worker: String

  /// A command for a worker.
  public init(worker: String) { self.worker = worker }
}

/// `supervisor.stop`: answered when the worker has stopped.
public struct StopCommand: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"worker":"signer","drainMilliseconds":5000}"#

  /// The worker's name.
  public var worker: String
  /// How long it may finish what is in flight; absent: the configured time.
  public var drainMilliseconds: UInt64?

  /// A command for a worker.
  public init(worker: String, drainMilliseconds: UInt64? = nil) {
    self.worker = worker
    self.drainMilliseconds = drainMilliseconds
  }
}

/// `supervisor.hold`: answered when the worker is held, or when it is ready or has failed after the release.
public struct HoldCommand: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"worker":"signer","hold":true}"#

  /// The worker's name.
  public var worker: String
  /// False releases; default: true.
  public var hold: Bool?

  /// A command for a worker.
  public init(worker: String, hold: Bool? = nil) {
    self.worker = worker
    self.hold = hold
  }
}

/// The answer to ``WorkerCommand``, ``StopCommand`` and ``HoldCommand``.
public struct WorkerCommandResult: Codable, Sendable {
  /// The worker's name.
  public var worker: String
  /// Its state now.
  public var state: WorkerStateWord
  /// A sentence about it.
  public var sentence: String

  /// A result.
  public init(worker: String, state: WorkerStateWord, sentence: String) {
    self.worker = worker
    self.state = state
    self.sentence = sentence
  }
}

/// `supervisor.attach`: a one-time token for a worker started by hand.
public struct AttachRequest: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"role":"example","name":"mine"}"#

  /// The role to join with.
  public var role: String
  /// The name of the worker to replace, if it is one of `supervisor.conf`; absent: the worker of that role when there
  /// is exactly one, otherwise a new name.
  public var name: String?

  /// A request for a token.
  public init(role: String, name: String? = nil) {
    self.role = role
    self.name = name
  }
}

/// The answer to ``AttachRequest``.
public struct AttachGrant: Codable, Sendable {
  /// The token, valid for one HELLO.
  public var token: String
  /// The name to join under.
  public var name: String
  /// The role.
  public var role: String
  /// The socket to connect to.
  public var socket: String
  /// A shell command line that uses it.
  public var command: String
  /// Milliseconds until the token expires.
  public var expiresMilliseconds: UInt64
  /// What must be changed in the command before it can run, in a sentence.
  public var remark: String?

  /// A grant.
  public init(token: String, name: String, role: String, socket: String, command: String, expiresMilliseconds: UInt64) {
    self.token = token
    self.name = name
    self.role = role
    self.socket = socket
    self.command = command
    self.expiresMilliseconds = expiresMilliseconds
  }
}

/// `supervisor.reload`.
public struct ReloadRequest: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"dryRun":true}"#

  /// Only report what would change.
  public var dryRun: Bool?
  /// A reload, or a report of what it would change.
  public init(dryRun: Bool? = nil) { self.dryRun = dryRun }
}

/// The answer to ``ReloadRequest``.
public struct ReloadResult: Codable, Sendable {
  /// What differs, one paragraph each; empty when nothing does.
  public var changes: [String]
  /// Whether the changes are in force.
  public var isApplied: Bool
  /// Settings that are allowed but probably a mistake, one line each, as `roostd --check` reports them; absent: no such
  /// settings.
  public var warnings: [String]?
  /// What a reload does not do although a user may expect it, one line each, such as workers that stay failed; absent:
  /// nothing.
  public var remarks: [String]?
  /// A result.
  public init(changes: [String], isApplied: Bool, warnings: [String] = [], remarks: [String] = []) {
    self.changes = changes
    self.isApplied = isApplied
    self.warnings = warnings.isEmpty ? nil : warnings
    self.remarks = remarks.isEmpty ? nil : remarks
  }
}

/// `supervisor.why`: the worker to explain.
public struct WhyRequest: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"worker":"signer"}"#

  /// The worker's name.
  public var worker: String
  /// A request about a worker.
  public init(worker: String) { self.worker = worker }
}

/// The answer to ``WhyRequest``.
public struct WhyResult: Codable, Sendable {
  /// The worker.
  public var worker: String
  /// Its state.
  public var state: WorkerStateWord
  /// The explanation, one sentence each.
  public var sentences: [String]
  /// Its last log lines.
  public var lastLines: [LogRecord]
  /// For a worker that has failed or waits for its next start, the error that it logged; nil when it logged none since
  /// it was last ready.
  public var complaint: String?
  /// An explanation.
  public init(
    worker: String, state: WorkerStateWord, sentences: [String], lastLines: [LogRecord], complaint: String? = nil
  ) {
    self.worker = worker
    self.state = state
    self.sentences = sentences
    self.lastLines = lastLines
    self.complaint = complaint
  }
}

/// The answer to `supervisor.doctor`.
public struct DoctorResult: Codable, Sendable {
  /// One check.
  public struct Check: Codable, Sendable {
    /// What was checked.
    public var name: String
    /// Whether nothing needs fixing.
    public var isGood: Bool
    /// Whether it is starting, or stopped on purpose: good, but not at work. Absent: no.
    public var isPending: Bool?
    /// What was found, and what to do.
    public var text: String
    /// A check.
    public init(name: String, isGood: Bool, isPending: Bool = false, text: String) {
      self.name = name
      self.isGood = isGood
      self.isPending = isPending ? true : nil
      self.text = text
    }
  }
  /// All checks.
  public var checks: [Check]
  /// A result.
  public init(checks: [Check]) { self.checks = checks }
}

/// An event of the topic `supervisor.events`.
public struct SupervisorEvent: Codable, Sendable {
  /// Wall time, RFC 3339.
  public var time: String
  /// The worker.
  public var worker: String
  /// The state it left; `absent` for a worker that was started by hand, is in no configuration, and has joined.
  public var from: WorkerStateWord
  /// Its state now; `absent` when such a worker has left; the same as ``from`` when the event changed no state, such as
  /// when a message that killed the worker was set aside.
  public var to: WorkerStateWord
  /// The reason.
  public var sentence: String
  /// An event.
  public init(time: String, worker: String, from: WorkerStateWord, to: WorkerStateWord, sentence: String) {
    self.time = time
    self.worker = worker
    self.from = from
    self.to = to
    self.sentence = sentence
  }
}
