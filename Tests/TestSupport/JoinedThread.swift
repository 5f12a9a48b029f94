import Glibc
import Synchronization

/// A thread that runs one body, and is joined once.
public final class JoinedThread: Sendable {
  private let handle: Mutex<pthread_t?>

  /// Does what blocks on a thread of its own, and gives what it gives. Swift's own threads are as many as the machine
  /// has processors: a test that blocked one would take it from all others.
  public static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      _ = JoinedThread { continuation.resume(with: Result(catching: body)) }  // It ends by itself.
    }
  }

  /// Starts it. The process ends when it cannot: a test has nothing else to do then.
  init(_ body: @escaping @Sendable () -> Void) {
    let box = Unmanaged.passRetained(Body(run: body))
    var thread = pthread_t()
    let status = pthread_create(
      &thread, nil,
      { pointer in
        if let pointer { Unmanaged<Body>.fromOpaque(pointer).takeRetainedValue().run() }
        return nil
      }, box.toOpaque())
    precondition(status == 0, "no thread could be started")
    handle = Mutex(thread)
  }

  deinit { handle.withLock { if let thread = $0 { _ = pthread_detach(thread) } } }

  /// Waits for its end; a second call returns at once.
  func join() {
    guard let thread = handle.withLock({ $0.take() }) else { return }
    pthread_join(thread, nil)
  }

  private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(run: @escaping @Sendable () -> Void) { self.run = run }
  }
}
