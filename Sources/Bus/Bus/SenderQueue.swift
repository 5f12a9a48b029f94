internal import DequeModule

/// Senders that wait for credit, first come first served.
///
/// A released sender already has its credit, and sends when its task runs, a little later. Until then the line does not
/// count as empty, so no other sender overtakes it.
struct SenderQueue {
  private struct Waiting {
    let byteCount: Int
    let owner: ObjectIdentifier?
    let continuation: CheckedContinuation<Bool, Never>
  }
  private var waiting = Deque<Waiting>()
  private var releasedCount = 0

  /// Whether a sender that comes now would be next.
  var isEmpty: Bool { waiting.isEmpty && releasedCount == 0 }
  /// Senders that wait.
  var count: Int { waiting.count }
  /// The payload size of the first waiting sender, in bytes; nil when none waits.
  var firstByteCount: Int? { waiting.first?.byteCount }

  /// A sender joins. It is resumed with true if its turn came, and then calls ``didLeave()``.
  mutating func append(byteCount: Int, owner: ObjectIdentifier? = nil, _ continuation: CheckedContinuation<Bool, Never>)
  {
    waiting.append(Waiting(byteCount: byteCount, owner: owner, continuation: continuation))
  }

  /// The first sender's turn has come.
  mutating func releaseFirst() { resume(waiting.removeFirst(), true) }

  /// Dismisses all waiting senders, or those of one owner.
  mutating func dismiss(ownedBy owner: ObjectIdentifier? = nil) {
    var leaving = Deque<Waiting>()
    swap(&leaving, &waiting)
    for sender in leaving {
      if owner == nil || sender.owner == owner { resume(sender, false) } else { waiting.append(sender) }
    }
  }

  /// A resumed sender runs now.
  mutating func didLeave() { releasedCount -= 1 }

  private mutating func resume(_ sender: Waiting, _ hasTurn: Bool) {
    releasedCount += 1
    sender.continuation.resume(returning: hasTurn)
  }
}
