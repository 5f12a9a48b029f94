import Addresses
import Bus
import Contracts
import EventLoop
import Frames
import LinuxSystem
import Nostr
import RelayDials
import RelaySession
import RelaySubscriptions
import WorkerKit

/// The interests at all relays of a connector.
struct SubscriptionTable {
  /// The generation of the planner and the version of its interests; nil before the first `relay.desire`.
  var state: (generation: Int64, version: Int64)?
  /// All interests, by key.
  var taken: [String: AcceptedSubscription] = [:]
  /// The subscriber of each relay with interests.
  var keepers: [RelayURL: RelaySubscriber] = [:]
  /// Interests that no event can match: no relay is asked.
  var void: Set<String> = []
  /// Interests at this Roost's own relays, and at those of other groups, with the reason for the refusal. The connector
  /// does not dial these relays.
  var home: [String: String] = [:]
  /// When the last EOSE came, seconds since 1970.
  var storedAt: [String: Int64] = [:]

  @EventLoopActor
  func hasWishes(at url: RelayURL) -> Bool { keepers[url].map { !$0.isEmpty } ?? false }
}

/// An interest that the connector has accepted.
struct AcceptedSubscription {
  let key: String
  let relay: RelayURL
  let filters: [Filter]
  let isForeign: Bool
  let isBackfill: Bool
  /// The trace of a request that it is wanted for.
  let trace: UInt64?
  /// Nil when no event can match.
  let wish: StandingInterest?

  /// What the relay is dialled for.
  var purpose: DialPurpose { wish?.isLive == true ? .feed : isBackfill ? .backfill : .lookUp }
}

extension Connector {
  // MARK: relay.desire

  func desire(_ wanted: RelayDesire) throws(Refusal) -> RelayDesireResult {
    if let base = wanted.base {
      guard let state = wishes.state, state == (wanted.generation, base) else {
        throw Refusal(.noSuchVersion, "these are changes of wishes that are not here", outcome: .notStarted)
      }
    }
    let read = try wanted.changed.map { desired throws(Refusal) in try self.read(desired) }
    try checkRoom(for: read, isWhole: wanted.base == nil)
    let kept = Set(read.map(\.key))
    let gone = wanted.base == nil ? wishes.taken.keys.filter { !kept.contains($0) } : wanted.removed
    for key in gone { drop(key) }
    for wish in read { try self.wish(wish) }
    wishes.state = (wanted.generation, wanted.version)
    for follower in followers { follower.changed() }
    return RelayDesireResult(version: wanted.version)
  }

  private func read(_ desired: DesiredSubscription) throws(Refusal) -> AcceptedSubscription {
    let relay = try parse(desired.relay)
    let filters = try Filter.list(argument: desired.filters, countMaximum: StoreObserve.filterMaximum)
    let account = try desired.account.map { text throws(Refusal) in try Self.account(text) }
    let depth: Drain.Depth =
      switch desired.stored {
      case .some(.none): .none
      case .all: .all
      case nil: .asFiltersSay
      }
    let wish = RawFilters(matchingSomething: filters).map { _ in
      StandingInterest(
        filters: filters.filter { !$0.matchesNothing }, isLive: desired.isLive, account: account, depth: depth,
        isFresh: desired.isFresh ?? false, generation: newKey())
    }
    return AcceptedSubscription(
      key: desired.key, relay: relay, filters: filters, isForeign: desired.isForeign ?? false,
      isBackfill: desired.isBackfill ?? false,
      trace: desired.trace.flatMap { RequestTrace($0)?.rawValue }, wish: wish)
  }

  private func checkRoom(for read: [AcceptedSubscription], isWhole: Bool) throws(Refusal) {
    let count = isWhole ? read.count : Set(wishes.taken.keys).union(read.map(\.key)).count
    guard count <= RelayDesire.requestMaximum else {
      throw Refusal(
        .full, "\(count) wishes are more than \(RelayDesire.requestMaximum)", outcome: .notStarted)
    }
    let dialled = Set(read.filter { $0.wish != nil && objection(to: $0.relay) == nil }.map(\.relay))
    var others: Set<RelayURL> = []
    for relay in dialled where links[relay] == nil && !configured.contains(relay) {
      try requireDialling(relay, besides: others.count)
      others.insert(relay)
    }
    // Only encryption can fail here. With the relays that need it first, the connector makes all links or none.
    for relay in dialled.sorted(by: { $0.isSecure && !$1.isSecure }) { _ = try link(relay) }
  }

  func wish(_ read: AcceptedSubscription) throws(Refusal) {
    if let before = wishes.taken[read.key], before.relay != read.relay || read.wish == nil { drop(read.key) }
    wishes.taken[read.key] = read
    wishes.home[read.key] = read.wish == nil ? nil : objection(to: read.relay)
    if read.wish == nil { wishes.void.insert(read.key) }
    guard let wish = read.wish, wishes.home[read.key] == nil else {
      changed(read.key)
      return
    }
    let link = try link(read.relay)
    let keeper = keeper(of: link)
    keeper.wish(read.key, wish, isForeign: read.isForeign)
    if !read.isForeign {
      readmit(read.relay)
      link.noteOwnWish()
    }
    noteWork(at: link, for: read.purpose)
    link.tell { session, now in session.openRequested(at: now) }
  }

  private func keeper(of link: RelayLink) -> RelaySubscriber {
    if let keeper = wishes.keepers[link.url] { return keeper }
    let keeper = RelaySubscriber(
      link, lines, coverage, pageMaximum: settings.pagesAtOnce,
      reconcile: { [unowned self] old, account, onEnd in
        reconcile(
          old.filter, since: old.times.lowerBound, until: old.times.upperBound, at: link, account: account
        ) { end, _ in onEnd(end) }
      }, log: log
    ) { [unowned self] in changed($0) }
    wishes.keepers[link.url] = keeper
    if link.isHeld { keeper.held(true) }
    if isForeign(link), let aside = asides.dismissal(of: link.url, at: EventLoop.process.now) {
      keeper.setAside(aside.reason)
    }
    if link.session.phase == .open { keeper.opened() }
    return keeper
  }

  /// The relay is now one's own: if it has blocked this client, it is asked again.
  func readmit(_ url: RelayURL) {
    guard asides.dismissal(of: url, at: EventLoop.process.now) != nil else { return }
    asides.forget(url)
    wishes.keepers[url]?.forgive()
  }

  private func drop(_ key: String) {
    wishes.void.remove(key)
    wishes.storedAt[key] = nil
    wishes.home[key] = nil
    guard let relay = wishes.taken.removeValue(forKey: key)?.relay, let keeper = wishes.keepers[relay] else { return }
    keeper.drop(key)
    guard keeper.isEmpty else { return }
    wishes.keepers[relay] = nil
    settle(links[relay])
  }

  // MARK: relay.follow

  func follow(_ request: BusRequest) throws(Refusal) -> Nothing? {
    guard followers.count < Self.followerMaximum else {
      throw Refusal(.full, "\(Self.followerMaximum) callers follow \(worker.name) already", outcome: .notStarted)
    }
    request.accept()
    let follower = Follower(request, of: self)
    followers.append(follower)
    follower.begin { [unowned self] in followers.removeAll { $0 === follower } }
    return nil
  }

  /// The most callers of `relay.follow` at a time.
  private static let followerMaximum = 32

  func changed(_ key: String) {
    if report(key)?.state == .stored, wishes.storedAt[key] == nil { wishes.storedAt[key] = WallClock.seconds }
    for follower in followers { follower.changed(key) }
  }

  /// The state of an interest; nil when there is no interest with this key.
  func report(_ key: String) -> RequestReport? {
    guard let relay = wishes.taken[key]?.relay else { return nil }
    if let reason = wishes.home[key] {
      return RequestReport(key: key, relay: relay.text, state: .refused, reason: reason)
    }
    if wishes.void.contains(key) { return RequestReport(key: key, relay: relay.text, state: .stored) }
    guard let report = wishes.keepers[relay]?.report(key) else { return nil }
    var told = RequestReport(
      key: key, relay: relay.text, state: .waiting, storedAt: wishes.storedAt[key], events: report.events)
    told.end = report.end.flatMap { RequestReport.End(rawValue: $0.rawValue) }
    told.pages = report.pages
    told.reason = report.reason
    switch report.state {
    case .waiting(let reason): told.reason = reason
    case .asked: told.state = .asked
    case .stored: told.state = .stored
    case .refused(let reason, let kind):
      (told.state, told.reason) = (.refused, reason)
      told.isAboutRelay = kind.map(\.isAboutRelay)
    }
    told.reason = told.reason.map { String($0.prefix(Self.reasonLengthMaximum)) }
    return told
  }

  /// The most characters of a reason in a report.
  private static let reasonLengthMaximum = 200
}
