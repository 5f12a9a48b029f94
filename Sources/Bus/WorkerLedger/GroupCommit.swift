public import EventLoop
public import Storage

// Group commit: one transaction at a time, with all entries that arrived while the last one was written. A lone entry
// is written at once, and each of a thousand simultaneous entries pays only a thousandth of the disk's delay.
//
//     idle ──begin──▶ writing ──▶ idle, or writing again while more is due
//       ▲                │ failed
//       └──── pause ◀────┘        until the pause ends, or a new entry makes another attempt

/// Writes a ledger's batches, one transaction at a time.
@EventLoopActor
public final class GroupCommit<Batch: Sendable, Written: Sendable> {
  /// What the writer calls.
  public struct Owner {
    /// Returns the next batch; nil when there is nothing to write.
    public var next: () -> Batch?
    /// Writes a batch in one transaction.
    public var write: (Batch) async throws(StorageFault) -> Written
    /// A batch was committed.
    public var committed: (Batch, Written) -> Void
    /// Nothing of a batch was written. Returns the pause until the next attempt, in milliseconds.
    public var failed: (Batch, StorageFault) -> UInt64
    /// The pause has ended, and no urgent entry ended it earlier.
    public var pauseEnded: () -> Void
    /// Whether another transaction is due now.
    public var isDue: () -> Bool

    /// The calls of a writer.
    public init(
      next: @escaping () -> Batch?, write: @escaping (Batch) async throws(StorageFault) -> Written,
      committed: @escaping (Batch, Written) -> Void, failed: @escaping (Batch, StorageFault) -> UInt64,
      pauseEnded: @escaping () -> Void = {}, isDue: @escaping () -> Bool
    ) {
      (self.next, self.write, self.committed) = (next, write, committed)
      (self.failed, self.pauseEnded, self.isDue) = (failed, pauseEnded, isDue)
    }
  }

  /// Whether a transaction is under way.
  public private(set) var isWriting = false
  /// Whether the last transaction failed, and the next one waits.
  public private(set) var isPausing = false

  private let health: LedgerHealth
  private let owner: Owner
  private let timer = LoopTimer()

  /// An idle writer.
  public init(_ health: LedgerHealth, _ owner: Owner) {
    (self.health, self.owner) = (health, owner)
  }

  /// A transaction is due: now, or after the present one. After a failure it waits for the end of the pause.
  public func begin() {
    guard !isWriting, !isPausing else { return }
    timer.cancel()
    isWriting = true
    // Not immediately: entries from the same pass of the loop go into the same transaction.
    EventLoopActor.task { [self] in await write() }
  }

  /// The same, but without waiting for the end of a pause: for an entry that a caller waits for.
  public func beginUrgently() {
    isPausing = false
    begin()
  }

  /// A transaction is due after this time, unless another comes before.
  public func begin(afterMilliseconds milliseconds: UInt64) {
    guard !isWriting, !timer.isSet else { return }
    timer.set(afterMilliseconds: milliseconds) { [unowned self] in begin() }
  }

  private func write() async {
    guard let batch = owner.next() else {
      isWriting = false
      if owner.isDue() { begin() }
      return
    }
    do throws(StorageFault) {
      let written = try await owner.write(batch)
      isWriting = false
      health.written()
      owner.committed(batch, written)
    } catch {
      isWriting = false
      health.notWritten(error)
      pause(milliseconds: owner.failed(batch, error))
    }
    if owner.isDue() { begin() }
  }

  private func pause(milliseconds: UInt64) {
    guard milliseconds > 0, !isWriting else { return }
    isPausing = true
    timer.set(afterMilliseconds: milliseconds) { [unowned self] in
      isPausing = false
      owner.pauseEnded()
      begin()
    }
  }
}
