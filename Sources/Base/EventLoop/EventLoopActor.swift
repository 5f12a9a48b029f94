/// The isolation of everything that lives on the process's one loop.
///
/// ```swift
/// @EventLoopActor func start() async throws(LoopFault) { … }
/// EventLoopActor.task { try await start() }
/// EventLoop.process.run()
/// ```
@globalActor
public actor EventLoopActor {
  /// The actor of this process.
  public static let shared = EventLoopActor()

  /// Jobs run on the thread of `EventLoop.process`.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { EventLoop.process.asUnownedSerialExecutor() }

  /// Starts a task on the loop that prefers the loop for all its continuations. An unstructured `Task { }` does not
  /// inherit that preference and pays two thread hops per await: start loop work here.
  @discardableResult
  public static nonisolated func task<Value: Sendable>(
    _ body: @escaping @Sendable @EventLoopActor () async -> Value
  ) -> Task<Value, Never> {
    Task(executorPreference: EventLoop.process) { await body() }
  }

  /// Runs `body` as a task that is no part of the one that calls: it has none of its task-local values, such as a
  /// trace.
  public static nonisolated func detachedTask(_ body: @escaping @Sendable @EventLoopActor () async -> Void) {
    Task.detached(executorPreference: EventLoop.process) { await body() }
  }

  /// Runs `body` at once on the thread that ran the loop, after the loop has stopped: to read the results.
  public static nonisolated func afterRun<Value>(_ body: @EventLoopActor () throws -> Value) rethrows -> Value {
    precondition(EventLoop.process.isOnLoop, "this belongs to the event loop's thread")
    return try assumeOnLoop(body)
  }

  /// Runs `body` at once, where the compiler cannot see that the code is on the loop: in a callback of libuv, or of
  /// another library that is called on the loop's thread only.
  @inline(__always)
  public static nonisolated func assumeOnLoop<Value>(_ body: @EventLoopActor () throws -> Value) rethrows -> Value {
    assert(EventLoop.process.isOnLoop, "a callback came on another thread")
    // The isolation of a closure is not part of its layout; the standard library does the same for MainActor.
    return try withoutActuallyEscaping(body) { try unsafeBitCast($0, to: (() throws -> Value).self)() }
  }
}
