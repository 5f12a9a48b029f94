public import Clocks
internal import CLibUV

/// A timer on the loop. Releasing it cancels it.
@EventLoopActor
public final class LoopTimer {
  private let handle = Handle<uv_timer_t>()
  private var body: (@EventLoopActor () -> Void)?

  /// A timer that is not set.
  public init() {
    uv_timer_init(EventLoop.process.raw, handle.raw)
    handle.setOwner(self)
  }

  isolated deinit { handle.close() }

  /// Whether it will fire.
  public var isSet: Bool { uv_is_active(handle.handle) != 0 }

  /// Fires once at `instant`, or in the next turn if that has passed; replaces an earlier setting.
  public func set(at instant: Instant, _ body: @escaping @EventLoopActor () -> Void) {
    let now = EventLoop.process.now
    // Rounded up: a timer that fires early would find nothing due and set itself again.
    let wait = instant > now ? (instant.nanoseconds - now.nanoseconds + 999_999) / 1_000_000 : 0
    set(afterMilliseconds: wait, body)
  }

  /// Fires once after a number of milliseconds; replaces an earlier setting.
  public func set(afterMilliseconds milliseconds: UInt64, _ body: @escaping @EventLoopActor () -> Void) {
    self.body = body
    // libuv counts from the start of the turn, which after a long callback would be early, and rounds down to whole
    // milliseconds, which is early by up to one.
    uv_update_time(EventLoop.process.raw)
    uv_timer_start(
      handle.raw,
      { raw in
        EventLoopActor.assumeOnLoop {
          guard let timer = owner(of: raw?.pointee.data, as: LoopTimer.self) else { return }
          let body = timer.body
          timer.body = nil
          body?()
        }
      }, milliseconds == 0 ? 0 : milliseconds + 1, 0)
  }

  /// Cancels the timer.
  public func cancel() {
    body = nil
    uv_timer_stop(handle.raw)
  }
}

extension EventLoopActor {
  /// Suspends the calling task for a number of milliseconds, without leaving the loop.
  @EventLoopActor
  public static func sleep(milliseconds: UInt64) async {
    let timer = LoopTimer()
    await withCheckedContinuation { continuation in
      timer.set(afterMilliseconds: milliseconds) { continuation.resume() }
    }
    timer.cancel()
  }
}
