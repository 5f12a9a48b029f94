import Contracts
import EventLoop
import Frames
import WorkerLedger
import Logging
import PushLedger
import PushRequests
import Storage

// A request is answered when its changes would survive a power loss. Results of pushes, for which no caller waits, are
// written with the next transaction (`GroupCommit`).

/// Writes the push relay's ledger.
@EventLoopActor
final class PushWriter {
  /// Wakes were put into the queue.
  var onQueued: (() -> Void)?
  /// Raised when there may be less to write.
  let roomMade = Signal()
  /// The state of the ledger.
  let health: LedgerHealth

  private let ledger: PushLedger
  private let log: Logger
  private typealias Caller = CheckedContinuation<Result<LedgerAnswer, StorageFault>, Never>
  private var waiting: [(command: PushWrite, caller: Caller)] = []
  private var book = PendingSettlements()
  private lazy var commit = GroupCommit(
    health,
    GroupCommit.Owner(
      next: { [unowned self] in take() },
      write: { [ledger] transaction throws(StorageFault) in try await Self.write(transaction, ledger) },
      committed: { [unowned self] in committed($0, $1) }, failed: { [unowned self] in failed($0, $1) },
      pauseEnded: { [unowned self] in book.pauseEnded() },
      isDue: { [unowned self] in !waiting.isEmpty || book.isDue }))

  /// Most commands that wait; more are refused.
  private static let waitingMaximum = 8_192
  /// Most commands of one transaction.
  private static let batchMaximum = 500
  /// How long settlements wait for more of them.
  private static let settlementMilliseconds: UInt64 = 50
  /// The pause after a failure until settlements are tried again.
  private static let retryMilliseconds: UInt64 = 1_000

  init(_ ledger: PushLedger, _ log: Logger) {
    self.ledger = ledger
    self.log = log
    health = LedgerHealth("the push relay's ledger", log) { ledger.markDamaged() }
  }

  /// Whether something must still be written.
  var isBusy: Bool { commit.isWriting || !waiting.isEmpty || !book.isEmpty }

  /// Executes a command, and returns when it is written.
  func perform(_ command: PushWrite) async -> Result<LedgerAnswer, StorageFault> {
    guard waiting.count < Self.waitingMaximum else {
      return .failure(StorageFault(.busy, path: ledger.path, "more commands wait than are taken"))
    }
    return await withCheckedContinuation { caller in
      waiting.append((command, caller))
      commit.beginUrgently()
    }
  }

  // MARK: Ends of pushes

  /// Pushes have ended: this is written with the next transaction.
  func note(_ settlement: WakeSettlement) {
    book.add(settlement)
    if book.isDue { commit.begin() } else { commit.begin(afterMilliseconds: Self.settlementMilliseconds) }
  }

  /// Whether so much must be written that nothing more should be begun.
  var isFull: Bool { book.isFull }

  /// Whether a wake has ended that a reader of the ledger may still see.
  func hasEnded(_ wake: Int64) -> Bool { book.hasEnded(wake) }

  /// A reading of the queue from its beginning starts; `readingEnded()` ends it.
  func readingBegan() { book.readingBegan() }
  func readingEnded() { book.readingEnded() }

  /// Writes the rest and blocks this thread: for the end.
  func finish(limits: [UInt8], place: PushWrite?, now: Int64) {
    let commands: [PushWrite] = [
      .settle(book.all), .saveLimits(snapshot: limits, savedAt: now, isClean: true),
    ]
    do throws(StorageFault) { _ = try ledger.writeNow((place.map { [$0] } ?? []) + commands) } catch {
      log.error("how the last pushes ended is not written", metadata: ["why": "\(error)"])
    }
    book = PendingSettlements()
  }

  // MARK: Writing

  /// The contents of a transaction.
  private struct Transaction: Sendable {
    var commands: [PushWrite]
    var callers: [Caller]
    var ended: [WakeSettlement]
  }

  private func take() -> Transaction? {
    let batch = waiting.prefix(Self.batchMaximum)
    waiting.removeFirst(batch.count)
    let ended = book.take()
    guard !batch.isEmpty || !ended.isEmpty else { return nil }
    return Transaction(commands: batch.map(\.command), callers: batch.map(\.caller), ended: ended)
  }

  private static func write(
    _ transaction: Transaction, _ ledger: PushLedger
  ) async throws(StorageFault) -> [LedgerAnswer] {
    let all = transaction.commands + (transaction.ended.isEmpty ? [] : [.settle(transaction.ended)])
    if FaultPoint.isWatched { for command in all { FaultPoint.pass(.writing, command.word) } }
    let answers = try await ledger.write(all)
    if FaultPoint.isWatched { for command in all { FaultPoint.pass(.written, command.word) } }
    return answers
  }

  private func committed(_ transaction: Transaction, _ answers: [LedgerAnswer]) {
    book.written()
    roomMade.raise()
    for (caller, answer) in zip(transaction.callers, answers) { caller.resume(returning: .success(answer)) }
    let isQueued = answers.contains { answer in
      switch answer {
      case .queued: true
      case .noted(let queued): queued > 0
      default: false
      }
    }
    if isQueued { onQueued?() }
    if !book.isEmpty { commit.begin(afterMilliseconds: Self.settlementMilliseconds) }
  }

  /// Returns the pause until settlements are tried again.
  private func failed(_ transaction: Transaction, _ fault: StorageFault) -> UInt64 {
    for caller in transaction.callers { caller.resume(returning: .failure(fault)) }
    book.failed()
    roomMade.raise()
    return waiting.isEmpty ? Self.retryMilliseconds : 0
  }
}
