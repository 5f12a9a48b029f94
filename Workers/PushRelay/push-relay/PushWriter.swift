import Contracts
import EventLoop
import Frames
import WorkerLedger
import Logging
import PushLedger
import PushRequests
import Storage

// Group commit: one transaction at a time, with all that has come while the last one was written. A request is answered
// when what it changed outlives a loss of power. What nobody waits for (how pushes ended) goes with it.

/// Writes the push relay's ledger.
@EventLoopActor
final class PushWriter {
  /// Wakes were put into the queue.
  var onQueued: (() -> Void)?
  /// How the ledger is doing.
  let health: LedgerHealth

  private let ledger: PushLedger
  private let log: Logger
  private var waiting:
    [(command: PushWrite, continuation: CheckedContinuation<Result<LedgerAnswer, StorageFault>, Never>)] = []
  private var book = PendingSettlements()
  private var isWriting = false
  private let timer = LoopTimer()

  /// Most commands that wait; more are refused.
  private static let waitingMaximum = 8_192
  /// Most commands of one transaction.
  private static let batchMaximum = 500
  /// How long settlements wait for company.
  private static let settlementMilliseconds: UInt64 = 50
  /// After a failure, how long until settlements are tried again.
  private static let retryMilliseconds: UInt64 = 1_000

  init(_ ledger: PushLedger, _ log: Logger) {
    self.ledger = ledger
    self.log = log
    health = LedgerHealth("the push relay's ledger", log) { ledger.markDamaged() }
  }

  /// Whether something is still to be written.
  var isBusy: Bool { isWriting || !waiting.isEmpty || !book.isEmpty }

  /// Does a command, and waits until it is written.
  func perform(_ command: PushWrite) async -> Result<LedgerAnswer, StorageFault> {
    guard waiting.count < Self.waitingMaximum else {
      return .failure(StorageFault(.busy, path: ledger.path, "more commands wait than are taken"))
    }
    return await withCheckedContinuation { continuation in
      waiting.append((command, continuation))
      pump()
    }
  }

  // MARK: How pushes ended

  /// Pushes have ended: written with the next transaction.
  func note(_ settlement: WakeSettlement) {
    book.add(settlement)
    guard !isWriting else { return }
    if book.isDue { return pump() }
    // In the pause after a failure the timer is set, for its end.
    guard !timer.isSet else { return }
    timer.set(afterMilliseconds: Self.settlementMilliseconds) { [unowned self] in pump() }
  }

  /// Whether so much is to be written that nothing more should be begun.
  var isFull: Bool { book.isFull }

  /// Whether a wake has ended that the ledger may still show to who reads it now.
  func hasEnded(_ wake: Int64) -> Bool { book.hasEnded(wake) }

  /// Somebody reads the queue from its beginning, until he says that he has.
  func readingBegan() { book.readingBegan() }
  func readingEnded() { book.readingEnded() }

  /// Writes what is left, waiting on this thread: for the end.
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

  private func pump() {
    guard !isWriting else { return }
    isWriting = true
    timer.cancel()
    // Not at once: what comes in the same turn is in the same transaction.
    EventLoopActor.task { [self] in
      let batch = Array(waiting.prefix(Self.batchMaximum))
      waiting.removeFirst(batch.count)
      await write(batch.map(\.command), book.take()) { index, result in
        batch[index].continuation.resume(returning: result)
      }
    }
  }

  private func write(
    _ commands: [PushWrite], _ ended: [WakeSettlement],
    _ tell: (Int, Result<LedgerAnswer, StorageFault>) -> Void
  ) async {
    guard !commands.isEmpty || !ended.isEmpty else {
      isWriting = false
      return
    }
    do throws(StorageFault) {
      let all = ended.isEmpty ? commands : commands + [.settle(ended)]
      if FaultPoint.isWatched { for command in all { FaultPoint.pass(.writing, command.word) } }
      let answers = try await ledger.write(all)
      if FaultPoint.isWatched { for command in all { FaultPoint.pass(.written, command.word) } }
      health.written()
      book.written()
      var isQueued = false
      for index in commands.indices {
        switch answers[index] {
        case .queued: isQueued = true
        case .noted(let queued): isQueued = isQueued || queued > 0
        default: break
        }
        tell(index, .success(answers[index]))
      }
      isWriting = false
      if isQueued { onQueued?() }
    } catch {
      health.notWritten(error)
      for index in commands.indices { tell(index, .failure(error)) }
      book.failed()
      isWriting = false
      timer.set(afterMilliseconds: Self.retryMilliseconds) { [unowned self] in
        book.pauseEnded()
        pump()
      }
      if waiting.isEmpty { return }
    }
    if !waiting.isEmpty || book.isDue {
      pump()
    } else if !book.isEmpty, !timer.isSet {
      timer.set(afterMilliseconds: Self.settlementMilliseconds) { [unowned self] in pump() }
    }
  }
}
