internal import CLibUV

/// Calls back when a descriptor becomes readable: a pidfd when its process ends, a log pipe when a line arrived.
@EventLoopActor
public final class DescriptorWatcher {
  private let handle = Handle<uv_poll_t>()
  private let body: @EventLoopActor () -> Void
  private var isOpen = true

  /// Watches `descriptor` until ``close()`` or release; the descriptor stays the caller's, and must outlive the
  /// watcher.
  public init(descriptor: Int32, _ body: @escaping @EventLoopActor () -> Void) throws(LoopFault) {
    self.body = body
    let status = uv_poll_init(EventLoop.process.raw, handle.raw, descriptor)
    if status < 0 {
      handle.discard()
      isOpen = false
      throw LoopFault(code: status, doing: "watch descriptor \(descriptor)")
    }
    handle.setOwner(self)
    resume()
  }

  isolated deinit { close() }

  /// Stops calling back without closing; the other side is held back once its pipe is full.
  public func pause() {
    if isOpen { uv_poll_stop(handle.raw) }
  }

  /// Calls back again from now on.
  public func resume() {
    guard isOpen else { return }
    uv_poll_start(handle.raw, Int32(UV_READABLE.rawValue)) { raw, _, _ in
      EventLoopActor.assumeOnLoop { owner(of: raw?.pointee.data, as: DescriptorWatcher.self)?.body() }
    }
  }

  /// Stops watching. Call it before closing the descriptor.
  public func close() {
    guard isOpen else { return }
    isOpen = false
    handle.close()
  }
}
