import Contracts
import EventLoop
import Glibc
import LinuxSystem
import Logs

/// Gives log lines to systemd's journal, with their fields.
@EventLoopActor
final class JournalWriter {
  private let socket: ServiceNotifier

  /// Nil unless JOURNAL_STREAM says that standard error is the journal: a redirected one is meant as it is.
  init?(_ environment: [String: String]) {
    var status = stat()
    guard let stream = environment["JOURNAL_STREAM"], fstat(STDERR_FILENO, &status) == 0,
      stream == "\(status.st_dev):\(status.st_ino)"
    else { return nil }
    // `try?`: the address is well formed.
    guard let socket = try? ServiceNotifier(address: JournalEntry.socket) else { return nil }
    self.socket = socket
  }

  /// False if the journal does not take the line now: then it goes to standard error, without its fields.
  func write(_ record: LogRecord) -> Bool {
    do throws(SystemFault) { try socket.send(JournalEntry.text(record)) } catch { return false }
    return true
  }
}
