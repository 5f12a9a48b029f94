import Clocks
import EventLoop
import HeapModule

// Readers of the database for queries, with a queue in which short queries do not wait for long ones.
//
// A query reads page by page, and joins the queue again for each page. Its place in the queue is the moment when it
// joined, plus some times what its pages have taken. So a query that has read little is next, behind the pages that are
// being read, and a query for everything reads its next page when no other query has waited for longer. Each place
// comes, so no query waits for ever.

/// Readers of the database for queries. There are fewer slots than readers, so that the gate's look-ups never wait for
/// a long query.
@EventLoopActor
final class ReadSlots {
  /// Queries that read at once.
  nonisolated static let count = 4
  /// How much further back reading puts a query: a second of reading is as four of waiting.
  private static let weight: UInt64 = 4

  /// How long a query has read so far.
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
  private var queue = Heap<Waiter>()
  private var nextNumber: UInt64 = 0

  /// So many slots.
  init(count: Int = ReadSlots.count) { free = count }

  /// Reads, in turn; the time that it takes is added to `use`.
  func read<Value: Sendable, Failure: Error>(
    for use: Use? = nil, _ body: @EventLoopActor () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    if free > 0 { free -= 1 } else { await wait(use) }
    let start = EventLoop.process.now
    defer {
      use?.nanoseconds += EventLoop.process.now.nanoseconds - start.nanoseconds
      // The slot passes to the next query without being free in between.
      if let next = queue.popMin() { next.continuation.resume() } else { free += 1 }
    }
    return try await body()
  }

  private func wait(_ use: Use?) async {
    let due = EventLoop.process.now.nanoseconds + Self.weight * (use?.nanoseconds ?? 0)
    nextNumber += 1
    let number = nextNumber
    await withCheckedContinuation { queue.insert(Waiter(due: due, number: number, continuation: $0)) }
  }
}
