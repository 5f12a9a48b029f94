import Glibc
import LinuxSystem
import Logs

// What may be taken from under a running supervisor: its directories and locks. `ListeningSocket` has the socket.

extension Daemon {
  /// Makes good what was removed. With another supervisor on the same directories there is nothing left but to go: both
  /// would start the same workers.
  func mendPremises() {
    do {
      let mended = try directories.mend()
      if !mended.isEmpty {
        log(.warning, "supervision", "\(mended.joined(separator: ", ")) had been removed; made again")
      }
    } catch let taken as SupervisorDirectories.Taken {
      guard stopping == nil else { return }
      log(.critical, "supervision", "\(taken) after ours was removed; leaving it to that one")
      stop(.escalated("\(taken)"))
    } catch {
      log(.error, "supervision", "what was removed cannot be made again: \(error)")
    }
  }

  /// Whether a process was started by a worker, however it has slipped away: we are the subreaper, so all that comes
  /// from a worker comes from us. Nil if it is gone, and nothing shows it.
  func descendsFromWorker(_ process: Int32) -> Bool? {
    // In a process namespace that we cannot see is no process that descends from us.
    process <= 0 ? false : ProcessTable.comes(process, from: getpid())
  }
}
