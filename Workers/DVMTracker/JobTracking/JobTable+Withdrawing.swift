internal import Contracts
public import Cryptography
internal import Nostr

// What a cancelled job has asked is taken back. That needs its account's key, which can be locked for days: it waits
// for the unlock, and meanwhile takes no place from jobs that are under way.

extension JobTable {
  /// Has what a cancelled job has asked taken back.
  ///
  /// - Returns: whether anything is still to be; what cannot be for too long is left where it is.
  mutating func takesBack(_ id: JobID, _ record: JobRecord, at now: Int64) -> Bool {
    guard record.picture.state == .cancelled, let endedAt = record.picture.endedAt,
      now - endedAt < limits.withdrawalMilliseconds
    else { return false }
    let left = record.picture.attempts.filter { !$0.isWithdrawn }.compactMap(\.request)
    guard !left.isEmpty else { return false }
    withdrawing.insert(id)
    for request in left {
      // What is being published now is taken back when it is there; what waits to be tried again is tried no more.
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
