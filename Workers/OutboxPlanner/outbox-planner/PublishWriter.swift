import Clocks
import Contracts
import EventLoop
import Frames
import WorkerLedger
import Logging
import Nostr
import PublishLedger
import Storage

// Changes that the relays' answers cause are written in the same transactions as new publications (`GroupCommit`).
//
// When the disk is full, new publications are refused. Changes wait in memory, and are written later. Sending continues
// meanwhile; after a crash at that time, relays are at worst sent events that they have.

/// Writes the ledger.
@EventLoopActor
final class PublishWriter {
  /// Most acceptances in one transaction.
  static let acceptanceMaximum = 1_000
  /// Most changed publications in one transaction.
  static let changeMaximum = 4_000
  /// After a failure, how long until the next attempt to write changes.
  static let retryMilliseconds: UInt64 = 1_000

  private struct Acceptance {
    var entry: LedgerBatch.Acceptance
    var continuation: CheckedContinuation<StorageFault?, Never>
  }

  /// One transaction.
  private struct Transaction: Sendable {
    var batch = LedgerBatch()
    var acceptances: [Acceptance] = []
    var changes: [EventID: UInt64] = [:]
  }

  /// Gives the present form and version of a changed publication; nil when it is no longer in memory.
  var current: ((EventID) -> (change: LedgerBatch.Change, version: UInt64)?)?
  /// A transaction was committed, or has failed, with these versions of publications.
  var onWritten: ((_ changes: [EventID: UInt64], _ isCommitted: Bool) -> Void)?
  /// The health of the ledger.
  let health: LedgerHealth
  /// Transactions committed.
  private(set) var transactionCount: UInt64 = 0

  private let ledger: PublishLedger
  private let log: Logger
  private var acceptances: [Acceptance] = []
  private var changed: Set<EventID> = []
  private var stored: [Int64] = []
  private var removed: [Int64] = []
  /// Removed by the transaction in flight.
  private var removing: Set<Int64> = []
  private lazy var commit = GroupCommit(
    health,
    GroupCommit.Owner(
      next: { [unowned self] in take() },
      write: { [ledger] transaction throws(StorageFault) in try await ledger.write(transaction.batch) },
      committed: { [unowned self] transaction, _ in committed(transaction) },
      failed: { [unowned self] in failed($0, $1) }, isDue: { [unowned self] in hasWork }))
  /// Transactions begun.
  private var begunCount: UInt64 = 0
  private var flushers: [(transaction: UInt64, continuation: CheckedContinuation<Void, Never>)] = []

  init(_ ledger: PublishLedger, _ log: Logger) {
    self.ledger = ledger
    self.log = log
    health = LedgerHealth("the ledger of publications", log) { ledger.markDamaged() }
  }

  // MARK: Input

  /// Writes a new publication. When this returns, the publication survives a loss of power.
  func accept(_ entry: LedgerBatch.Acceptance) async throws(Refusal) {
    let fault = await withCheckedContinuation { continuation in
      acceptances.append(Acceptance(entry: entry, continuation: continuation))
      // An earlier transaction may have failed; this acceptance causes the next attempt.
      commit.beginUrgently()
    }
    if let fault { throw health.refusal(fault) }
  }

  /// A publication has changed.
  func note(changed id: EventID) {
    changed.insert(id)
    commit.begin()
  }

  /// The event store has the event of this publication.
  func note(stored number: Int64) {
    stored.append(number)
    commit.begin()
  }

  /// This publication is to be removed: its acceptance was never confirmed to a caller, and will not be.
  func note(removed number: Int64) {
    removed.append(number)
    commit.begin()
  }

  /// Keeps a publication that was to be removed.
  ///
  /// - Returns: false when the transaction that removes it is in flight.
  func keeps(_ number: Int64) -> Bool {
    removed.removeAll { $0 == number }
    return !removing.contains(number)
  }

  /// Whether a write is in flight or due.
  var isBusy: Bool { commit.isWriting || hasWork }

  /// Waits until everything noted so far, and the changes of this publication, are written or could not be.
  func flush(_ id: EventID? = nil) async {
    repeat {
      guard isBusy else { return }
      let transaction = hasWork ? begunCount + 1 : begunCount
      await withCheckedContinuation { flushers.append((transaction, $0)) }
    } while id.map(changed.contains) ?? false && health.fault == nil
  }

  /// Writes the rest; blocks this thread. For the end of the process.
  func finish() {
    guard let transaction = take() else { return }
    do throws(StorageFault) { try ledger.writeNow(transaction.batch) } catch {
      log.error("what has changed last is not written", metadata: ["why": "\(error)"])
    }
  }

  // MARK: Writing

  private var hasWork: Bool { !(acceptances.isEmpty && changed.isEmpty && stored.isEmpty && removed.isEmpty) }

  private func take() -> Transaction? {
    begunCount += 1
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
    removing = Set(transaction.batch.removed)
    guard !transaction.batch.isEmpty else {
      ended()
      return nil
    }
    return transaction
  }

  private func committed(_ transaction: Transaction) {
    transactionCount += 1
    for acceptance in transaction.acceptances { acceptance.continuation.resume(returning: nil) }
    onWritten?(transaction.changes, true)
    ended()
  }

  private func ended() {
    removing = []
    for flusher in flushers where flusher.transaction <= begunCount { flusher.continuation.resume() }
    flushers.removeAll { $0.transaction <= begunCount }
  }

  /// A transaction has failed.
  ///
  /// - Returns: the pause until the next attempt. It is 0 if the transaction had acceptances, because the rest may fit
  ///   on the disk without them, or if new acceptances wait.
  private func failed(_ transaction: Transaction, _ fault: StorageFault) -> UInt64 {
    changed.formUnion(transaction.changes.keys)
    stored += transaction.batch.stored
    removed += transaction.batch.removed
    for acceptance in transaction.acceptances { acceptance.continuation.resume(returning: fault) }
    onWritten?(transaction.changes, false)
    ended()
    return transaction.acceptances.isEmpty && acceptances.isEmpty ? Self.retryMilliseconds : 0
  }
}
