internal import Glibc

extension ProcessTable {
  /// What a process group takes.
  public struct Group: Hashable, Sendable {
    /// Its processes, threads not counted.
    public var processes: [Int32] = []
    /// The threads of all of them, each process's first among them.
    public var threadCount = 0
    /// What they have in memory, in bytes, the tables of their pages among it; shared pages count in each.
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
      // One that is gone since had at least the one.
      let status = KernelFiles.read("/proc/\(process)/status") ?? []
      group.threadCount += max(1, threadCount(in: status))
      // Tables for 800 GB of a file that is mapped and hardly read are 1.6 GB, and no page of the process.
      group.residentByteCount += memory.residentByteCount + number(of: "VmPTE:", in: status) << 10
    }
    return group
  }

  /// The number behind `Threads:` in a process's `status`; 0 when it is not there. (`task` has a folder for each, whose
  /// listing takes as long as there are threads.)
  static func threadCount(in status: [UInt8]) -> Int { Int(clamping: number(of: "Threads:", in: status)) }

  /// The number behind a label of a process's `status`; 0 when it is not there.
  private static func number(of label: String, in status: [UInt8]) -> UInt64 {
    let line = status.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: label.utf8) }
    return line.flatMap { KernelFiles.number(in: $0.dropFirst(label.utf8.count)) } ?? 0
  }
}
