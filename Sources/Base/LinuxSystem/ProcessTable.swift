internal import Glibc

/// What `/proc` tells of other processes.
///
/// Everything here is true at the moment of reading and may be false at the next. A process id names a process for
/// certain only while it is our child and not waited for; for any other, hold a ``ProcessDescriptor`` first and ask
/// then. A process that is gone is nil, never an error.
public enum ProcessTable {
  /// How far a line of ancestors is followed. A longer one counts as descending, which is the safe answer.
  static let ancestorCountMaximum = 256

  /// One process; nil if it is gone.
  public static func entry(of process: Int32) -> ProcessEntry? {
    KernelFiles.read("/proc/\(process)/stat").flatMap(ProcessEntry.init(statLine:))
  }

  /// All processes that we can see. One that starts or ends during the reading may be missed.
  public static func entries() -> [ProcessEntry] {
    (KernelFiles.names(in: "/proc") ?? []).compactMap { Int32($0).flatMap(entry(of:)) }
  }

  /// The children of a process, ended ones included.
  public static func children(of process: Int32) -> [ProcessEntry] {
    entries().filter { $0.parent == process }
  }

  /// Whether a process is `ancestor` or comes from it, by parents, by session, or both on the way.
  ///
  /// A child whose parent ended belongs to the subreaper, and its line of parents no longer leads to the worker it came
  /// from. Its session still does, because every worker leads one. One that made a session of its own *and* lost its
  /// parent is found by ``environment(of:holds:)`` only; ask both.
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

  /// Whether the line of parents of a process leads to `ancestor`, or it is `ancestor`; nil if it is gone.
  ///
  /// For a subreaper that asks about itself this finds every descendant there is: whoever loses its parent becomes the
  /// subreaper's child, whatever session it has made and whatever environment it has emptied.
  public static func comes(_ process: Int32, from ancestor: Int32) -> Bool? {
    var current = process
    for _ in 0..<ancestorCountMaximum {
      if current == ancestor { return true }
      // One that ends on the way up has just handed its children to the subreaper.
      guard let entry = entry(of: current) else { return current == process ? nil : true }
      if entry.parent <= 1 { return entry.parent == ancestor }
      current = entry.parent
    }
    return true
  }

  /// Whether the environment a process was started with holds exactly this entry, as `ROOST_INSTANCE=0123abcd`.
  ///
  /// Nil if nothing can be told: it is gone, is in the middle of an exec, has no environment at all, or is not ours to
  /// inspect (another user's, or not dumpable). Where a "no" lets somebody in, nil is no "no".
  ///
  /// All descendants inherit an environment, through any number of forks and sessions, unless they empty it on purpose.
  public static func environment(of process: Int32, holds entry: String) -> Bool? {
    // The kernel passes at most 6 MiB of arguments and environment to a program.
    guard let bytes = KernelFiles.read("/proc/\(process)/environ", byteCountMaximum: 8 << 20), !bytes.isEmpty else {
      return nil
    }
    return bytes.split(separator: 0).contains { $0.elementsEqual(entry.utf8) }
  }

  /// How many descriptors a process has open; nil if it is gone or not ours to inspect.
  public static func openDescriptorCount(of process: Int32) -> Int? {
    let isSelf = process == getpid()
    guard let count = KernelFiles.names(in: "/proc/\(process)/fd")?.count else { return nil }
    // Reading one's own folder of descriptors opens one more.
    return isSelf ? count - 1 : count
  }

  /// How many threads a process has; nil if it is gone.
  public static func threadCount(of process: Int32) -> Int? {
    KernelFiles.names(in: "/proc/\(process)/task")?.count
  }
}
