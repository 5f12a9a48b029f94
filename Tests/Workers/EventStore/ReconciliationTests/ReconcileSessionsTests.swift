import Clocks
import Reconciliation
import Testing

@Suite("The book of reconciliations")
struct ReconcileSessionsTests {
  private let start = Instant(nanoseconds: 5_000_000_000)
  private var limits = ReconcileSessions.Limits()

  init() {
    limits.perCaller = 2
    limits.count = 3
    limits.records = 10
    limits.allRecords = 15
    limits.idleMilliseconds = 1_000
  }

  private func begin(_ book: inout ReconcileSessions, _ caller: UInt32) throws -> UInt64 {
    let number = book.begin(caller: caller, now: start)
    return try #require(number)
  }

  private func side(_ count: Int) -> Reconciler {
    var random = SeededGenerator(seed: 1)
    return Reconciler(ReconcileRecords((0..<count).map { _ in .random(seconds: 9, &random) }))
  }

  @Test("takes so many of a caller, so many in all, and more when some have ended")
  func counts() throws {
    var book = ReconcileSessions(limits: limits)
    let first = try begin(&book, 1)
    _ = try begin(&book, 1)
    let third = book.begin(caller: 1, now: start)
    #expect(third == nil)
    _ = try begin(&book, 2)
    let fourth = book.begin(caller: 3, now: start)
    #expect(fourth == nil)
    let ends = [book.end(first), book.end(first)]
    #expect(ends == [true, false] && book.count == 2)
    let next = try begin(&book, 1)
    #expect(next > first)
  }

  @Test("counts the records of all, and tells how many one more may have")
  func room() throws {
    var book = ReconcileSessions(limits: limits)
    #expect(book.room == 10)
    let first = try begin(&book, 1)
    let isOpen = book.opened(first, side(8), now: start)
    #expect(isOpen && book.recordCount == 8 && book.room == 7)
    book.end(first)
    // One that ended while it was read takes nothing.
    let isOpenAgain = book.opened(first, side(8), now: start)
    #expect(!isOpenAgain && book.recordCount == 0 && book.room == 10 && book.count == 0)
  }

  @Test("gives one to its caller only, and only when it is open")
  func callers() throws {
    var book = ReconcileSessions(limits: limits)
    let number = try begin(&book, 1)
    let early = book.take(number, caller: 1, now: start)
    _ = book.opened(number, side(3), now: start)
    let (own, other) = (book.take(number, caller: 1, now: start), book.take(number, caller: 2, now: start))
    let unknown = book.take(number + 1, caller: 1, now: start)
    #expect(early == nil && own?.records.count == 3 && other == nil && unknown == nil)
  }

  @Test("names those that nobody goes on with, not those that are being read")
  func idle() throws {
    var book = ReconcileSessions(limits: limits)
    let number = try begin(&book, 1)
    #expect(book.nextDeadline == nil && book.idle(now: start.advanced(milliseconds: 5_000)) == [])
    _ = book.opened(number, side(3), now: start.advanced(milliseconds: 100))
    #expect(book.nextDeadline == start.advanced(milliseconds: 1_100))
    _ = book.take(number, caller: 1, now: start.advanced(milliseconds: 600))
    #expect(book.idle(now: start.advanced(milliseconds: 1_599)) == [])
    #expect(book.idle(now: start.advanced(milliseconds: 1_600)) == [number])
  }
}
