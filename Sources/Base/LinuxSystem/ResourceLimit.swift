internal import CLinux

/// A bound that the kernel puts on a process (`setrlimit`).
public struct ResourceLimit: Hashable, Sendable {
  /// What is bounded. The names are those that `roost-exec --limit` takes.
  public enum Resource: String, CaseIterable, Codable, Sendable {
    /// Address space, bytes.
    case addressSpace = "as"
    /// Size of a core file, bytes.
    case coreFile = "core"
    /// Processor time, seconds.
    case processorTime = "cpu"
    /// Heap and other private writable memory, bytes. Caution: a Swift process short of it hangs instead of failing.
    case data = "data"
    /// Size of a file that is written, bytes.
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

  /// The value that stands for "no limit".
  public static let unlimited = UInt64.max

  /// What is enforced now.
  public let soft: UInt64
  /// How far the process itself may raise the soft limit.
  public let hard: UInt64

  /// The limit of this process.
  public static func current(_ resource: Resource) throws(SystemFault) -> ResourceLimit {
    var soft: UInt64 = 0
    var hard: UInt64 = 0
    try checked(roost_limit_get(resource.number, &soft, &hard), "getrlimit", resource.rawValue)
    return ResourceLimit(soft: soft, hard: hard)
  }

  /// Lowers soft and hard limit of this process to `value`, for good. A hard limit that is lower already stays: a limit
  /// never rises here, for root neither.
  /// - Returns: the limit that holds now.
  @discardableResult
  public static func lower(_ resource: Resource, to value: UInt64) throws(SystemFault) -> ResourceLimit {
    let present = try current(resource)
    let bound = min(value, present.hard)
    try checked(roost_limit_set(resource.number, bound, bound), "setrlimit", "\(resource.rawValue) to \(bound)")
    return ResourceLimit(soft: bound, hard: bound)
  }
}
