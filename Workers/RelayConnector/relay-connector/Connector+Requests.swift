import Addresses
import Bus
import Clocks
import Contracts
import Cryptography
import EventLoop
import Frames
import LinuxSystem
import Logging
import Nostr
import RelayDials
import RelaySession
import RelaySubscriptions
import WorkerKit

/// One `relay.publish` under way.
struct PublishInFlight {
  let request: BusRequest
  let relay: RelayURL
  let id: String
  /// Whether the relay's name comes from other people.
  let isForeign: Bool
  let purpose: DialPurpose
}

extension Connector {
  /// How long a relay may be silent: as configured, but a little less than the caller waits. So the caller receives the
  /// reason, and not only a timeout.
  func patience(for request: BusRequest) -> UInt64 {
    min(settings.requestTimeoutMilliseconds, callersMilliseconds(of: request) ?? .max)
  }

  /// A little less than the caller waits; nil if the caller sets no time.
  private func callersMilliseconds(of request: BusRequest) -> UInt64? {
    let ttl = UInt64(request.ttlMilliseconds)
    return ttl > 0 ? max(1, ttl - ttl / 10) : nil
  }

  /// How long an answer may take in all, even from a relay that sends all the time: a little less than the caller
  /// waits, or a multiple of the longest silence.
  private func totalMilliseconds(for request: BusRequest) -> UInt64 {
    callersMilliseconds(of: request) ?? settings.requestTimeoutMilliseconds * Self.totalPerSilence
  }

  /// How many times the longest silence an answer may take, if the caller sets no time.
  private static let totalPerSilence: UInt64 = 10

  // MARK: relay.request

  func request(_ request: BusRequest, _ wanted: RelayRequest) throws(Refusal) -> RelayRequestResult? {
    if try handsOver(request, about: wanted.relay) { return nil }
    let url = try resolve(wanted.relay)
    let list = try Filter.list(argument: wanted.filters ?? [.object([:])], countMaximum: RawFilters.countMaximum)
    // Some relays read an empty list as no condition, and would send everything.
    guard let filters = RawFilters(matchingSomething: list) else {
      return RelayRequestResult(relay: url.text, events: 0, isComplete: true)
    }
    let link = try link(url)
    let key = RequestKey(newKey())
    let inHand = RequestInFlight(
      request, link: link, key: key, SubscriptionFilters(list), limit: wanted.limit,
      isForeign: wanted.isForeign ?? false, totalMilliseconds: totalMilliseconds(for: request)
    ) {
      [unowned self] progressed in
      deadlineMoved(key, progressed)
    }
    requests[key] = inHand
    noteWork(at: link, for: .lookUp)
    if !inHand.isForeign { link.noteOwnWish() }
    // The request may take as long as the caller takes to read. That does not make a stuck worker.
    request.accept()
    request.onCancel = { [unowned self] in cancelled(key) }
    if wanted.all == true {
      beginPages(of: key, list)
      return nil
    }
    let patience = patience(for: request)
    link.tell { session, now in
      session.requestStarted(key, filters, .stored, .single, deadline: now.advanced(milliseconds: patience), at: now)
    }
    return nil
  }

  func arrived(_ key: RequestKey, _ event: UnsafeRawBufferPointer) {
    let owner = pageOwners[key] ?? key
    guard let request = requests[owner] else { return }
    let reading = (request.pages[key]?.question ?? request.question).read(event)
    let isWanted = pageArrived(key, reading)
    guard reading != .stray else {
      request.link.noteStray()
      return
    }
    guard isWanted else { return }
    request.deliver(Array(event))
    if request.hasEnough {
      cancelPages(of: owner)
      request.link.tell { session, now in session.requestCancelled(key, at: now) }
      finish(owner, isComplete: false)
    } else {
      deadlineMoved(owner, true)
    }
  }

  /// The relay has sent something, or (`progressed` false) the caller must read first, for as long as it likes.
  private func deadlineMoved(_ key: RequestKey, _ progressed: Bool) {
    guard let request = requests[key] else { return }
    let silenceEnd = EventLoop.process.now.advanced(milliseconds: settings.requestTimeoutMilliseconds)
    let deadline = request.deadline(isRelaysTurn: progressed, silenceEnd: silenceEnd)
    for key in pages(of: key) {
      request.link.tell { session, now in session.deadlineMoved(key, to: deadline, at: now) }
    }
  }

  func finish(_ key: RequestKey, isComplete: Bool, _ outcome: (end: Drain.End, reason: String?)? = nil) {
    guard let request = requests.removeValue(forKey: key) else { return }
    request.end(
      .success(
        RelayRequestResult(
          relay: request.link.url.text, events: request.count, isComplete: isComplete,
          end: outcome.flatMap { RequestReport.End(rawValue: $0.end.rawValue) }, reason: outcome?.reason)))
    settle(request.link)
  }

  private func cancelled(_ key: RequestKey) {
    cancelPages(of: key)
    guard let request = requests.removeValue(forKey: key) else { return }
    request.link.tell { session, now in session.requestCancelled(key, at: now) }
    request.end(.failure(Refusal(.cancelled, "cancelled by the caller", outcome: .done)))
    settle(request.link)
  }

  // MARK: relay.publish

  func publish(_ request: BusRequest, _ wanted: RelayPublish) throws(Refusal) -> RelayPublishResult? {
    if try handsOver(request, about: wanted.relay) { return nil }
    let url = try resolve(wanted.relay)
    let account = try wanted.account.map { text throws(Refusal) in try Self.account(text) }
    let event = wanted.event.bytes
    let (id, kind) = try Self.glance(at: event)
    let measures = EventMeasures(of: event)
    let link = try link(url)
    let key = PublishKey(newKey())
    let isForeign = wanted.isForeign ?? false
    let purpose: DialPurpose = EventKind.giftWraps.contains(kind) ? .giftWrap : isForeign ? .foreign : .publish
    publishes[key] = PublishInFlight(
      request: request, relay: url, id: "\(id)", isForeign: isForeign, purpose: purpose)
    noteWork(at: link, for: purpose)
    if !isForeign { link.noteOwnWish() }
    request.accept()
    request.onCancel = { [unowned self] in
      publishes[key] = nil
      link.tell { session, now in session.publishCancelled(key, at: now) }
      request.refuse(Refusal(.cancelled, "cancelled by the caller", outcome: .unknown))
      settle(link)
    }
    let patience = patience(for: request)
    let end = callersMilliseconds(of: request)
    link.tell { session, now in
      session.publishStarted(
        key, event: event, id: id, account: account, isProtected: wanted.isProtected ?? false, measures: measures,
        wallSeconds: WallClock.seconds,
        deadline: now.advanced(milliseconds: patience), end: end.map { now.advanced(milliseconds: $0) }, at: now)
    }
    return nil
  }

  private static func glance(at event: [UInt8]) throws(Refusal) -> (id: EventID, kind: UInt16) {
    do throws(EventGlanceFault) {
      let glance = try event.withUnsafeBytes { bytes in
        Result { () throws(EventGlanceFault) in try EventGlance(bytes) }
      }.get()
      return (glance.id, glance.kind)
    } catch {
      throw Refusal(.badRequest, "'event': \(error)", outcome: .notStarted)
    }
  }

  /// - Throws: `bad-request` for a text that is not a public key.
  static func account(_ text: String) throws(Refusal) -> PublicKey {
    guard let account = PublicKey(text) else {
      throw Refusal(.badRequest, "'account' is not 64 lower-case hexadecimal digits", outcome: .notStarted)
    }
    return account
  }

  func answered(_ key: PublishKey, _ isAccepted: Bool, _ reason: RelayReason) {
    guard let publish = publishes.removeValue(forKey: key) else { return }
    publish.request.respond(
      to: RelayMethod.publish,
      RelayPublishResult(relay: publish.relay.text, id: publish.id, isAccepted: isAccepted, message: reason.text))
    settle(links[publish.relay])
  }
}

extension Connector: RelayLinkOwner {
  func link(_ link: RelayLink, delivered key: RequestKey, _ event: UnsafeRawBufferPointer) {
    if let keeper = keeper(of: key, at: link) {
      keeper.delivered(key, event)
    } else if let reconciliation = reconciliations.running[key] {
      reconciliation.delivered(key, event)
    } else if !exchangeAnswered(key, event), !countAnswered(key, event) {
      arrived(key, event)
    }
  }

  func link(
    _ link: RelayLink, endedStored key: RequestKey, _ completeness: RelayMessage.Completeness, isOver: Bool
  ) {
    if let keeper = keeper(of: key, at: link) {
      keeper.endedStored(key, completeness)
    } else if let reconciliation = reconciliations.running[key] {
      reconciliation.endedStored(key)
    } else if isOver, !exchangeOver(key), !countOver(key), !pageEnded(key, completeness) {
      finish(key, isComplete: true)
    }
  }

  func link(_ link: RelayLink, reconciled key: RequestKey, _ message: [UInt8]) {
    reconciliations.running[key]?.reconciled(key, message)
  }

  func link(_ link: RelayLink, failed key: RequestKey, _ failure: WorkFailure) {
    if let keeper = keeper(of: key, at: link) {
      keeper.failed(key, failure)
      if let reason = failure.reason, RefusalClass(reason) == .blocked, isForeign(link) {
        log.notice("the relay blocks this client; it is asked nothing more", metadata: ["relay": "\(link.url)"])
        asides.add(link.url, failure.message)
        keeper.setAside(failure.message)
      }
    } else if let reconciliation = reconciliations.running[key] {
      reconciliation.failed(key, failure)
    } else if !exchangeFailed(key, failure), !countFailed(key, failure), !pageFailed(key, failure),
      let request = requests.removeValue(forKey: key)
    {
      request.end(.failure(Refusal(failure)))
      settle(request.link)
    }
  }

  func link(_ link: RelayLink, answered key: PublishKey, isAccepted: Bool, _ reason: RelayReason) {
    answered(key, isAccepted, reason)
  }

  func link(_ link: RelayLink, failed key: PublishKey, _ failure: WorkFailure) {
    guard let publish = publishes.removeValue(forKey: key) else { return }
    publish.request.refuse(Refusal(failure))
    settle(links[publish.relay])
  }

  func link(_ link: RelayLink, noticed key: WorkKey, _ reason: RelayReason) {
    let text = "\(link.url) says: \(reason.text)"
    switch key {
    case .request(let key): requests[pageOwners[key] ?? key]?.remark(text)
    case .publish(let key): publishes[key]?.request.progress(BusPayload(json: StatusReport(text: text)))
    }
  }

  func link(_ link: RelayLink, authenticate account: PublicKey, _ challenge: String) {
    EventLoopActor.task { [bus, log] in
      let question = SignerAuthenticate(account: "\(account)", relay: link.url.text, challenge: challenge)
      do throws(Refusal) {
        let answer = try await bus.request(
          SignerMethod.authenticate, question, ttlMilliseconds: Self.signerMilliseconds)
        let event = answer.event.bytes
        let id = try Self.glance(at: event).id
        link.tell { session, now in
          session.authenticationSigned(account, challenge: challenge, event: event, id: id, at: now)
        }
      } catch {
        log.notice("authentication failed", metadata: ["relay": "\(link.url)", "why": "\(error.message)"])
        link.tell { session, now in
          session.authenticationFailed(account, challenge: challenge, message: error.message, at: now)
        }
      }
    }
  }

  func isForeign(_ link: RelayLink) -> Bool {
    if configured.contains(link.url) { return false }
    if requests.values.contains(where: { $0.link === link && !$0.isForeign }) { return false }
    if reconciliations.all.contains(where: { $0.link === link && !$0.isForeign }) { return false }
    if counts.values.contains(where: { $0.link === link && !$0.isForeign }) { return false }
    if exchanges.values.contains(where: { $0.link === link }) { return false }
    let events = publishes.values.filter { $0.relay == link.url }
    if events.contains(where: { !$0.isForeign }) { return false }
    if let keeper = wishes.keepers[link.url] { return keeper.isForeign }
    // A dial for work that comes again.
    return !events.isEmpty || !link.hadOwnWork
  }

  func linkDismissed(_ link: RelayLink, reason: String) {
    dismissals.closed(link.url, reason, at: EventLoop.process.now)
    log.notice(
      "the relay asks not to be dialled again", metadata: ["relay": "\(link.url)", "reason": "\(reason)"])
  }

  func dismissal(of relay: RelayURL) -> (reason: String, milliseconds: UInt64)? {
    dismissals.dismissal(of: relay, at: EventLoop.process.now)
  }

  func link(_ link: RelayLink, sent key: RequestKey) {
    if let keeper = keeper(of: key, at: link) { keeper.sent(key) } else { reconciliations.running[key]?.sent(key) }
  }

  func trace(of key: RequestKey, at link: RelayLink) -> UInt64? {
    if let keeper = keeper(of: key, at: link) {
      return keeper.interest(of: key).flatMap { wishes.taken[$0]?.trace }
    }
    if let reconciliation = reconciliations.running[key] { return reconciliation.trace }
    return requests[pageOwners[key] ?? key]?.trace ?? counts[key]?.request.trace
  }

  func trace(ofPublish id: EventID, at link: RelayLink) -> UInt64? {
    let text = "\(id)"
    return publishes.values.first { $0.relay == link.url && $0.id == text }?.request.trace
  }

  func linkPolicyChanged(_ link: RelayLink) {
    wishes.keepers[link.url]?.policyChanged()
    for reconciliation in reconciliations.all where reconciliation.link === link { reconciliation.policyChanged() }
    relaysChanged([link.url])
  }

  func link(_ link: RelayLink, isHeld: Bool) { wishes.keepers[link.url]?.held(isHeld) }

  func linkPostponed(_ link: RelayLink) {
    wishes.keepers[link.url]?.closed(link.session.absence)
    relaysChanged([link.url])
  }

  func linkChanged(_ link: RelayLink, isNewPhase: Bool) {
    // A link that was left may still be closing when its relay has another one.
    guard links[link.url] === link else { return relaysChanged([link.url]) }
    let keeper = wishes.keepers[link.url]
    if !isNewPhase {
      for account in link.session.authenticatedAccounts { keeper?.shown(account) }
    } else if link.session.phase == .open {
      ledHome[link.url] = nil
      learnLimits(of: link)
      keeper?.policyChanged()
      keeper?.opened()
    } else {
      keeper?.closed(link.session.absence)
    }
    relaysChanged([link.url])
  }

  /// Shorter than the session waits for a signature, so that the session receives the signer's reason.
  private static let signerMilliseconds: UInt32 = 4_000

  /// The subscriber that made this request; nil for a request of the bus.
  private func keeper(of key: RequestKey, at link: RelayLink) -> RelaySubscriber? {
    key.rawValue >= SubscriptionSet.firstRequestKey ? wishes.keepers[link.url] : nil
  }
}
