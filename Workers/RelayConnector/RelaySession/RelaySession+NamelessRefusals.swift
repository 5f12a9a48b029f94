internal import Clocks
internal import Nostr

// Refusals that do not name their event (nostr-relay sends an empty id whenever it refuses an event).
//
// The event can often be found by counting. A relay owes one answer for each event. When there are as many such
// refusals as events without an answer, all of those events are refused. A refusal can only mean an event that was sent
// before it. Events whose publishers have given up count as well, because the relay still owes their answers. Until the
// numbers agree, the refusals wait: each answer with an id leaves fewer events that a refusal can mean.
//
//     sent A, sent B, refused (A or B?), OK for B            → it was A
//     sent A, refused, sent B                                → it was A at once
//     sent A, sent B, A given up, refused (A or B?), refused → it was both
//
// Several reasons are assigned to several events in the order in which the events were sent, because relays that do
// this process one event after the other. Rejected: to go by that order alone. Other relays answer in the order in
// which their checks end, and a good event would be given up instead of a bad one.

/// The refusals of one connection that may mean several events, and what is needed to assign them.
struct NamelessRefusals {
  /// A refusal, and the number of the last event that was sent before it.
  struct Refusal {
    let reason: RelayReason
    let lastSent: UInt64
  }

  /// An event whose answer the relay owes.
  struct Debt {
    let id: EventID
    /// Its place in the order in which events were sent.
    let number: UInt64
  }

  /// In the order in which they came; always fewer than the events that they can mean.
  private(set) var pending: [Refusal] = []
  /// Events that all their publishers gave up.
  private(set) var abandoned: [Debt] = []
  /// Whether more events were given up than the limit allows to remember: then no refusal can be assigned.
  private var isUncountable = false

  /// No publisher waits for this answer now.
  mutating func abandon(_ debt: Debt, _ limits: SessionLimits) {
    if abandoned.count < limits.abandonedEventMaximum { return abandoned.append(debt) }
    isUncountable = true
    pending = []
    abandoned = []
  }

  /// The relay has answered for an event that was given up.
  mutating func settleAbandoned(_ id: EventID) {
    if let index = abandoned.firstIndex(where: { $0.id == id }) { abandoned.remove(at: index) }
  }

  mutating func note(_ refusal: Refusal) {
    if !isUncountable { pending.append(refusal) }
  }

  /// Removes refusals that can be assigned: those that can mean exactly as many events as there are refusals.
  ///
  /// - Parameters:
  ///   - sent: the events whose answers publishers wait for.
  ///   - strays: grows by the number of refusals that can mean no event.
  /// - Returns: the refused events of `sent`; nil when no refusal can be assigned yet.
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

  /// Gives up an event that was sent: no publisher waits for it now.
  mutating func abandon(_ id: EventID, number: UInt64) {
    guard case .open(var connection) = state else { return }
    connection.namelessRefusals.abandon(.init(id: id, number: number), limits)
    state = .open(connection)
  }

  /// The relay has answered for an event for which no publisher waits.
  mutating func settleAbandoned(_ id: EventID) {
    counters.strayMessages += 1
    guard case .open(var connection) = state else { return }
    connection.namelessRefusals.settleAbandoned(id)
    state = .open(connection)
  }

  /// Answers the publishers of the events that can be assigned now.
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
