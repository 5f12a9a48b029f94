internal import CLinux

/// A limit that the kernel enforces on a process (`setrlimit`).
public struct ResourceLimit: Hashable, Sendable {
  /// What is limited. The names are those of `roost-exec --limit`.
  public enum Resource: String, CaseIterable, Codable, Sendable {
    /// Address space, bytes.
    case addressSpace = "as"
    /// Size of a core file, bytes.
    case coreFile = "core"
    /// Processor time, seconds.
    case processorTime = "cpu"
    /// Heap and other private writable memory, bytes. Caution: a Swift process that runs out of it hangs instead of
    /// failing.
    case data = "data"
    /// Size of a file that the process writes, bytes.
    case fileSize = "fsize"
    /// Memory locked against paging, bytes.
    case lockedMemory = "memlock"
    /// Open descriptors; the highest number plus one.
    case openFiles = "nofile"
    /// Processes and threads of the *user*, not of the process.
    case processes = "nproc"
    /// Stack of the main thread, bytes.
    case stack = "stack"

    var number: Int32 {
      switch self {
      case .addressSpace: Int32(ROOST_LIMIT_ADDRESS_SPACE)
      case .coreFile: Int32(ROOST_LIMIT_CORE)
      case .processorTime: Int32(ROOST_LIMIT_CPU)
      case .data: Int32(ROOST_LIMIT_DATA)
      case .fileSize: Int32(ROOST_LIMIT_FILE_SIZE)
      case .lockedMemory: Int32(ROOST_LIMIT_LOCKED_MEMORY)
      case .openFiles: Int32(ROOST_LIMIT_OPEN_FILES)
      case .processes: Int32(ROOST_LIMIT_PROCESSES)
      case .stack: Int32(ROOST_LIMIT_STACK)
      }
    }
  }

  /// The value for "no limit".
  public static let unlimited = UInt64.max

  /// The limit that is enforced now.
  public let soft: UInt64
  /// The value to which the process itself may raise the soft limit.
  public let hard: UInt64

  /// The limit of this process.
  public static func current(_ resource: Resource) throws(SystemFault) -> ResourceLimit {
    var soft: UInt64 = 0
    var hard: UInt64 = 0
    try checked(roost_limit_get(resource.number, &soft, &hard), "getrlimit", resource.rawValue)
    return ResourceLimit(soft: soft, hard: hard)
  }

  /// Lowers the soft and hard limit of this process to `value`, permanently. A lower hard limit stays: this never
  /// raises a limit, not even for root.
  /// - Returns: the resulting limit.
  @discardableResult
  public static func lower(_ resource: Resource, to value: UInt64) throws(SystemFault) -> ResourceLimit {
    let present = try current(resource)
    let bound = min(value, present.hard)
    try checked(roost_limit_set(resource.number, bound, bound), "setrlimit", "\(resource.rawValue) to \(bound)")
    return ResourceLimit(soft: bound, hard: bound)
  }
}
