import Clocks
import Contracts
import EventLoop
import Frames
import WorkerLedger
import Logging
import Nostr
import PublishLedger
import Storage

// One transaction at a time, with all that waits for one: a lone event is written at once, and of a thousand that come
// together none pays more than a thousandth of the disk's pause. What relays have answered is written in the same
// transactions.
//
// A full disk refuses what is new. What has changed waits in memory, and is tried again; sending goes on meanwhile, and
// the worst that a death can do then is that relays are sent again what they have.

/// Writes the ledger.
@EventLoopActor
final class PublishWriter {
  /// Most acceptances of one transaction.
  static let acceptanceMaximum = 1_000
  /// Most changed publications of one transaction.
  static let changeMaximum = 4_000
  /// After a failure, how long until what has changed is tried again.
  static let retryMilliseconds: UInt64 = 1_000

  private struct Acceptance {
    var entry: LedgerBatch.Acceptance
    var continuation: CheckedContinuation<StorageFault?, Never>
  }

  /// What a transaction is made of.
  private struct Transaction: Sendable {
    var batch = LedgerBatch()
    var acceptances: [Acceptance] = []
    var changes: [EventID: UInt64] = [:]
  }

  /// Gives a changed publication as it is now, with its version; nil when there is none any more.
  var current: ((EventID) -> (change: LedgerBatch.Change, version: UInt64)?)?
  /// A transaction was committed, or has failed, with these publications in their versions.
  var onWritten: ((_ changes: [EventID: UInt64], _ isCommitted: Bool) -> Void)?
  /// How the ledger is doing.
  let health: LedgerHealth
  /// Transactions committed.
  private(set) var transactionCount: UInt64 = 0

  private let ledger: PublishLedger
  private let log: Logger
  private var acceptances: [Acceptance] = []
  private var changed: Set<EventID> = []
  private var stored: [Int64] = []
  private var removed: [Int64] = []
  /// Of the transaction under way.
  private var removing: Set<Int64> = []
  private var isWriting = false
  private let retryTimer = LoopTimer()
  /// Transactions begun.
  private var turnCount: UInt64 = 0
  private var flushers: [(transaction: UInt64, continuation: CheckedContinuation<Void, Never>)] = []

  init(_ ledger: PublishLedger, _ log: Logger) {
    self.ledger = ledger
    self.log = log
    health = LedgerHealth("the ledger of publications", log) { ledger.markDamaged() }
  }

  // MARK: What is to be written

  /// Writes a new publication; when this returns it outlives a loss of power.
  func accept(_ entry: LedgerBatch.Acceptance) async throws(Refusal) {
    let fault = await withCheckedContinuation { continuation in
      acceptances.append(Acceptance(entry: entry, continuation: continuation))
      // What came before may have failed; who comes next is the next attempt.
      retryTimer.cancel()
      pump()
    }
    if let fault { throw health.refusal(fault) }
  }

  /// A publication has changed.
  func note(changed id: EventID) {
    changed.insert(id)
    pump()
  }

  /// The event store has the event of this publication.
  func note(stored number: Int64) {
    stored.append(number)
    pump()
  }

  /// Nobody was or will be told that this publication is accepted.
  func note(removed number: Int64) {
    removed.append(number)
    pump()
  }

  /// One that was to be removed is to stay after all; false when the transaction that removes it is under way.
  func keeps(_ number: Int64) -> Bool {
    removed.removeAll { $0 == number }
    return !removing.contains(number)
  }

  /// Whether anything is being written, or waits for it.
  var isBusy: Bool { isWriting || hasWork }

  /// Waits until all that was noted, and the changes of this publication, are written or could not be.
  func flush(_ id: EventID? = nil) async {
    repeat {
      guard isBusy else { return }
      let transaction = hasWork ? turnCount + 1 : turnCount
      await withCheckedContinuation { flushers.append((transaction, $0)) }
    } while id.map(changed.contains) ?? false && health.fault == nil
  }

  /// Writes what is left, waiting on this thread: for the end.
  func finish() {
    let transaction = take()
    guard !transaction.batch.isEmpty else { return }
    do throws(StorageFault) { try ledger.writeNow(transaction.batch) } catch {
      log.error("what has changed last is not written", metadata: ["why": "\(error)"])
    }
  }

  // MARK: Writing

  private var hasWork: Bool { !(acceptances.isEmpty && changed.isEmpty && stored.isEmpty && removed.isEmpty) }

  private func pump() {
    guard !isWriting, hasWork, !retryTimer.isSet else { return }
    isWriting = true
    turnCount += 1
    // At once, so that whoever waits knows whether his part is in this one.
    let transaction = take()
    removing = Set(transaction.batch.removed)
    EventLoopActor.task { [self] in
      do throws(StorageFault) {
        if !transaction.batch.isEmpty { try await ledger.write(transaction.batch) }
        committed(transaction)
      } catch {
        failed(transaction, error)
      }
      isWriting = false
      removing = []
      for flusher in flushers where flusher.transaction <= turnCount { flusher.continuation.resume() }
      flushers.removeAll { $0.transaction <= turnCount }
      pump()
    }
  }

  private func take() -> Transaction {
    var transaction = Transaction()
    transaction.acceptances = Array(acceptances.prefix(Self.acceptanceMaximum))
    acceptances.removeFirst(transaction.acceptances.count)
    transaction.batch.accepted = transaction.acceptances.map(\.entry)
    for id in changed.prefix(Self.changeMaximum) {
      changed.remove(id)
      guard let now = current?(id) else { continue }
      transaction.batch.changed.append(now.change)
      transaction.changes[id] = now.version
    }
    (transaction.batch.stored, stored) = (stored, [])
    (transaction.batch.removed, removed) = (removed, [])
    return transaction
  }

  private func committed(_ transaction: Transaction) {
    if !transaction.batch.isEmpty {
      transactionCount += 1
      health.written()
    }
    for acceptance in transaction.acceptances { acceptance.continuation.resume(returning: nil) }
    onWritten?(transaction.changes, true)
  }

  private func failed(_ transaction: Transaction, _ fault: StorageFault) {
    health.notWritten(fault)
    changed.formUnion(transaction.changes.keys)
    stored += transaction.batch.stored
    removed += transaction.batch.removed
    for acceptance in transaction.acceptances { acceptance.continuation.resume(returning: fault) }
    onWritten?(transaction.changes, false)
    // Without what was new the rest may find room.
    if transaction.acceptances.isEmpty || acceptances.isEmpty {
      retryTimer.set(afterMilliseconds: transaction.acceptances.isEmpty ? Self.retryMilliseconds : 0) {
        [unowned self] in
        pump()
      }
    }
  }
}
