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
      let reason = "a filter has \(count) bytes and cannot be cut, and \(link.url) takes \(maximum)"
      interests[key]?.refused(reason, about: .size)
      onChanged(key)
      return
    }
    let asked = parts.compactMap { $0 }
    EventLoopActor.task { [weak self, coverage, link] in
      let known =
        interest.isFresh
        ? CoverageReader.Known(nothing: asked)
        : await coverage.known(of: interest.filters, parts: asked, at: link.url)
      guard self?.interests[key]?.generation == interest.generation else { return }
      self?.begin(key, round, known, byteMaximum: maximum)
    }
  }

  private func begin(_ key: String, _ round: UInt64, _ known: CoverageReader.Known, byteMaximum: Int) {
    guard let interest = interests[key], interest.isAsking(round), interest.filters.count == known.parts.count
    else { return }
    let wall = WallClock.seconds
    var known = known
    let again = pagedAgain.removeValue(forKey: key) ?? []
    for window in again { window.remove(from: &known) }
    let parts = interest.filters.enumerated().flatMap { index, filter in
      interest.isLive && StandingFilters.bringsStored(filter)
        ? []
        : Drain.plan(
          filter, index: index, depth: interest.depth, known: known.parts[index], fetchedAt: known.fetchedAt[index],
          byteMaximum: byteMaximum, wall: wall)
    }
    let limit = link.session.policy.limit
    var limits = Drain.Limits()
    limits.pageMaximum = pageMaximum
    var drain = Drain(
      parts, filterCount: interest.filters.count, pageSize: limit.value,
      fullestPage: fullestPage, limits: limits)
    let actions = drain.begin()
    interests[key]?.phase = .draining(drain)
    startedAt[key] = wall
    oldCoverage[key] = again.isEmpty ? known.old : []
    perform(actions, of: key)
  }

  func perform(_ actions: [Drain.Action], of key: String) {
    for action in actions {
      switch action {
      case .ask(let page, let filter): ask(page, filter, of: key)
      case .note(let page, let note): say(note, of: page, key)
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
    pageKeys[PageName(generation: interest.generation, page: page)] = entry
    let kind = !interest.isLive && filter.ids != nil ? RequestClass.single : .backfill
    perform { requests, now in
      requests.wish(
        entry, .init(filters: raw, isLive: false, account: interest.account, idCount: [filter].idCount, kind: kind),
        at: now)
    }
  }

  /// EOSE of a page.
  func pageEnded(_ page: Drain.Page, of subscription: Subscription, _ entry: String, _ request: RequestKey) {
    let key = subscription.interest
    guard let name = pageName(page, of: key) else { return }
    endedPages[name] = EndedPage(
      entry: entry, request: request, number: subscription.number, mayClaim: subscription.mayClaim && mayClaim(key))
    let actions = interests[key]?.drain { $0.endedStored(page, subscription.completeness) }
    interests[key].map { noteFullest($0) }
    link.stored.pageCount += 1
    perform(actions ?? [], of: key)
  }

  /// What a page proves goes to the store behind its events.
  private func say(_ note: Drain.Note, of page: Drain.Page, _ key: String) {
    guard let name = pageName(page, of: key), let ended = endedPages.removeValue(forKey: name) else { return }
    let isSaid = ended.mayClaim && (note.times != nil || note.isEnd) && note.filter.ids == nil
    let times = isSaid ? note.times : nil
    lines.stored.end(
      relay: link.url.text, subscription: ended.number, filters: isSaid ? [note.filter.json] : [],
      saying: note.isEnd ? .part(times) : .page(times)
    ) { [weak self] in
      guard let self else { return }
      perform { requests, now in requests.committed(ended.entry, ended.request, at: now) }
      guard interests[key]?.generation == name.generation else { return }
      forget(page, of: key)
      if let actions = interests[key]?.drain({ $0.committed(page) }) { perform(actions, of: key) }
    }
  }

  /// The name of a page of the present interest with this key.
  private func pageName(_ page: Drain.Page, of key: String) -> PageName? {
    interests[key].map { PageName(generation: $0.generation, page: page) }
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
    if let name = pageName(page, of: key), let entry = pageKeys.removeValue(forKey: name) { dropEntry(entry) }
  }

  /// All that was wanted of a filter is committed.
  private func noteFetched(_ index: Int, of key: String) {
    guard let interest = interests[key], interest.filters.indices.contains(index), mayClaim(key),
      !(interest.isLive && StandingFilters.bringsStored(interest.filters[index]))
    else { return }
    Self.lastFetch -= 1
    lines.stored.end(
      relay: link.url.text, subscription: Self.lastFetch, filters: [interest.filters[index].json], saying: .stored,
      at: startedAt[key]
    ) {}
  }

  private func ended(_ key: String) {
    guard var interest = interests[key], case .draining(let drain) = interest.phase else { return }
    let isAgain = interest.ended(drain)
    interests[key] = interest
    startedAt[key] = nil
    if let end = drain.outcome?.end { link.stored.ends[end.rawValue, default: 0] += 1 }
    if let outcome = drain.outcome, outcome.end != .drained {
      log.notice(
        "not all stored events came",
        metadata: ["relay": "\(link.url)", "end": "\(outcome.end.rawValue)", "why": "\(outcome.reason ?? "")"])
    }
    onChanged(key)
    if isAgain, isOpen {
      fetch(key)
    } else if drain.outcome?.end == .drained {
      compareOld(of: key)
    }
  }

  /// Whether what the relay sends says what it has. A relay that has asked for authentication may keep direct messages
  /// from those who have not.
  func mayClaim(_ key: String) -> Bool {
    guard let interest = interests[key], link.session.challenge != nil else { return true }
    let isShown = interest.account.map { link.session.authenticatedAccounts.contains($0) } ?? false
    return !interest.mayBePrivate || isShown
  }
}

/// A page of an interest.
struct PageName: Hashable {
  let generation: UInt64
  let page: Drain.Page
}

/// A page that has ended and is not committed.
struct EndedPage {
  let entry: String
  let request: RequestKey
  let number: UInt32
  /// Whether the relay had no reason to keep events back.
  let mayClaim: Bool
}
