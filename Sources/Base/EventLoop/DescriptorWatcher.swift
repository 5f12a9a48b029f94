/// Calls back when a descriptor becomes readable: a pidfd when its process ends, a log pipe when a line has arrived.
@EventLoopActor
public final class DescriptorWatcher {
  private let watcher: SocketWatcher

  /// Watches `descriptor` until ``close()`` or release. The caller keeps the descriptor, which must outlive the
  /// watcher.
  public init(descriptor: Int32, _ body: @escaping @EventLoopActor () -> Void) throws(LoopFault) {
    // The readiness is ignored: a read shows what is wrong.
    watcher = try SocketWatcher(socket: descriptor) { _ in body() }
    resume()
  }

  /// Stops calling back without closing; the other side has to wait once its pipe is full.
  public func pause() { watcher.watch(for: []) }

  /// Calls back again from now on.
  public func resume() { watcher.watch(for: .readable) }

  /// Stops watching. Call it before closing the descriptor.
  public func close() { watcher.close() }
}
