import Glibc
import Synchronization

/// A thread that runs one body, and is joined once.
final class JoinedThread: Sendable {
  private let handle: Mutex<pthread_t?>

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
