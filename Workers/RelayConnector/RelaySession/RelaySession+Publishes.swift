public import Clocks
public import Cryptography
public import Nostr

/// The publishes of a session, by event: several for one event share its message and its answer.
struct Publishes {
  struct Publication {
    /// The event's bytes until it is sent; then empty, unless it may have to be sent again.
    var event: [UInt8]
    let byteCount: Int
    /// The account that authenticates if the relay asks for it.
    var account: PublicKey?
    /// Whether the event is sent only after `account` has authenticated (NIP-70).
    var isProtected: Bool
    /// Whether the event waits until `account` has authenticated.
    var isHeld = false
    var sentAt: Instant?
    /// Its number in the order of sending; nil until it is sent.
    var sentNumber: UInt64?
    /// The last NOTICE before it was sent; nil until then.
    var noticeMark: RecentNotices.Mark?
    /// The publishes that wait for the OK, and until when.
    var claims: [(key: PublishKey, allowance: Allowance)]
  }

  var all: [EventID: Publication] = [:]
  /// The event of each key.
  var ids: [PublishKey: EventID] = [:]
  var waiting: [EventID] = []
  var waitingByteCount = 0
  var sentByteCount = 0

  var hasWaiting: Bool { !waiting.isEmpty }
  /// The number of events that were sent and not answered.
  var sentCount = 0
  /// The number of the last event sent, counted over all connections.
  var lastSentNumber: UInt64 = 0
  func nextDeadline(isHeld: Bool) -> Instant? {
    all.values.lazy.flatMap(\.claims).compactMap { $0.allowance.due(isHeld: isHeld) }.min()
  }

  /// Forgets an event and all its claims.
  mutating func remove(_ id: EventID) -> Publication? {
    guard let publication = all.removeValue(forKey: id) else { return nil }
    for claim in publication.claims { ids[claim.key] = nil }
    if publication.sentAt == nil {
      waiting.removeAll { $0 == id }
      waitingByteCount -= publication.byteCount
    } else {
      sentByteCount -= publication.byteCount
      sentCount -= 1
    }
    return publication
  }
}

extension RelaySession {
  /// Publishes that have no answer yet.
  public var publishCount: Int { publishes.ids.count }

  /// Starts to publish an event at this relay. Ends with `answer`, `failPublish`, or a cancel.
  ///
  /// `key` must be free. `event` is the JSON object whose id is `id`. The OK must come before `deadline`, which is
  /// suspended while the relay is held back, and before `end`, which is not. If an attempt to connect fails meanwhile,
  /// the publish fails at once. If the relay asks for it (`auth-required`), `account` authenticates and the event is
  /// sent again. A protected event is sent only after that. An event that is beyond the relay's published bounds, by
  /// its `measures` and the time of day, is not sent: it fails with `out-of-bounds`. A protected event fails with
  /// `not-shown` where ``shownKey`` is not the account.
  public mutating func publishStarted(
    _ key: PublishKey, event: [UInt8], id: EventID, account: PublicKey? = nil, isProtected: Bool = false,
    measures: EventMeasures? = nil, wallSeconds: Int64 = 0, deadline: Instant, end: Instant? = nil, at now: Instant
  ) -> [SessionAction] {
    precondition(publishes.ids[key] == nil, "publish \(key.rawValue) is under way already")
    if isProtected, let failure = hiddenAuthor { return [.failPublish(key, failure)] }
    let account = shownKey.key(for: account)
    if let objection = measures.flatMap({ policy.objection(to: $0, at: wallSeconds) }) {
      return [.failPublish(key, WorkFailure(.outOfBounds, "\(url) would refuse the event: \(objection)"))]
    }
    let isKnown = publishes.all[id] != nil
    if publishes.ids.count >= limits.publishMaximum
      || (!isKnown && publishes.waitingByteCount + event.count > limits.waitingEventByteCountMaximum)
    {
      return [.failPublish(key, WorkFailure(.full, "too many events wait for \(url) already"))]
    }
    if let failure = postponed(at: now) { return [.failPublish(key, failure)] }
    if let failure = unreachableForNow(at: now) { return [.failPublish(key, failure)] }
    publishes.ids[key] = id
    let allowance = Allowance(until: deadline, end: end, at: now)
    if isKnown {
      join(id, with: event, account, isProtected: isProtected)
      publishes.all[id]?.claims.append((key, allowance))
    } else {
      publishes.all[id] = Publishes.Publication(
        event: event, byteCount: event.count, account: account, isProtected: isProtected,
        claims: [(key, allowance)])
      publishes.waiting.append(id)
      publishes.waitingByteCount += event.count
    }
    return settled([], at: now)
  }

  /// Why no event may be sent that only its author may send (NIP-70); nil while there is no such reason.
  private var hiddenAuthor: WorkFailure? {
    if shownKey == .account { return nil }
    let word = shownKey == .never ? "never" : "throw-away"
    return WorkFailure(
      .notShown,
      "the event is protected (NIP-70), so its author must authenticate at \(url), and 'authenticate = \"\(word)\"' in "
        + "supervisor.conf forbids that")
  }

  /// Another publish of a known event. If the session has dropped the bytes, because no account could authenticate for
  /// the event, it needs them again when this publish names an account.
  private mutating func join(_ id: EventID, with event: [UInt8], _ account: PublicKey?, isProtected: Bool) {
    if isProtected { publishes.all[id]?.isProtected = true }
    guard let account, let known = publishes.all[id], known.account == nil else { return }
    publishes.all[id]?.account = account
    if known.event.isEmpty { publishes.all[id]?.event = event }
  }

  /// The caller gives up the answer; an event that was not sent yet is not sent. No further action names the key.
  public mutating func publishCancelled(_ key: PublishKey, at now: Instant) -> [SessionAction] {
    guard let id = publishes.ids[key] else { return [] }
    withdraw(key, from: id)
    return settled([], at: now)
  }

  mutating func launchPublishes(at now: Instant, _ actions: inout [SessionAction]) {
    var held: [EventID] = []
    for (index, id) in publishes.waiting.enumerated() {
      guard let publication = publishes.all[id] else { continue }
      if awaitsAuthor(id, publication, at: now, &actions) {
        if publishes.all[id] != nil { held.append(id) }
        continue
      }
      guard maySend(publication) else {
        held += publishes.waiting[index...]
        break
      }
      publishes.waitingByteCount -= publication.byteCount
      publishes.sentByteCount += publication.byteCount
      publishes.sentCount += 1
      if publication.account == nil { publishes.all[id]?.event = [] }
      publishes.lastSentNumber += 1
      publishes.all[id]?.sentAt = now
      publishes.all[id]?.sentNumber = publishes.lastSentNumber
      publishes.all[id]?.noticeMark = notices.mark
      actions.append(.send(ClientMessage.publish(publication.event)))
    }
    publishes.waiting = held
  }

  /// Whether the event must wait for its author to authenticate. An event that can never be sent on this connection
  /// fails.
  private mutating func awaitsAuthor(
    _ id: EventID, _ publication: Publishes.Publication, at now: Instant, _ actions: inout [SessionAction]
  ) -> Bool {
    if publication.isHeld { return true }
    guard publication.isProtected, let account = publication.account, !hasShown(account) else { return false }
    publishes.all[id]?.isHeld = true
    var failure = exposure
    if failure == nil, case .failed(let reason) = show(account, at: now, &actions) { failure = reason }
    if let failure {
      _ = publishes.remove(id)
      actions += publication.claims.map { .failPublish($0.key, failure) }
    } else {
      planProbe(at: now)
    }
    return true
  }

  private func maySend(_ publication: Publishes.Publication) -> Bool {
    if publishes.sentCount == 0 { return true }
    return publishes.sentCount < limits.sentEventMaximum
      && publishes.sentByteCount + publication.byteCount <= limits.sentEventByteCountMaximum
  }

  /// Removes one claim. The last claim removes the event too.
  private mutating func withdraw(_ key: PublishKey, from id: EventID) {
    publishes.ids[key] = nil
    publishes.all[id]?.claims.removeAll { $0.key == key }
    guard let publication = publishes.all[id], publication.claims.isEmpty else { return }
    _ = publishes.remove(id)
    if let number = publication.sentNumber { abandon(id, number: number) }
  }

  mutating func expirePublishes(at now: Instant, _ actions: inout [SessionAction]) {
    let due = publishes.all.flatMap { id, publication in
      publication.claims.filter { $0.allowance.due(isHeld: isHeld).map { $0 <= now } ?? false }
        .map { (key: $0.key, id: id, mark: publication.noticeMark) }
    }
    for claim in due.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      withdraw(claim.key, from: claim.id)
      let outcome: WorkOutcome = claim.mark == nil ? .notStarted : .unknown
      actions.append(.failPublish(claim.key, expiry(sentAfter: claim.mark, outcome)))
    }
  }

  mutating func receivedOK(
    _ id: EventID?, isAccepted: Bool, _ reason: RelayReason, at now: Instant
  ) -> [SessionAction] {
    var actions: [SessionAction] = []
    if let id, publishes.all[id]?.sentAt != nil {
      answer(id, isAccepted: isAccepted, reason, at: now, &actions)
    } else if let id {
      settleAbandoned(id)
    } else if isAccepted {
      counters.strayMessages += 1
    } else {
      noteNamelessRefusal(reason)
    }
    layRefusals(at: now, &actions)
    return settled(actions, at: now)
  }

  /// Handles the relay's answer for an event that was sent.
  mutating func answer(
    _ id: EventID, isAccepted: Bool, _ reason: RelayReason, at now: Instant, _ actions: inout [SessionAction]
  ) {
    guard let publication = publishes.all[id] else { return }
    noteLatency(since: publication.sentAt, at: now)
    if let sent = publication.sentAt { counters.latencies.accepted.measured(from: sent, to: now) }
    if isAccepted {
      counters.accepted += 1
    } else {
      noteRefusal(reason, at: now)
      if reason.word != "duplicate", publication.account == nil || reason.word != "auth-required" {
        remark(on: reason, .refusedEvent, at: now)
      }
    }
    switch isAccepted ? nil : demand(reason, publication.account, sentAt: publication.sentAt, at: now, &actions) {
    case .begun:
      hold(id, isHeld: true)
      return
    case .met:
      hold(id, isHeld: false)
      return
    case .failed(let failure):
      actions += publication.claims.map { .failPublish($0.key, failure) }
    case nil:
      actions += publication.claims.map { .answer($0.key, isAccepted: isAccepted, reason: reason) }
    }
    _ = publishes.remove(id)
  }

  /// Puts the event back into the queue. With `isHeld` it waits until the account has authenticated.
  private mutating func hold(_ id: EventID, isHeld: Bool) {
    guard let publication = publishes.all[id] else { return }
    publishes.sentCount -= 1
    publishes.sentByteCount -= publication.byteCount
    publishes.waitingByteCount += publication.byteCount
    publishes.all[id]?.sentAt = nil
    publishes.all[id]?.sentNumber = nil
    publishes.all[id]?.isHeld = isHeld
    publishes.waiting.append(id)
  }
}
