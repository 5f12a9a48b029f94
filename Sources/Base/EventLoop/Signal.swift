public import Clocks

/// Lets tasks on the loop wait for an event that other code on the loop raises. It remembers nothing: an event that
/// comes while no task waits is lost, so a task looks at its condition before it waits.
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
  /// - Parameter waiterMaximum: tasks that may wait at a time, where nothing else bounds them. One more does not wait:
  ///   for it, the deadline has passed.
  public init(waiterMaximum: Int = .max) { self.waiterMaximum = waiterMaximum }

  /// Waits for the next ``raise()``.
  ///
  /// - Parameter deadline: when the wait ends without it; nil for a wait that only the event ends.
  /// - Returns: false when the deadline came first, or when as many tasks wait as may.
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

  /// Waits until a condition holds, which it looks at first and after each ``raise()``.
  ///
  /// - Parameters:
  ///   - deadline: when the wait ends although the condition does not hold; nil for never.
  ///   - condition: what the caller waits for; each change that can make it true raises the signal.
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

  /// The event has come: resumes all tasks that wait, in the order in which they began to. They run after the caller,
  /// and a task that waits again waits for the next event.
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
