internal import CLibUV

extension EventLoopActor {
  /// Runs blocking or long work on libuv's thread pool and returns its value on the loop.
  ///
  /// Meant for batches of 16 to 64 signature checks: the hand-over of an item costs about 10 µs. The pool has
  /// `UV_THREADPOOL_SIZE` threads (4 by default) and also resolves names.
  @EventLoopActor
  public static func onThreadPool<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      PoolWork.start(work) { continuation.resume(returning: $0) }
    }
  }
}

/// One `uv_work_t` with the work and the completion for its value.
// @unchecked: `completion` is written on the pool's thread before libuv hands the request back to the loop, and is read
// there afterwards.
private final class PoolWork: @unchecked Sendable {
  private let work: @Sendable (PoolWork) -> Void
  private var completion: (() -> Void)?
  private let request = UnsafeMutablePointer<uv_work_t>.allocate(capacity: 1)

  private init(_ work: @escaping @Sendable (PoolWork) -> Void) { self.work = work }

  static func start<Value: Sendable>(
    _ work: @escaping @Sendable () -> Value, completion: @escaping @Sendable (Value) -> Void
  ) {
    let item = PoolWork { item in
      let value = work()
      item.completion = { completion(value) }
    }
    item.request.pointee.data = Unmanaged.passRetained(item).toOpaque()
    let status = uv_queue_work(
      EventLoop.process.raw, item.request,
      { request in
        guard let data = request?.pointee.data else { return }
        let item = Unmanaged<PoolWork>.fromOpaque(data).takeUnretainedValue()
        item.work(item)
      },
      { request, _ in
        guard let data = request?.pointee.data else { return }
        let item = Unmanaged<PoolWork>.fromOpaque(data).takeRetainedValue()
        item.completion?()
        item.request.deallocate()
      })
    precondition(status == 0, "libuv takes work as long as the loop lives")
  }
}
