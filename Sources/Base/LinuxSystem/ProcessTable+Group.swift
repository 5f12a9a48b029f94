internal import Glibc

extension ProcessTable {
  /// The size of a process group.
  public struct Group: Hashable, Sendable {
    /// Its processes, not counting threads.
    public var processes: [Int32] = []
    /// The threads of all of them, including each process's first.
    public var threadCount = 0
    /// Bytes they have in memory, including their page tables; shared pages count in each process.
    public var residentByteCount: UInt64 = 0
  }

  /// The processes of a group; nil if `/proc` may not be listed.
  ///
  /// A process that starts during the reading may be missed. So a group that forks as fast as it can is reported too
  /// small, but still far larger than any that does useful work.
  public static func group(of leader: Int32) -> Group? {
    guard let names = KernelFiles.names(in: "/proc") else { return nil }
    var group = Group()
    for name in names {
      // Asking for the group is a hundred times cheaper than reading a file.
      guard let process = Int32(name), getpgid(process) == leader,
        let memory = memory(of: process, withProportional: false)
      else { continue }
      group.processes.append(process)
      // A process that has ended meanwhile had at least one thread.
      let status = KernelFiles.read("/proc/\(process)/status") ?? []
      group.threadCount += max(1, threadCount(in: status))
      // Page tables for 800 GB of a mapped file that is hardly read take 1.6 GB, and are no pages of the process.
      group.residentByteCount += memory.residentByteCount + number(of: "VmPTE:", in: status) << 10
    }
    return group
  }

  /// The number after `Threads:` in a process's `status`; 0 if it is missing. (`task` has a folder for each thread, so
  /// listing it takes as long as there are threads.)
  static func threadCount(in status: [UInt8]) -> Int { Int(clamping: number(of: "Threads:", in: status)) }

  /// The number after a label in a process's `status`; 0 if it is missing.
  private static func number(of label: String, in status: [UInt8]) -> UInt64 {
    let line = status.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: label.utf8) }
    return line.flatMap { KernelFiles.number(in: $0.dropFirst(label.utf8.count)) } ?? 0
  }
}
