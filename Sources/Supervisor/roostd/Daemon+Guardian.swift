import EventLoop
import Logs

// The guardian is a process like any other, and can be killed like any other: then there is another one.

extension Daemon {
  /// Starts the process that outlives roostd by seconds.
  func startGuardian() throws {
    let guardian = try Guardian(shim: shimPath, instance: instance)
    managedPids.insert(guardian.pid)
    guardian.onLost = { [unowned self, unowned guardian] in lost(guardian) }
    self.guardian = guardian
  }

  /// Without a guardian, what workers left behind would outlive a killed supervisor.
  private func lost(_ guardian: Guardian) {
    managedPids.remove(guardian.pid)
    self.guardian = nil
    guard !isFinished else { return }
    log(.warning, "supervision", "the guardian (pid \(guardian.pid)) was killed; another one takes its place")
    replaceGuardian(afterMilliseconds: Self.guardianPauseMilliseconds)
  }

  private func replaceGuardian(afterMilliseconds pause: UInt64) {
    guardianTimer.set(afterMilliseconds: pause) { [unowned self] in
      guard !isFinished else { return }
      do { try startGuardian() } catch {
        log(.error, "supervision", "no guardian can be started, and it is tried again: \(error)")
        replaceGuardian(afterMilliseconds: Self.guardianRetryMilliseconds)
      }
    }
  }

  /// Before a killed guardian is replaced, so that one that cannot live costs little.
  private static let guardianPauseMilliseconds: UInt64 = 500
  /// After one that could not be started.
  private static let guardianRetryMilliseconds: UInt64 = 10_000
}
