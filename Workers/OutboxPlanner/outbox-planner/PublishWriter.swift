import Clocks
import Contracts
import EventLoop
import Frames
import WorkerLedger
import Logging
import Nostr
import PublishLedger
import Storage

// What relays have answered is written in the transactions of what is new (`GroupCommit`).
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

  // MARK: What is to be written

  /// Writes a new publication; when this returns it outlives a loss of power.
  func accept(_ entry: LedgerBatch.Acceptance) async throws(Refusal) {
    let fault = await withCheckedContinuation { continuation in
      acceptances.append(Acceptance(entry: entry, continuation: continuation))
      // What came before may have failed; what comes next is the next attempt.
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

  /// Nobody was or will be told that this publication is accepted.
  func note(removed number: Int64) {
    removed.append(number)
    commit.begin()
  }

  /// One that was to be removed is to stay after all; false when the transaction that removes it is under way.
  func keeps(_ number: Int64) -> Bool {
    removed.removeAll { $0 == number }
    return !removing.contains(number)
  }

  /// Whether anything is being written, or waits for it.
  var isBusy: Bool { commit.isWriting || hasWork }

  /// Waits until all that was noted, and the changes of this publication, are written or could not be.
  func flush(_ id: EventID? = nil) async {
    repeat {
      guard isBusy else { return }
      let transaction = hasWork ? begunCount + 1 : begunCount
      await withCheckedContinuation { flushers.append((transaction, $0)) }
    } while id.map(changed.contains) ?? false && health.fault == nil
  }

  /// Writes what is left, waiting on this thread: for the end.
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

  /// Returns the pause until the next attempt: without what was new the rest may find room.
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
