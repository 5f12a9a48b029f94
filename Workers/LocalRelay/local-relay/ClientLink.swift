import Bus
import ClientSession
import Clocks
import Contracts
import Cryptography
import EventLoop
import Frames
import LinuxSystem
import Logging
import Nostr
import WebSocket
import WorkerKit

// One client: its session, its socket, and its feeds.
//
// `Outflow` handles the output. Reading from a client pauses while its output is stalled, while many of its events wait
// for the store, or while many events of all clients wait and more than a few of its own. Its queries share the store's
// slots with those of other clients.

/// A client's connection.
@EventLoopActor
final class ClientLink: EventIntake.Owner, Feed.Reader, Sync.Reader {
  /// What the link needs of its relay.
  @EventLoopActor
  protocol Owner: Outflow.Owner {
    var bus: BusConnection { get }
    var desk: EventIntake { get }
    var questions: QueryScheduler { get }
    var environment: ClientEnvironment { get }
    /// The weight of all subscriptions.
    var standing: StandingShares { get set }
    /// Makes room for a client's new subscription by ending one of a client that has more.
    ///
    /// - Returns: false if this client has the most.
    func makesRoom(for link: ClientLink) -> Bool
    /// Whether a client's query may also go to the network now.
    func network(for link: ClientLink, _ question: ClientQuery) -> NetworkPart
    /// Requests the accounts from the signer again; waits only briefly if the signer does not answer.
    func confirmAccounts() async
    /// The connection has ended.
    func ended(_ link: ClientLink)
  }

  /// Why reading from the client is paused.
  private struct Holds: OptionSet {
    let rawValue: UInt8
    /// Many of its events wait for the store.
    static let session = Holds(rawValue: 1)
    /// Many events of all clients wait for the store.
    static let desk = Holds(rawValue: 2)
    /// The client does not read.
    static let outflow = Holds(rawValue: 4)
  }

  /// The connection's number.
  let number: UInt64
  /// The client, as its HTTP request describes it.
  let identity: ClientIdentity
  private(set) var session: ClientSession
  private let since = WallClock.seconds
  private let connection: WebSocketConnection
  private unowned let owner: any Owner
  private let log: Logger
  private var feeds: [ClientWork: Feed] = [:]
  private var syncs: [ClientWork: Sync] = [:]
  private var counting: [ClientWork: QueryScheduler.Turn] = [:]
  private var fetchCount = 0
  private let outflow: Outflow
  private var holds: Holds = []
  private var isOver = false
  /// Whether it must authenticate first, and has not.
  private var isOutside: Bool
  /// Events sent to it.
  private(set) var deliveredCount: UInt64 = 0

  init(
    _ connection: WebSocketConnection, _ session: ClientSession, _ identity: ClientIdentity, number: UInt64,
    log: Logger,
    owner: any Owner
  ) {
    self.number = number
    self.identity = identity
    self.connection = connection
    self.session = session
    self.owner = owner
    self.log = log
    outflow = Outflow(connection, owner)
    isOutside = if case .closed = session.requirement { true } else { false }
  }

  func start() {
    outflow.onStall = { [weak self] isStalled in if isStalled { self?.hold(.outflow) } else { self?.release(.outflow) }
    }
    outflow.onCut = { [weak self] why in self?.cut(why) }
    connection.start(
      onMessage: { [weak self] kind, bytes in self?.received(kind, bytes) },
      onEnd: { [weak self] end in self?.ended(end) })
  }

  /// Closes the connection, with a reason for the client.
  func close(code: UInt16, _ reason: String) { connection.close(code: code, reason: reason) }

  /// After the client has authenticated, its connection gets the usual limits.
  func noteAdmission() {
    guard isOutside, session.isAdmitted(owner.environment) else { return }
    isOutside = false
    connection.admit()
  }

  /// Subscriptions that also go to the network.
  var fetchingCount: Int { fetchCount }

  /// The client's entry in `local.clients`.
  func told(_ environment: ClientEnvironment) -> LocalRelayClient {
    LocalRelayClient(
      number: number, address: "\(identity.address)", origin: identity.origin, agent: identity.agent,
      isAdmitted: session.isAdmitted(environment), authenticated: session.shown.map(\.description).sorted(),
      subscriptions: session.subscriptionCount, taken: session.takenCount, delivered: deliveredCount,
      since: since)
  }

  // MARK: Input

  private func received(_ kind: WebSocketMessageKind, _ bytes: UnsafeRawBufferPointer) {
    let (environment, now, time) = (owner.environment, EventLoop.process.now, WallClock.seconds)
    guard kind == .text else { return perform(session.receivedBinary(), bytes) }
    do throws(ClientMessageFault) {
      let message = try ClientMessage(bytes)
      perform(session.received(message, in: bytes, environment, at: now, time: time), bytes)
    } catch {
      perform(session.receivedFault(error), bytes)
    }
    noteAdmission()
    if owner.desk.isFull, session.waitingByteCount > EventIntake.littleByteCount { waitForDesk() }
  }

  private func waitForDesk() {
    guard !holds.contains(.desk) else { return }
    hold(.desk)
    EventLoopActor.task { [self] in
      await owner.desk.awaitRoom()
      release(.desk)
    }
  }

  // MARK: The session's actions

  private func perform(_ actions: [ClientAction], _ message: UnsafeRawBufferPointer) {
    if actions.count == 1 { return perform(actions[0], message) }
    connection.together { for action in actions { perform(action, message) } }
  }

  private func perform(_ actions: [ClientAction]) {
    perform(actions, UnsafeRawBufferPointer(start: nil, count: 0))
  }

  private func perform(_ action: ClientAction, _ message: UnsafeRawBufferPointer) {
    switch action {
    case .send(let bytes): send(bytes)
    case .observe(let work, let question): observe(work, question)
    case .endObserve(let work): endFeed(work)?.cancel()
    case .count(let work, let question): count(work, question)
    case .take(let work, let range, let destination):
      owner.desk.take(work, of: self, Array(message[range]), to: destination)
    case .openReconciliation(let work, let question, let first):
      guard hasStanding() else {
        return reconciliationEnded(work, Self.standingFull.relayReason, recordCountMaximum: nil)
      }
      syncs[work] = Sync(work, question, first, owner.bus, owner.questions, for: self)
    case .continueReconciliation(let work, let next): syncs[work]?.received(next)
    case .endReconciliation(let work):
      syncs.removeValue(forKey: work)?.cancel()
      noteStanding()
    case .exchange(let work, let body, let accounts): exchange(work, Array(message[body]), accounts)
    case .identify(let work): identify(work)
    case .pauseReading: hold(.session)
    case .resumeReading: release(.session)
    case .close(let code, let reason): connection.close(code: code, reason: reason)
    }
  }

  /// Whether the client's new subscription may stay open.
  private func hasStanding() -> Bool {
    noteStanding()
    return owner.makesRoom(for: self)
  }

  private func noteStanding() { owner.standing.set(number, to: isOver ? 0 : session.standingWeight) }

  private func observe(_ work: ClientWork, _ question: ClientQuery) {
    guard hasStanding() else { return ended(work, Self.standingFull) }
    let network = owner.network(for: self, question)
    if network != .none { fetchCount += 1 }
    feeds[work] = Feed(work, question, network, owner.bus, owner.questions, for: self)
  }

  private func endFeed(_ work: ClientWork) -> Feed? {
    noteStanding()
    guard let feed = feeds.removeValue(forKey: work) else { return nil }
    if feed.network != .none { fetchCount -= 1 }
    return feed
  }

  private func count(_ work: ClientWork, _ question: ClientQuery) {
    guard hasStanding() else { return perform(session.countFailed(work, Self.standingFull.relayReason)) }
    let query = BusPayload(
      json: StoreQuery(filters: [], recipients: question.recipients.map(\.description)), filters: question.filters)
    let turn = owner.questions.ask(number, question)
    counting[work] = turn
    EventLoopActor.task { [self, bus = owner.bus, desk = owner.questions] in
      var asked: Instant?
      defer {
        counting[work] = nil
        // A count does not show how many events the store read for it, so the time counts.
        desk.end(turn, milliseconds: asked.map { EventLoop.process.now.milliseconds(since: $0) } ?? 0)
      }
      guard await desk.granting(turn), !isOver else { return }
      asked = EventLoop.process.now
      do throws(Refusal) {
        let answer = try await bus.request(StoreMethod.count, encoded: query, ttlMilliseconds: 30_000)
        perform(session.counted(work, answer.count))
      } catch {
        perform(session.countFailed(work, error.relayReason))
      }
      noteStanding()
    }
  }

  /// Another Roost of the same owner may exchange what accounts have published that it has shown.
  private func exchange(_ work: ClientWork, _ body: [UInt8], _ accounts: Set<PublicKey>) {
    EventLoopActor.task { [self, bus = owner.bus] in
      do throws(Refusal) {
        let wanted = try PublicationExchange(of: "PUBLICATIONS", json: body)
        guard accounts.contains(where: { "\($0)" == wanted.account }) else {
          return perform(
            session.exchangeFailed(work, RelayReason("auth-required: as \(wanted.account.prefix(64))")))
        }
        let news = try await bus.request(PlanMethod.exchange, wanted, ttlMilliseconds: 30_000)
        perform(session.exchanged(work, JSONPayload.encode(news)))
      } catch {
        perform(session.exchangeFailed(work, error.relayReason))
      }
    }
  }

  private func identify(_ work: ClientWork) {
    EventLoopActor.task { [self] in
      await owner.confirmAccounts()
      perform(session.identified(work))
      noteAdmission()
    }
  }

  // MARK: Output

  func settled(_ work: ClientWork, _ outcome: EventOutcome) { perform(session.settled(work, outcome)) }

  func destination(of work: ClientWork) -> EventDestination? { session.destination(of: work, owner.environment) }

  func deliver(_ work: ClientWork, _ page: [UInt8], _ records: [EventPage.Record]) {
    guard !isOver, let id = session.subscription(of: work) else { return }
    deliveredCount += UInt64(records.count)
    let head = RelayMessage.eventHead(subscription: id)
    var message: [UInt8] = []
    connection.together {
      for record in records {
        message.removeAll(keepingCapacity: true)
        message += head
        message += page[record.bytes]
        message.append(UInt8(ascii: "]"))
        send(message)
      }
    }
  }

  func storedEnd(_ work: ClientWork, isComplete: Bool?) {
    perform(session.storedEnd(work, isComplete: isComplete))
  }

  func ended(_ work: ClientWork, _ refusal: Refusal) {
    let answer = session.observeEnded(work, refusal.relayReason)
    _ = endFeed(work)
    perform(answer)
  }

  /// Ends the client's newest query, to make room for others.
  ///
  /// - Returns: false if it has only counts that the store is already making.
  func endNewest() -> Bool {
    let waiting = counting.filter { !owner.questions.isGranted($0.value) }
    guard let work = [feeds.keys.max(), syncs.keys.max(), waiting.keys.max()].compactMap({ $0 }).max() else {
      return false
    }
    if let feed = feeds[work] {
      feed.cancel()
      ended(work, Self.standingFull)
    } else if let sync = syncs[work] {
      sync.cancel()
      reconciliationEnded(work, Self.standingFull.relayReason, recordCountMaximum: nil)
    } else if let turn = counting.removeValue(forKey: work) {
      owner.questions.end(turn)
      perform(session.countFailed(work, Self.standingFull.relayReason))
      noteStanding()
    }
    return true
  }

  private static let standingFull = Refusal(
    .full, "the relay has as many questions in hand as it may, and no other client more of them", outcome: .notStarted)

  func reconciled(_ work: ClientWork, _ message: [UInt8]) { perform(session.reconciled(work, message: message)) }

  func reconciliationEnded(_ work: ClientWork, _ reason: RelayReason, recordCountMaximum: Int?) {
    syncs[work] = nil
    perform(session.reconciliationFailed(work, reason, recordCountMaximum: recordCountMaximum))
    noteStanding()
  }

  private func send(_ bytes: [UInt8]) {
    guard !isOver else { return }
    do throws(WebSocketFault) { try connection.send(text: bytes) } catch {
      guard error.code == .outputFull else { return }
      cut("reads nothing of what it asks for")
    }
    outflow.sent()
  }

  // MARK: Pauses

  var hasRoom: Bool { outflow.hasRoom }

  func awaitRoom() async { await outflow.awaitRoom() }

  /// Pauses reading, for one more reason.
  private func hold(_ reason: Holds) {
    holds.insert(reason)
    connection.pauseReading()
  }

  /// Removes a reason; reading resumes when no reason is left.
  private func release(_ reason: Holds) {
    holds.remove(reason)
    if !isOver, holds.isEmpty { connection.resumeReading() }
  }

  private func cut(_ why: String) {
    guard !isOver else { return }
    log.notice("a client is cut off", metadata: ["client": "\(identity)", "why": "it \(why)"])
    connection.abort()
    ended(nil)
  }

  // MARK: The end

  private func ended(_ end: WebSocketEnd?) {
    guard !isOver else { return }
    isOver = true
    if let end { log.debug("a client has left", metadata: ["client": "\(identity)", "how": "\(end)"]) }
    outflow.end()
    // The session's actions for this are not needed: everything ends here.
    _ = session.disconnected()
    for feed in feeds.values { feed.cancel() }
    feeds = [:]
    noteStanding()
    for sync in syncs.values { sync.cancel() }
    syncs = [:]
    for turn in counting.values where !owner.questions.isGranted(turn) { owner.questions.end(turn) }
    owner.questions.forget(number)
    owner.ended(self)
  }
}

extension Refusal {
  /// The reason in the message to the client.
  var relayReason: RelayReason {
    switch code {
    case .badRequest: RelayReason("invalid: \(message)")
    case .full: RelayReason("rate-limited: \(message)")
    default: RelayReason("error: \(message)")
    }
  }
}
