import EventLoop
import Logs

// The guardian is a process like any other, and can be killed like any other: then there is another one.

/// Keeps one guardian alive, from the start of roostd to its end.
@EventLoopActor
final class GuardianKeeper {
  private unowned let daemon: Daemon
  private var guardian: Guardian?
  private let timer = LoopTimer()

  init(daemon: Daemon) { self.daemon = daemon }

  /// Starts the process that outlives roostd by seconds.
  func start() throws {
    let guardian = try Guardian(shim: daemon.shimPath, instance: daemon.instance)
    daemon.managedPids.insert(guardian.pid)
    guardian.onLost = { [unowned self, unowned guardian] in lost(guardian) }
    self.guardian = guardian
  }

  /// The supervisor ends: `gone` is called when no guardian runs.
  func dismiss(_ gone: @escaping @EventLoopActor () -> Void) {
    if let guardian { guardian.dismiss(gone) } else { gone() }
  }

  /// Without a guardian, what workers left behind would outlive a killed supervisor.
  private func lost(_ guardian: Guardian) {
    daemon.managedPids.remove(guardian.pid)
    self.guardian = nil
    guard !daemon.isFinished else { return }
    daemon.log(
      .warning, "supervision", "the guardian (pid \(guardian.pid)) was killed; another one takes its place")
    replace(afterMilliseconds: Self.pauseMilliseconds)
  }

  private func replace(afterMilliseconds pause: UInt64) {
    timer.set(afterMilliseconds: pause) { [unowned self] in
      guard !daemon.isFinished else { return }
      do { try start() } catch {
        daemon.log(.error, "supervision", "no guardian can be started, and it is tried again: \(error)")
        replace(afterMilliseconds: Self.retryMilliseconds)
      }
    }
  }

  /// Before a killed guardian is replaced, so that one that cannot live costs little.
  private static let pauseMilliseconds: UInt64 = 500
  /// After one that could not be started.
  private static let retryMilliseconds: UInt64 = 10_000
}
