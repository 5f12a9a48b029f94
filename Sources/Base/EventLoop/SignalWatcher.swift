internal import CLibUV

/// Calls back on the loop when a signal arrives. libuv is the only owner of signal dispositions in a Roost process.
@EventLoopActor
public final class SignalWatcher {
  private let handle = Handle<uv_signal_t>()
  private let body: @EventLoopActor () -> Void

  /// Watches signal `number` until released.
  public init(_ number: Int32, _ body: @escaping @EventLoopActor () -> Void) throws(LoopFault) {
    self.body = body
    uv_signal_init(EventLoop.process.raw, handle.raw)
    handle.setOwner(self)
    let status = uv_signal_start(
      handle.raw,
      { raw, _ in
        EventLoopActor.assumeOnLoop { owner(of: raw?.pointee.data, as: SignalWatcher.self)?.body() }
      }, number)
    try LoopFault.check(status, "watch signal \(number)")
  }

  isolated deinit { handle.close() }
}
