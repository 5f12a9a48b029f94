import Addresses
import Clocks
import EventLoop
import LinuxSystem
import Logging
import Nostr
import RelaySession
import RelaySubscriptions

// The stored events of interests: the store is asked what is covered, the rest is drained page by page. Each page is an
// entry of the relay's SubscriptionSet, which sends it again after a disconnection or a refusal that may pass.

extension RelaySubscriber {
  /// Fetches the stored events of an interest that are not covered.
  func fetch(_ key: String) {
    guard let round = interests[key]?.fetchWanted(), let interest = interests[key] else { return }
    onChanged(key)
    let maximum = filterByteMaximum
    let parts = interest.filters.map { Drain.parts(of: $0, byteMaximum: maximum) }
    if let wrong = parts.firstIndex(where: { $0 == nil }) {
      let count = interest.filters[wrong].json.count
      refuse(key, "a filter has \(count) bytes and cannot be cut, and \(link.url) takes \(maximum)")
      return
    }
    let asked = parts.compactMap { $0 }
    EventLoopActor.task { [weak self, coverage, link] in
      let known =
        interest.isFresh
        ? CoverageReader.Known(nothing: asked)
        : await coverage.known(of: interest.filters, parts: asked, at: link.url)
      self?.begin(key, round, known, byteMaximum: maximum)
    }
  }

  private func begin(_ key: String, _ round: UInt64, _ known: CoverageReader.Known, byteMaximum: Int) {
    guard let interest = interests[key], interest.isAsking(round) else { return }
    let wall = WallClock.seconds
    let parts = interest.filters.enumerated().flatMap { index, filter in
      Drain.plan(
        filter, index: index, depth: interest.depth, known: known.parts[index], fetchedAt: known.fetchedAt[index],
        byteMaximum: byteMaximum, wall: wall)
    }
    let limit = link.session.policy.limit
    var limits = Drain.Limits()
    limits.pageMaximum = pageMaximum
    var drain = Drain(
      parts, filterCount: interest.filters.count, pageSize: limit.value, isSaid: limit.source == .said,
      fullestPage: fullestPage, limits: limits)
    let actions = drain.begin()
    interests[key]?.phase = .draining(drain)
    startedAt[key] = wall
    perform(actions, of: key)
  }

  private func refuse(_ key: String, _ reason: String) {
    var drain = Drain([], filterCount: 0, pageSize: 1, isSaid: false)
    drain.refuse(reason)
    interests[key]?.refusal = .size
    _ = interests[key]?.ended(drain)
    onChanged(key)
  }

  func perform(_ actions: [Drain.Action], of key: String) {
    for action in actions {
      switch action {
      case .ask(let page, let filter): ask(page, filter, of: key)
      case .note: preconditionFailure("only the end of a page notes something")
      case .withdraw(let page): forget(page, of: key)
      case .fetched(let index): noteFetched(index, of: key)
      case .ended: ended(key)
      }
    }
  }

  private func ask(_ page: Drain.Page, _ filter: Filter, of key: String) {
    guard let raw = RawFilters(matchingSomething: [filter]), let interest = interests[key] else { return }
    lastPageKey += 1
    let entry = "page:\(lastPageKey)"
    entries[entry] = Entry(interest: key, filters: [filter], page: page)
    pageKeys[PageName(interest: key, page: page)] = entry
    let kind = !interest.isLive && filter.ids != nil ? RequestClass.single : .backfill
    perform { requests, now in
      requests.wish(
        entry, .init(filters: raw, isLive: false, account: interest.account, idCount: [filter].idCount, kind: kind),
        at: now)
    }
  }

  /// EOSE of a page: what it proves goes to the store behind its events.
  func pageEnded(_ page: Drain.Page, of subscription: Subscription, _ entry: String, _ request: RequestKey) {
    let key = subscription.interest
    guard let actions = interests[key]?.drain({ $0.endedStored(page, subscription.completeness) }) else { return }
    var others: [Drain.Action] = []
    for action in actions {
      guard case .note(_, let note) = action else {
        others.append(action)
        continue
      }
      let isSaid = mayClaim(key) && (note.times != nil || note.isEnd) && note.filter.ids == nil
      let times = isSaid ? note.times : nil
      lines.stored.end(
        relay: link.url.text, subscription: subscription.number, filters: isSaid ? [note.filter.json] : [],
        saying: note.isEnd ? .part(times) : .page(times)
      ) { [weak self] in
        guard let self else { return }
        perform { requests, now in requests.committed(entry, request, at: now) }
        forget(page, of: key)
        if let actions = interests[key]?.drain({ $0.committed(page) }) { perform(actions, of: key) }
      }
    }
    interests[key].map { noteFullest($0) }
    perform(others, of: key)
  }

  private func noteFullest(_ interest: StandingInterest) {
    if case .draining(let drain) = interest.phase { fullestPage = max(fullestPage, drain.fullestPage) }
  }

  /// The entry of a page has another state: if the relay will not answer it, the drain learns that.
  func pageChanged(_ page: Drain.Page, of key: String, _ entry: String) {
    guard let report = requests.report(entry), case .refused(let reason, let kind) = report.state else { return }
    let isSilent = report.isSilent
    forget(page, of: key)
    interests[key]?.refusal = kind
    let actions = interests[key]?.drain { $0.failed(page, isSilent ? .silent : .refused, reason) }
    if let actions { perform(actions, of: key) }
  }

  private func forget(_ page: Drain.Page, of key: String) {
    if let entry = pageKeys.removeValue(forKey: PageName(interest: key, page: page)) { dropEntry(entry) }
  }

  /// All that was wanted of a filter is committed.
  private func noteFetched(_ index: Int, of key: String) {
    guard let interest = interests[key], interest.filters.indices.contains(index) else { return }
    lastFetch -= 1
    lines.stored.end(
      relay: link.url.text, subscription: lastFetch, filters: [interest.filters[index].json], saying: .stored,
      at: startedAt[key]
    ) {}
  }

  private func ended(_ key: String) {
    guard var interest = interests[key], case .draining(let drain) = interest.phase else { return }
    let isAgain = interest.ended(drain)
    interests[key] = interest
    startedAt[key] = nil
    if let outcome = drain.outcome, outcome.end != .drained {
      log.notice(
        "not all stored events came",
        metadata: ["relay": "\(link.url)", "end": "\(outcome.end.rawValue)", "why": "\(outcome.reason ?? "")"])
    }
    onChanged(key)
    if isAgain, isOpen { fetch(key) }
  }

  /// Whether what the relay sends says what it has. A relay that has asked for authentication may keep direct messages
  /// from those who have not.
  func mayClaim(_ key: String) -> Bool {
    guard let interest = interests[key], link.session.challenge != nil else { return true }
    let mayBePrivate = interest.filters.contains {
      $0.kinds?.contains { $0 == EventKind.encryptedDirectMessage || EventKind.giftWraps.contains($0) } ?? true
    }
    let isShown = interest.account.map { link.session.authenticatedAccounts.contains($0) } ?? false
    return !mayBePrivate || isShown
  }
}

/// A page of an interest.
struct PageName: Hashable {
  let interest: String
  let page: Drain.Page
}
