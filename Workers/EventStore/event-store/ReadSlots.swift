import Clocks
import EventLoop
import HeapModule

// Readers of the database for those who ask, in a line that does not let long questions keep short ones waiting.
//
// A question is read page by page, and lines up again for each. Its place is when it came to the line, and later by
// some times what its pages have taken already: whoever asks for little is next, behind what is just being read, and
// who asks for all there is continues with a page whenever nobody else has waited for longer. Nobody waits for ever,
// because everybody's place comes.

/// Readers of the database for those who ask. Fewer than there are, so that the gate's look-ups never wait behind a
/// long query.
@EventLoopActor
final class ReadSlots {
  /// Queries that read at once.
  nonisolated static let count = 4
  /// How much further back in the line one is for what one has read: a second of reading is as four of waiting.
  private static let weight: UInt64 = 4

  /// What one question has read so far.
  final class Use {
    fileprivate(set) var nanoseconds: UInt64 = 0
    nonisolated init() {}
  }

  private struct Waiter: Comparable {
    let due: UInt64
    let number: UInt64
    let continuation: CheckedContinuation<Void, Never>

    static func == (left: Waiter, right: Waiter) -> Bool { left.number == right.number }
    static func < (left: Waiter, right: Waiter) -> Bool { (left.due, left.number) < (right.due, right.number) }
  }

  private var free: Int
  private var line = Heap<Waiter>()
  private var nextNumber: UInt64 = 0

  /// So many at once.
  init(count: Int = ReadSlots.count) { free = count }

  /// Reads, in turn; what that takes is added to `use`.
  func read<Value: Sendable, Failure: Error>(
    for use: Use? = nil, _ body: @EventLoopActor () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    if free > 0 { free -= 1 } else { await wait(use) }
    let start = EventLoop.process.now
    defer {
      use?.nanoseconds += EventLoop.process.now.nanoseconds - start.nanoseconds
      // Handed on without being free in between: whoever is next reads.
      if let next = line.popMin() { next.continuation.resume() } else { free += 1 }
    }
    return try await body()
  }

  private func wait(_ use: Use?) async {
    let due = EventLoop.process.now.nanoseconds + Self.weight * (use?.nanoseconds ?? 0)
    nextNumber += 1
    let number = nextNumber
    await withCheckedContinuation { line.insert(Waiter(due: due, number: number, continuation: $0)) }
  }
}
