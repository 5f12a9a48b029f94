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
import Observing
import WebSocket

// One client: its session, its socket, and its feeds.
//
// What goes out waits in the socket's buffer, up to a mark; above it feeds take nothing more from the store. Answers go
// out all the same, since each is owed and small: a client that asks without reading is cut at the buffer's end. One
// that has not read a byte for `slow-client`, while something waited, is cut as well.

/// A connection of a client's.
@EventLoopActor
final class ClientLink: EventDesk.Owner, Feed.Reader, Sync.Reader {
  /// What the link needs of its relay.
  @EventLoopActor
  protocol Owner: AnyObject {
    var bus: BusConnection { get }
    var desk: EventDesk { get }
    var house: ClientHouse { get }
    /// How long a client may read nothing while something waits for it.
    var slowMilliseconds: UInt64 { get }
    /// Whether a client's request may be fetched from the network now.
    func mayFetch(_ link: ClientLink, _ question: ClientQuestion) -> Bool
    /// The connection is over.
    func ended(_ link: ClientLink)
  }

  /// Counts connections.
  let number: UInt64
  /// Who it is, as far as its request says.
  let visitor: Visitor
  private(set) var session: ClientSession
  private let since = WallClock.seconds
  private let connection: WebSocketConnection
  private unowned let owner: any Owner
  private let log: Logger
  private var feeds: [ClientWork: Feed] = [:]
  private var syncs: [ClientWork: Sync] = [:]
  private var fetchCount = 0
  private var waiters: [CheckedContinuation<Void, Never>] = []
  private var isOver = false
  private let slowTimer = LoopTimer()
  private var slowSince: Instant?
  private var lastPending = 0
  /// Events sent to it.
  private(set) var deliveredCount: UInt64 = 0
  private var isHeldByDesk = false
  private var isHeldBySession = false

  /// Bytes in the buffer above which feeds wait.
  private static let highMark = 1 << 20
  private static let slowLookMilliseconds: UInt64 = 1_000

  init(
    _ connection: WebSocketConnection, _ session: ClientSession, _ visitor: Visitor, number: UInt64, log: Logger,
    owner: any Owner
  ) {
    self.number = number
    self.visitor = visitor
    self.connection = connection
    self.session = session
    self.owner = owner
    self.log = log
  }

  func start() {
    connection.onDrained = { [weak self] in self?.drained() }
    connection.start(
      onMessage: { [weak self] kind, bytes in self?.received(kind, bytes) },
      onEnd: { [weak self] end in self?.ended(end) })
  }

  /// Closes it, with a reason for the client.
  func close(code: UInt16, _ reason: String) { connection.close(code: code, reason: reason) }

  /// Subscriptions that the network is asked for as well.
  var fetchingCount: Int { fetchCount }

  /// As `local.clients` tells it.
  func told(_ house: ClientHouse) -> LocalRelayClient {
    LocalRelayClient(
      number: number, address: "\(visitor.address)", origin: visitor.origin, agent: visitor.agent,
      isAdmitted: session.isAdmitted(house), authenticated: session.shown.map(\.description).sorted(),
      subscriptions: session.subscriptionCount, taken: session.takenCount, delivered: deliveredCount,
      since: since)
  }

  // MARK: In

  private func received(_ kind: WebSocketMessageKind, _ bytes: UnsafeRawBufferPointer) {
    let (house, now, time) = (owner.house, EventLoop.process.now, WallClock.seconds)
    guard kind == .text else { return perform(session.receivedBinary(), bytes) }
    do throws(ClientMessageFault) {
      let message = try ClientMessage(bytes)
      perform(session.received(message, in: bytes, house, at: now, time: time), bytes)
    } catch {
      perform(session.receivedFault(error), bytes)
    }
    if owner.desk.isFull { waitForDesk() }
  }

  private func waitForDesk() {
    guard !isHeldByDesk else { return }
    isHeldByDesk = true
    connection.pauseReading()
    EventLoopActor.task { [self] in
      await owner.desk.awaitRoom()
      isHeldByDesk = false
      goOn()
    }
  }

  private func goOn() {
    if !isOver, !isHeldByDesk, !isHeldBySession { connection.resumeReading() }
  }

  // MARK: What the session wants

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
    case .observe(let work, let question, let isFetched): observe(work, question, isFetched)
    case .endObserve(let work): endFeed(work)?.cancel()
    case .count(let work, let question): count(work, question)
    case .take(let work, let range, let destination):
      owner.desk.take(work, of: self, Array(message[range]), to: destination)
    case .openReconciliation(let work, let question, let first):
      syncs[work] = Sync(work, question, first, owner.bus, for: self)
    case .continueReconciliation(let work, let next): syncs[work]?.received(next)
    case .endReconciliation(let work): syncs.removeValue(forKey: work)?.cancel()
    case .pauseReading:
      isHeldBySession = true
      connection.pauseReading()
    case .resumeReading:
      isHeldBySession = false
      goOn()
    case .close(let code, let reason): connection.close(code: code, reason: reason)
    }
  }

  private func observe(_ work: ClientWork, _ question: ClientQuestion, _ isWished: Bool) {
    let isFetched = isWished && owner.mayFetch(self, question)
    if isFetched { fetchCount += 1 }
    feeds[work] = Feed(work, question, isFetched: isFetched, owner.bus, for: self)
  }

  private func endFeed(_ work: ClientWork) -> Feed? {
    guard let feed = feeds.removeValue(forKey: work) else { return nil }
    if feed.isFetched { fetchCount -= 1 }
    return feed
  }

  private func count(_ work: ClientWork, _ question: ClientQuestion) {
    let query = StoreQuery(
      filters: question.filters.map { JSONValue(of: $0) }, recipients: question.recipients.map(\.description))
    EventLoopActor.task { [self, bus = owner.bus] in
      do throws(Refusal) {
        let answer = try await bus.request("store.count", BusPayload(json: query), ttlMilliseconds: 30_000)
        let count = try answer.decoded(as: StoreCount.self).count
        perform(session.counted(work, count))
      } catch {
        perform(session.countFailed(work, error.reason))
      }
    }
  }

  // MARK: Out

  func settled(_ work: ClientWork, _ outcome: EventOutcome) { perform(session.settled(work, outcome)) }

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
    _ = endFeed(work)
    perform(session.observeEnded(work, refusal.reason))
  }

  func reconciled(_ work: ClientWork, _ message: [UInt8]) { perform(session.reconciled(work, message: message)) }

  func reconciliationEnded(_ work: ClientWork, _ reason: RelayReason, recordCountMaximum: Int?) {
    syncs[work] = nil
    perform(session.reconciliationFailed(work, reason, recordCountMaximum: recordCountMaximum))
  }

  private func send(_ bytes: [UInt8]) {
    guard !isOver else { return }
    do throws(WebSocketFault) { try connection.send(text: bytes) } catch {
      guard error.code == .outputFull else { return }
      cut("reads nothing of what it asks for")
    }
    if slowSince == nil, connection.pendingByteCount > 0 { watchSlowness() }
  }

  // MARK: Slowness

  func awaitRoom() async {
    while !isOver, connection.pendingByteCount > Self.highMark {
      await withCheckedContinuation { waiters.append($0) }
    }
  }

  private func drained() {
    slowSince = nil
    slowTimer.cancel()
    releaseWaiters()
  }

  private func releaseWaiters() {
    let due = waiters
    waiters = []
    for waiter in due { waiter.resume() }
  }

  private func watchSlowness() {
    slowSince = EventLoop.process.now
    lastPending = connection.pendingByteCount
    look()
  }

  private func look() {
    slowTimer.set(afterMilliseconds: Self.slowLookMilliseconds) { [weak self] in
      guard let self, !isOver, let since = slowSince else { return }
      let pending = connection.pendingByteCount
      if pending < lastPending { slowSince = EventLoop.process.now }
      lastPending = pending
      if pending <= Self.highMark { releaseWaiters() }
      guard EventLoop.process.now.milliseconds(since: slowSince ?? since) < owner.slowMilliseconds else {
        return cut("has read nothing for \(owner.slowMilliseconds / 1_000) s")
      }
      look()
    }
  }

  private func cut(_ why: String) {
    guard !isOver else { return }
    log.notice("a client is cut off", metadata: ["client": "\(visitor)", "why": "it \(why)"])
    connection.abort()
    ended(nil)
  }

  // MARK: The end

  private func ended(_ end: WebSocketEnd?) {
    guard !isOver else { return }
    isOver = true
    if let end { log.debug("a client has left", metadata: ["client": "\(visitor)", "how": "\(end)"]) }
    slowTimer.cancel()
    _ = session.disconnected()
    for feed in feeds.values { feed.cancel() }
    feeds = [:]
    for sync in syncs.values { sync.cancel() }
    syncs = [:]
    releaseWaiters()
    owner.ended(self)
  }
}

extension Refusal {
  /// What a client is told.
  var reason: RelayReason {
    switch code {
    case .badRequest: RelayReason("invalid: \(message)")
    case .full: RelayReason("rate-limited: \(message)")
    default: RelayReason("error: \(message)")
    }
  }
}
