import Clocks
import EventLoop
import Logging
import Nostr
import RelaySession
import RelayWishes

/// What is wished of one relay: the machine of its standing requests, and what the machine commands. Events that nobody
/// asked for end here; the others go to the store as they came.
@EventLoopActor
final class WishKeeper {
  /// One request under way.
  private struct Subscription {
    let number: UInt32
    let filters: [Filter]
    let matchers: [FilterMatcher]
    var hasEnded = false
  }

  private let link: RelayLink
  private let lines: IngestLines
  private let log: Logger
  private let onChanged: @EventLoopActor (String) -> Void
  private var requests: StandingRequests
  private var filters: [String: [Filter]] = [:]
  private var subscriptions: [RequestKey: Subscription] = [:]
  private let timer = LoopTimer()
  /// Events that no filter had asked for.
  private var strayCount: UInt64 = 0

  /// Numbers of subscriptions in runs: new for each request of this process.
  private static var lastSubscription: UInt32 = 0

  /// `onChanged` is called with the key of a wish whose report is another one.
  init(
    _ link: RelayLink, _ lines: IngestLines, log: Logger, onChanged: @escaping @EventLoopActor (String) -> Void
  ) {
    self.link = link
    self.lines = lines
    self.log = log
    self.onChanged = onChanged
    var random = SystemRandomNumberGenerator()
    requests = StandingRequests(seed: random.next())
  }

  var isEmpty: Bool { requests.isEmpty }
  func report(_ key: String) -> StandingRequests.Report? { requests.report(key) }

  // MARK: Wishes

  func wish(_ key: String, _ filters: [Filter], _ wish: StandingRequests.Wish) {
    self.filters[key] = filters
    perform { requests, now in requests.wish(key, wish, at: now) }
  }

  func drop(_ key: String) {
    filters[key] = nil
    perform { requests, now in requests.drop(key, at: now) }
  }

  // MARK: What happens

  func opened() { perform { requests, now in requests.opened(at: now) } }

  func closed(_ why: String) {
    perform { requests, now in requests.closed(why: why.isEmpty ? nil : why, at: now) }
  }

  func delivered(_ key: RequestKey, _ event: UnsafeRawBufferPointer) {
    guard requests.delivered(key, at: EventLoop.process.now) != nil, let subscription = subscriptions[key] else {
      return
    }
    guard subscription.matchers.isEmpty || isAsked(event, subscription.matchers) else {
      noteStray()
      return
    }
    let line = subscription.hasEnded ? lines.live : lines.stored
    if !line.append(event, relay: link.url.text, subscription: subscription.number) {
      log.notice(
        "an event is too large for the bus, and left out",
        metadata: ["relay": "\(link.url)", "bytes": "\(event.count)"])
    }
  }

  /// What cannot be read goes on: the store says what is wrong with it, and who has sent it.
  private func isAsked(_ event: UnsafeRawBufferPointer, _ matchers: [FilterMatcher]) -> Bool {
    guard let scanned = try? ScannedEvent(event) else { return true }
    let indexed = IndexedEvent(scanned, in: event)
    return matchers.contains { $0.matches(indexed) }
  }

  private func noteStray() {
    strayCount += 1
    var power: UInt64 = 1
    while power < strayCount { power *= 10 }
    guard power == strayCount else { return }
    log.notice(
      "the relay sends events that were not asked for; they are left out",
      metadata: ["relay": "\(link.url)", "count": "\(strayCount)"])
  }

  func endedStored(_ key: RequestKey) {
    subscriptions[key]?.hasEnded = true
    perform { requests, now in requests.endedStored(key, at: now) }
  }

  func failed(_ key: RequestKey, _ failure: WorkFailure) {
    subscriptions[key] = nil
    perform { requests, now in requests.failed(key, failure, at: now) }
  }

  // MARK: Actions

  private func perform(_ body: (inout StandingRequests, Instant) -> [StandingRequests.Action]) {
    for action in body(&requests, EventLoop.process.now) {
      switch action {
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

  private func start(_ request: RequestKey, _ key: String, _ wish: StandingRequests.Wish) {
    Self.lastSubscription += 1
    let filters = filters[key] ?? []
    subscriptions[request] = Subscription(
      number: Self.lastSubscription, filters: filters, matchers: filters.map { FilterMatcher($0) })
    let forever = Instant(nanoseconds: .max)
    link.tell { session, now in
      session.requestStarted(request, wish.filters, .live, account: wish.account, deadline: forever, at: now)
    }
  }

  private func commit(_ key: String, _ request: RequestKey) {
    guard let subscription = subscriptions[request] else { return }
    lines.stored.end(
      relay: link.url.text, subscription: subscription.number, filters: subscription.filters.map(\.json)
    ) { [weak self] in
      self?.perform { requests, now in requests.committed(key, request, at: now) }
    }
  }
}
