import Contracts
import EventLoop
import Frames
import JobProviding
import WorkerLedger
import Logging
import Nostr
import OrderedCollections
import ProvidingLedger
import Storage
import WorkerKit

// All that has changed goes with the next transaction (`GroupCommit`). The last seq looked at goes with it;
// alone it is written after a while only, since what a later start looks at again it knows.
//
// While the disk is full nothing new is begun and nothing new is told: all that follows from a change waits for it.

/// Writes the provider's ledger.
@EventLoopActor
final class ServingWriter {
  /// Gives a request as it is now, with its version; nil when there is none any more.
  var current: ((EventID) -> (request: ServedRequest, version: UInt64)?)?
  /// A transaction with these was committed.
  var onWritten: (([(request: ServedRequest, version: UInt64)]) -> Void)?
  /// How the ledger is doing.
  let health: LedgerHealth

  private let ledger: ProvidingLedger
  private let log: Logger
  private var changed: OrderedSet<EventID> = []
  private var seq: Int64?
  private var rulesMark: Int64?
  private lazy var commit = GroupCommit(
    health,
    GroupCommit.Owner(
      next: { [unowned self] in take() },
      write: { [ledger] transaction throws(StorageFault) in
        if !transaction.batch.isEmpty { try await ledger.write(transaction.batch) }
      },
      committed: { [unowned self] transaction, _ in onWritten?(transaction.rows) },
      failed: { [unowned self] in failed($0.batch, $1) }, isDue: { [unowned self] in !changed.isEmpty }))

  /// Most requests of one transaction.
  private static let changeMaximum = 1_000
  /// After a failure, how long until it is tried again.
  private static let retryMilliseconds: UInt64 = 1_000
  /// How long a seq waits for company.
  private static let seqMilliseconds: UInt64 = 2_000

  init(_ ledger: ProvidingLedger, _ log: Logger) {
    self.ledger = ledger
    self.log = log
    health = LedgerHealth("the ledger of served jobs", log) { ledger.markDamaged() }
  }

  /// A request has changed.
  func note(changed id: EventID) {
    changed.append(id)
    commit.begin()
  }

  /// Events up to this seq were looked at, and what was taken up of them is noted.
  func note(seq: Int64) {
    self.seq = seq
    if changed.isEmpty { commit.begin(afterMilliseconds: Self.seqMilliseconds) }
  }

  /// Events are looked at by other rules from now on, from behind this seq. Both are written together: a process that
  /// finds the rules finds how far they were followed.
  func note(rules mark: Int64, from seq: Int64) {
    (rulesMark, self.seq) = (mark, seq)
    commit.begin()
  }

  /// Writes what is left, waiting on this thread: for the end.
  func finish() {
    let batch = take().batch
    guard !batch.isEmpty else { return }
    do throws(StorageFault) { try ledger.writeNow(batch) } catch {
      log.error("what has changed last is not written", metadata: ["why": "\(error)"])
    }
  }

  /// What a transaction is made of.
  private struct Transaction: Sendable {
    var batch: ServingBatch
    var rows: [(request: ServedRequest, version: UInt64)]
  }

  private func take() -> Transaction {
    var batch = ServingBatch()
    let ids = changed.prefix(Self.changeMaximum)
    changed.removeFirst(ids.count)
    let rows = ids.compactMap { current?($0) }
    batch.changed = rows.map(\.request)
    // Before all of it is noted a start would miss some.
    if changed.isEmpty { (batch.seq, seq, batch.rulesMark, rulesMark) = (seq, nil, rulesMark, nil) }
    return Transaction(batch: batch, rows: rows)
  }

  private func failed(_ batch: ServingBatch, _ fault: StorageFault) -> UInt64 {
    changed = OrderedSet(batch.changed.map(\.id)).union(changed)
    seq = seq ?? batch.seq
    rulesMark = rulesMark ?? batch.rulesMark
    return Self.retryMilliseconds
  }
}
