// The supervisor's own methods, `supervisor.*`: what `roost status`, `why`, `logs` and the
// others send and get. All JSON.

/// `supervisor.status`.
public struct StatusRequest: MethodArguments {
  /// How it is asked.
  public static let example = #"{"memory":true}"#

  /// Also measure proportional memory, which costs a walk through each process's pages.
  public var memory: Bool?
  /// A request.
  public init(memory: Bool? = nil) { self.memory = memory }
}

/// The answer to ``StatusRequest``: the whole picture.
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
  /// Dead letters kept.
  public var deadLetters: Int
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
  /// The state it is in.
  public var state: WorkerStateWord
  /// Milliseconds in this state.
  public var sinceMilliseconds: UInt64
  /// Process id, while it runs.
  public var pid: Int32?
  /// Which start of it this is.
  public var generation: UInt32
  /// Restarts that the breaker counts now, and how many it allows.
  public var restarts: Int
  /// The breaker's limit.
  public var restartLimit: Int
  /// Milliseconds until the next attempt, while one is planned.
  public var nextAttemptMilliseconds: UInt64?
  /// How the last life ended, in words.
  public var lastExit: String?
  /// Frames that wait for it.
  public var mailboxFrames: Int
  /// Messages it has in hand.
  public var inHand: Int
  /// Milliseconds since its work last moved, while it owes any.
  public var busyMilliseconds: UInt64?
  /// Resident memory in bytes.
  public var residentBytes: UInt64?
  /// Proportional memory in bytes, when asked for.
  public var proportionalBytes: UInt64?
  /// The sandbox it achieved.
  public var sandbox: String?
  /// Its own line about what it does.
  public var text: String?
  /// Log lines dropped because it wrote too fast.
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
  /// What it calls itself.
  public var name: String
  /// Its process id, from the kernel.
  public var pid: Int32
  /// Requests it waits for.
  public var outstanding: Int
  /// Frames that wait for it.
  public var mailboxFrames: Int

  /// A client.
  public init(name: String, pid: Int32, outstanding: Int, mailboxFrames: Int) {
    self.name = name
    self.pid = pid
    self.outstanding = outstanding
    self.mailboxFrames = mailboxFrames
  }
}

/// `supervisor.start` and `supervisor.restart`: answered when the worker has arrived where it was sent.
public struct WorkerCommand: MethodArguments {
  /// How it is asked.
  public static let example = #"{"worker":"signer"}"#

  /// The worker's name.
  public var worker: String

  /// A command for a worker.
  public init(worker: String) { self.worker = worker }
}

/// `supervisor.stop`: answered when the worker has stopped.
public struct StopCommand: MethodArguments {
  /// How it is asked.
  public static let example = #"{"worker":"signer","drainMilliseconds":5000}"#

  /// The worker's name.
  public var worker: String
  /// How long it may finish what it has; absent: as configured.
  public var drainMilliseconds: UInt64?

  /// A command for a worker.
  public init(worker: String, drainMilliseconds: UInt64? = nil) {
    self.worker = worker
    self.drainMilliseconds = drainMilliseconds
  }
}

/// `supervisor.hold`: answered when the worker is held, or has arrived where it was released to.
public struct HoldCommand: MethodArguments {
  /// How it is asked.
  public static let example = #"{"worker":"signer","hold":true}"#

  /// The worker's name.
  public var worker: String
  /// False releases; true unless said.
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
  /// The state it is in now.
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
  /// How it is asked.
  public static let example = #"{"role":"example","name":"mine"}"#

  /// The role to join as.
  public var role: String
  /// The worker's place to take, if it is one of `supervisor.conf`; absent: the worker of that role when there is
  /// exactly one, else a new name.
  public var name: String?

  /// A request for a token.
  public init(role: String, name: String? = nil) {
    self.role = role
    self.name = name
  }
}

/// The answer to ``AttachRequest``.
public struct AttachGrant: Codable, Sendable {
  /// The token, good for one HELLO.
  public var token: String
  /// The name to join under.
  public var name: String
  /// The role.
  public var role: String
  /// The socket to connect to.
  public var socket: String
  /// A command line that does it, for a shell.
  public var command: String
  /// Milliseconds the token is good for.
  public var expiresMilliseconds: UInt64
  /// What must be done to the command before it can run, in a sentence.
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
  /// How it is asked.
  public static let example = #"{"dryRun":true}"#

  /// Only tell what would happen.
  public var dryRun: Bool?
  /// A reload, or what it would do.
  public init(dryRun: Bool? = nil) { self.dryRun = dryRun }
}

/// The answer to ``ReloadRequest``.
public struct ReloadResult: Codable, Sendable {
  /// What differs, a paragraph a part; empty when nothing does.
  public var changes: [String]
  /// Whether it is in force.
  public var isApplied: Bool
  /// What is allowed in the file and yet hardly meant, a line each, as `roostd --check` tells it; nil if nothing is.
  public var warnings: [String]?
  /// What a reload does not do though somebody may expect it, a line each: workers that stay failed; nil if there are
  /// none.
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
  /// How it is asked.
  public static let example = #"{"worker":"signer"}"#

  /// The worker's name.
  public var worker: String
  /// A question about a worker.
  public init(worker: String) { self.worker = worker }
}

/// The answer to ``WhyRequest``.
public struct WhyResult: Codable, Sendable {
  /// The worker.
  public var worker: String
  /// The state it is in.
  public var state: WorkerStateWord
  /// What there is to say, a sentence each.
  public var sentences: [String]
  /// Its last log lines.
  public var lastLines: [LogRecord]
  /// What it said went wrong, of one that has failed or waits for its next start; nil where it said nothing since it
  /// was ready the last time.
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
  /// One look at something.
  public struct Check: Codable, Sendable {
    /// What was looked at.
    public var name: String
    /// Whether nothing has to be mended.
    public var isGood: Bool
    /// Whether it is on its way, or as somebody wanted it: good, and not at work. Absent: no.
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
  /// All looks.
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
  /// The state it left; `absent` for a worker started by hand, in no configuration, that has joined.
  public var from: WorkerStateWord
  /// The state it is in; `absent` when such a worker has left; that of ``from`` when what is told changed no state,
  /// such as that a message which killed the worker was set aside.
  public var to: WorkerStateWord
  /// Why.
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
