import Clocks
import EventLoop
import Glibc
import Synchronization

/// Runs the process's one loop on a thread of its own, so that tests can be isolated to `EventLoopActor`.
public enum LoopThread {
  private static let isStarted = Mutex(false)

  /// Starts the loop once for the whole test process.
  public static func start() {
    isStarted.withLock { isStarted in
      guard !isStarted else { return }
      isStarted = true
      var thread = pthread_t()
      pthread_create(
        &thread, nil,
        { _ in
          EventLoop.process.run()
          return nil
        }, nil)
    }
  }

  /// Runs a test's body on the loop, with the loop as preferred executor, as in a real process.
  public static func run<Value: Sendable>(
    _ body: @escaping @Sendable @EventLoopActor () async throws -> Value
  ) async throws -> Value {
    start()
    return try await Task(executorPreference: EventLoop.process) { try await body() }.value
  }
}

/// Thrown when something awaited by a test did not come in time.
public struct DeadlinePassed: Error, CustomStringConvertible {
  /// What was awaited.
  public let description: String

  /// Says what was awaited.
  public init(description: String) { self.description = description }
}

/// Waits until `condition` holds, looking every 5 ms, at most `seconds`.
@EventLoopActor
public func eventually(
  within seconds: Double = 20, _ what: String, _ condition: @EventLoopActor () async throws -> Bool
) async throws {
  let end = EventLoop.process.now.advanced(milliseconds: UInt64(seconds * 1_000))
  while !(try await condition()) {
    if EventLoop.process.now > end { throw DeadlinePassed(description: "not within \(seconds) s: \(what)") }
    await EventLoopActor.sleep(milliseconds: 5)
  }
}

/// Waits until a figure has stood still for `milliseconds`, and says which it is then; at most 20 s.
@EventLoopActor
public func standstill<Value: Equatable>(
  _ what: String, forMilliseconds milliseconds: UInt64, _ value: @EventLoopActor () -> Value
) async throws -> Value {
  var last = value()
  try await eventually("\(what) stands still") {
    let before = last
    await EventLoopActor.sleep(milliseconds: milliseconds)
    last = value()
    return last == before
  }
  return last
}

/// Gives what must not happen time to happen: `condition` is to hold now and, looked at every 5 ms, for `milliseconds`.
///
/// A slow machine can make it miss something, and never makes it fail.
@EventLoopActor
public func remains(
  _ what: String, forMilliseconds milliseconds: UInt64, _ condition: @EventLoopActor () -> Bool
) async throws {
  let end = EventLoop.process.now.advanced(milliseconds: milliseconds)
  while true {
    guard condition() else { throw PromiseBroken(description: "not so for \(milliseconds) ms: \(what)") }
    if EventLoop.process.now >= end { return }
    await EventLoopActor.sleep(milliseconds: 5)
  }
}

/// Thrown when what was to stay so has changed.
public struct PromiseBroken: Error, CustomStringConvertible {
  /// What was to stay so.
  public let description: String
}
