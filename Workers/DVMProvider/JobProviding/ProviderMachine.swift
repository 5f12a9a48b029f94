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
// begins again if the service may be repeated; else it says that it was interrupted.
//
// One customer's requests must not keep others' waiting. Whose turn it is goes by what each customer has under way, the
// least first: of the places that become free whoever has none gets the next one, and nobody who has half of them gets
// another while others wait. Between equals it goes round by round: a customer's requests stand in rounds that follow
// each other, the first of them in the one after the round that is served now, and of one round whoever came first is
// first. So nobody waits for all that another has asked, nor, however many come again, for ever. No place is kept free
// for those who have not asked: places that nobody else wants are anybody's, and a run has its time. The room in which
// requests wait is another matter, since nobody need leave it: strangers have a share of it (``WaitingCounts``).
//
// Rejected: to keep the result itself before it is signed. It would save the work of a provider that dies while the
// signer is away, and leave what was encrypted for one customer in clear on the disk.

/// Decides what becomes of requests for jobs.
public struct ProviderMachine: Sendable {
  /// Which requests are taken up.
  public var rules: ServingRules
  /// Who answers.
  public let provider: PublicKey
  /// The accounts of this machine.
  public var accounts: Set<PublicKey>
  /// Requests dated before this second are passed over: the ledger does not know whether they were answered.
  public private(set) var notBefore: Int64
  /// How often requests were not taken up, by reason.
  public internal(set) var passedOver: [PassedOver: UInt64] = [:]

  struct Entry: Sendable {
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

  var entries: [EventID: Entry] = [:]
  var waiting = Deque<EventID>()
  /// Whether nothing is begun any more: this process cannot, and the next one can.
  public internal(set) var isHolding = false
  var running: Set<EventID> = []
  var runningByKind: [UInt16: Int] = [:]
  var runningByCustomer: [PublicKey: Int] = [:]
  /// Requests with a bill that was not paid yet.
  public internal(set) var unpaidCount = 0
  /// The last round of which a request was begun.
  var round: UInt64 = 0
  /// The round of the last request of each customer that has any here.
  var lastRounds: [PublicKey: UInt64] = [:]
  var room = WaitingCounts()
  /// Requests of each customer that have not ended.
  var openByCustomer: [PublicKey: Int] = [:]
  /// All requests that the ledger has, also those that are over.
  var known: Set<EventID>
  var lastNumber: Int64
  /// Requests for which there was no room when they came.
  var turnedAway = RefusedRequests()
  /// Those of them that are looked up, and have not come again yet.
  var lookingUp: Set<EventID> = []
  /// Requests that were called off before they came.
  var cancellations: [EventID: PublicKey] = [:]

  /// Cancellations of unknown requests that are remembered; then all are forgotten.
  static let cancellationMaximum = 4_096
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

  /// The wall clock was set. A second that lies ahead was read from a wrong one: until it came nothing would be taken
  /// up. All that was answered by that clock was so before now.
  public mutating func clockSet(at now: Int64) { notBefore = min(notBefore, now) }

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

  // MARK: What is written

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
    // Whatever leaves the room, or another part of it, is written down.
    return (next.map { [$0] } ?? []) + lookAgain(at: now)
  }

  /// Requests that the ledger has forgotten.
  public mutating func forgotten(_ ids: [EventID]) { known.subtract(ids) }

  // MARK: Changing

  mutating func enter(_ entry: Entry) {
    var entry = entry
    entry.isStranger = isStranger(entry.request.customer)
    guard entries.updateValue(entry, forKey: entry.request.id) == nil else { return }
    openByCustomer[entry.request.customer, default: 0] += 1
    seat(entry)
  }

  /// Whatever is not worked on waits for something: its turn, a payment, the signer, a publisher, the disk.
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
    // Where things lie on this machine is nobody's business; the log has it.
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
