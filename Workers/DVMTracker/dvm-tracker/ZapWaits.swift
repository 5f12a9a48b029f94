import Clocks
import EventLoop
import JobTracking

/// The callers that approved a zap and wait until its request is signed.
@EventLoopActor
final class ZapWaits {
  private var attempts: [JobID: Signal] = [:]

  /// How long a caller waits; later `job.show` has the request.
  private static let waitMilliseconds: UInt64 = 3_000

  /// Waits until the request is signed, or cannot be now.
  func wait(for job: JobID) async {
    let attempt = attempts[job] ?? Signal()
    attempts[job] = attempt
    let isOver = await attempt.wait(until: EventLoop.process.now.advanced(milliseconds: Self.waitMilliseconds))
    if !isOver { attemptEnded(for: job) }
  }

  /// The request is signed, or could not be.
  func attemptEnded(for job: JobID) { attempts.removeValue(forKey: job)?.raise() }
}
