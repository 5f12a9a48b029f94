internal import Glibc

extension ProcessTable {
  /// What a process group takes.
  public struct Group: Hashable, Sendable {
    /// Its processes, threads not counted.
    public var processes: [Int32] = []
    /// What they have in memory, in bytes; shared pages count in each.
    public var residentByteCount: UInt64 = 0
  }

  /// The processes of a group; nil where `/proc` may not be listed.
  ///
  /// One that starts during the reading may be missed, so a group that forks as fast as it can is told too small, and
  /// still far larger than any that works.
  public static func group(of leader: Int32) -> Group? {
    guard let names = KernelFiles.names(in: "/proc") else { return nil }
    var group = Group()
    for name in names {
      // Asking for the group is a hundred times cheaper than reading a file.
      guard let process = Int32(name), getpgid(process) == leader,
        let memory = memory(of: process, withProportional: false)
      else { continue }
      group.processes.append(process)
      group.residentByteCount += memory.residentByteCount
    }
    return group
  }
}
