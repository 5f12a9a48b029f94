public import Addresses
public import Clocks
public import Cryptography
public import Nostr

// One client of the local relay, as a value: its messages go in, what to do comes out. No socket, no store, no clock.
//
// A relay promises little and clients count on all of it, so each message ends in exactly one answer of its own kind:
// an EVENT in OK, a REQ in EOSE or CLOSED, a COUNT in COUNT or CLOSED, a NEG-OPEN in NEG-MSG or NEG-ERR, AUTH in OK.
// What cannot be read far enough for that ends in a NOTICE.
//
// Whose events go where. Clients use a local relay as their cache, and put other people's events there by the
// thousand; those are kept, and no more. What an account of this house has signed, or whatever comes over a connection
// on which such an account has shown itself, is meant for the world: it goes to the publish queue, which knows to which
// relays.
//
// Who is shown what. Everything is shown to everybody who may come in, but gift wraps, which are shown to their
// recipients only (NIP-59), once they have shown themselves (NIP-42). The challenge is sent when it is of use and not
// before: many clients ask a person what to make of it.

/// One client's connection.
public struct ClientSession: Sendable {
  /// A REQ, a COUNT or a NEG-OPEN that has not come to its end.
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

  /// What has to be shown first.
  public let requirement: ClientRequirement
  /// What it may hold.
  public let limits: ClientLimits
  /// The challenge that is good on this connection.
  public let challenge: String
  /// The names of this relay: an AUTH event is for one of them.
  public let addresses: Set<RelayURL>

  /// Keys that have shown themselves.
  public internal(set) var shown: Set<PublicKey> = []
  /// Events it was answered OK true.
  public internal(set) var takenCount: UInt64 = 0
  /// Events and requests that were refused.
  public internal(set) var refusedCount: UInt64 = 0

  var subscriptions: [String: Question] = [:]
  var names: [ClientWork: String] = [:]
  var counts: [ClientWork: Question] = [:]
  var events: [ClientWork: WaitingEvent] = [:]
  /// Bytes of events of which it is not known yet what becomes of them.
  public internal(set) var waitingByteCount = 0
  /// AUTH events whose OK waits until it is known whether their authors are accounts.
  var identifying: [ClientWork: EventID] = [:]
  /// Values of the filters of all subscriptions.
  var standingValueCount = 0
  var reconciliations: [String: Question] = [:]
  var reconciliationNames: [ClientWork: String] = [:]
  var isPaused = false
  var isChallenged = false
  var isOver = false
  private var faultCount = 0
  private var nextWork: UInt64 = 1
  private var eventBudget = RateBudget()
  private var requestBudget = RateBudget()

  /// A client that has just come.
  ///
  /// - Parameters:
  ///   - requirement: what has to be shown first.
  ///   - limits: what it may hold.
  ///   - challenge: random, for this connection alone.
  ///   - addresses: the names under which it may know this relay.
  public init(
    requirement: ClientRequirement = .open, limits: ClientLimits = ClientLimits(), challenge: String,
    addresses: Set<RelayURL>
  ) {
    self.requirement = requirement
    self.limits = limits
    self.challenge = challenge
    self.addresses = addresses
  }

  /// Subscriptions at present.
  public var subscriptionCount: Int { subscriptions.count }

  /// What its questions weigh that have not come to their end: each as much as so many values of filters, and the
  /// values.
  public var standingWeight: Int {
    let asked = counts.values.reduce(0) { $0 + $1.valueCount } + reconciliations.values.reduce(0) { $0 + $1.valueCount }
    return standingValueCount + asked
      + (subscriptions.count + counts.count + reconciliations.count) * Self.questionWeight
  }

  /// A subscription takes some 17 KB in the store, a value in a filter some hundreds of bytes in store, hub and here.
  private static let questionWeight = 40

  /// Whether anything is done for it.
  public func isAdmitted(_ environment: ClientEnvironment) -> Bool { refusal(environment) == nil }

  // MARK: Messages

  /// A message came that could be read.
  ///
  /// - Parameters:
  ///   - message: what it says.
  ///   - bytes: its text.
  ///   - environment: who is who.
  ///   - now: when.
  ///   - time: the same by the wall clock, seconds since 1970.
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
    case .unknown(let label):
      return fault("unsupported: there is no message \(label.isEmpty ? "of that name" : "\"\(label)\"")")
    }
  }

  /// A message came that could not be read: whoever waits for an answer is told under the name it has.
  public mutating func receivedFault(_ fault: ClientMessageFault) -> [ClientAction] {
    if isOver { return [] }
    guard let subscription = fault.subscription else { return self.fault("invalid: \(fault)") }
    refusedCount += 1
    let reason = RelayReason("invalid: \(fault)")
    switch fault.label {
    case "NEG-OPEN", "NEG-MSG":
      return counted([.send(RelayMessage.writeReconciliationRefused(subscription: subscription, reason: reason))])
    // The new request is refused, and the one of the same name that it was to replace is over all the same.
    case "REQ": return counted(endSubscription(subscription) + [closed(subscription, reason)])
    default: return counted([closed(subscription, reason)])
    }
  }

  /// A binary message came: Nostr is text.
  public mutating func receivedBinary() -> [ClientAction] {
    isOver ? [] : fault("invalid: messages are text, this one is binary")
  }

  /// The connection is gone: all that was begun for it is to end.
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

  // MARK: Shared by the answers

  mutating func begin() -> ClientWork {
    defer { nextWork += 1 }
    return ClientWork(nextWork)
  }

  /// Words for whoever reads logs of the client; too many of them end the connection.
  mutating func fault(_ text: String) -> [ClientAction] {
    counted([.send(RelayMessage.writeNotice(RelayReason(text)))])
  }

  /// Counts one message that came to nothing.
  mutating func counted(_ actions: [ClientAction]) -> [ClientAction] {
    faultCount += 1
    guard faultCount > limits.faultMaximum else { return actions }
    return actions + disconnected() + [.close(code: 1008, reason: "too many messages that cannot be used")]
  }

  func closed(_ id: String, _ reason: RelayReason) -> ClientAction {
    .send(RelayMessage.writeClosed(subscription: id, reason: reason))
  }

  /// The challenge, once.
  mutating func challenged() -> [ClientAction] {
    if isChallenged { return [] }
    isChallenged = true
    return [.send(RelayMessage.writeAuthentication(challenge: challenge))]
  }

  /// Why nothing is done for this client yet; nil when it may come in.
  func refusal(_ environment: ClientEnvironment) -> RelayReason? {
    guard case .closed(let why) = requirement else { return nil }
    if shown.contains(where: { environment.accounts.contains($0) || environment.guests.contains($0) }) { return nil }
    return RelayReason(shown.isEmpty ? "auth-required: \(why)" : "restricted: \(why)")
  }

  mutating func mayAddEvent(at now: Instant) -> Bool {
    eventBudget.take(perSecond: limits.eventsPerSecond, burst: limits.eventBurst, at: now)
  }

  mutating func mayAsk(at now: Instant) -> Bool {
    requestBudget.take(perSecond: limits.requestsPerSecond, burst: limits.requestBurst, at: now)
  }
}
