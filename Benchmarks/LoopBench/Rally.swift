import Clocks
import EventLoop

/// Two tasks on the loop that wake each other in turn.
@EventLoopActor
final class LoopRally {
  private var waiting: CheckedContinuation<Void, Never>?

  /// Plays `count` awaits in all; returns the nanoseconds of one.
  func play(_ count: Int) async -> UInt64 {
    let begin = EventLoop.process.now
    let other = EventLoopActor.task { await self.returnBalls(count / 2) }
    await returnBalls(count / 2)
    waiting?.resume()
    waiting = nil
    await other.value
    return (EventLoop.process.now.nanoseconds - begin.nanoseconds) / UInt64(count)
  }

  private func returnBalls(_ count: Int) async {
    for _ in 0..<count {
      let other = waiting
      await withCheckedContinuation { continuation in
        waiting = continuation
        other?.resume()
      }
    }
  }
}

/// The same, on the default executor.
actor PoolRally {
  private var waiting: CheckedContinuation<Void, Never>?

  /// Plays `count` awaits in all; returns the nanoseconds of one.
  func play(_ count: Int) async -> UInt64 {
    let begin = EventLoop.process.now
    let other = Task { await self.returnBalls(count / 2) }
    await returnBalls(count / 2)
    waiting?.resume()
    waiting = nil
    await other.value
    return (EventLoop.process.now.nanoseconds - begin.nanoseconds) / UInt64(count)
  }

  private func returnBalls(_ count: Int) async {
    for _ in 0..<count {
      let other = waiting
      await withCheckedContinuation { continuation in
        waiting = continuation
        other?.resume()
      }
    }
  }
}
