public import Clocks

/// Lets tasks on the loop wait for an event that other code on the loop raises. It remembers nothing: an event that
/// comes while no task waits is lost, so a task checks its condition before it waits.
///
/// ```swift
/// var openCount = 0 { didSet { closed.raise() } }
/// await closed.wait(until: deadline) { openCount == 0 }
/// ```
@EventLoopActor
public final class Signal {
  private struct Waiter {
    let continuation: CheckedContinuation<Bool, Never>
    /// Nil for a task that waits without a deadline.
    let deadline: LoopTimer?
  }

  private let waiterMaximum: Int
  private var waiters: [UInt64: Waiter] = [:]
  private var lastNumber: UInt64 = 0

  /// A signal for which no task waits.
  ///
  /// - Parameter waiterMaximum: how many tasks may wait at a time, if nothing else bounds them. A further task does not
  ///   wait: it gets the result of a passed deadline.
  public init(waiterMaximum: Int = .max) { self.waiterMaximum = waiterMaximum }

  /// Waits for the next ``raise()``.
  ///
  /// - Parameter deadline: when the wait ends without a raise; nil to wait for the event only.
  /// - Returns: false if the deadline came first, or if the maximum number of tasks is waiting already.
  public func wait(until deadline: Instant? = nil) async -> Bool {
    guard waiters.count < waiterMaximum else { return false }
    if let deadline, EventLoop.process.now >= deadline { return false }
    lastNumber += 1
    let number = lastNumber
    let timer = deadline.map { _ in LoopTimer() }
    return await withCheckedContinuation { continuation in
      waiters[number] = Waiter(continuation: continuation, deadline: timer)
      guard let timer, let deadline else { return }
      timer.set(at: deadline) { [unowned self] in
        waiters.removeValue(forKey: number)?.continuation.resume(returning: false)
      }
    }
  }

  /// Waits until a condition holds, which it checks first and after each ``raise()``.
  ///
  /// - Parameters:
  ///   - deadline: when the wait ends although the condition does not hold; nil for never.
  ///   - condition: what the caller waits for; each change that can make it true must raise the signal.
  /// - Returns: whether the condition held in the end.
  @discardableResult
  public func wait(
    until deadline: Instant? = nil, for condition: @EventLoopActor () -> Bool
  ) async -> Bool {
    while !condition() {
      guard await wait(until: deadline) else { return condition() }
    }
    return true
  }

  /// The event has come: resumes all waiting tasks, in the order in which they began to wait. They run after the
  /// caller, and a task that waits again waits for the next event.
  public func raise() {
    guard !waiters.isEmpty else { return }
    let resumed = waiters.sorted { $0.key < $1.key }
    waiters = [:]
    for (_, waiter) in resumed {
      waiter.deadline?.cancel()
      waiter.continuation.resume(returning: true)
    }
  }
}
