public import Frames

/// The trace of what the running task does: its requests and events carry it, and so do the lines of a worker's log.
///
/// In the handler of a request, and in tasks that it starts, it is the request's. A task that works for other requests
/// says so itself:
///
/// ```swift
/// try await BusTrace.with(traces[id]) { () async throws(Refusal) in try await bus.request(…) }
/// ```
public enum BusTrace {
  /// The request that the running task serves; nil outside of a handler and the tasks that it started.
  @TaskLocal static var served: BusRequest?
  /// What a task has said; the inner nil: it works for no request.
  @TaskLocal private static var said: RequestTrace??

  /// The trace of the running task; nil: it works for no request.
  public static var current: RequestTrace? {
    if let said { return said }
    return served.flatMap { RequestTrace(rawValue: $0.trace) }
  }

  /// Runs `body` as work for the request with this trace; nil: for none.
  public static func with<Value, Failure: Error>(
    _ trace: RequestTrace?, isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let result = await $said.withValue(
      .some(trace),
      operation: { () async -> Result<Value, Failure> in
        do throws(Failure) { return .success(try await body()) } catch { return .failure(error) }
      })
    return try result.get()
  }
}
