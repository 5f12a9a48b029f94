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
// One customer's requests must not keep others' waiting. Whose turn it is goes by what each customer has under way, the
// least first: of the places that become free whoever has none gets the next one, and nobody who has half of them gets
// another while others wait. Between equals it goes round by round: a customer's requests stand in rounds that follow
// each other, the first of them in the one after the round that is served now, and of one round whoever came first is
// first. So nobody waits for all that another has asked, nor, however many come anew, for ever. No place is kept free
// for those who have not asked: places that nobody else wants are anybody's, and a run has its time. The room in which
// requests wait is another matter, since nobody need leave it: strangers have a share of it (``WaitingRoom``).
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
    /// The round in which it is to be served.
    var round: UInt64 = 0
    /// Whether its customer was none that is known when it was taken up.
    var isStranger = false

    func isOver(at now: Int64) -> Bool { expiration.map { $0 <= now } ?? false }
  }

  private var entries: [EventID: Entry] = [:]
  private var waiting = Deque<EventID>()
  /// Whether nothing is begun any more: this process cannot, and the next one can.
  public private(set) var isHolding = false
  private var running: Set<EventID> = []
  private var runningByKind: [UInt16: Int] = [:]
  private var runningByCustomer: [PublicKey: Int] = [:]
  /// Requests with a bill that was not paid yet.
  public private(set) var unpaidCount = 0
  /// The last round of which a request was begun.
  private var round: UInt64 = 0
  /// The round of the last request of each customer that has any here.
  private var lastRounds: [PublicKey: UInt64] = [:]
  private var room = WaitingRoom()
  /// Requests of each customer that have not ended.
  private var openByCustomer: [PublicKey: Int] = [:]
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

  /// Whether any request is worked on, or its result is still to be signed.
  public var isAtWork: Bool { entries.values.contains { $0.request.state == .running } }

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
    enter(Entry(request: request, expiration: event.expiration))
    guard service.priceMillisatoshis == 0 else {
      unpaidCount += 1
      let word = ServingWord.paymentRequired(service.priceMillisatoshis)
      return makeWay(for: event.pubkey, at: now)
        + change(event.id, then: .compose(event.id, word)) { $0.state = .paymentRequired }
    }
    lineUp(event.id)
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
    entries[id] = entry
    if entry.request.isSettled { leave(id) }
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

  /// The work on a request could not begin in this process, and nothing of it has. It waits again, first in the line,
  /// and so does all else that would begin, until the next process.
  public mutating func putBack(_ id: EventID) -> [ServingAction] {
    isHolding = true
    guard entries[id]?.request.state == .running, running.contains(id) else { return [] }
    release(id)
    waiting.prepend(id)
    return change(id) { $0.state = .waiting }
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
      if entry.isOver(at: now) {
        actions += withdrawBill(of: id, "its time was over before it was paid", at: now)
      } else if entry.request.takenAt + rules.paymentSeconds <= now {
        actions += withdrawBill(of: id, "it was not paid in time", at: now)
      }
    }
    return actions + startWaiting(at: now)
  }

  /// A stranger's bill for which there is no room ends an older one.
  private mutating func makeWay(for customer: PublicKey, at now: Int64) -> [ServingAction] {
    guard isStranger(customer), let id = room.billGivingWay(to: customer, rules) else { return [] }
    return withdrawBill(of: id, "it was not paid, and newer requests need its place", at: now)
  }

  /// Ends a request that was not paid. Whoever has the bill is told that it holds no more; of a bill that is still on
  /// its way nothing is said at all.
  private mutating func withdrawBill(of id: EventID, _ reason: String, at now: Int64) -> [ServingAction] {
    guard let request = entries[id]?.request else { return [] }
    unpaidCount -= 1
    guard !request.isTold else { return fail(id, reason, at: now) }
    return change(id) {
      $0.outgoing = nil
      $0.isTold = true
      $0.reason = reason
      $0.end(.failed, at: now)
    }
  }

  // MARK: After a start

  /// Takes over a request that the last process has left unsettled. To be called in the order of their numbers, before
  /// anything else; then ``timePassed(at:)``, which begins those that wait: what was worked on has its place first.
  public mutating func restored(_ request: ServedRequest, expiration: Int64?, at now: Int64) -> [ServingAction] {
    let id = request.id
    known.insert(id)
    enter(Entry(request: request, expiration: expiration))
    if request.state == .paymentRequired { return restoredBill(request, at: now) }
    if let outgoing = request.outgoing { return [.publish(id, outgoing)] }
    switch request.state {
    case .waiting:
      lineUp(id)
      return []
    case .running:
      guard let service = rules.services[request.kind], service.isRepeatable else {
        return fail(id, "interrupted: the provider was stopped while it worked on this", at: now)
      }
      // More had begun than may at a time: the work of some was done, and only their results were not signed.
      guard running.count < rules.concurrentMaximum, runningCount(kind: request.kind) < service.concurrentMaximum else {
        lineUp(id)
        return change(id) { $0.state = .waiting }
      }
      hold(id)
      return [.run(id)]
    case .failed: return [.compose(id, .error(request.reason ?? "it has failed"))]
    case .paymentRequired, .answering, .answered, .cancelled:
      leave(id)
      return []
    }
  }

  /// A bill holds as long as its kind is served for money.
  private mutating func restoredBill(_ request: ServedRequest, at now: Int64) -> [ServingAction] {
    let id = request.id
    unpaidCount += 1
    guard let price = rules.services[request.kind]?.priceMillisatoshis else {
      return withdrawBill(of: id, "jobs of kind \(request.kind) are not served any more", at: now)
    }
    guard price > 0 else {
      unpaidCount -= 1
      lineUp(id)
      return change(id) {
        $0.state = .waiting
        $0.outgoing = nil
        $0.isTold = false
      }
    }
    if let outgoing = request.outgoing { return [.publish(id, outgoing)] }
    return request.isTold ? [] : [.compose(id, .paymentRequired(price))]
  }

  /// Requests that the ledger has forgotten.
  public mutating func forgotten(_ ids: [EventID]) { known.subtract(ids) }

  // MARK: Taking up

  private func objection(to event: Event, _ recipients: [PublicKey], _ now: Int64) -> PassedOver? {
    guard let service = rules.services[event.kind] else { return .notServed }
    guard !known.contains(event.id) else { return .known }
    guard event.pubkey != provider else { return .own }
    guard recipients.contains(provider) || recipients.isEmpty else { return .addressedToOthers }
    guard rules.takesOpenRequests || !recipients.isEmpty else { return .open }
    guard rules.serves(event.pubkey, accounts: accounts) else { return .customerNotServed }
    guard event.createdAt >= max(now - rules.ageMaximum, notBefore) else { return .old }
    guard event.createdAt <= now + ServingRules.aheadMaximum else { return .future }
    guard !event.isExpired(at: now) else { return .expired }
    guard cancellations[event.id] != event.pubkey else { return .cancelled }
    guard isStranger(event.pubkey) else { return room.objection(rules) }
    return service.priceMillisatoshis > 0
      ? room.objection(toBillOf: event.pubkey, rules) : room.objection(toStranger: event.pubkey, rules)
  }

  private func isStranger(_ customer: PublicKey) -> Bool {
    rules.customers == .anyone && !accounts.contains(customer)
  }

  private mutating func enter(_ entry: Entry) {
    var entry = entry
    entry.isStranger = isStranger(entry.request.customer)
    guard entries.updateValue(entry, forKey: entry.request.id) == nil else { return }
    openByCustomer[entry.request.customer, default: 0] += 1
    seat(entry)
  }

  /// Whatever is not worked on waits for something: its turn, a payment, the signer, a publisher, the disk.
  private mutating func seat(_ entry: Entry) {
    room.seat(entry.request, isStranger: entry.isStranger, isRunning: running.contains(entry.request.id))
  }

  private mutating func leave(_ id: EventID) {
    guard let entry = entries.removeValue(forKey: id) else { return }
    room.leave(id, of: entry.request.customer)
    openByCustomer.countDown(entry.request.customer)
    if openByCustomer[entry.request.customer] == nil { lastRounds[entry.request.customer] = nil }
  }

  // MARK: Turns

  private mutating func lineUp(_ id: EventID) {
    guard let customer = entries[id]?.request.customer else { return }
    let own = max(round, lastRounds[customer] ?? 0) + 1
    lastRounds[customer] = own
    entries[id]?.round = own
    waiting.append(id)
  }

  /// Begins what may begin; a kind that has all its places taken is passed by.
  private mutating func startWaiting(at now: Int64) -> [ServingAction] {
    var actions: [ServingAction] = []
    while !isHolding, running.count < rules.concurrentMaximum, let place = nextPlace(at: now) {
      let id = waiting.remove(at: place)
      guard let entry = entries[id] else { continue }
      if entry.isOver(at: now) {
        actions += fail(id, "its time was over before its turn came", at: now)
      } else if rules.services[entry.request.kind] == nil {
        actions += fail(id, "jobs of kind \(entry.request.kind) are not served any more", at: now)
      } else {
        hold(id)
        round = max(round, entry.round)
        actions += change(id, then: .run(id)) { $0.state = .running }
      }
    }
    return actions
  }

  /// Where in the line the next one stands: of the customers with the least under way, the first of the lowest round.
  /// One that only comes to its end takes no place, and is next wherever it stands.
  private func nextPlace(at now: Int64) -> Int? {
    var next: (place: Int, rank: (held: Int, round: UInt64))?
    for (place, id) in waiting.enumerated() {
      guard let entry = entries[id], let service = rules.services[entry.request.kind], !entry.isOver(at: now) else {
        return place
      }
      guard runningCount(kind: entry.request.kind) < service.concurrentMaximum else { continue }
      let rank = (held: runningByCustomer[entry.request.customer] ?? 0, round: entry.round)
      if let best = next?.rank, best <= rank { continue }
      next = (place, rank)
    }
    return next?.place
  }

  private mutating func hold(_ id: EventID) {
    guard let entry = entries[id], running.insert(id).inserted else { return }
    runningByKind[entry.request.kind, default: 0] += 1
    runningByCustomer[entry.request.customer, default: 0] += 1
    seat(entry)
  }

  private mutating func release(_ id: EventID) {
    guard let entry = entries[id], running.remove(id) != nil else { return }
    runningByKind.countDown(entry.request.kind)
    runningByCustomer.countDown(entry.request.customer)
    seat(entry)
  }

  private mutating func fail(_ id: EventID, _ reason: String, at now: Int64) -> [ServingAction] {
    // Where things lie on this machine is nobody's business; the log has it.
    let reason = reason.withoutLocalPaths.cut(toByteCount: Self.reasonByteCountMaximum)
    return change(id, then: .compose(id, .error(reason))) {
      $0.reason = reason
      $0.outgoing = nil
      $0.isTold = false
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
    seat(entry)
    return [.record(id)]
  }
}

extension ServedRequest {
  fileprivate mutating func end(_ state: ServedJob.State, at now: Int64) {
    self.state = state
    endedAt = now
  }
}
