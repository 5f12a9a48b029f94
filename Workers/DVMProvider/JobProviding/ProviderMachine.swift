internal import Contracts
public import Cryptography
internal import DequeModule
public import Nostr

// The provider's side of jobs (NIP-90), as a machine without I/O: which requests are taken up, when each is worked on,
// and what its customer gets in the end.
//
//   received ─▶ waiting ─────────▶ running ─▶ answering ─▶ answered
//        │         ▲                  │            (result)
//        │         : (a payment)      │
//        └─▶ payment-required         └─▶ failed ─▶ failed, and told
//
// and from all but the last two states of a row: cancelled.
//
// Nothing is done before it is written down. A step that must outlive the process changes the request and asks the
// shell to record it; the machine asks for what follows only when the record is on disk. So work begins once the state
// `running` is on disk, and a result is published once the signed event is on disk. A provider that finds a signed
// event in the ledger publishes that one and makes no other, so no request has two results. A provider that finds work
// without an end begins it again if the service may be repeated; otherwise it tells the customer that the work was
// interrupted.
//
// One customer's requests must not delay those of others. The next request is one of the customer with the fewest
// running requests: a customer with none gets the next free place, and a customer with half of the places gets no other
// while others wait. Among equal customers the queue works in rounds. Each request of a customer is one round after the
// customer's previous one; the first is in the round after the one that is served now. Within a round the earlier
// request is first. So no customer waits for everything that another has asked, and none waits for ever, however many
// new ones come. No place is reserved for customers that have not asked: one customer may use all places that no other
// needs, and each run has a time limit. The room in which requests wait is different, since a request need never leave
// it: strangers have a share of that room (``WaitingCounts``).
//
// Rejected: to keep the result itself before it is signed. That would save the work of a provider that dies while the
// signer is away, but a result to be encrypted for one customer would lie on the disk in clear.

/// Decides what becomes of requests.
public struct ProviderMachine: Sendable {
  /// Which requests are taken up.
  public var rules: ServingRules
  /// The key that answers.
  public let provider: PublicKey
  /// The accounts of this machine.
  public var accounts: Set<PublicKey>
  /// Requests dated before this second are passed over, because the ledger does not know whether they were answered.
  public private(set) var notBefore: Int64
  /// How often requests were not taken up, by reason.
  public internal(set) var passedOver: [PassedOver: UInt64] = [:]

  struct Entry: Sendable {
    var request: ServedRequest
    /// Counts the changes, so that a write that completes late is not taken for a newer version.
    var version: UInt64 = 0
    /// What follows once the current version is written.
    var next: ServingAction?
    /// When the request expires (NIP-40), seconds since 1970.
    var expiration: Int64?
    /// The round in which it is served.
    var round: UInt64 = 0
    /// Whether its customer was a stranger when it was taken up.
    var isStranger = false

    func isOver(at now: Int64) -> Bool { expiration.map { $0 <= now } ?? false }
  }

  var entries: [EventID: Entry] = [:]
  var waiting = Deque<EventID>()
  /// Whether no work starts: this process cannot start it, the next one can.
  public internal(set) var isHolding = false
  var running: Set<EventID> = []
  var runningByKind: [UInt16: Int] = [:]
  var runningByCustomer: [PublicKey: Int] = [:]
  /// Requests whose bill is not paid yet.
  public internal(set) var unpaidCount = 0
  /// The latest round of which a request was started.
  var round: UInt64 = 0
  /// The round of the last request of each customer that has requests here.
  var lastRounds: [PublicKey: UInt64] = [:]
  var room = WaitingCounts()
  /// Requests of each customer that are not settled.
  var openByCustomer: [PublicKey: Int] = [:]
  /// The ids of all requests in the ledger, settled ones included.
  var known: Set<EventID>
  var lastNumber: Int64
  /// Requests that found no room when they came.
  var turnedAway = RefusedRequests()
  /// Those of them that are being looked up and have not come again yet.
  var lookingUp: Set<EventID> = []
  /// Requests that were cancelled before they came, with the author of the deletion.
  var cancellations: [EventID: PublicKey] = [:]

  /// Most remembered cancellations of unknown requests; at one more, all are forgotten.
  static let cancellationMaximum = 4_096
  /// Most bytes of a reason, in the ledger and for the customer.
  public static let reasonByteCountMaximum = 2_048

  /// A machine that continues with what the ledger holds.
  ///
  /// - Parameters:
  ///   - rules: which requests are taken up.
  ///   - provider: the key that answers.
  ///   - accounts: the accounts of this machine.
  ///   - known: the ids of all requests in the ledger.
  ///   - lastNumber: the last number given.
  ///   - notBefore: requests dated before this second are passed over.
  ///   - now: seconds since 1970.
  public init(
    _ rules: ServingRules, provider: PublicKey, accounts: Set<PublicKey> = [], known: Set<EventID> = [],
    lastNumber: Int64 = 0, notBefore: Int64 = 0, at now: Int64 = .max
  ) {
    self.rules = rules
    self.provider = provider
    self.accounts = accounts
    self.known = known
    self.lastNumber = lastNumber
    self.notBefore = min(notBefore, now)
  }

  /// The wall clock was set. A `notBefore` in the future comes from a wrong clock; until that second nothing would be
  /// taken up. What was answered under the wrong clock was answered before now.
  public mutating func clockSet(at now: Int64) { notBefore = min(notBefore, now) }

  // MARK: Reading

  /// A request that is not settled, or whose last change is not on disk yet.
  public subscript(id: EventID) -> ServedRequest? { entries[id]?.request }

  /// Whether any request is being worked on, or has a result that is not signed yet.
  public var isAtWork: Bool { entries.values.contains { $0.request.state == .running } }

  /// The number of changes of a request, for ``recorded(_:version:at:)``.
  public func version(of id: EventID) -> UInt64? { entries[id]?.version }

  /// Requests that wait for their turn.
  public var waitingCount: Int { waiting.count }

  /// Requests of a kind that are being worked on.
  public func runningCount(kind: UInt16) -> Int { runningByKind[kind] ?? 0 }

  /// Requests that are being worked on.
  public var runningIDs: Set<EventID> { running }

  // MARK: Recording

  /// A version of a request is on disk.
  ///
  /// - Parameters:
  ///   - id: the request.
  ///   - version: the request's version when its row was made.
  ///   - now: seconds since 1970.
  public mutating func recorded(_ id: EventID, version: UInt64, at now: Int64) -> [ServingAction] {
    guard var entry = entries[id], entry.version == version else { return [] }
    let next = entry.next
    entry.next = nil
    entries[id] = entry
    if entry.request.isSettled { leave(id) }
    // A request that leaves the room, or moves within it, is recorded; so this is the moment to look for room.
    return (next.map { [$0] } ?? []) + lookAgain(at: now)
  }

  /// The ledger has forgotten these requests.
  public mutating func forgotten(_ ids: [EventID]) { known.subtract(ids) }

  // MARK: Changing

  mutating func enter(_ entry: Entry) {
    var entry = entry
    entry.isStranger = isStranger(entry.request.customer)
    guard entries.updateValue(entry, forKey: entry.request.id) == nil else { return }
    openByCustomer[entry.request.customer, default: 0] += 1
    seat(entry)
  }

  /// A request that is not being worked on takes room: it waits for its turn, a payment, the signer, a publisher or the
  /// disk.
  mutating func seat(_ entry: Entry) {
    room.seat(entry.request, isStranger: entry.isStranger, isRunning: running.contains(entry.request.id))
  }

  mutating func leave(_ id: EventID) {
    guard let entry = entries.removeValue(forKey: id) else { return }
    room.leave(id, of: entry.request.customer)
    openByCustomer.countDown(entry.request.customer)
    if openByCustomer[entry.request.customer] == nil { lastRounds[entry.request.customer] = nil }
  }

  mutating func change(
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

  mutating func fail(_ id: EventID, _ reason: String, at now: Int64) -> [ServingAction] {
    // Customers do not learn paths of this machine; the log has them.
    let reason = reason.withoutLocalPaths.cut(toByteCount: Self.reasonByteCountMaximum)
    return change(id, then: .compose(id, .error(reason))) {
      $0.reason = reason
      $0.outgoing = nil
      $0.isTold = false
      $0.end(.failed, at: now)
    }
  }
}

extension ServedRequest {
  mutating func end(_ state: ServedJob.State, at now: Int64) {
    self.state = state
    endedAt = now
  }
}
