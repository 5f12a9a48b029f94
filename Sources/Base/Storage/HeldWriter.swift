internal import Glibc
internal import LinuxSystem
internal import Synchronization

/// Keeps a writer's thread waiting until it is released, or its time is over. It waits for a pipe: the thread
/// uses no processor time.
final class HeldWriter: Sendable {
  private enum State { case holding, released, late }

  private let ends: (read: Int32, write: Int32)
  private let state = Mutex(State.holding)

  init() throws(SystemFault) {
    let pair = try Descriptors.pipe()
    ends = (pair.first, pair.second)
  }

  deinit {
    close(ends.read)
    close(ends.write)
  }

  /// On the writer's thread: waits for ``release()``, at most so long.
  func wait(milliseconds: Int32) {
    var wanted = pollfd(fd: ends.read, events: Int16(POLLIN), revents: 0)
    while poll(&wanted, 1, milliseconds) < 0, errno == EINTR {}
    state.withLock { if $0 == .holding { $0 = .late } }
  }

  /// Lets the writer continue. Returns whether it has waited up to now: then nothing was written meanwhile.
  @discardableResult
  func release() -> Bool {
    let before = state.withLock { state in
      defer { state = .released }
      return state
    }
    if before != .released { _ = Glibc.write(ends.write, "x", 1) }
    return before == .holding
  }
}
