import Addresses
import Bus
import Clocks
import Contracts
import Cryptography
import EventLoop
import Frames
import Logging
import Nostr
import NostrContracts
import RelaySession
import RelaySubscriptions
import WorkerKit

/// One reconciliation with a relay: its machine, and what performs its actions. The store has the asking side; the
/// events that it lacks go to it over the bulk lane.
@EventLoopActor
final class RelayReconciler {
  let link: RelayLink
  /// Whether only others name the relay, and only for this.
  let isForeign: Bool
  /// The trace of the request that it is for.
  let trace = BusTrace.current?.rawValue

  private unowned let connector: Connector
  private let account: PublicKey?
  /// Whether ``absent`` is wanted.
  private let namesAbsent: Bool
  /// Events that the relay lacks, in the windows that were compared. The store has them all, which bounds their number.
  private(set) var absent: Set<EventID> = []
  private let onProgress: @EventLoopActor (Reconciliation.Counts) -> Void
  private let onEnd: @EventLoopActor (Reconciliation.End, Reconciliation.Counts) -> Void
  private var machine: Reconciliation
  /// The store's session: its open request, and its number once it is known. Each window has a new one.
  private var store: (answer: StreamAnswer<ReconcileMessage, ReconcileFound>?, session: Int64?)
  /// Counts windows and their ends, so that an answer of an earlier session is not taken for one of this.
  private var storeTurn: UInt64 = 0
  private var opening: RequestKey?
  private var fetches: [RequestKey: Int] = [:]
  /// The number of the events' subscription in runs.
  private let subscription: UInt32
  private let progressTimer = LoopTimer()
  private var commands: [Reconciliation.Action] = []
  private var isPerforming = false

  /// Numbers of subscriptions in runs. `RelaySubscriber` counts from 1.
  private static var lastSubscription: UInt32 = 1 << 31
  /// How long a relay may send nothing for a REQ before the reconciliation ends.
  private static let silenceMilliseconds: UInt64 = 15_000
  /// The least time between two reports of the counts.
  private static let progressMilliseconds: UInt64 = 250

  init(
    _ connector: Connector, link: RelayLink, _ filter: Filter, since: Int64, until: Int64, account: PublicKey?,
    namesAbsent: Bool, countsOnly: Bool, isForeign: Bool,
    onProgress: @escaping @EventLoopActor (Reconciliation.Counts) -> Void,
    onEnd: @escaping @EventLoopActor (Reconciliation.End, Reconciliation.Counts) -> Void
  ) {
    (self.connector, self.link, self.account, self.namesAbsent) = (connector, link, account, namesAbsent)
    (self.onProgress, self.onEnd, self.isForeign) = (onProgress, onEnd, isForeign)
    let policy = link.session.policy
    machine = Reconciliation(
      filter, since: since, until: until, messageBytes: policy.messageBytes.value, eventLimit: policy.limit.value,
      countsOnly: countsOnly)
    Self.lastSubscription += 1
    subscription = Self.lastSubscription
  }

  func start() { perform { $0.started() } }

  /// Gives it up.
  func cancel() { perform { $0.cancelled() } }

  // MARK: What happens

  /// What the relay allows may have changed.
  func policyChanged() {
    let policy = link.session.policy
    machine.boundsChanged(messageBytes: policy.messageBytes.value, eventLimit: policy.limit.value)
  }

  /// The relay's message came.
  func reconciled(_ key: RequestKey, _ message: [UInt8]) {
    guard key == opening else { return }
    perform { $0.relayAnswered(message) }
  }

  /// The REQ of a fetch was sent.
  func sent(_ key: RequestKey) { if fetches[key] != nil { moveDeadline(key) } }

  func delivered(_ key: RequestKey, _ event: UnsafeRawBufferPointer) {
    guard let number = fetches[key] else { return }
    moveDeadline(key)
    // What cannot be read is no event that was asked for.
    guard let id = (try? EventGlance(event))?.id, machine.fetched(number, id, byteCount: event.count) else {
      link.noteStray()
      return
    }
    noteProgress()
    if !connector.lines.append(event, of: link.url, subscription: subscription, on: connector.lines.stored) {
      connector.log.notice(
        "an event is too large for the bus, and left out",
        metadata: ["relay": "\(link.url)", "bytes": "\(event.count)"])
    }
  }

  func endedStored(_ key: RequestKey) {
    guard let number = fetches[key] else { return }
    forget(key)
    perform { $0.fetchEnded(number) }
  }

  func failed(_ key: RequestKey, _ failure: WorkFailure) {
    let number = fetches[key]
    forget(key)
    if let number { perform { $0.fetchFailed(number, failure) } } else { perform { $0.relayRefused(failure) } }
  }

  private func moveDeadline(_ key: RequestKey) {
    link.tell { session, now in
      session.deadlineMoved(key, to: now.advanced(milliseconds: Self.silenceMilliseconds), at: now)
    }
  }

  private func forget(_ key: RequestKey) {
    connector.reconciliations.running[key] = nil
    fetches[key] = nil
    if opening == key { opening = nil }
  }

  /// A person may be watching, so the counts are reported now and then.
  private func noteProgress() {
    guard !progressTimer.isSet else { return }
    progressTimer.set(afterMilliseconds: Self.progressMilliseconds) { [weak self] in
      guard let self else { return }
      onProgress(machine.counts)
    }
  }

  // MARK: Actions

  private func perform(_ body: (inout Reconciliation) -> [Reconciliation.Action]) {
    commands += body(&machine)
    guard !isPerforming else { return }
    isPerforming = true
    defer { isPerforming = false }
    while !commands.isEmpty { perform(commands.removeFirst()) }
  }

  private func perform(_ action: Reconciliation.Action) {
    switch action {
    case .begin(let filter, let maximum): begin(filter, messageByteMaximum: maximum)
    case .open(let filter, let message):
      let key = newKey()
      opening = key
      link.tell { session, now in
        session.reconciliationStarted(key, filter, message: message, account: account, at: now)
      }
    case .pass(let message): pass(message)
    case .send(let message):
      guard let key = opening else { return }
      link.tell { session, now in session.reconciliationContinued(key, message: message, at: now) }
    case .close: if let key = opening { cancel(key) }
    case .cancelStore: cancelStore()
    case .fetch(let number, let filter): fetch(number, filter)
    case .cancelFetch(let number):
      if let key = fetches.first(where: { $0.value == number })?.key { cancel(key) }
    case .finish(let end): finish(end)
    }
  }

  private func newKey() -> RequestKey {
    let key = RequestKey(connector.newKey())
    connector.reconciliations.running[key] = self
    return key
  }

  private func cancel(_ key: RequestKey) {
    forget(key)
    link.tell { session, now in session.requestCancelled(key, at: now) }
  }

  private func fetch(_ number: Int, _ filter: Filter) {
    guard let filters = RawFilters(matchingSomething: [filter]) else {
      preconditionFailure("a filter with ids matches something")
    }
    let key = newKey()
    fetches[key] = number
    let never = Instant(nanoseconds: .max)
    link.tell { session, now in
      session.requestStarted(key, filters, .stored, .backfill, account: account, deadline: never, at: now)
    }
    noteProgress()
  }

  /// Reports the end when the fetched events are committed.
  private func finish(_ end: Reconciliation.End) {
    let counts = machine.counts
    progressTimer.cancel()
    connector.ended(self, end)
    let onEnd = onEnd
    guard counts.fetched > 0, end != .cancelled else { return onEnd(end, counts) }
    connector.lines.stored.end(relay: link.url.text, subscription: subscription, filters: [], saying: .page(nil)) {
      onEnd(end, counts)
    }
  }

  // MARK: The store

  private func begin(_ filter: Filter, messageByteMaximum: Int) {
    storeTurn += 1
    let turn = storeTurn
    store = (nil, nil)
    let wanted = ReconcileBegin(
      relay: link.url.text, filter: .object([:]), messageByteMaximum: messageByteMaximum,
      namesAbsent: namesAbsent ? true : nil)
    noteProgress()
    EventLoopActor.task { [self] in
      do throws(Refusal) {
        let answer = try await connector.bus.ask(
          StoreMethod.beginReconcile, encoded: BusPayload(json: wanted, filter: filter))
        guard turn == storeTurn else { return answer.abandon(Self.givenUp) }
        store.answer = answer
        while let item = try await answer.next() {
          guard turn == storeTurn else { return }
          switch item {
          case .part(let message):
            store.session = message.session
            perform { $0.storeBegan(message: message.bytes) }
          case .end(let found): perform { $0.storeEnded(common: found.common) }
          }
        }
      } catch {
        guard turn == storeTurn else { return }
        perform { $0.storeRefused(Self.refusal(error)) }
      }
    }
  }

  private func pass(_ message: [UInt8]) {
    guard let session = store.session else { preconditionFailure("the store began before the relay answered") }
    let turn = storeTurn
    EventLoopActor.task { [self] in
      do throws(Refusal) {
        let answer = try await connector.bus.ask(
          StoreMethod.receivedReconcile, ReconcileMessage(session: session, bytes: message))
        var needed: [EventID] = []
        while let item = try await answer.next() {
          switch item {
          case .part(let part) where part.lackingSide == .relay: absent.formUnion(part.ids)
          case .part(let part): needed += part.ids
          case .end(let next):
            guard turn == storeTurn else { return }
            noteProgress()
            perform { $0.storeAnswered(message: next.bytes, needed: needed, isOver: next.bytes.isEmpty) }
          }
        }
      } catch {
        guard turn == storeTurn else { return }
        perform { $0.storeRefused(Self.refusal(error)) }
      }
    }
  }

  private func cancelStore() {
    storeTurn += 1
    store.answer?.abandon(Self.givenUp)
    store = (nil, nil)
  }

  private static let givenUp = Refusal(.cancelled, "the reconciliation was given up", outcome: .done)

  private static func refusal(_ refusal: Refusal) -> Reconciliation.StoreRefusal {
    switch refusal.code {
    case .tooMany: .tooMany
    case .badPayload: .unreadable(refusal.message)
    default: .other(refusal.message)
    }
  }
}
