internal import Glibc

extension ProcessTable {
  /// The memory of a process, in bytes.
  public struct Memory: Hashable, Sendable {
    /// Bytes in memory; shared pages count in full in each process (RSS): the right figure for a limit.
    public let residentByteCount: UInt64
    /// Bytes in memory; shared pages are divided among the processes that share them (PSS): the right figure for a sum
    /// over workers. Nil if the process may not be inspected. Reading it walks all pages and costs up to milliseconds;
    /// RSS costs microseconds.
    public let proportionalByteCount: UInt64?
  }

  /// The memory of a process; nil if it has ended.
  /// - Parameters:
  ///   - process: its id.
  ///   - withProportional: whether to read the more expensive figure too.
  public static func memory(of process: Int32, withProportional: Bool = true) -> Memory? {
    // statm: total, resident, shared, …, in pages.
    guard let bytes = KernelFiles.read("/proc/\(process)/statm") else { return nil }
    let fields = bytes.split(separator: UInt8(ascii: " "))
    guard fields.count > 1, let pageCount = KernelFiles.number(in: fields[1]) else { return nil }
    return Memory(
      residentByteCount: pageCount * UInt64(sysconf(Int32(_SC_PAGESIZE))),
      proportionalByteCount: withProportional ? proportionalByteCount(of: process) : nil)
  }

  private static func proportionalByteCount(of process: Int32) -> UInt64? {
    guard let bytes = KernelFiles.read("/proc/\(process)/smaps_rollup") else { return nil }
    let label = Array("Pss:".utf8)
    // `Pss:                1234 kB`; the unit is fixed.
    let line = bytes.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: label) }
    return line.flatMap { KernelFiles.number(in: $0.dropFirst(label.count)) }.map { $0 * 1024 }
  }
}
