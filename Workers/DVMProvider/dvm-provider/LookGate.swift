import EventLoop

/// Lets few looks at programs happen at a time, in the order in which they were wanted: the thread pool is also where
/// folders are removed and names are looked up.
@EventLoopActor
final class LookGate {
  private var free = LookGate.placeCount
  private var waiting: [CheckedContinuation<Void, Never>] = []

  /// Half of the pool's threads.
  private static let placeCount = 2

  /// Waits for a place, which is to be given back by ``leave()``. As many wait as there are runs.
  func enter() async {
    guard free == 0 else {
      free -= 1
      return
    }
    await withCheckedContinuation { waiting.append($0) }
  }

  /// Gives a place back.
  func leave() {
    // It goes over to whoever is next.
    if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
  }
}
