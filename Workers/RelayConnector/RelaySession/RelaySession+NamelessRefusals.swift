internal import Clocks
internal import Nostr

// Refusals that do not say which event they mean (nostr-relay sends an empty id whenever it refuses one).
//
// Which one it is can often be counted out. A relay owes each event one answer, so when as many events are without one
// as there were such refusals, all of those are refused. Only events that were sent before a refusal can be meant by
// it; those that nobody waits for any more count as well, since the relay owes them an answer all the same. Until then
// the refusals wait: each answer that has a name leaves fewer events that can be meant.
//
//     sent A, sent B, refused (A or B?), OK for B            → it was A
//     sent A, refused, sent B                                → it was A at once
//     sent A, sent B, A given up, refused (A or B?), refused → it was both
//
// Several reasons are laid on several events in the order in which those were sent: relays that do this work one event
// after the other. Rejected: to go by that order alone. Others answer as their checks end, and a good event would be
// given up for a bad one.

/// The refusals of one connection that may mean several events, and what there is to count them out.
struct NamelessRefusals {
  /// A refusal, and which event was the last that had been sent.
  struct Refusal {
    let reason: RelayReason
    let lastSent: UInt64
  }

  /// An event that the relay owes an answer.
  struct Debt {
    let id: EventID
    /// Its place in the order in which events were sent.
    let number: UInt64
  }

  /// In the order in which they came; fewer than events that can be meant.
  private(set) var pending: [Refusal] = []
  /// Events that all who published them gave up.
  private(set) var abandoned: [Debt] = []
  /// Whether more were given up than are remembered: then nothing can be counted out any more.
  private var isUncountable = false

  /// Nobody waits for the answer any more.
  mutating func abandon(_ debt: Debt, _ limits: SessionLimits) {
    if abandoned.count < limits.abandonedEventMaximum { return abandoned.append(debt) }
    isUncountable = true
    pending = []
    abandoned = []
  }

  /// The relay has answered for an event that nobody waited for.
  mutating func settleAbandoned(_ id: EventID) {
    if let index = abandoned.firstIndex(where: { $0.id == id }) { abandoned.remove(at: index) }
  }

  mutating func note(_ refusal: Refusal) {
    if !isUncountable { pending.append(refusal) }
  }

  /// Takes out refusals that mean as many events, all of them.
  ///
  /// - Parameters:
  ///   - sent: the events that are waited for.
  ///   - strays: is raised by the refusals that can mean none.
  /// - Returns: those of `sent` that are meant; nil when nothing can be said yet.
  mutating func next(_ sent: [Debt], strays: inout UInt64) -> [(id: EventID, reason: RelayReason)]? {
    let owed = (sent + abandoned).sorted { $0.number < $1.number }
    while let first = pending.first, !owed.contains(where: { $0.number <= first.lastSent }) {
      pending.removeFirst()
      strays += 1
    }
    for index in pending.indices {
      let meant = owed.prefix { $0.number <= pending[index].lastSent }
      guard meant.count == index + 1 else { continue }
      let refused = zip(meant, pending).filter { debt, _ in sent.contains { $0.number == debt.number } }
      abandoned.removeAll { debt in meant.contains { $0.number == debt.number } }
      pending.removeFirst(index + 1)
      return refused.map { (id: $0.id, reason: $1.reason) }
    }
    return nil
  }
}

extension RelaySession {
  mutating func noteNamelessRefusal(_ reason: RelayReason) {
    guard case .open(var connection) = state else { return }
    connection.namelessRefusals.note(.init(reason: reason, lastSent: publishes.lastSentNumber))
    state = .open(connection)
  }

  /// An event that was sent is waited for by nobody any more.
  mutating func abandon(_ id: EventID, number: UInt64) {
    guard case .open(var connection) = state else { return }
    connection.namelessRefusals.abandon(.init(id: id, number: number), limits)
    state = .open(connection)
  }

  /// The relay has answered for an event that is not waited for.
  mutating func settleAbandoned(_ id: EventID) {
    counters.strayMessages += 1
    guard case .open(var connection) = state else { return }
    connection.namelessRefusals.settleAbandoned(id)
    state = .open(connection)
  }

  /// Answers what can be counted out by now.
  mutating func layRefusals(at now: Instant, _ actions: inout [SessionAction]) {
    while case .open(var connection) = state, !connection.namelessRefusals.pending.isEmpty {
      let sent = publishes.all.compactMap { id, publication in
        publication.sentNumber.map { NamelessRefusals.Debt(id: id, number: $0) }
      }
      let refused = connection.namelessRefusals.next(sent, strays: &counters.strayMessages)
      state = .open(connection)
      guard let refused else { return }
      for (id, reason) in refused { answer(id, isAccepted: false, reason, at: now, &actions) }
    }
  }
}
