import Clocks
import Contracts
import EventLoop
import Frames
import LinuxSystem
import Nostr
import RelaySession
import RelaySubscriptions

// `relay.request` with `all`: the same drain as that of an interest, but its events go to the caller, and nothing is
// covered beforehand. A page is a request of its own at the session.

extension Connector {
  /// Begins to ask for all that the filters of a call match.
  func beginPages(of key: RequestKey, _ filters: [Filter]) {
    guard let request = requests[key] else { return }
    let policy = request.link.session.policy
    let maximum = max(512, policy.messageBytes.value - StandingFilters.envelopeByteCount)
    var parts: [Drain.Part] = []
    for (index, filter) in filters.enumerated() {
      guard let cut = Drain.parts(of: filter, byteMaximum: maximum) else {
        let message = "a filter has \(filter.json.count) bytes and cannot be cut, and the relay takes \(maximum)"
        requests[key] = nil
        request.end(.failure(Refusal(.badRequest, message, outcome: .notStarted)))
        return
      }
      parts += Drain.plan(
        filter, index: index, depth: .all, known: cut.map { Drain.Known(filter: $0) }, fetchedAt: nil,
        byteMaximum: maximum, wall: WallClock.seconds)
    }
    var limits = Drain.Limits()
    limits.pageMaximum = Self.pageMaximum
    var drain = Drain(
      parts, filterCount: filters.count, pageSize: policy.limit.value,
      limits: limits)
    let actions = drain.begin()
    request.drain = drain
    perform(actions, of: key)
  }

  /// The most pages of one call at a time.
  private static let pageMaximum = 4

  /// The requests at the session that belong to a call.
  func pages(of key: RequestKey) -> [RequestKey] {
    guard let request = requests[key], request.drain != nil else { return [key] }
    return Array(request.pages.keys)
  }

  private func perform(_ actions: [Drain.Action], of key: RequestKey) {
    var actions = actions[...]
    while let action = actions.popFirst() {
      guard let request = requests[key] else { return }
      switch action {
      case .ask(let page, let filter): ask(page, filter, of: key, request)
      case .note(let page, _): actions += request.drain?.committed(page) ?? []
      case .withdraw(let page):
        for name in request.pages.filter({ $0.value.page == page }).keys { withdraw(name, of: request) }
      case .fetched: break
      case .ended:
        let outcome = request.drain?.outcome
        finish(key, isComplete: outcome?.end == .drained, outcome)
      }
    }
  }

  private func ask(_ page: Drain.Page, _ filter: Filter, of key: RequestKey, _ request: RequestInFlight) {
    guard let filters = RawFilters(matchingSomething: [filter]) else { return }
    let name = RequestKey(newKey())
    request.pages[name] = (page, SubscriptionFilters([filter]))
    pageOwners[name] = key
    request.drain?.sent(page, wall: WallClock.seconds)
    let silenceEnd = EventLoop.process.now.advanced(milliseconds: settings.requestTimeoutMilliseconds)
    let deadline = request.deadline(isRelaysTurn: true, silenceEnd: silenceEnd)
    request.link.tell { session, now in
      session.requestStarted(name, filters, .stored, .single, deadline: deadline, at: now)
    }
  }

  private func withdraw(_ name: RequestKey, of request: RequestInFlight) {
    request.pages[name] = nil
    pageOwners[name] = nil
    request.link.tell { session, now in session.requestCancelled(name, at: now) }
  }

  /// The call is over: its pages are not needed.
  func cancelPages(of key: RequestKey) {
    guard let request = requests[key] else { return }
    for name in request.pages.keys { withdraw(name, of: request) }
  }

  /// An event came, maybe of a page.
  ///
  /// - Returns: whether it is to be delivered: it is not if it has come before.
  func pageArrived(_ name: RequestKey, _ reading: SubscriptionFilters.Reading) -> Bool {
    guard let key = pageOwners[name], let request = requests[key], let page = request.pages[name]?.page else {
      return true
    }
    var actions: [Drain.Action] = []
    var isNew = reading == .unreadable
    if case .match(let event, let createdAt) = reading {
      isNew = request.drain?.received(page, event, createdAt: createdAt, &actions) ?? false
    } else {
      request.drain?.receivedOther(page, isReadable: reading == .stray, &actions)
    }
    perform(actions, of: key)
    return isNew && requests[key] != nil
  }

  /// EOSE came; returns false when it is not of a page.
  func pageEnded(_ name: RequestKey, _ completeness: RelayMessage.Completeness) -> Bool {
    guard let key = pageOwners.removeValue(forKey: name) else { return false }
    guard let request = requests[key], let page = request.pages.removeValue(forKey: name)?.page else { return true }
    perform(request.drain?.endedStored(page, completeness) ?? [], of: key)
    return true
  }

  /// A page has failed; returns false when it is not of a page. Before the first event the call fails with it.
  func pageFailed(_ name: RequestKey, _ failure: WorkFailure) -> Bool {
    guard let key = pageOwners.removeValue(forKey: name) else { return false }
    guard let request = requests[key], let page = request.pages.removeValue(forKey: name)?.page else { return true }
    if request.isLate, request.count > 0 {
      cancelPages(of: key)
      finish(key, isComplete: false, (.silent, failure.message))
      return true
    }
    if request.count == 0 {
      cancelPages(of: key)
      requests[key] = nil
      request.end(.failure(Refusal(failure)))
      settle(request.link)
      return true
    }
    let end: Drain.End =
      switch failure.code {
      case .timedOut: .silent
      case .relayUnreachable, .disconnected, .closing, .full, .noSlot: .cut
      default: .refused
      }
    perform(request.drain?.failed(page, end, failure.message) ?? [], of: key)
    return true
  }
}
