internal import Bus
public import Contracts
internal import EventLoop
public import Frames

// Logs: what workers did because of a request, and which messages went to relays and came from there.
//
//     roost.setLogLevel("traffic-publish", "debug")
//     let trace = RequestTrace.random()
//     try await roost.traced(trace) { try await roost.publish(.note("hello")) }
//     for try await record in roost.followLogs(trace: trace) { … }

extension RoostClient {
  /// How long an answer about logs may take, in milliseconds.
  private static let logMilliseconds: UInt32 = 30_000

  /// Runs `body`, and gives all requests in it this trace.
  public func traced<Value: Sendable, Failure: Error>(
    _ trace: RequestTrace, _ body: @EventLoopActor () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    try await BusTrace.with(trace, body)
  }

  /// The last lines of the log that are in roostd's memory, the oldest first.
  ///
  /// - Parameters:
  ///   - trace: only lines about this request, of all workers.
  ///   - worker: only this worker's lines; `roostd` for the supervisor's own.
  ///   - lines: how many, up to 10,000.
  public func logs(
    trace: RequestTrace? = nil, worker: String? = nil, lines: Int = 50
  ) async throws(Refusal) -> [LogRecord] {
    let wanted = LogsRequest(worker: worker, lines: lines, trace: trace?.description)
    let answer = try await stream(
      SupervisorMethod.logs, wanted, options: .idempotent(ttlMilliseconds: Self.logMilliseconds))
    var records: [LogRecord] = []
    while let item = try await answer.next() {
      switch item {
      case .part(let some), .end(let some): records += some
      }
    }
    return records
  }

  /// Lines of the log: the last `lines`, then new ones, without an end.
  ///
  /// - Parameters:
  ///   - trace: as for ``logs(trace:worker:lines:)``.
  ///   - worker: as there.
  ///   - lines: how many past lines.
  public nonisolated func followLogs(
    trace: RequestTrace? = nil, worker: String? = nil, lines: Int = 0
  ) -> LogSequence {
    LogSequence(
      client: self,
      wanted: LogsRequest(worker: worker, lines: lines, follow: true, trace: trace?.description))
  }

  /// Sets the least level at which a category is logged, in all programs and at once, until roostd ends.
  ///
  /// - Parameters:
  ///   - category: a category, such as one of `TrafficCategory`; `*` for all without a level of their own.
  ///   - level: `trace`, `debug`, `info`, `notice`, `warning`, `error` or `critical`.
  /// - Throws: `bad-request` for another level; `full` when too many categories have a level of their own.
  @discardableResult
  public func setLogLevel(_ category: String, _ level: String) async throws(Refusal) -> LogLevelResult {
    try await request(
      SupervisorMethod.logLevel, LogLevelRequest(category: category, level: level),
      options: .idempotent(ttlMilliseconds: Self.logMilliseconds))
  }
}

/// Lines of the log as they are written. Made by ``RoostClient/followLogs(trace:worker:lines:)``.
///
/// A reader that does not keep up misses lines, and a line in their place says how many. It ends when its task is
/// cancelled, or with a `Refusal`, also when the supervisor ends: what it logs next is in another log.
public struct LogSequence: AsyncSequence, Sendable {
  /// A line.
  public typealias Element = LogRecord
  /// The reason of an early end.
  public typealias Failure = Refusal

  let client: RoostClient
  let wanted: LogsRequest

  /// Starts an iteration; the first call of `next` sends the request.
  public func makeAsyncIterator() -> Iterator { Iterator(reader: LogReader(client, wanted)) }

  /// One iteration.
  public struct Iterator: AsyncIteratorProtocol {
    let reader: LogReader

    /// The next line; nil when the task is cancelled. Only one reader at a time.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(Refusal) -> LogRecord? {
      try await reader.next()
    }
  }
}

/// Reads the lines of one follower.
@EventLoopActor
final class LogReader {
  private let client: RoostClient
  private let wanted: LogsRequest
  private var answer: RoostStream<[LogRecord], [LogRecord]>?
  private var waiting: ArraySlice<LogRecord> = []

  nonisolated init(_ client: RoostClient, _ wanted: LogsRequest) { (self.client, self.wanted) = (client, wanted) }

  func next() async throws(Refusal) -> LogRecord? {
    while waiting.isEmpty {
      if Task.isCancelled { return nil }
      do throws(Refusal) {
        if answer == nil { answer = try await client.stream(SupervisorMethod.logs, wanted) }
        guard let part = try await answer?.nextPart() else { return nil }
        waiting = part[...]
      } catch {
        if Task.isCancelled { return nil }
        throw error
      }
    }
    return waiting.removeFirst()
  }
}
