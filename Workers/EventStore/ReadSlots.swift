import DequeModule
import EventLoop

/// Readers of the database for those who ask. Fewer than there are, so that the gate's look-ups never wait behind a
/// long query.
@EventLoopActor
final class ReadSlots {
  /// Queries that read at once.
  nonisolated static let count = 4

  private var free: Int
  private var line = Deque<CheckedContinuation<Void, Never>>()

  /// So many at once.
  init(count: Int = ReadSlots.count) { free = count }

  /// Reads, in turn.
  func read<Value: Sendable, Failure: Error>(
    _ body: @EventLoopActor () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    if free > 0 { free -= 1 } else { await withCheckedContinuation { line.append($0) } }
    defer {
      // Handed on without being free in between: whoever waits is next.
      if let next = line.popFirst() { next.resume() } else { free += 1 }
    }
    return try await body()
  }
}
