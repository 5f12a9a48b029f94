import Addresses
import Clocks
import Cryptography
import EventLoop
import LinuxSystem
import Logging
import Nostr
import RelaySession
import RelaySubscriptions

/// The interests at one relay: their machines, and what performs their actions. Events that match no filter of their
/// request are dropped here; the others go to the store as received.
@EventLoopActor
final class RelaySubscriber {
  /// One request under way.
  struct Subscription {
    let number: UInt32
    let interest: String
    /// The page that it asks for; nil for a live one.
    let page: Drain.Page?
    let question: SubscriptionFilters
    /// When it was sent, seconds since 1970 and by the loop's clock.
    var since: (wall: Int64, instant: Instant)?
    /// Whether the relay had no reason to keep events back when it was sent: it wants no authentication, or has it.
    var mayClaim = true
    var hasEnded = false
    var completeness = RelayMessage.Completeness.unstated
  }

  /// Which interest an entry of the set belongs to.
  struct Entry {
    let interest: String
    let filters: [Filter]
    /// Nil for a live REQ.
    let page: Drain.Page?
  }

  let link: RelayLink
  let lines: IngestSenders
  let coverage: CoverageReader
  let log: Logger
  let onChanged: @EventLoopActor (String) -> Void
  private(set) var requests: SubscriptionSet
  var interests: [String: StandingInterest] = [:]
  /// By key in the set.
  var entries: [String: Entry] = [:]
  /// Interests for which other people named the relay.
  private var foreign: Set<String> = []
  var subscriptions: [RequestKey: Subscription] = [:]
  /// The keys in the set of the pages under way.
  var pageKeys: [PageName: String] = [:]
  /// Pages that have ended, until what they prove is on its way to the store.
  var endedPages: [PageName: EndedPage] = [:]
  /// When the drain of an interest began, seconds since 1970.
  var startedAt: [String: Int64] = [:]
  /// Numbers of ends without events in runs, downwards.
  static var lastFetch = UInt32.max
  /// What was checked long ago, of each interest; it is compared when the drain is over.
  var oldCoverage: [String: [OldCoverage]] = [:]
  /// What is to be asked for in pages again, since it could not be compared.
  var pagedAgain: [String: [OldCoverage]] = [:]
  /// What was asked for in pages again, in the life of this process.
  var pagedWindows: Set<OldCoverage> = []
  /// Compares the store with the relay (NIP-77).
  let reconcile: Reconcile
  /// The most events that the relay has sent in one page.
  var fullestPage = 0
  var lastPageKey: UInt64 = 0
  /// The most pages asked for at a time.
  var pageMaximum: Int {
    didSet { perform { requests, now in requests.pageMaximumChanged(pageMaximum, at: now) } }
  }
  private(set) var isOpen = false
  private(set) var whyClosed: String?
  /// Whether the relay does not keep a REQ open whose filters have `limit` 0.
  var refusesLimitZero = false
  private let timer = LoopTimer()
  private let coverTimer = LoopTimer()
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
  /// How often what live REQs cover is written, in milliseconds.
  private static let coverMilliseconds: UInt64 = 3_600_000

  /// `onChanged` is called with the key of an interest whose report has changed.
  init(
    _ link: RelayLink, _ lines: IngestSenders, _ coverage: CoverageReader, pageMaximum: Int,
    reconcile: @escaping Reconcile, log: Logger,
    onChanged: @escaping @EventLoopActor (String) -> Void
  ) {
    self.link = link
    self.lines = lines
    self.coverage = coverage
    self.reconcile = reconcile
    self.pageMaximum = pageMaximum
    self.log = log
    self.onChanged = onChanged
    var random = SystemRandomNumberGenerator()
    var limits = SubscriptionLimits()
    limits.pageMaximum = pageMaximum
    requests = SubscriptionSet(limits: limits, seed: random.next())
    policyChanged()
    coverLater()
  }

  var isEmpty: Bool { interests.isEmpty }

  /// The interest that a request under way is for.
  func interest(of request: RequestKey) -> String? { subscriptions[request]?.interest }

  func report(_ key: String) -> StandingInterest.Report? {
    guard let interest = interests[key] else { return nil }
    return interest.report(
      live: interest.liveKeys.compactMap { requests.report($0) }, whyClosed: whyClosed, isOpen: isOpen)
  }

  // MARK: Interests

  /// Whether other people named the relay in all interests.
  var isForeign: Bool { interests.keys.allSatisfy { foreign.contains($0) } }

  func wish(_ key: String, _ interest: StandingInterest, isForeign: Bool) {
    if isForeign { foreign.insert(key) } else { foreign.remove(key) }
    if interests[key]?.isSame(as: interest) == true { return }
    if interests[key] != nil { drop(key) }
    interests[key] = interest
    if isForeign { foreign.insert(key) }
    openLive(key)
    if isOpen { fetch(key) }
    onChanged(key)
  }

  func drop(_ key: String) {
    guard var interest = interests.removeValue(forKey: key) else { return }
    foreign.remove(key)
    oldCoverage[key] = nil
    pagedAgain[key] = nil
    _ = interest.drain { $0.cancel() }
    pageKeys = pageKeys.filter { $0.key.generation != interest.generation }
    endedPages = endedPages.filter { $0.key.generation != interest.generation }
    for entry in entries.filter({ $0.value.interest == key }).keys { dropEntry(entry) }
  }

  func dropEntry(_ entry: String) {
    guard entries.removeValue(forKey: entry) != nil else { return }
    perform { requests, now in requests.drop(entry, at: now) }
  }

  /// Opens the live REQs of an interest, each of a length that the relay takes.
  private func openLive(_ key: String) {
    guard let interest = interests[key], interest.isLive else { return }
    let groups = StandingFilters.groups(of: interest.filters, byteMaximum: filterByteMaximum)
    let kept = groups.indices.map { "live:\(key):\($0)" }
    for entry in interest.liveKeys where !kept.contains(entry) { dropEntry(entry) }
    interests[key]?.liveKeys = kept
    for (entry, filters) in zip(kept, groups) {
      guard let raw = RawFilters(matchingSomething: filters) else { continue }
      entries[entry] = Entry(interest: key, filters: filters, page: nil)
      perform { requests, now in
        requests.wish(
          entry, .init(filters: raw, isLive: true, account: interest.account, idCount: filters.idCount), at: now)
      }
    }
  }

  /// Bytes of filters that fit into one message to the relay.
  var filterByteMaximum: Int { max(512, link.session.policy.messageBytes.value - StandingFilters.envelopeByteCount) }

  // MARK: What happens

  func opened() {
    (isOpen, whyClosed) = (true, nil)
    perform { requests, now in requests.opened(at: now) }
    for key in interests.keys.sorted() { fetch(key) }
  }

  /// The relay is held back from now on, or read again.
  func held(_ isHeld: Bool) {
    perform { requests, now in isHeld ? requests.held(at: now) : requests.released(at: now) }
  }

  /// What the relay allows may have changed.
  func policyChanged() {
    let slots = link.session.policy.subscriptions.value
    perform { requests, now in requests.slotsChanged(slots, at: now) }
    let maximum = filterByteMaximum
    let long = entries.values.filter { $0.page == nil && $0.filters.byteCount > maximum }
    for key in Set(long.map(\.interest)) { openLive(key) }
  }

  /// The REQ of a request was sent.
  func sent(_ key: RequestKey) {
    perform { requests, now in requests.sent(key, at: now) }
    subscriptions[key]?.since = (WallClock.seconds, EventLoop.process.now)
    if let interest = subscriptions[key]?.interest { subscriptions[key]?.mayClaim = mayClaim(interest) }
    guard let subscription = subscriptions[key], let page = subscription.page else { return }
    _ = interests[subscription.interest]?.drain { $0.sent(page, wall: WallClock.seconds) }
  }

  /// The relay blocks this client, and is asked nothing more.
  func setAside(_ reason: String) { perform { requests, now in requests.setAside(reason, at: now) } }

  /// A person wants the relay tried again, or it is now an own one.
  func forgive() {
    perform { requests, now in requests.forgiven(at: now) }
    if isOpen { for key in interests.keys.sorted() { fetch(key) } }
  }

  func shown(_ account: PublicKey) {
    perform { requests, now in requests.shown(account, at: now) }
    for (key, interest) in interests where interest.account == account {
      // What the relay may have kept back until now was not claimed.
      if interest.outcome?.end == .refused || interest.mayBePrivate { fetch(key) }
    }
  }

  func closed(_ why: String) {
    guard isOpen || whyClosed != why else { return }
    isOpen = false
    whyClosed = why.isEmpty ? whyClosed : why
    perform { requests, now in requests.closed(why: why.isEmpty ? nil : why, at: now) }
    for key in interests.keys.sorted() { onChanged(key) }
  }

  func delivered(_ key: RequestKey, _ event: UnsafeRawBufferPointer) {
    guard let subscription = subscriptions[key] else { return }
    let reading = subscription.question.read(event)
    if let page = subscription.page, !reading.isMatch {
      var actions: [Drain.Action] = []
      _ = interests[subscription.interest]?.drain {
        $0.receivedOther(page, isReadable: reading == .stray, &actions)
      }
      perform(actions, of: subscription.interest)
    }
    guard reading != .stray else {
      link.noteStray()
      return
    }
    var isNew = reading != .unreadable
    if let page = subscription.page, case .match(let event, let createdAt) = reading {
      var actions: [Drain.Action] = []
      isNew =
        interests[subscription.interest]?.drain { $0.received(page, event, createdAt: createdAt, &actions) } ?? false
      perform(actions, of: subscription.interest)
    } else {
      interests[subscription.interest]?.eventCount += 1
      noteOld(reading, subscription)
    }
    guard requests.delivered(key, isNew: isNew, at: EventLoop.process.now) != nil else { return }
    guard isNew || reading == .unreadable else { return }
    if !subscription.hasEnded { noteCount(of: subscription.interest) }
    let line = subscription.hasEnded ? lines.live : lines.stored
    if !lines.append(event, of: link.url, subscription: subscription.number, on: line) {
      log.notice(
        "an event is too large for the bus, and left out",
        metadata: ["relay": "\(link.url)", "bytes": "\(event.count)"])
    }
  }

  /// Some relays read `limit` 0 as none (nostr-relay does), and send all they have.
  private func noteOld(_ reading: SubscriptionFilters.Reading, _ subscription: Subscription) {
    guard !subscription.hasEnded, case .match(_, let createdAt) = reading, let since = subscription.since?.wall
    else { return }
    let mayBeStored = subscription.question.filters.contains { $0.limit != 0 }
    if !mayBeStored, createdAt < since - Self.oldSeconds { refusesLimitZero = true }
  }

  /// A person may be watching while a relay sends its stored events, so the count so far is reported now and then.
  private func noteCount(of interest: String) {
    // A timer that runs is left alone: events come faster than it.
    guard counted.insert(interest).inserted, counted.count == 1 else { return }
    countTimer.set(afterMilliseconds: Self.countMilliseconds) { [weak self] in
      guard let self else { return }
      let keys = counted
      counted = []
      for key in keys { onChanged(key) }
    }
  }

  func endedStored(_ key: RequestKey, _ completeness: RelayMessage.Completeness) {
    subscriptions[key]?.hasEnded = true
    subscriptions[key]?.completeness = completeness
    perform { requests, now in requests.endedStored(key, at: now) }
  }

  func failed(_ key: RequestKey, _ failure: WorkFailure) {
    let before = refusesLimitZero
    if let subscription = subscriptions.removeValue(forKey: key), subscription.page == nil {
      noteLiveEnd(of: subscription, failure)
    }
    if failure.code == .noSlot {
      log.warning(
        "a subscription waits for a free one", metadata: ["relay": "\(link.url)", "why": "\(failure.message)"])
    }
    perform { requests, now in requests.failed(key, failure, at: now) }
    guard refusesLimitZero, !before else { return }
    // They are sent again in the other form.
    for (key, interest) in interests where interest.isLive {
      for entry in interest.liveKeys { dropEntry(entry) }
      openLive(key)
    }
  }

  // MARK: Actions

  func perform(_ body: (inout SubscriptionSet, Instant) -> [SubscriptionSet.Action]) {
    commands += body(&requests, EventLoop.process.now)
    guard !isPerforming else { return }
    isPerforming = true
    defer { isPerforming = false }
    while !commands.isEmpty {
      switch commands.removeFirst() {
      case .start(let request, let entry, let wish): start(request, entry, wish)
      case .cancel(let request):
        if let subscription = subscriptions.removeValue(forKey: request), subscription.page == nil {
          cover([subscription])
        }
        link.tell { session, now in session.requestCancelled(request, at: now) }
      case .commit(let entry, let request): commit(entry, request)
      case .changed(let entry): changed(entry)
      case .setTimer(let instant):
        timer.set(at: instant) { [unowned self] in perform { requests, now in requests.timerFired(at: now) } }
      case .cancelTimer: timer.cancel()
      }
    }
  }

  private func start(_ request: RequestKey, _ key: String, _ wish: SubscriptionSet.Subscription) {
    guard let entry = entries[key] else { return }
    Self.lastSubscription += 1
    // A relay with one subscription sends stored events first, so a live REQ has to look back.
    let looksBack = refusesLimitZero || link.session.policy.subscriptions.value < 2
    let filters =
      entry.page == nil
      ? StandingFilters.asked(entry.filters, looksBack: looksBack, wall: WallClock.seconds) : entry.filters
    subscriptions[request] = Subscription(
      number: Self.lastSubscription, interest: entry.interest, page: entry.page,
      question: SubscriptionFilters(filters))
    let forever = Instant(nanoseconds: .max)
    let mode = entry.page == nil ? RequestMode.live : .stored
    link.tell { session, now in
      session.requestStarted(
        request, RawFilters(matchingSomething: filters) ?? wish.filters, mode, wish.kind, account: wish.account,
        deadline: forever, at: now)
    }
    // What came while it was not open is fetched.
    // With one subscription it looks back, and pages would take its place again.
    if entry.page == nil, isOpen, !looksBack { fetch(entry.interest) }
  }

  private func commit(_ entry: String, _ request: RequestKey) {
    guard let subscription = subscriptions[request] else { return }
    if let page = subscription.page {
      pageEnded(page, of: subscription, entry, request)
      return
    }
    let whole = subscription.question.filters.filter(StandingFilters.bringsStored)
    lines.stored.end(
      relay: link.url.text, subscription: subscription.number, filters: whole.map(\.json),
      saying: whole.isEmpty ? .page(nil) : .stored
    ) { [weak self] in
      self?.perform { requests, now in requests.committed(entry, request, at: now) }
    }
  }

  private func changed(_ key: String) {
    guard let entry = entries[key] else { return }
    if let page = entry.page {
      pageChanged(page, of: entry.interest, key)
    } else {
      onChanged(entry.interest)
    }
  }

  // MARK: What live REQs cover

  private func coverLater() {
    coverTimer.set(afterMilliseconds: Self.coverMilliseconds) { [weak self] in
      self?.coverLive()
      self?.coverLater()
    }
  }

  func coverLive() { cover(subscriptions.values.filter { $0.page == nil }) }

  /// What live REQs have covered. Nothing while the relay is held back: what it has sent is not read yet.
  private func cover(_ open: [Subscription]) {
    guard !link.isHeld else { return }
    for subscription in open where subscription.hasEnded && subscription.mayClaim && mayClaim(subscription.interest) {
      guard let since = subscription.since else { continue }
      let passed = EventLoop.process.now.milliseconds(since: since.instant) / 1_000
      let times = StandingFilters.covered(
        since: since.wall, wall: WallClock.seconds, passedSeconds: Int64(clamping: passed))
      guard let times else { continue }
      let filters = StandingFilters.claimed(subscription.question.filters).map(\.json)
      // Behind its events in both lanes.
      let (relay, number) = (link.url.text, subscription.number)
      lines.live.end(relay: relay, subscription: number, filters: [], saying: .page(nil)) { [lines] in
        lines.stored.end(relay: relay, subscription: number, filters: filters, saying: .part(times)) {}
      }
    }
  }

  /// An event older than the REQ by so many seconds is a stored one; and one that stood as long was not refused.
  private static let oldSeconds: Int64 = 60

  /// A REQ with `limit` 0 that the relay refuses or closes at once is sent with a time from now on.
  private func noteLiveEnd(of subscription: Subscription, _ failure: WorkFailure) {
    cover([subscription])
    guard failure.code == .closedByRelay, !refusesLimitZero,
      subscription.question.filters.contains(where: { $0.limit == 0 })
    else { return }
    let hasStood = (subscription.since?.wall ?? 0) + Self.oldSeconds < WallClock.seconds
    switch RefusalClass(failure.reason ?? RelayReason("")) {
    case .invalid, .unsupported, .unknown: refusesLimitZero = !hasStood
    default: break
    }
  }
}
