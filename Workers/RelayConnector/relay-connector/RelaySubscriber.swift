import Addresses
import Clocks
import Cryptography
import EventLoop
import Logging
import Nostr
import RelaySession
import RelaySubscriptions

/// The interests at one relay: their machine, and what performs its actions. Events that match no filter of their
/// request are dropped here; the others go to the store as received.
@EventLoopActor
final class RelaySubscriber {
  /// One request under way.
  private struct Subscription {
    let number: UInt32
    let question: SubscriptionFilters
    var hasEnded = false
  }

  private let link: RelayLink
  private let lines: IngestSenders
  private let log: Logger
  private let onChanged: @EventLoopActor (String) -> Void
  private var requests: SubscriptionSet
  private var filters: [String: [Filter]] = [:]
  /// Interests for which other people named the relay.
  private var foreign: Set<String> = []
  private var subscriptions: [RequestKey: Subscription] = [:]
  private let timer = LoopTimer()
  /// Interests that have brought events since their counts were last reported.
  private var counted: Set<String> = []
  private let countTimer = LoopTimer()
  /// Actions in their order. To perform one may cause others; those go to the end.
  private var commands: [SubscriptionSet.Action] = []
  private var isPerforming = false

  /// Numbers of subscriptions in runs; each request of this process gets a new one.
  private static var lastSubscription: UInt32 = 0

  /// The least time between two reports of an interest's event count, in milliseconds.
  private static let countMilliseconds: UInt64 = 250

  /// `onChanged` is called with the key of an interest whose report has changed.
  init(
    _ link: RelayLink, _ lines: IngestSenders, log: Logger, onChanged: @escaping @EventLoopActor (String) -> Void
  ) {
    self.link = link
    self.lines = lines
    self.log = log
    self.onChanged = onChanged
    var random = SystemRandomNumberGenerator()
    requests = SubscriptionSet(seed: random.next())
    policyChanged()
  }

  var isEmpty: Bool { requests.isEmpty }
  func report(_ key: String) -> SubscriptionSet.Report? { requests.report(key) }

  // MARK: Interests

  /// Whether other people named the relay in all interests.
  var isForeign: Bool { filters.keys.allSatisfy { foreign.contains($0) } }

  func wish(_ key: String, _ filters: [Filter], _ wish: SubscriptionSet.Subscription, isForeign: Bool) {
    self.filters[key] = filters
    if isForeign { foreign.insert(key) } else { foreign.remove(key) }
    perform { requests, now in requests.wish(key, wish, at: now) }
  }

  func drop(_ key: String) {
    filters[key] = nil
    foreign.remove(key)
    perform { requests, now in requests.drop(key, at: now) }
  }

  // MARK: What happens

  func opened() { perform { requests, now in requests.opened(at: now) } }

  /// The relay is held back from now on, or read again.
  func held(_ isHeld: Bool) {
    perform { requests, now in isHeld ? requests.held(at: now) : requests.released(at: now) }
  }

  /// What the relay allows may have changed.
  func policyChanged() {
    let slots = link.session.policy.subscriptions.value
    perform { requests, now in requests.slotsChanged(slots, at: now) }
  }

  /// The REQ of a request was sent.
  func sent(_ key: RequestKey) { perform { requests, now in requests.sent(key, at: now) } }

  /// The relay blocks this client, and is asked nothing more.
  func setAside(_ reason: String) { perform { requests, now in requests.setAside(reason, at: now) } }

  /// A person wants the relay tried again, or it is now an own one.
  func forgive() { perform { requests, now in requests.forgiven(at: now) } }

  func shown(_ account: PublicKey) { perform { requests, now in requests.shown(account, at: now) } }

  func closed(_ why: String) {
    perform { requests, now in requests.closed(why: why.isEmpty ? nil : why, at: now) }
  }

  func delivered(_ key: RequestKey, _ event: UnsafeRawBufferPointer) {
    guard let subscription = subscriptions[key] else { return }
    guard subscription.question.asks(for: event) else {
      link.noteStray()
      return
    }
    guard let wish = requests.delivered(key, at: EventLoop.process.now) else { return }
    if !subscription.hasEnded { noteCount(of: wish) }
    let line = subscription.hasEnded ? lines.live : lines.stored
    if !lines.append(event, of: link.url, subscription: subscription.number, on: line) {
      log.notice(
        "an event is too large for the bus, and left out",
        metadata: ["relay": "\(link.url)", "bytes": "\(event.count)"])
    }
  }

  /// A person may be watching while a relay sends its stored events, so the count so far is reported now and then.
  private func noteCount(of wish: String) {
    counted.insert(wish)
    guard counted.count == 1 else { return }
    countTimer.set(afterMilliseconds: Self.countMilliseconds) { [weak self] in
      guard let self else { return }
      let wishes = counted
      counted = []
      for wish in wishes { onChanged(wish) }
    }
  }

  func endedStored(_ key: RequestKey) {
    subscriptions[key]?.hasEnded = true
    perform { requests, now in requests.endedStored(key, at: now) }
  }

  func failed(_ key: RequestKey, _ failure: WorkFailure) {
    subscriptions[key] = nil
    if failure.code == .noSlot {
      log.warning(
        "a subscription waits for a free one", metadata: ["relay": "\(link.url)", "why": "\(failure.message)"])
    }
    perform { requests, now in requests.failed(key, failure, at: now) }
  }

  // MARK: Actions

  private func perform(_ body: (inout SubscriptionSet, Instant) -> [SubscriptionSet.Action]) {
    commands += body(&requests, EventLoop.process.now)
    guard !isPerforming else { return }
    isPerforming = true
    defer { isPerforming = false }
    while !commands.isEmpty {
      switch commands.removeFirst() {
      case .start(let request, let key, let wish): start(request, key, wish)
      case .cancel(let request):
        subscriptions[request] = nil
        link.tell { session, now in session.requestCancelled(request, at: now) }
      case .commit(let key, let request): commit(key, request)
      case .changed(let key): onChanged(key)
      case .setTimer(let instant):
        timer.set(at: instant) { [unowned self] in perform { requests, now in requests.timerFired(at: now) } }
      case .cancelTimer: timer.cancel()
      }
    }
  }

  private func start(_ request: RequestKey, _ key: String, _ wish: SubscriptionSet.Subscription) {
    Self.lastSubscription += 1
    let filters = filters[key] ?? []
    subscriptions[request] = Subscription(number: Self.lastSubscription, question: SubscriptionFilters(filters))
    let forever = Instant(nanoseconds: .max)
    link.tell { session, now in
      session.requestStarted(
        request, wish.filters, .live, wish.isLive ? .live : .single, account: wish.account, deadline: forever, at: now)
    }
  }

  private func commit(_ key: String, _ request: RequestKey) {
    guard let subscription = subscriptions[request] else { return }
    lines.stored.end(
      relay: link.url.text, subscription: subscription.number, filters: subscription.question.filters.map(\.json)
    ) { [weak self] in
      self?.perform { requests, now in requests.committed(key, request, at: now) }
    }
  }
}
