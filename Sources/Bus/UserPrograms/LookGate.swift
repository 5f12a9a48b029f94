public import EventLoop

/// Lets few checks of programs run at a time, in the order in which they came, because the same thread pool also
/// removes folders and resolves names.
@EventLoopActor
public final class LookGate {
  private var free = LookGate.placeCount
  private var waiting: [CheckedContinuation<Void, Never>] = []

  /// Half of the pool's threads.
  private static let placeCount = 2

  /// A gate for the runs of this process.
  public init() {}

  /// Waits for a place, which the caller gives back with ``leave()``. At most one caller waits for each run.
  func enter() async {
    guard free == 0 else {
      free -= 1
      return
    }
    await withCheckedContinuation { waiting.append($0) }
  }

  /// Gives a place back.
  func leave() {
    // The next caller in the queue takes it over.
    if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
  }
}
