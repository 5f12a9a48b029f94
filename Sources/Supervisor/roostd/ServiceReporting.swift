import Clocks
import Contracts
import EventLoop
import Frames
import Glibc
import LinuxSystem
import Logs
import RoostConfiguration
import Supervision

/// Tells the service manager what ``ServiceReport`` says, and that the loop turns.
///
/// WATCHDOG=1 comes from a timer of the loop and from nowhere else: a loop that is stopped or stuck sends none, and the
/// service manager ends it. A worker that is busy, such as one that rescues its database, does not hold up the loop.
@EventLoopActor
final class ServiceReporting {
  private unowned let daemon: Daemon
  private let notifier: ServiceNotifier?
  private let watchdogMilliseconds: UInt64?
  private let watchdog = LoopTimer()
  private var report = ServiceReport()
  private var hasBegun = false

  /// - Parameters:
  ///   - notifier: nil without a service manager.
  ///   - watchdogMilliseconds: how often it must hear that the loop turns; nil: it need not.
  init(daemon: Daemon, _ notifier: ServiceNotifier?, watchdogMilliseconds: UInt64?) {
    (self.daemon, self.notifier, self.watchdogMilliseconds) = (daemon, notifier, watchdogMilliseconds)
  }

  /// Twice as often as WATCHDOG_USEC asks for; nil if that is not set, or is meant for another process.
  nonisolated static func watchdogMilliseconds(_ environment: [String: String]) -> UInt64? {
    let isMeant = environment["WATCHDOG_PID"].map { $0 == "\(getpid())" } ?? true
    guard isMeant, let microseconds = environment["WATCHDOG_USEC"].flatMap({ UInt64($0) }), microseconds > 0 else {
      return nil
    }
    return max(1, microseconds / 2_000)
  }

  /// The workers that are to run have been told to start.
  func begin() {
    hasBegun = true
    keepAlive()
    look()
  }

  /// A worker may have changed.
  func look() {
    guard notifier != nil, hasBegun else { return }
    let workers = daemon.workers.filter { $0.configuration.enabled || !$0.isAtRest }.map {
      ServiceReport.Worker(
        name: $0.name, state: $0.machine.state, note: $0.status?.text, deadline: $0.machine.startDeadline)
    }
    send(report.looked(at: workers, now: EventLoop.process.now))
  }

  /// Runs a reload between RELOADING=1 and READY=1.
  func reloading<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
    send(report.reloadBegan(monotonicMicroseconds: SystemClock.monotonicNanoseconds() / 1_000))
    defer {
      send(report.reloadEnded())
      look()
    }
    return try body()
  }

  /// The stop begins, and takes no longer than this.
  func stopping(withinMilliseconds milliseconds: UInt64) {
    let now = EventLoop.process.now
    send(report.stopBegan(now: now, by: now.advanced(milliseconds: milliseconds)))
  }

  private func keepAlive() {
    guard let watchdogMilliseconds else { return }
    send(["WATCHDOG=1"])
    watchdog.set(afterMilliseconds: watchdogMilliseconds) { [unowned self] in keepAlive() }
  }

  private func send(_ lines: [String]) {
    guard let notifier, !lines.isEmpty else { return }
    do throws(SystemFault) { try notifier.send(lines.joined(separator: "\n")) } catch {
      daemon.log(.warning, "systemd", "\(error)")
    }
  }
}
