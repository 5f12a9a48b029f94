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

// One transaction at a time, with all that has changed by then. The last seq looked at goes with the next transaction;
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
  private var isWriting = false
  private let timer = LoopTimer()

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
    pump()
  }

  /// Events up to this seq were looked at, and what was taken up of them is noted.
  func note(seq: Int64) {
    self.seq = seq
    guard changed.isEmpty, !isWriting, !timer.isSet else { return }
    timer.set(afterMilliseconds: Self.seqMilliseconds) { [unowned self] in pump() }
  }

  /// Events are looked at by other rules from now on, from behind this seq. Both are written together: a process that
  /// finds the rules finds how far they were followed.
  func note(rules mark: Int64, from seq: Int64) {
    (rulesMark, self.seq) = (mark, seq)
    pump()
  }

  /// Writes what is left, waiting on this thread: for the end.
  func finish() {
    let (batch, _) = take()
    guard !batch.isEmpty else { return }
    do throws(StorageFault) { try ledger.writeNow(batch) } catch {
      log.error("what has changed last is not written", metadata: ["why": "\(error)"])
    }
  }

  private func pump() {
    guard !isWriting, health.fault == nil || !timer.isSet else { return }
    isWriting = true
    timer.cancel()
    // Not at once: what is noted in the same turn is in the same transaction.
    EventLoopActor.task { [self] in
      let (batch, rows) = take()
      do throws(StorageFault) {
        if !batch.isEmpty { try await ledger.write(batch) }
        isWriting = false
        health.written()
        onWritten?(rows)
      } catch {
        isWriting = false
        failed(batch, error)
      }
      if !changed.isEmpty { pump() }
    }
  }

  private func take() -> (ServingBatch, [(request: ServedRequest, version: UInt64)]) {
    var batch = ServingBatch()
    let ids = changed.prefix(Self.changeMaximum)
    changed.removeFirst(ids.count)
    let rows = ids.compactMap { current?($0) }
    batch.changed = rows.map(\.request)
    // Before all of it is noted a start would miss some.
    if changed.isEmpty { (batch.seq, seq, batch.rulesMark, rulesMark) = (seq, nil, rulesMark, nil) }
    return (batch, rows)
  }

  private func failed(_ batch: ServingBatch, _ fault: StorageFault) {
    health.notWritten(fault)
    changed = OrderedSet(batch.changed.map(\.id)).union(changed)
    seq = seq ?? batch.seq
    rulesMark = rulesMark ?? batch.rulesMark
    timer.set(afterMilliseconds: Self.retryMilliseconds) { [unowned self] in pump() }
  }
}
