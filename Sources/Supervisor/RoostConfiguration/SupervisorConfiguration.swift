internal import Frames
internal import MessageHub

/// Everything `supervisor.conf` says, with every default filled in and every path absolute.
///
/// A value: ``Configuration/load(path:surroundings:readFile:permissionCheck:)`` reads it once, and then it is only
/// compared. A reload reads a second one and calls ``changes(from:)``. The structures below have the defaults, nothing
/// else does, except that the hub's bounds are in `HubLimits`; the table that binds them to keys is `Schema`.
public struct SupervisorConfiguration: Sendable, Hashable {
  /// The file it was read from, as an absolute path.
  public var file: String
  /// `[supervisor]`
  public var supervisor: SupervisorSettings
  /// `[bus]`
  public var bus = BusSettings()
  /// `[log]`
  public var log = LogSettings()
  /// `[worker.NAME]`, in the order of the file. Names are unique; every name in an `after` is among them.
  public var workers: [WorkerConfiguration] = []
  /// `[role.NAME]`, in the order of the file.
  public var roles: [RoleConfiguration] = []

  /// A configuration without workers, its paths laid out by `directories`.
  public init(file: String, directories: StandardDirectories) {
    self.file = file
    supervisor = SupervisorSettings(directories: directories)
  }

  /// The worker of this name.
  public func worker(named name: String) -> WorkerConfiguration? { workers.first { $0.name == name } }

  /// The user's own role of this name.
  public func role(named name: String) -> RoleConfiguration? { roles.first { $0.name == name } }
}

/// `[supervisor]`: roostd itself, its directories and its socket.
public struct SupervisorSettings: Sendable, Hashable {
  /// What outlives a reboot: each worker's databases and the dead letters. Absolute.
  public var stateDirectory: String
  /// Sockets and locks, worthless after a reboot. Absolute.
  public var runDirectory: String
  /// Log files. Absolute; nil: no files, the lines go to standard error or the journal alone.
  public var logDirectory: String?
  /// The socket that clients and attached workers connect to. Absolute, at most ``socketByteCountMaximum`` bytes.
  public var socket: String
  /// Uids that may connect in addition to the daemon's own.
  public var allowUids: [UInt32] = []
  /// Where a `program` without a slash is looked up, in this order. Absolute, never empty.
  public var programDirectories: [String]
  /// How long a whole stop may take before the remaining workers are killed.
  public var drainDeadline: Duration = .seconds(20)
  /// How many workers may be spawned per second, all together; a token bucket, whose burst is at least 10.
  public var spawnRate = 5

  /// The longest path a Unix socket's address holds, in UTF-8 bytes (`sun_path` has 108 with its final NUL).
  public static let socketByteCountMaximum = 107

  /// The defaults, laid out by `directories`.
  public init(directories: StandardDirectories) {
    stateDirectory = directories.state
    runDirectory = directories.run
    logDirectory = directories.logs(state: directories.state, run: directories.run)
    socket = directories.run + "/roost.sock"
    programDirectories = [directories.programs]
  }
}

/// `[bus]`: the bounds of every queue between two processes.
public struct BusSettings: Sendable, Hashable {
  /// The longest frame accepted, in bytes after its length field.
  public var frameLimit = 1 << 20
  /// How many frames of a peer may be sent and not yet taken.
  public var windowFrames = Int(hub.window.frames)
  /// How many bytes of a peer may be sent and not yet taken; at least ``frameLimit``.
  public var windowBytes = Int(hub.window.bytes)
  /// How many frames may wait for one worker while it is slow, restarting or held.
  public var mailboxFrames = hub.mailboxFrames
  /// How many bytes may wait for one worker; at least ``frameLimit``, at most ``mailboxPool``.
  public var mailboxBytes = hub.mailboxBytes
  /// How many bytes may wait for all workers together.
  public var mailboxPool = hub.poolBytes
  /// How many of a peer's requests may be unanswered.
  public var outstandingRequests = hub.outstandingRequests
  /// How long a new connection may take to send HELLO.
  public var helloDeadline: Duration = .seconds(5)
  /// How long a frame may stay incomplete.
  public var partialFrameDeadline: Duration = .seconds(30)
  /// How many bytes may wait to be written to one peer before its connection is cut; at least ``frameLimit``.
  public var outputLimit = 64 << 20
  /// After how many deliveries, each ended by the worker's death, a message becomes a dead letter.
  public var deliveriesMaximum = Int(hub.deliveriesMaximum)
  /// The time to live of a request whose sender gave none; zero means no limit.
  public var requestTTL: Duration = .milliseconds(hub.defaultTTLMilliseconds)
  /// How many dead letters are kept; above that, the oldest is removed.
  public var deadLettersMaximum = 1_000

  /// The hub's defaults.
  private static let hub = HubLimits()

  /// The defaults.
  public init() {}
}

/// `[log]`: what is written, and how much of it is kept.
public struct LogSettings: Sendable, Hashable, Codable {
  /// The least severe level that is written.
  public var level = LogLevel.info
  /// Other levels for single categories.
  public var levels: [String: LogLevel] = [:]
  /// The size at which a log file is closed and renamed, in bytes.
  public var rotateBytes = 8 << 20
  /// How many closed files of each log are kept.
  public var keepFiles = 5
  /// How many lines a second one worker may write in the long run; lines above the rate are counted and dropped.
  public var linesPerSecond = 2_000
  /// How many lines a worker may write at once before the rate applies.
  public var burstLines = 4_000
  /// The longest line that is kept whole, in bytes.
  public var lineBytesMaximum = 16 << 10

  /// The defaults.
  public init() {}
}

/// How severe a message is; `trace` is the least severe.
public enum LogLevel: String, Sendable, Hashable, Codable, CaseIterable, Comparable {
  /// Every step, for a person who follows one message through the program.
  case trace
  /// What helps in finding a defect.
  case debug
  /// What a person may want to read later.
  case info
  /// Something unusual that is in order.
  case notice
  /// Something that may become an error.
  case warning
  /// Something failed.
  case error
  /// The program cannot continue in its present state.
  case critical

  /// Orders by severity.
  public static func < (left: LogLevel, right: LogLevel) -> Bool {
    (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
  }
}
