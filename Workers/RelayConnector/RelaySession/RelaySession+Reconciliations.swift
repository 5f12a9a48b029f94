public import Clocks
public import Cryptography
public import Nostr

// A reconciliation with a relay (NIP-77): work like a request, with other messages.
//
//     waiting ─ NEG-OPEN ─▶ the relay's turn ─ NEG-MSG ─▶ the caller's turn ─ NEG-MSG ─▶ the relay's turn …
//
// It takes a subscription's place of the class backfill, waits, authenticates and ends as a REQ does. It ends with
// `failRequest`, or with a cancel by the caller, which sends NEG-CLOSE. A relay that has the turn and is silent for
// `reconciliationMilliseconds` ends it; the caller may take as long as it likes.
//
// Relays without NIP-77 answer with a NOTICE, with CLOSED, or not at all. A NOTICE names no reconciliation, so it ends
// those that have no answer yet, and only if it reads like an answer to an unknown message.

/// What makes a request a reconciliation.
struct ReconciliationState {
  let filter: Filter
  let firstMessage: [UInt8]
  /// Whether the relay has answered with a NEG-MSG since the NEG-OPEN.
  var isAnswered = false
  /// Whether the relay is to send the next message.
  var isRelaysTurn = false

  func opening(_ subscription: String) -> [UInt8] {
    ClientMessage.openReconciliation(subscription: subscription, filter, message: firstMessage)
  }
}

extension RelaySession {
  /// Starts a reconciliation of the events that a filter matches. Ends with `failRequest` or a cancel
  /// (``requestCancelled(_:at:)``).
  ///
  /// `key` must be free, also of requests. If the relay asks for it, `account` authenticates and the NEG-OPEN is sent
  /// again with the same message; the caller then receives an answer to it as to the first.
  ///
  /// - Parameters:
  ///   - key: the caller's name for it.
  ///   - filter: the filter, which must match something.
  ///   - message: the first message of the asking side.
  ///   - account: the account that authenticates if the relay asks for it.
  ///   - now: the present.
  public mutating func reconciliationStarted(
    _ key: RequestKey, _ filter: Filter, message: [UInt8], account: PublicKey? = nil, at now: Instant
  ) -> [SessionAction] {
    guard let filters = RawFilters(matchingSomething: [filter]) else {
      preconditionFailure("a filter that matches nothing is not reconciled")
    }
    // What it may wait for has limits of its own: the connection, a place, and the relay's silence.
    let never = Allowance(until: Instant(nanoseconds: .max), at: now)
    var request = Requests.Request(
      filters: filters, mode: .stored, kind: .backfill, account: account, allowance: never)
    request.reconciliation = ReconciliationState(filter: filter, firstMessage: message)
    return begin(key, request, at: now)
  }

  /// The caller's next message of a reconciliation. A key that is not under way is ignored: its end and this call may
  /// have crossed.
  public mutating func reconciliationContinued(
    _ key: RequestKey, message: [UInt8], at now: Instant
  ) -> [SessionAction] {
    guard var request = requests.all[key], request.reconciliation?.isAnswered == true,
      let subscription = request.subscription
    else { return [] }
    let text = ClientMessage.continueReconciliation(subscription: subscription, message: message)
    guard text.count <= policy.messageBytes.value else {
      _ = requests.remove(key)
      return settled(closeMessage(request) + [.failRequest(key, tooLarge(text.count))], at: now)
    }
    request.reconciliation?.isRelaysTurn = true
    request.noticeMark = notices.mark
    request.allowance.move(to: silenceEnd(at: now), at: now)
    requests.all[key] = request
    return settled([.send(text)], at: now)
  }

  private func silenceEnd(at now: Instant) -> Instant {
    now.advanced(milliseconds: limits.reconciliationMilliseconds)
  }

  /// The NEG-OPEN goes out: the relay has the turn.
  func sentOpening(_ request: inout Requests.Request, at now: Instant) {
    request.reconciliation?.isAnswered = false
    request.reconciliation?.isRelaysTurn = true
    request.allowance.move(to: silenceEnd(at: now), at: now)
  }

  // MARK: Messages

  mutating func receivedReconciliation(
    _ subscription: String, _ message: [UInt8], _ byteCount: Int, at now: Instant
  ) -> [SessionAction] {
    // A message out of turn answers nothing.
    guard let key = requests.reconciliationKeys[subscription], var request = requests.all[key],
      request.reconciliation?.isRelaysTurn == true
    else { return countUnclaimed(subscription, byteCount, at: now) }
    request.reconciliation?.isAnswered = true
    request.reconciliation?.isRelaysTurn = false
    request.allowance.move(to: Instant(nanoseconds: .max), at: now)
    requests.all[key] = request
    return settled([.passReconciliation(key, message: message)], at: now)
  }

  mutating func receivedReconciliationRefusal(
    _ subscription: String, _ reason: RelayReason, recordCountMaximum: Int?, _ byteCount: Int, at now: Instant
  ) -> [SessionAction] {
    guard let key = requests.reconciliationKeys[subscription] else {
      return countUnclaimed(subscription, byteCount, at: now)
    }
    return refused(key, reason, recordCountMaximum: recordCountMaximum, "ended the reconciliation", at: now)
  }

  /// Ends the reconciliations that a NOTICE answers.
  mutating func failReconciliations(after notice: RelayReason, _ actions: inout [SessionAction]) {
    guard !requests.reconciliationKeys.isEmpty, ReconciliationNotice.isAnswer(notice) else { return }
    for key in requests.reconciliationKeys.values.sorted(by: { $0.rawValue < $1.rawValue })
    where requests.all[key]?.reconciliation?.isAnswered == false {
      _ = requests.remove(key)
      let words = String(notice.text.prefix(limits.keptNoticeLengthMaximum))
      let failure = WorkFailure(
        .noReconciliation, "\(url) answered the reconciliation with a NOTICE: \(words)", reason: notice)
      actions.append(.failRequest(key, failure))
    }
  }
}

/// Which NOTICE answers a message that the relay does not know: the texts that relays were seen to send.
enum ReconciliationNotice {
  /// In lower case.
  private static let parts = [
    "negentropy", "neg-", "bad msg", "unknown message", "unknown cmd", "unknown command", "unknown envelope",
    "unknown type", "unrecognized", "unrecognised", "unsupported message", "unhandled message", "invalid message",
    "could not parse", "failed to parse", "cannot parse", "parse error",
  ]

  /// - Parameter word: a word that says so too; strfry says `too many concurrent NEG requests`.
  static func isAnswer(_ notice: RelayReason, besides word: String = " neg ") -> Bool {
    let text = notice.text.lowercased()
    return parts.contains { text.contains($0) } || text.contains(word)
  }
}

extension RelayReason {
  /// Whether a relay refuses a reconciliation because of the number of its events. NIP-77 has the word `blocked` for
  /// it, with the most records as a fourth element; strfry said `RESULTS_TOO_BIG`, and nostr-sdk's relay says
  /// `rate-limited: too many negentropy items`.
  ///
  /// - Parameter recordCountMaximum: the most records, if the relay says so.
  public func refusesWindow(_ recordCountMaximum: Int?) -> Bool {
    let text = text.lowercased()
    if [
      "too big", "too_big", "too large", "too many negentropy", "too many items", "too many records",
      "too many events", "too many results",
    ].contains(where: text.contains) {
      return true
    }
    switch RefusalClass(self) {
    case .subscriptions, .rate, .authentication: return false
    case .restricted, .blocked, .size, .unsupported, .invalid, .mute, .failure, .unknown:
      return recordCountMaximum != nil || text.contains("too many")
    }
  }
}
