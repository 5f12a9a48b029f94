public import EventLoop
public import Storage

// Group commit: one transaction at a time, with all that has come while the last one was written. A lone entry is
// written at once, and of a thousand that come together none pays more than a thousandth of the disk's pause.
//
//     idle ──begin──▶ writing ──▶ idle, or writing again while more is due
//       ▲                │ failed
//       └──── pause ◀────┘        until the pause ends, or a new entry makes another attempt

/// Writes a ledger's batches, one transaction at a time.
@EventLoopActor
public final class GroupCommit<Batch: Sendable, Written: Sendable> {
  /// What the writer is asked, and what it is told.
  public struct Owner {
    /// Gives the next batch; nil when there is nothing to write.
    public var next: () -> Batch?
    /// Writes a batch in one transaction.
    public var write: (Batch) async throws(StorageFault) -> Written
    /// A batch was committed.
    public var committed: (Batch, Written) -> Void
    /// Nothing of a batch was written. Returns the pause until the next attempt, in milliseconds.
    public var failed: (Batch, StorageFault) -> UInt64
    /// The pause is over, and no urgent entry has ended it before.
    public var pauseEnded: () -> Void
    /// Whether another transaction is due at once.
    public var isDue: () -> Bool

    /// A writer's owner.
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
  /// Whether the last transaction has failed, and the next waits.
  public private(set) var isPausing = false

  private let health: LedgerHealth
  private let owner: Owner
  private let timer = LoopTimer()

  /// A writer that is idle.
  public init(_ health: LedgerHealth, _ owner: Owner) {
    (self.health, self.owner) = (health, owner)
  }

  /// A transaction is due: now, or when the present one is over. In a pause after a failure it waits for its end.
  public func begin() {
    guard !isWriting, !isPausing else { return }
    timer.cancel()
    isWriting = true
    // Not at once: what is noted in the same pass of the loop goes into the same transaction.
    EventLoopActor.task { [self] in await write() }
  }

  /// The same, at once also in a pause: for an entry that a caller waits for.
  public func beginUrgently() {
    isPausing = false
    begin()
  }

  /// A transaction is due after a while, unless another comes before.
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
