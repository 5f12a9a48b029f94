import Contracts
import EventLoop
import Logs

/// Passes new log lines to one caller of `supervisor.logs`. While the caller has no room nothing is kept for it here:
/// it continues from its last number in the book, and learns how many have gone meanwhile.
@EventLoopActor
final class LogStream {
  private let worker: String?
  private let trace: String?
  private let book: WorkerLogs
  private let send: @EventLoopActor ([LogRecord]) -> Bool
  /// The last number passed on: among all records, or among the one worker's.
  private var last: UInt64
  private var hasRoom = true
  private var follower: LogFollower?

  /// Lines in one part.
  static let partMaximum = 50

  /// Lines of one worker or of all, about one request or about all.
  init(
    worker: String?, trace: String?, book: WorkerLogs, send: @escaping @EventLoopActor ([LogRecord]) -> Bool
  ) {
    (self.worker, self.trace) = (worker, trace)
    self.book = book
    self.send = send
    last = worker.map { book.tail(worker: $0, lines: 1).last?.number ?? 0 } ?? book.lastArrival
  }

  func begin(with records: [LogRecord]) {
    if !records.isEmpty { hasRoom = send(records) }
    follower = book.follow(worker: worker) { [weak self] _ in self?.advance() }
  }

  func end() {
    if let follower { book.unfollow(follower) }
    follower = nil
  }

  func mayContinue() {
    hasRoom = true
    advance()
  }

  private func advance() {
    while hasRoom {
      let page =
        worker.map { book.entries(of: $0, afterNumber: last, limit: Self.partMaximum) }
        ?? book.entries(afterArrival: last, limit: Self.partMaximum)
      guard let newest = page.entries.last else { return }
      last = worker == nil ? newest.arrival : newest.number
      var records = page.entries.map(\.record).filter { $0.isAbout(trace) }
      if page.missedCount > 0 {
        records.insert(
          LogRecord(
            time: newest.record.time, worker: "roostd", level: "warning", category: "log",
            message: "\(page.missedCount) lines are missing here: this reader did not keep up"), at: 0)
      }
      if !records.isEmpty { hasRoom = send(records) }
    }
  }
}

extension LogRecord {
  /// Whether the line is about the request with this trace; every line without one.
  func isAbout(_ trace: String?) -> Bool { trace == nil || fields?[Self.traceField] == trace }
}
