import Clocks
import EventLoop

/// Lets tasks wait until something has changed. Whoever is woken looks whether it is what he waits for, and if not
/// waits again.
@EventLoopActor
final class ChangeSignal {
  private struct Waiter {
    let continuation: CheckedContinuation<Bool, Never>
    let deadline: LoopTimer
  }

  private var waiters: [UInt64: Waiter] = [:]
  private var lastNumber: UInt64 = 0

  /// Most tasks that wait; another one is told at once that nothing has changed.
  private static let waiterMaximum = 1_024

  /// Waits for a change.
  ///
  /// - Returns: false when there was none until the deadline, or when as many wait as may.
  func wait(until deadline: Instant) async -> Bool {
    guard waiters.count < Self.waiterMaximum, EventLoop.process.now < deadline else { return false }
    lastNumber += 1
    let (number, timer) = (lastNumber, LoopTimer())
    return await withCheckedContinuation { continuation in
      waiters[number] = Waiter(continuation: continuation, deadline: timer)
      timer.set(at: deadline) { [unowned self] in
        waiters.removeValue(forKey: number)?.continuation.resume(returning: false)
      }
    }
  }

  /// Wakes all who wait, in the order in which they came.
  func changed() {
    let woken = waiters.sorted { $0.key < $1.key }
    waiters = [:]
    for (_, waiter) in woken {
      waiter.deadline.cancel()
      waiter.continuation.resume(returning: true)
    }
  }
}
