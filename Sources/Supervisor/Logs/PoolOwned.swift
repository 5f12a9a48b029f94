internal import DequeModule
internal import EventLoop

/// A value that works on the thread pool, for one caller at a time, in the order of the calls.
///
/// Blocking work (files) is written as a plain value without locks. A caller lends the value to the pool and gets it
/// back on the loop; other callers wait. So no two threads ever see it, and the compiler knows that.
@EventLoopActor
final class PoolOwned<Value: Sendable> {
  private var value: Value
  private var isLent = false
  /// Bounded by the callers: each waits with one request of its own.
  private var waiting: Deque<CheckedContinuation<Void, Never>> = []

  init(_ value: Value) { self.value = value }

  /// Runs blocking work with the value, after all work of earlier calls.
  func use<Result: Sendable>(_ work: @escaping @Sendable (inout Value) -> Result) async -> Result {
    if isLent {
      // The caller that finishes resumes the next one without marking the value as free, so no other can come in
      // between.
      await withCheckedContinuation { waiting.append($0) }
    }
    isLent = true
    let lent = value
    let (returned, result) = await EventLoopActor.onThreadPool {
      var value = lent
      let result = work(&value)
      return (value, result)
    }
    value = returned
    if let next = waiting.popFirst() { next.resume() } else { isLent = false }
    return result
  }
}
