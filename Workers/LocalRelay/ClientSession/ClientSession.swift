public import Addresses
public import Clocks
public import Cryptography
public import Nostr

// One client of the local relay, as a value: its messages go in, actions come out. No socket, no store, no clock.
//
// A relay promises little, and clients rely on all of it. So each message gets exactly one answer of its own kind: an
// EVENT gets OK, a REQ gets EOSE or CLOSED, a COUNT gets COUNT or CLOSED, a NEG-OPEN gets NEG-MSG or NEG-ERR, AUTH gets
// OK. A message that cannot be read far enough for that gets a NOTICE.
//
// Where events go. Clients use a local relay as their cache, and send it other authors' events by the thousand; the
// relay stores those and does nothing else. Events that an account of this Roost has signed, and all events from a
// connection on which such an account has authenticated, are for publication: they go to the publish queue, which knows
// their relays.
//
// What clients see. Every client with access sees everything, with one exception: only recipients see gift wraps
// (NIP-59), after they have authenticated (NIP-42). The relay sends the challenge only when it is of use, because many
// clients ask a person what to do with it.

/// One client's connection.
public struct ClientSession: Sendable {
  /// A REQ, a COUNT or a NEG-OPEN that has not ended.
  struct Question: Sendable {
    let id: String
    let work: ClientWork
    let valueCount: Int
    var isStoredSent = false
  }

  struct WaitingEvent: Sendable {
    let id: EventID
    let author: PublicKey
    let byteCount: Int
  }

  /// What the client must prove first.
  public let requirement: ClientRequirement
  /// What the client may hold.
  public let limits: ClientLimits
  /// Whether the client is another Roost of the same owner: only accounts have access, what it sends is stored and not
  /// published, and it may exchange publications.
  public let isPeer: Bool
  /// The challenge of this connection.
  public let challenge: String
  /// The URLs of this relay: an AUTH event must name one of them.
  public let addresses: Set<RelayURL>

  /// Keys that have authenticated.
  public internal(set) var shown: Set<PublicKey> = []
  /// Events that were answered with OK true.
  public internal(set) var takenCount: UInt64 = 0
  /// Events and requests that were refused.
  public internal(set) var refusedCount: UInt64 = 0

  var subscriptions: [String: Question] = [:]
  var names: [ClientWork: String] = [:]
  var counts: [ClientWork: Question] = [:]
  var events: [ClientWork: WaitingEvent] = [:]
  /// Bytes of the events whose outcome is not known yet.
  public internal(set) var waitingByteCount = 0
  /// AUTH events whose OK waits for a look-up of the accounts.
  var identifying: [ClientWork: EventID] = [:]
  /// The values in the filters of all subscriptions.
  var standingValueCount = 0
  var reconciliations: [String: Question] = [:]
  var reconciliationNames: [ClientWork: String] = [:]
  /// Exchanges of publications whose answer is not known yet.
  var exchanges: [ClientWork: String] = [:]
  var isPaused = false
  var isChallenged = false
  var isOver = false
  private var faultCount = 0
  private var nextWork: UInt64 = 1
  private var eventBudget = RateBudget()
  private var requestBudget = RateBudget()

  /// A client that has just connected.
  ///
  /// - Parameters:
  ///   - requirement: what the client must prove first.
  ///   - limits: what the client may hold.
  ///   - isPeer: whether it is another Roost of the same owner.
  ///   - challenge: random, for this connection only.
  ///   - addresses: the URLs under which the client may know this relay.
  public init(
    requirement: ClientRequirement = .open, limits: ClientLimits = ClientLimits(), isPeer: Bool = false,
    challenge: String, addresses: Set<RelayURL>
  ) {
    self.requirement = requirement
    self.isPeer = isPeer
    self.limits = limits
    self.challenge = challenge
    self.addresses = addresses
  }

  /// The number of open subscriptions.
  public var subscriptionCount: Int { subscriptions.count }

  /// The weight of the client's subscriptions, counts and reconciliations under way: a fixed number of values for each,
  /// plus the values in its filters.
  public var standingWeight: Int {
    let asked = counts.values.reduce(0) { $0 + $1.valueCount } + reconciliations.values.reduce(0) { $0 + $1.valueCount }
    return standingValueCount + asked
      + (subscriptions.count + counts.count + reconciliations.count) * Self.questionWeight
  }

  /// A subscription takes some 17 KB in the store; a value in a filter takes some hundred bytes in the store, the hub
  /// and here together.
  private static let questionWeight = 40

  /// Whether the relay serves the client.
  public func isAdmitted(_ environment: ClientEnvironment) -> Bool { refusal(environment) == nil }

  // MARK: Messages

  /// A readable message came.
  ///
  /// - Parameters:
  ///   - message: the message.
  ///   - bytes: its text.
  ///   - environment: the keys with rights.
  ///   - now: the monotonic time.
  ///   - time: the wall-clock time, seconds since 1970.
  public mutating func received(
    _ message: ClientMessage, in bytes: UnsafeRawBufferPointer, _ environment: ClientEnvironment, at now: Instant,
    time: Int64
  ) -> [ClientAction] {
    if isOver { return [] }
    switch message {
    case .event(let range): return receivedEvent(range, in: bytes, environment, at: now)
    case .subscription(let id, let filters): return receivedRequest(id, filters, environment, at: now)
    case .closing(let id): return endSubscription(id)
    case .authentication(let range): return receivedAuthentication(range, in: bytes, environment, time: time)
    case .counting(let id, let filters): return receivedCount(id, filters, environment, at: now)
    case .reconciliation(let id, let filter, let message):
      return receivedReconciliation(id, filter, message, environment, at: now)
    case .reconciliationMessage(let id, let message): return continueReconciliation(id, message)
    case .reconciliationEnd(let id): return endReconciliation(id)
    case .publications(let id, let body): return receivedPublications(id, body, environment, at: now)
    case .unknown(let label):
      return fault("unsupported: there is no message \(label.isEmpty ? "of that name" : "\"\(label)\"")")
    }
  }

  /// A message came that cannot be read. If its name can be read, the refusal goes to that name.
  public mutating func receivedFault(_ fault: ClientMessageFault) -> [ClientAction] {
    if isOver { return [] }
    guard let subscription = fault.subscription else { return self.fault("invalid: \(fault)") }
    refusedCount += 1
    let reason = RelayReason("invalid: \(fault)")
    switch fault.label {
    case "NEG-OPEN", "NEG-MSG":
      return counted([.send(RelayMessage.writeReconciliationRefused(subscription: subscription, reason: reason))])
    // The new request is refused, and the subscription of the same name that it was to replace ends nevertheless.
    case "REQ": return counted(endSubscription(subscription) + [closed(subscription, reason)])
    default: return counted([closed(subscription, reason)])
    }
  }

  /// A binary message came: Nostr is text.
  public mutating func receivedBinary() -> [ClientAction] {
    isOver ? [] : fault("invalid: messages are text, this one is binary")
  }

  /// The connection has ended: ends all work for it.
  public mutating func disconnected() -> [ClientAction] {
    isOver = true
    let actions =
      names.keys.sorted().map(ClientAction.endObserve)
      + reconciliationNames.keys.sorted().map(ClientAction.endReconciliation)
    names = [:]
    subscriptions = [:]
    reconciliations = [:]
    reconciliationNames = [:]
    return actions
  }

  // MARK: Shared

  mutating func begin() -> ClientWork {
    defer { nextWork += 1 }
    return ClientWork(nextWork)
  }

  /// A NOTICE for a person who reads the client's log; too many of them end the connection.
  mutating func fault(_ text: String) -> [ClientAction] {
    counted([.send(RelayMessage.writeNotice(RelayReason(text)))])
  }

  /// Counts one message that was of no use.
  mutating func counted(_ actions: [ClientAction]) -> [ClientAction] {
    faultCount += 1
    guard faultCount > limits.faultMaximum else { return actions }
    return actions + disconnected() + [.close(code: 1008, reason: "too many messages that cannot be used")]
  }

  func closed(_ id: String, _ reason: RelayReason) -> ClientAction {
    .send(RelayMessage.writeClosed(subscription: id, reason: reason))
  }

  /// Sends the challenge, once.
  mutating func challenged() -> [ClientAction] {
    if isChallenged { return [] }
    isChallenged = true
    return [.send(RelayMessage.writeAuthentication(challenge: challenge))]
  }

  /// Why the client has no access yet; nil when it has.
  func refusal(_ environment: ClientEnvironment) -> RelayReason? {
    guard case .closed(let why) = requirement else { return nil }
    let guests = isPeer ? [] : environment.guests
    if shown.contains(where: { environment.accounts.contains($0) || guests.contains($0) }) { return nil }
    return RelayReason(shown.isEmpty ? "auth-required: \(why)" : "restricted: \(why)")
  }

  mutating func mayAddEvent(at now: Instant) -> Bool {
    eventBudget.take(perSecond: limits.eventsPerSecond, burst: limits.eventBurst, at: now)
  }

  mutating func mayAsk(at now: Instant) -> Bool {
    requestBudget.take(perSecond: limits.requestsPerSecond, burst: limits.requestBurst, at: now)
  }
}
