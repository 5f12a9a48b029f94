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

// All changes go into the next transaction (`GroupCommit`), together with the last seq that was looked at. A seq alone
// is written only after a while: a later start already knows what it reads again.
//
// While the disk is full, no work starts and no message is sent, because everything that follows from a change waits
// for its transaction.

/// Writes the provider's ledger.
@EventLoopActor
final class ServingWriter {
  /// Returns a request as it is now, with its version; nil if it no longer exists.
  var current: ((EventID) -> (request: ServedRequest, version: UInt64)?)?
  /// A transaction with these rows was committed.
  var onWritten: (([(request: ServedRequest, version: UInt64)]) -> Void)?
  /// The state of the ledger.
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
  /// The wait before the next attempt after a failure.
  private static let retryMilliseconds: UInt64 = 1_000
  /// How long a seq waits for other changes.
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

  /// Events up to this seq were looked at, and the requests taken up from them were noted.
  func note(seq: Int64) {
    self.seq = seq
    if changed.isEmpty { commit.begin(afterMilliseconds: Self.seqMilliseconds) }
  }

  /// From now on events are looked at by other rules, after this seq. One transaction has both: a process that finds
  /// the rules also finds how far they were applied.
  func note(rules mark: Int64, from seq: Int64) {
    (rulesMark, self.seq) = (mark, seq)
    commit.begin()
  }

  /// Writes what is left, and blocks the thread: for the end.
  func finish() {
    let batch = take().batch
    guard !batch.isEmpty else { return }
    do throws(StorageFault) { try ledger.writeNow(batch) } catch {
      log.error("what has changed last is not written", metadata: ["why": "\(error)"])
    }
  }

  /// The contents of a transaction.
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
    // A seq written before all changes would make a start miss some of them.
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
