internal import Contracts
public import Cryptography
internal import Nostr

// The requests of a cancelled job are deleted. That needs the key of its account, which can be locked for days: the
// deletion waits for the unlock, and meanwhile takes no place from jobs under way.

extension JobTable {
  /// Has the requests of a cancelled job deleted.
  ///
  /// - Returns: whether any deletion is still to be made. One that could not be made for too long is given up.
  mutating func takesBack(_ id: JobID, _ record: JobRecord, at now: Int64) -> Bool {
    guard record.picture.state == .cancelled, let endedAt = record.picture.endedAt,
      now - endedAt < limits.withdrawalMilliseconds
    else { return false }
    let left = record.picture.attempts.filter { !$0.isWithdrawn }.compactMap(\.request)
    guard !left.isEmpty else { return false }
    withdrawing.insert(id)
    for request in left {
      // A request that is being published is deleted once it is published; one that waits for a retry is not tried
      // again.
      if let publishing = record.tasks[.publish(id, request.id)] {
        guard publishing.due != nil else { continue }
        _ = end(.publish(id, request.id))
      }
      begin(.withdraw(id, request.id), at: now)
    }
    return true
  }

  /// These accounts can sign: what waited for that is done now.
  public mutating func unlocked(_ accounts: Set<PublicKey>, at now: Int64) -> [JobAction] {
    for (id, record) in records.sorted(by: { $0.key < $1.key }) {
      guard record.picture.endedAt != nil, accounts.contains(record.order.account) else { continue }
      for (task, state) in record.tasks where state.due != nil {
        if case .withdraw = task { records[id]?.tasks[task]?.due = now }
      }
      look(id, at: now)
    }
    return finish(at: now)
  }
}
