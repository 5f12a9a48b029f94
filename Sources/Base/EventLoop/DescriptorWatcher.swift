/// Calls back when a descriptor becomes readable: a pidfd when its process ends, a log pipe when a line arrived.
@EventLoopActor
public final class DescriptorWatcher {
  private let watcher: SocketWatcher

  /// Watches `descriptor` until ``close()`` or release; the descriptor stays the caller's, and must outlive the
  /// watcher.
  public init(descriptor: Int32, _ body: @escaping @EventLoopActor () -> Void) throws(LoopFault) {
    // Whoever reads finds out by himself what is wrong.
    watcher = try SocketWatcher(socket: descriptor) { _ in body() }
    resume()
  }

  /// Stops calling back without closing; the other side is held back once its pipe is full.
  public func pause() { watcher.watch(for: []) }

  /// Calls back again from now on.
  public func resume() { watcher.watch(for: .readable) }

  /// Stops watching. Call it before closing the descriptor.
  public func close() { watcher.close() }
}
