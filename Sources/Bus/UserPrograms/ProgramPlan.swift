public import LinuxSystem

/// How a program is run.
public struct ProgramPlan: Sendable {
  /// Sockets of a program.
  public enum Network: Sendable, Hashable {
    /// None.
    case none
    /// Unix sockets, abstract ones too: the services of this machine, such as D-Bus, and no other machine. Such a
    /// service may do for the program what the program may not do itself.
    case unixSockets
    /// The internet, and no service of this machine that listens on a unix socket.
    case internet
  }

  /// The program's path and its arguments.
  public var command: [String]
  /// What it reads from its standard input.
  public var input: [UInt8]
  /// A folder of its own, which the run makes and removes.
  public var folder: String
  /// `NAME=VALUE`
  public var environment: [String]
  /// What it may read in addition to what every program needs.
  public var readablePaths: [String]
  /// Which sockets it may open.
  public var network: Network
  /// How long it may take.
  public var timeMilliseconds: UInt64
  /// The most memory of all its processes.
  public var memoryByteCount: Int
  /// The most bytes of its standard output.
  public var outputByteCount: Int
  /// The most bytes of files that it writes.
  public var diskByteCount: Int
  /// The most processes and threads.
  public var processMaximum: Int
  /// The bytes of the disk that it leaves free for the rest of the machine.
  public var freeByteCountMinimum: UInt64
  /// The kernel's group for it, which the run makes and removes; nil without one.
  public var group: ControlGroup?
  /// Whether it may run without a sandbox, if the kernel has none or the sandbox is off: only for work that no stranger
  /// has asked for.
  public var mayLackSandbox = false

  /// A plan without a group, whose sandbox is required.
  public init(
    command: [String], input: [UInt8], folder: String, environment: [String], readablePaths: [String],
    network: Network, timeMilliseconds: UInt64, memoryByteCount: Int, outputByteCount: Int, diskByteCount: Int,
    processMaximum: Int, freeByteCountMinimum: UInt64
  ) {
    self.command = command
    self.input = input
    self.folder = folder
    self.environment = environment
    self.readablePaths = readablePaths
    self.network = network
    self.timeMilliseconds = timeMilliseconds
    self.memoryByteCount = memoryByteCount
    self.outputByteCount = outputByteCount
    self.diskByteCount = diskByteCount
    self.processMaximum = processMaximum
    self.freeByteCountMinimum = freeByteCountMinimum
  }
}

/// What became of a run.
public enum ProgramOutcome: Sendable, Hashable {
  /// The program has ended with code 0; its standard output, which may be empty.
  case done([UInt8])
  /// It was not run to such an end: why, as a sentence without its full stop. It may name files of this machine.
  case failed(String)
}

/// How a run ended.
public struct ProgramEnd: Sendable {
  /// The output, or the reason why not.
  public var outcome: ProgramOutcome
  /// The end of its standard error.
  public var errors: String
  /// Why its folder is still there; nil if it is not.
  public var leftFolder: SystemFault?
  /// Why its group is still there; nil if it is not.
  public var leftGroup: SystemFault?
  /// Why it ran in no group, if it should have had one.
  public var lackedGroup: SystemFault?
}
