internal import DequeModule

/// Senders that wait for credit, first come first served.
///
/// Whoever is released has its credit already, and sends when its task runs, which is a little later: until then the
/// line does not count as empty, so nobody overtakes.
struct SenderQueue {
  private struct Waiting {
    let byteCount: Int
    let owner: ObjectIdentifier?
    let continuation: CheckedContinuation<Bool, Never>
  }
  private var waiting = Deque<Waiting>()
  private var releasedCount = 0

  /// Whether a sender that comes now is the next.
  var isEmpty: Bool { waiting.isEmpty && releasedCount == 0 }
  /// Senders that wait.
  var count: Int { waiting.count }
  /// The payload of the first one that waits, in bytes; nil when none does.
  var firstByteCount: Int? { waiting.first?.byteCount }

  /// A sender joins. It is resumed with whether its turn came, and then calls ``didLeave()``.
  mutating func append(byteCount: Int, owner: ObjectIdentifier? = nil, _ continuation: CheckedContinuation<Bool, Never>)
  {
    waiting.append(Waiting(byteCount: byteCount, owner: owner, continuation: continuation))
  }

  /// The turn of the first one has come.
  mutating func releaseFirst() { resume(waiting.removeFirst(), true) }

  /// Sends away all who wait, or those of one owner.
  mutating func dismiss(ownedBy owner: ObjectIdentifier? = nil) {
    var leaving = Deque<Waiting>()
    swap(&leaving, &waiting)
    for sender in leaving {
      if owner == nil || sender.owner == owner { resume(sender, false) } else { waiting.append(sender) }
    }
  }

  /// A sender that was resumed runs now.
  mutating func didLeave() { releasedCount -= 1 }

  private mutating func resume(_ sender: Waiting, _ hasTurn: Bool) {
    releasedCount += 1
    sender.continuation.resume(returning: hasTurn)
  }
}
