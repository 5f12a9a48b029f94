internal import Contracts
public import Cryptography
internal import DequeModule
public import Nostr

// The provider's side of jobs (NIP-90), as a machine without I/O: which requests are taken up, when each is worked on,
// and what its customer is told in the end.
//
//   received ─▶ waiting ─────────▶ running ─▶ answering ─▶ answered
//        │         ▲                  │            (result)
//        │         : (a payment)      │
//        └─▶ payment-required         └─▶ failed ─▶ failed, and told
//
// and from all but the last two states of a row: cancelled.
//
// Nothing is done before it is written down. A step that must outlive the process changes the request and asks for it
// to be recorded; what follows from it is asked for when it is. So the work is begun once its beginning is on the disk,
// and a result is published once the signed event is: a provider that finds an event in the ledger publishes this one,
// whatever else it could make, and so no request has two results. A provider that finds a beginning without an end
// begins anew if the service may be repeated; else it says that it was interrupted.
//
// Rejected: to keep the result itself before it is signed. It would save the work of a provider that dies while the
// signer is away, and leave what was encrypted for one customer in clear on the disk.

/// Decides what becomes of requests for jobs.
public struct ServingDesk: Sendable {
  /// Which requests are taken up.
  public var rules: ServingRules
  /// Who answers.
  public let provider: PublicKey
  /// The accounts of this machine.
  public var accounts: Set<PublicKey>
  /// Requests dated before this second are passed over: the ledger does not know whether they were answered.
  public let notBefore: Int64
  /// How often requests were not taken up, by reason.
  public private(set) var passedOver: [PassedOver: UInt64] = [:]

  private struct Entry: Sendable {
    var request: ServedRequest
    /// Counts the changes, so that a write that ends late is not taken for a later one.
    var version: UInt64 = 0
    /// What follows once the present version is written.
    var next: ServingAction?
    /// When its own time is over (NIP-40).
    var expiration: Int64?

    func isOver(at now: Int64) -> Bool { expiration.map { $0 <= now } ?? false }
  }

  private var entries: [EventID: Entry] = [:]
  private var waiting = Deque<EventID>()
  private var running: Set<EventID> = []
  private var runningByKind: [UInt16: Int] = [:]
  private var unpaidCount = 0
  /// All requests that the ledger has, also those that are over.
  private var known: Set<EventID>
  private var lastNumber: Int64
  /// Requests that were called off before they came.
  private var cancellations: [EventID: PublicKey] = [:]

  /// Cancellations of unknown requests that are remembered; then all are forgotten.
  private static let cancellationMaximum = 4_096
  /// Reasons that are kept and told have at most so many bytes.
  public static let reasonByteCountMaximum = 2_048

  /// A desk over what the ledger holds.
  ///
  /// - Parameters:
  ///   - rules: which requests are taken up.
  ///   - provider: who answers.
  ///   - accounts: the accounts of this machine.
  ///   - known: the ids of all requests of the ledger.
  ///   - lastNumber: the last number given.
  ///   - notBefore: requests dated before this second are passed over.
  public init(
    _ rules: ServingRules, provider: PublicKey, accounts: Set<PublicKey> = [], known: Set<EventID> = [],
    lastNumber: Int64 = 0, notBefore: Int64 = 0
  ) {
    self.rules = rules
    self.provider = provider
    self.accounts = accounts
    self.known = known
    self.lastNumber = lastNumber
    self.notBefore = notBefore
  }

  // MARK: Looking

  /// A request that is not settled, or was not written since.
  public subscript(id: EventID) -> ServedRequest? { entries[id]?.request }

  /// Counts the changes of a request; what ``recorded(_:version:at:)`` takes.
  public func version(of id: EventID) -> UInt64? { entries[id]?.version }

  /// Requests that wait for their turn.
  public var waitingCount: Int { waiting.count }

  /// Requests of a kind that are worked on.
  public func runningCount(kind: UInt16) -> Int { runningByKind[kind] ?? 0 }

  /// Requests that are worked on.
  public var runningIDs: Set<EventID> { running }

  // MARK: Inputs

  /// A request has come, verified.
  ///
  /// - Parameters:
  ///   - event: the request.
  ///   - recipients: providers that it names (`p`); none: it is for anybody.
  ///   - now: seconds since 1970.
  /// - Returns: nothing when it is passed over, which is counted.
  public mutating func received(_ event: Event, recipients: [PublicKey], at now: Int64) -> [ServingAction] {
    if let reason = objection(to: event, recipients, now) {
      passedOver[reason, default: 0] += 1
      return []
    }
    guard let service = rules.services[event.kind] else { return [] }
    known.insert(event.id)
    lastNumber += 1
    let request = ServedRequest(
      number: lastNumber, id: event.id, kind: event.kind, customer: event.pubkey, takenAt: now, state: .waiting,
      request: event.json)
    entries[event.id] = Entry(request: request, expiration: event.expiration)
    guard service.priceMillisatoshis == 0 else {
      unpaidCount += 1
      let word = ServingWord.paymentRequired(service.priceMillisatoshis)
      return change(event.id, then: .compose(event.id, word)) { $0.state = .paymentRequired }
    }
    waiting.append(event.id)
    // One transaction says both when it can begin at once.
    let begun = startWaiting(at: now)
    return begun.contains(.record(event.id)) ? begun : change(event.id) { _ in } + begun
  }

  /// Requests were called off, verified: a deletion by `author` that names them.
  public mutating func cancelled(_ ids: [EventID], by author: PublicKey, at now: Int64) -> [ServingAction] {
    var actions: [ServingAction] = []
    for id in ids {
      guard let entry = entries[id] else {
        if !known.contains(id) {
          if cancellations.count >= Self.cancellationMaximum { cancellations = [:] }
          cancellations[id] = author
        }
        continue
      }
      guard entry.request.customer == author else { continue }
      switch entry.request.state {
      case .waiting: waiting.removeAll { $0 == id }
      case .paymentRequired: unpaidCount -= 1
      case .running:
        release(id)
        actions.append(.stop(id))
      case .answering, .answered, .failed, .cancelled: continue
      }
      actions += change(id) { $0.end(.cancelled, at: now) }
    }
    return actions + startWaiting(at: now)
  }

  /// A version of a request is written down.
  ///
  /// - Parameters:
  ///   - id: the request.
  ///   - version: as it was when its row was made.
  ///   - now: seconds since 1970.
  public mutating func recorded(_ id: EventID, version: UInt64, at now: Int64) -> [ServingAction] {
    guard var entry = entries[id], entry.version == version else { return [] }
    let next = entry.next
    entry.next = nil
    entries[id] = entry.request.isSettled ? nil : entry
    return next.map { [$0] } ?? []
  }

  /// The work on a request has ended.
  public mutating func finished(_ id: EventID, _ outcome: ServingOutcome, at now: Int64) -> [ServingAction] {
    guard entries[id]?.request.state == .running, running.contains(id) else { return [] }
    release(id)
    switch outcome {
    case .done(let content): return [.compose(id, .result(content))] + startWaiting(at: now)
    case .failed(let reason): return fail(id, reason, at: now) + startWaiting(at: now)
    }
  }

  /// A word is signed.
  ///
  /// - Parameters:
  ///   - id: the request.
  ///   - event: the signed event, JSON.
  ///   - eventID: its id.
  ///   - now: seconds since 1970.
  public mutating func composed(
    _ id: EventID, _ event: [UInt8], id eventID: EventID, at now: Int64
  ) -> [ServingAction] {
    guard let request = entries[id]?.request, request.outgoing == nil else { return [] }
    switch request.state {
    case .running:
      return change(id, then: .publish(id, event)) {
        $0.state = .answering
        $0.result = eventID
        $0.outgoing = event
      }
    case .failed, .paymentRequired:
      guard !request.isTold else { return [] }
      return change(id, then: .publish(id, event)) { $0.outgoing = event }
    case .waiting, .answering, .answered, .cancelled: return []
    }
  }

  /// A word cannot be signed, ever: the signer does not allow it, or it does not fit into an event.
  public mutating func couldNotCompose(_ id: EventID, _ reason: String, at now: Int64) -> [ServingAction] {
    guard let request = entries[id]?.request, request.outgoing == nil else { return [] }
    switch request.state {
    case .running: return fail(id, reason, at: now)
    case .paymentRequired:
      unpaidCount -= 1
      return fail(id, reason, at: now)
    case .failed: return change(id) { $0.isTold = true }
    case .waiting, .answering, .answered, .cancelled: return []
    }
  }

  /// The outgoing event of a request was taken by whoever publishes it, or refused by him for good.
  public mutating func published(_ id: EventID, at now: Int64) -> [ServingAction] {
    guard let request = entries[id]?.request, request.outgoing != nil else { return [] }
    return change(id) {
      $0.outgoing = nil
      $0.isTold = true
      if $0.state == .answering { $0.end(.answered, at: now) }
    }
  }

  /// Time has passed: whoever has not paid, or whose time is over, is not waited for.
  public mutating func timePassed(at now: Int64) -> [ServingAction] {
    var actions: [ServingAction] = []
    for (id, entry) in entries where entry.request.state == .paymentRequired {
      guard entry.request.takenAt + ServingRules.paymentSeconds <= now || entry.isOver(at: now) else { continue }
      unpaidCount -= 1
      actions += change(id) {
        $0.outgoing = nil
        $0.isTold = true
        $0.reason = "it was not paid in time"
        $0.end(.failed, at: now)
      }
    }
    return actions + startWaiting(at: now)
  }

  // MARK: After a start

  /// Takes over a request that the last process has left unsettled. To be called in the order of their numbers, before
  /// anything else; then ``timePassed(at:)``, which begins those that wait: what was worked on has its place first.
  public mutating func restored(_ request: ServedRequest, expiration: Int64?, at now: Int64) -> [ServingAction] {
    let id = request.id
    known.insert(id)
    entries[id] = Entry(request: request, expiration: expiration)
    if let outgoing = request.outgoing { return [.publish(id, outgoing)] }
    switch request.state {
    case .waiting:
      waiting.append(id)
      return []
    case .paymentRequired:
      unpaidCount += 1
      guard !request.isTold, let price = rules.services[request.kind]?.priceMillisatoshis else { return [] }
      return [.compose(id, .paymentRequired(price))]
    case .running:
      guard let service = rules.services[request.kind], service.isRepeatable else {
        return fail(id, "interrupted: the provider was stopped while it worked on this", at: now)
      }
      // More had begun than may at a time: the work of some was done, and only their results were not signed.
      guard running.count < rules.concurrentMaximum, runningCount(kind: request.kind) < service.concurrentMaximum else {
        waiting.append(id)
        return change(id) { $0.state = .waiting }
      }
      hold(id)
      return [.run(id)]
    case .failed: return [.compose(id, .error(request.reason ?? "it has failed"))]
    case .answering, .answered, .cancelled:
      entries[id] = nil
      return []
    }
  }

  /// Requests that the ledger has forgotten.
  public mutating func forgotten(_ ids: [EventID]) { known.subtract(ids) }

  // MARK: Taking up

  private func objection(to event: Event, _ recipients: [PublicKey], _ now: Int64) -> PassedOver? {
    guard rules.services[event.kind] != nil else { return .notServed }
    guard !known.contains(event.id) else { return .known }
    guard event.pubkey != provider else { return .own }
    guard recipients.contains(provider) || recipients.isEmpty else { return .addressedToOthers }
    guard rules.takesOpenRequests || !recipients.isEmpty else { return .open }
    guard rules.serves(event.pubkey, accounts: accounts) else { return .customerNotServed }
    guard event.createdAt >= max(now - rules.ageMaximum, notBefore) else { return .old }
    guard event.createdAt <= now + ServingRules.aheadMaximum else { return .future }
    guard !event.isExpired(at: now) else { return .expired }
    guard cancellations[event.id] != event.pubkey else { return .cancelled }
    // Whatever is not worked on waits for something: its turn, a payment, the signer, a publisher, the disk.
    guard entries.count - running.count < rules.waitingMaximum else { return .full }
    return nil
  }

  // MARK: Turns

  /// Begins what may begin, the first first; a kind that has all its places taken is passed by.
  private mutating func startWaiting(at now: Int64) -> [ServingAction] {
    var actions: [ServingAction] = []
    var left = Deque<EventID>()
    while running.count < rules.concurrentMaximum, let id = waiting.popFirst() {
      guard let entry = entries[id] else { continue }
      if entry.isOver(at: now) {
        actions += fail(id, "its time was over before its turn came", at: now)
        continue
      }
      guard let service = rules.services[entry.request.kind] else {
        actions += fail(id, "jobs of kind \(entry.request.kind) are not served any more", at: now)
        continue
      }
      guard runningCount(kind: entry.request.kind) < service.concurrentMaximum else {
        left.append(id)
        continue
      }
      hold(id)
      actions += change(id, then: .run(id)) { $0.state = .running }
    }
    for id in left.reversed() { waiting.prepend(id) }
    return actions
  }

  private mutating func hold(_ id: EventID) {
    guard let kind = entries[id]?.request.kind, running.insert(id).inserted else { return }
    runningByKind[kind, default: 0] += 1
  }

  private mutating func release(_ id: EventID) {
    guard let kind = entries[id]?.request.kind, running.remove(id) != nil else { return }
    runningByKind[kind, default: 1] -= 1
  }

  private mutating func fail(_ id: EventID, _ reason: String, at now: Int64) -> [ServingAction] {
    let reason = reason.cut(toByteCount: Self.reasonByteCountMaximum)
    return change(id, then: .compose(id, .error(reason))) {
      $0.reason = reason
      $0.end(.failed, at: now)
    }
  }

  private mutating func change(
    _ id: EventID, then next: ServingAction? = nil, _ body: (inout ServedRequest) -> Void
  ) -> [ServingAction] {
    guard var entry = entries[id] else { return [] }
    body(&entry.request)
    if entry.request.isSettled { entry.request.request = [] }
    entry.version += 1
    entry.next = next
    entries[id] = entry
    return [.record(id)]
  }
}

extension ServedRequest {
  fileprivate mutating func end(_ state: ServedJob.State, at now: Int64) {
    self.state = state
    endedAt = now
  }
}

extension String {
  /// The text, or as many of its letters as fit into so many bytes, with a sign that there was more.
  public func cut(toByteCount maximum: Int) -> String {
    guard utf8.count > maximum else { return self }
    var end = utf8.index(startIndex, offsetBy: max(0, maximum - 3))
    while end > startIndex, end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
    return self[..<end] + "…"
  }
}
