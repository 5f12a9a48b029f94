internal import Contracts

/// `[worker.NAME]`: one process that roostd runs.
public struct WorkerConfiguration: Sendable, Hashable {
  /// Unique among the workers: lower case letters, digits and hyphens, at most 32.
  public var name: String
  /// A built-in role or one of the file's own.
  public var role: String
  /// The file to run: a bare name looked up in `program-directories`, or an absolute path.
  public var program: String
  /// The arguments after the program's name on the command line.
  public var arguments: [String] = []
  /// Whether roostd starts it without a request; one that is not enabled can be started by `roost start`.
  public var enabled = true
  /// The workers that must be ready before this one is started; acyclic.
  public var after: [String] = []
  /// When an ended process is replaced by another.
  public var restart = RestartPolicy.always
  /// Whether the supervisor stops everything and exits when this worker has failed for good.
  public var critical = false
  /// The time from spawn to READY.
  public var startDeadline: Duration = .seconds(10)
  /// The time from DRAIN until nothing is in flight.
  public var drainDeadline: Duration = .seconds(5)
  /// The time from SIGTERM to SIGKILL.
  public var termDeadline: Duration = .seconds(3)
  /// How long work may be in flight at a worker without any progress before the worker counts as stuck.
  public var stuckAfter: Duration = .seconds(30)
  /// The longest wait before the second restart in a row; the first is immediate, each further one doubles the wait.
  public var backoffBase: Duration = .milliseconds(500)
  /// Where the doubling ends.
  public var backoffCeiling: Duration = .seconds(60)
  /// How long a worker must have run for its back-off to return to the base.
  public var stableAfter: Duration = .seconds(60)
  /// How many restarts within ``breakerWindow`` make the worker FAILED.
  public var breakerRestarts = 5
  /// The time in which restarts are counted.
  public var breakerWindow: Duration = .seconds(60)
  /// The environment variables that the worker inherits; all others are withheld.
  public var environment = ["HOME", "LANG", "PATH", "SSL_CERT_DIR", "SSL_CERT_FILE", "TZ"]
  /// How much isolation is required.
  public var sandbox = SandboxMode.try
  /// `[worker.NAME.limits]`
  public var limits = WorkerLimits()
  /// The keys of the role, as the JSON that the worker is sent: names in camel case, durations in milliseconds. For a
  /// role of the file's own it is `[worker.NAME.settings]`, unchanged. Always a table.
  public var settings: ConfigurationValue
  /// Whether relays that only others name may be at addresses of private networks (`allow-private-relays`).
  public var mayFollowPrivateAddresses: Bool { settings["allowsPrivateRelays"] == .boolean(true) }
  /// Why that is doubtful, as a sentence without a full stop.
  public static let privateAddressRisk =
    "other people's lists may lead this machine to addresses of its own network; that is for test networks"
  /// `[worker.NAME.job.KIND]` of a dvm-provider, by kind; empty for other roles.
  public var jobs: [JobConfiguration] = []
  /// `[worker.NAME.wake.TYPE]` of a push-relay, by type; empty for other roles.
  public var wakes: [WakeConfiguration] = []
  /// `[worker.NAME.keep.KEEP]` of a mirror, by name; empty for other roles.
  public var keeps: [KeepConfiguration] = []

  /// A worker with its role's defaults.
  public init(name: String, role: String) {
    self.name = name
    self.role = role
    program = role
    settings = .table([:])
    limits = WorkerLimits(role: role)
    for setting in Schema.settings(ofRole: role) { setting.reset(&self) }
    if role == Role.dvmProvider.name { jobs = JobConfiguration.standard }
    if role == Role.pushRelay.name { wakes = WakeConfiguration.standard }
  }
}

/// When a worker that has ended is started again.
public enum RestartPolicy: String, Sendable, Hashable, CaseIterable {
  /// After every end, unless a stop was requested.
  case always
  /// Only if it ended by a signal or with a status other than 0.
  case onFailure = "on-failure"
  /// Never.
  case never
}

/// How much isolation is required.
public enum SandboxMode: String, Sendable, Hashable, CaseIterable {
  /// The worker does not start unless all restrictions of its role are in force.
  case required
  /// As much as the kernel offers; `roost status --sandbox` shows what is in force.
  case `try`
  /// None. For debugging.
  case off
}

/// `[worker.NAME.limits]`: limits that the kernel, and in one case roostd, enforces. Nil leaves a limit as inherited.
public struct WorkerLimits: Sendable, Hashable {
  /// Descriptors (`RLIMIT_NOFILE`). A local relay has ``serverOpenFiles``, a push relay ``pushOpenFiles``: one for each
  /// client and a reserve.
  public var openFiles: Int? = 1_024
  /// The size of a core file, in bytes (`RLIMIT_CORE`); 0 means no core.
  public var coreBytes: Int? = 0
  /// The size of any file it writes, in bytes (`RLIMIT_FSIZE`).
  public var fileBytes: Int?
  /// The address space, in bytes (`RLIMIT_AS`).
  public var addressSpaceBytes: Int?
  /// The resident memory, in bytes, above which roostd drains and restarts the worker.
  public var memoryBytes: Int? = 512 << 20

  /// Descriptors of a local relay, unless the file says otherwise: one for each of its 10,000 clients, and over half as
  /// many in reserve.
  public static let serverOpenFiles = 16_384
  /// Descriptors of a push relay, unless the file says otherwise.
  public static let pushOpenFiles = 4_096
  /// Descriptors that a local relay needs in addition to those of its clients: its database, its listeners, the bus,
  /// logs.
  static let descriptorsBesides = 128
  /// The same for a push relay. It also has up to 64 connections to FCM, as many to services of Web Push, and for a
  /// moment 64 clients that it has disconnected.
  static let pushDescriptorsBesides = 320

  /// The defaults of a role.
  public init(role: String = "") {
    if role == Role.localRelay.name { openFiles = Self.serverOpenFiles }
    if role == Role.pushRelay.name { openFiles = Self.pushOpenFiles }
  }
}

/// `[role.NAME]`: what a user's own workers serve, and what they may call.
public struct RoleConfiguration: Sendable, Hashable {
  /// Unique, and not the name of a built-in role: lower case letters, digits and hyphens, at most 32.
  public var name: String
  /// The methods it serves: names such as `example.echo`, or `example.*` for all with that prefix. No other role of the
  /// file serves any of them.
  public var serves: [String] = []
  /// The methods it may call, in the same form.
  public var mayCall: [String] = []
  /// The roles that may call it.
  public var callableBy: [String] = []

  /// A role that serves nothing yet.
  public init(name: String) { self.name = name }

  /// The roles whose programs are part of Roost.
  static let builtIn = Role.builtIn.map(\.name).filter { !reserved.contains($0) }
  /// Names that mean something else on the bus and cannot be a worker's role.
  static let reserved = [Role.supervisor.name, Role.client.name, Role.worker.name]
}
