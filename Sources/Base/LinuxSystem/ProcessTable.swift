internal import Glibc

/// What `/proc` reports about other processes.
///
/// Everything here is true at the moment of reading and may be false at the next. A process id identifies a process
/// with certainty only while it is our child and not waited for; for any other, first hold a ``ProcessDescriptor`` and
/// then read. A process that has ended is nil, never an error.
public enum ProcessTable {
  /// How many ancestors are followed. A longer chain counts as descending, which is the safe answer.
  static let ancestorCountMaximum = 256

  /// One process; nil if it has ended.
  public static func entry(of process: Int32) -> ProcessEntry? {
    KernelFiles.read("/proc/\(process)/stat").flatMap(ProcessEntry.init(statLine:))
  }

  /// All processes that we can see. A process that starts or ends during the reading may be missed.
  public static func entries() -> [ProcessEntry] {
    (KernelFiles.names(in: "/proc") ?? []).compactMap { Int32($0).flatMap(entry(of:)) }
  }

  /// The children of a process, ended ones included.
  public static func children(of process: Int32) -> [ProcessEntry] {
    entries().filter { $0.parent == process }
  }

  /// Whether a process is `ancestor` or descends from it, by parents, by session, or both along the way.
  ///
  /// A child whose parent has ended belongs to the subreaper, and its chain of parents no longer leads to its worker.
  /// Its session still does, because every worker leads one. A process that made a session of its own *and* lost its
  /// parent is found only by ``environment(of:holds:)``; use both.
  public static func descends(_ process: Int32, from ancestor: Int32) -> Bool {
    var current = process
    for _ in 0..<ancestorCountMaximum {
      if current == ancestor { return true }
      guard current > 1, let entry = entry(of: current) else { return false }
      if entry.session == ancestor { return true }
      current = entry.parent
    }
    return true
  }

  /// Whether the chain of parents of a process leads to `ancestor`, or the process is `ancestor`; nil if it has ended.
  ///
  /// For a subreaper that asks about itself this finds every descendant: a process that loses its parent becomes the
  /// subreaper's child, even if it has made a session of its own or emptied its environment.
  public static func comes(_ process: Int32, from ancestor: Int32) -> Bool? {
    var current = process
    for _ in 0..<ancestorCountMaximum {
      if current == ancestor { return true }
      // A process that ends during the walk has just passed its children to the subreaper.
      guard let entry = entry(of: current) else { return current == process ? nil : true }
      if entry.parent <= 1 { return entry.parent == ancestor }
      current = entry.parent
    }
    return true
  }

  /// Whether the environment with which a process was started contains exactly this entry, such as
  /// `ROOST_INSTANCE=0123abcd`.
  ///
  /// Nil if this cannot be determined: the process has ended, is in the middle of an exec, has no environment, or may
  /// not be inspected by us (another user's, or not dumpable). If a "no" grants access, nil must not count as "no".
  ///
  /// All descendants inherit an environment, through any number of forks and sessions, unless they empty it on purpose.
  public static func environment(of process: Int32, holds entry: String) -> Bool? {
    // The kernel passes at most 6 MiB of arguments and environment to a program.
    guard let bytes = KernelFiles.read("/proc/\(process)/environ", byteCountMaximum: 8 << 20), !bytes.isEmpty else {
      return nil
    }
    return bytes.split(separator: 0).contains { $0.elementsEqual(entry.utf8) }
  }

  /// How many descriptors a process has open; nil if it has ended or we may not inspect it.
  public static func openDescriptorCount(of process: Int32) -> Int? {
    let isSelf = process == getpid()
    guard let count = KernelFiles.names(in: "/proc/\(process)/fd")?.count else { return nil }
    // Reading one's own folder of descriptors opens one more.
    return isSelf ? count - 1 : count
  }

  /// How many threads a process has; nil if it has ended.
  public static func threadCount(of process: Int32) -> Int? {
    KernelFiles.names(in: "/proc/\(process)/task")?.count
  }
}
