internal import CLinux
internal import Glibc

/// A process that became our child when its parent ended, and has now ended itself.
public struct ReapedOrphan: Hashable, Sendable {
  /// How it ended.
  public enum Ending: Hashable, Sendable {
    /// It exited, with this status.
    case exited(Int32)
    /// This signal ended it.
    case signalled(Int32)
  }

  /// Its process id, which is free again.
  public let process: Int32
  /// Its short name.
  public let name: String
  /// Its session: the process id of the worker it came from, unless it made its own.
  public let session: Int32
  /// How it ended.
  public let ending: Ending
}

/// Reaps what a subreaper adopts, and nothing else.
///
/// The event loop waits for the children it spawned, each by its id, and never sees an adopted child: without this,
/// every orphan of a worker would stay in the process table until the supervisor ends. Waiting for "any child" would
/// cause the opposite harm: it would take the loop's own children, and the loop would never report their exit. So this
/// looks first (`WNOWAIT`) and reaps by id.
///
/// Call it on the loop's thread after each SIGCHLD. There, every child that the loop spawned is in the caller's set,
/// because spawning and recording are one step.
public enum OrphanReaper {
  /// The most orphans reaped in one call; the others wait for the next call. A fork bomb must not block the loop.
  static let reapedCountMaximum = 1_024

  /// Reaps ended children that are not in `managed`.
  public static func reap(except managed: Set<Int32>) -> [ReapedOrphan] {
    var reaped: [ReapedOrphan] = []
    while reaped.count < reapedCountMaximum {
      var ended = roost_exit()
      // A failure here is ECHILD: there are no children at all.
      guard roost_wait_peek(&ended) == 0, ended.process > 0 else { return reaped }
      if managed.contains(ended.process) {
        // The kernel shows this child first until the loop has waited for it; the children behind it are found by their
        // ids.
        return reaped + reapByTable(except: managed, countMaximum: reapedCountMaximum - reaped.count)
      }
      guard let orphan = reap(ended.process) else { return reaped }
      reaped.append(orphan)
    }
    return reaped
  }

  private static func reapByTable(except managed: Set<Int32>, countMaximum: Int) -> [ReapedOrphan] {
    ProcessTable.children(of: getpid())
      .filter { $0.state == .ended && !managed.contains($0.process) }
      .prefix(countMaximum)
      .compactMap { reap($0.process) }
  }

  private static func reap(_ process: Int32) -> ReapedOrphan? {
    let entry = ProcessTable.entry(of: process)
    var ended = roost_exit()
    guard roost_wait_reap(process, &ended) == 0, ended.process == process else { return nil }
    return ReapedOrphan(
      process: process, name: entry?.name ?? "", session: entry?.session ?? 0,
      ending: ended.is_exited != 0 ? .exited(ended.status) : .signalled(ended.status))
  }
}
