import Addresses
import Bus
import Clocks
import Contracts
import EventLoop
import Frames
import Logging
import Nostr
import RelayDials
import RelaySession
import RelaySubscriptions
import TLS
import WorkerKit

// The relay connector: carries out what callers on the bus want of relays.
//
//    relay.request, relay.publish ──▶ RelayLink ──▶ relay       one answer each: Connector+Requests
//    relay.desire ──▶ RelaySubscriber ──▶ RelayLink            the interests: Connector+Subscriptions
//                          └──▶ IngestSender ──▶ store.import until EOSE, store.ingest after it
//
// Back-pressure goes all the way. A part for which there is no credit waits here, and so do events for the store. The
// session then stalls delivery, the connector does not read the socket, and the relay's TCP window closes. A slow
// caller holds back the other callers of the same relay, which share its connection, and no other caller. A slow store
// holds back only the relays that have more than their share of events waiting for it (see IngestRuns).

/// Serves `relay.*`: the relays of a group, and the work for them.
@EventLoopActor
final class Connector {
  let worker: Worker
  let bus: BusConnection
  let log = Logger(label: "relay")
  private(set) var settings: ConnectorSettings
  private(set) var links: [RelayURL: RelayLink] = [:]
  private(set) var configured: [RelayURL] = []
  /// Where this Roost's own relays listen, see Connector+Own.
  var own = OwnAddresses()
  /// Relays of the group whose connection led to an own relay, with the reason.
  var ledHome: [RelayURL: String] = [:]
  /// Links that were left and whose connections have not ended yet.
  private var leaving: [DialKey: RelayLink] = [:]
  /// The groups of the other connectors, see Connector+Groups.
  private(set) var groups = OtherGroups([], besides: "")
  /// The dials of relays outside the group, see Connector+Dials.
  var dials = DialBudget(seed: UInt64.random(in: .min ... .max))
  let dialTimer = LoopTimer()
  /// What came of the dials of relays outside the group so far.
  var outside = RelayStates.Outside()
  /// How long relays took to which there are no links any longer.
  private var pastLatencies = SessionLatencies()
  private var idleTimers: [RelayURL: LoopTimer] = [:]
  private var nextKey: UInt64 = 1
  /// Whether a state has changed since the last publish, and whether a publish is under way.
  private var (areStatesNew, isTellingStates) = (false, false)
  /// The encryption for all relays at `wss://`. Made for the first one, because the machine's authorities take memory.
  private var security: TLSClient?

  /// The `relay.request` calls under way, see Connector+Requests.
  var requests: [RequestKey: RequestInFlight] = [:]
  /// The call that a page belongs to, see Connector+Pages.
  var pageOwners: [RequestKey: RequestKey] = [:]
  /// The `relay.publish` calls under way.
  var publishes: [PublishKey: PublishInFlight] = [:]
  /// The `relay.publications` calls under way, see Connector+Publications.
  var exchanges: [RequestKey: PublicationsInFlight] = [:]
  /// The counts under way (NIP-45).
  var counts: [RequestKey: CountInFlight] = [:]
  /// The reconciliations with relays, see Connector+Reconciliations.
  var reconciliations = ReconciliationTable()
  /// The interests, see Connector+Subscriptions.
  var wishes = SubscriptionTable()
  /// The callers of `relay.follow`.
  var followers: [Follower] = []
  /// Which relay's bytes are being processed, and which relays are in quarantine.
  let quarantine: QuarantineService
  /// Relays that asked not to be dialled again.
  var dismissals = Dismissals()
  /// Relays that block this client, and are asked nothing while only other people name them.
  var asides = Dismissals()
  /// The information documents of relays, see Connector+Information.
  var information = InformationTable()
  /// The names of people that were looked up, see Connector+Names.
  var names = NameTable()
  /// Which key the relays see; it is the same for the life of the process.
  private let authenticate: ConnectorSettings.Authentication
  private let throwAwayKeys = ThrowAwayKeys()
  /// The senders to the store: one for stored events, one for new ones.
  let lines: IngestSenders
  /// What is covered, as the store says.
  let coverage: CoverageReader

  /// How long a link is kept that is not wanted and has no work.
  static let idleMilliseconds: UInt64 = 60_000

  init(_ worker: Worker) throws(Refusal) {
    self.worker = worker
    bus = worker.bus
    settings = try worker.settings(of: ConnectorSettings.self)
    authenticate = settings.authenticate
    quarantine = QuarantineService(log: log)
    lines = IngestSenders(worker.bus)
    coverage = CoverageReader(worker.bus, log: log)
    lines.onHeld = { [unowned self] url, isHeld in
      guard let link = links[url] else { return }
      isHeld ? link.hold() : link.release()
    }
    lines.onInvalid = { [unowned self] relay, events in
      // `try?`: the link wrote this URL itself.
      guard let url = try? RelayURL(relay), let link = links[url], link.noteInvalid(events) else { return }
      // The planner leaves such a relay out, also one that stays connected.
      for follower in followers { follower.changed(url) }
    }
    lines.onStored = { [unowned self] relay, count in
      // `try?`: the link wrote this URL itself.
      guard let url = try? RelayURL(relay) else { return }
      links[url]?.noteStored(count)
      if isOutside(url) { outside.newEvents += UInt64(count) }
    }
    try adopt(settings)
    worker.onSettings = { [unowned self] _ in settingsChanged() }
    worker.onDrain = { [unowned self] in finishLive() }
    worker.onSuspendEnd = { [unowned self] in
      for link in links.values { link.tell { session, now in session.suspendEnded(at: now) } }
    }
    worker.serve(RelayMethod.request, request)
    worker.serve(RelayMethod.publish, publish)
    worker.serve(RelayMethod.desire) { [unowned self] (_, wanted) throws(Refusal) in try desire(wanted) }
    worker.serve(RelayMethod.follow) { [unowned self] (request, _) throws(Refusal) in try follow(request) }
    worker.serve(RelayMethod.list) { [unowned self] (_, _) in remarkedStates }
    worker.serve(RelayMethod.information) { [unowned self] (request, wanted) throws(Refusal) in
      try handsOver(request, about: wanted.relay) ? nil : try await information(wanted)
    }
    worker.serve(RelayMethod.retry) { [unowned self] (request, wanted) throws(Refusal) in
      try handsOver(request, about: wanted.relay) ? nil : try retry(wanted)
    }
    worker.serve(RelayMethod.reconcile, reconcile)
    worker.serve(RelayMethod.compare, compare)
    worker.serve(RelayMethod.resolveName, resolve)
    worker.serve(RelayMethod.publications, publications)
    worker.serve(RelayMethod.count, count)
  }

  // MARK: Settings

  private func settingsChanged() {
    do throws(Refusal) {
      let nameServer = settings.nameServer
      settings = try worker.settings(of: ConnectorSettings.self)
      if settings.nameServer != nameServer { names.known.forgetAnswers() }
      try adopt(settings)
    } catch {
      log.error("the new settings are not taken", metadata: ["why": "\(error.message)"])
    }
  }

  /// Opens the configured relays, and leaves those that are no longer configured.
  private func adopt(_ settings: ConnectorSettings) throws(Refusal) {
    var wanted: [RelayURL] = []
    for text in settings.relays { wanted.append(try parse(text)) }
    let gone = configured.filter { !wanted.contains($0) }
    configured = wanted
    let before = groups
    groups = OtherGroups(settings.connectors, besides: worker.name)
    recount()
    adoptOwn(settings, areGroupsNew: groups != before)
    for url in gone { dismissals.forget(url) }
    for url in wanted { readmit(url) }
    // Interests at a relay that is dialled by name continue without the configuration.
    for url in gone where !isWanted(url) { retire(url) }
    for url in wanted { links[url]?.noteOwnWish() }
    if settings.connect != .onDemand {
      for url in wanted where !isOwn(url) { try link(url).tell { session, now in session.openRequested(at: now) } }
    }
    for keeper in wishes.keepers.values where keeper.pageMaximum != settings.pagesAtOnce {
      keeper.pageMaximum = settings.pagesAtOnce
    }
    relaysChanged(wanted + gone)
    for follower in followers { follower.changed() }
  }

  func retire(_ url: RelayURL) {
    guard let link = links[url] else { return }
    links[url] = nil
    pastLatencies.add(link.session.counters.latencies)
    idleTimers.removeValue(forKey: url)?.cancel()
    information.shelf.left(url, at: EventLoop.process.now)
    perform(dials.left(link.key, at: EventLoop.process.now))
    leaving[link.key] = link
    link.tell { session, now in session.closeRequested(at: now) }
    forgetIfEnded(link)
    quarantine.leave(url)
    log.info("left", metadata: ["relay": "\(url)"])
  }

  /// The connection of a link has ended, or its dial has failed.
  func dialEnded(_ link: RelayLink, after milliseconds: UInt64) {
    if isOutside(link.url) {
      outside.ended += 1
      outside.milliseconds += milliseconds
    }
    perform(dials.ended(link.key, at: EventLoop.process.now))
    forgetIfEnded(link)
  }

  private func forgetIfEnded(_ link: RelayLink) {
    if !link.hasSocket { leaving[link.key] = nil }
  }

  /// For a drain: ends streams early, without waiting for a slow relay or caller.
  private func finishLive() {
    for link in links.values { link.releaseAll() }
    for reconciliation in reconciliations.all { reconciliation.cancel() }
    for exchange in exchanges.values { exchange.request.onCancel?() }
    for count in counts.values { count.request.onCancel?() }
    for follower in followers { follower.finish() }
    for keeper in wishes.keepers.values { keeper.coverLive() }
    endFetches()
  }

  // MARK: Relays

  func parse(_ text: String) throws(Refusal) -> RelayURL {
    do throws(RelayURLFault) { return try RelayURL(text) } catch {
      throw Refusal(.badRequest, error.description, outcome: .notStarted)
    }
  }

  /// The relay that a caller means: the one it names, or the only one configured. This makes no link: only a caller
  /// with work for the relay calls ``link(_:)``.
  func resolve(_ text: String?) throws(Refusal) -> RelayURL {
    guard let text else {
      guard configured.count == 1, let only = configured.first else {
        throw Refusal(
          .badRequest, "'relay' is missing, and \(worker.name) has \(configured.count) relays", outcome: .notStarted)
      }
      try refuseOwn(only)
      return only
    }
    let url = try parse(text)
    try refuseOwn(url)
    try requireDialling(url, besides: 0)
    return url
  }

  /// - Parameter besides: the number of other relays outside the group that will also be dialled.
  func requireDialling(_ url: RelayURL, besides: Int) throws(Refusal) {
    if configured.contains(url) { return }
    guard groups.owners[url] == nil else { throw notHere(url) }
    if links[url] != nil { return }
    guard settings.ephemeral else { throw notHere(url) }
    let others = links.keys.count(where: isOutside)
    guard others + besides < Self.otherMaximum else {
      throw Refusal(.full, "\(Self.otherMaximum) relays are dialled by name already", outcome: .notStarted)
    }
  }

  /// The encryption for this relay, if its URL needs it. The file of authorities cannot change during the worker's
  /// life, because the sandbox was made for it.
  private func security(for url: RelayURL) throws(Refusal) -> TLSClient? {
    guard url.isSecure else { return nil }
    do throws(TrustFault) { return try trust() } catch {
      throw Refusal(.failed, "ca-file: \(error)", outcome: .notStarted)
    }
  }

  /// The TLS client of this process, with its authorities.
  func trust() throws(TrustFault) -> TLSClient {
    if let security { return security }
    let file = settings.caFile
    let made = try TLSClient(authorityFile: file.isEmpty ? nil : file)
    security = made
    return made
  }

  func link(_ url: RelayURL) throws(Refusal) -> RelayLink {
    if let link = links[url] { return link }
    let link = RelayLink(
      url: url, key: DialKey(newKey()), security: try security(for: url), quarantine: quarantine,
      connectMilliseconds: settings.connectTimeoutMilliseconds,
      messageByteCountMaximum: bus.welcome.frameLimit - FrameHeader.lengthMinimum, authenticate: authenticate,
      throwAwayKey: throwAwayKeys.key(for: url), log: log, owner: self)
    if lines.isHeld(url) { link.hold() }
    links[url] = link
    return link
  }

  /// Whether a relay is to be connected even without work.
  func isWanted(_ url: RelayURL) -> Bool {
    (configured.contains(url) && settings.connect != .onDemand) || wishes.hasWishes(at: url)
      || reconciliations.all.contains { $0.link.url == url }
  }

  /// Leaves a relay after a while, if it need not be connected and has no work.
  func settle(_ link: RelayLink?) {
    // A link that was left already ends its work now; by then its URL may have another link.
    guard let link, links[link.url] === link, !isWanted(link.url), !link.hasWork else { return }
    noteIdle(link)
    // Its place may have gone to another relay at once.
    guard links[link.url] === link else { return }
    let url = link.url
    let timer = idleTimers[url] ?? LoopTimer()
    idleTimers[url] = timer
    timer.set(afterMilliseconds: Self.idleMilliseconds) { [unowned self] in
      idleTimers[url] = nil
      if links[url]?.hasWork == false, !isWanted(url) { retire(url) }
    }
  }

  func newKey() -> UInt64 {
    nextKey += 1
    return nextKey
  }

  private func retry(_ wanted: RelayRetry) throws(Refusal) -> RelayStates.Relay {
    let url = try parse(wanted.relay)
    try refuseOwn(url)
    guard links[url] != nil || configured.contains(url) || quarantine.hasStrikes(url) || dismissal(of: url) != nil
    else {
      throw Refusal(.noSuchRelay, "\(url) is not among the relays of \(worker.name) now", outcome: .notStarted)
    }
    if wanted.onlyBackOff == true {
      links[url]?.endBackOff()
      relaysChanged([url])
      return state(of: url)
    }
    log.info("tried again, as asked", metadata: ["relay": "\(url)"])
    quarantine.forgive(url)
    dismissals.forget(url)
    asides.forget(url)
    reconciliations.memory.forget(url)
    wishes.keepers[url]?.forgive()
    links[url]?.retry()
    try comeBack(to: url)
    relaysChanged([url])
    return state(of: url)
  }

  // MARK: States

  /// The relays of the group, and the others that are dialled.
  var urls: Set<RelayURL> { Set(links.keys).union(configured) }

  var states: RelayStates {
    var states = RelayStates(relays: urls.map(state).sorted { $0.relay < $1.relay })
    if settings.ephemeral { states.outside = outside }
    return states
  }

  /// The same, with how long relays took, and with remarks for the relays that made the latest ones.
  private var remarkedStates: RelayStates {
    var states = states
    states.latencies = RelayStates.Latencies(
      links.values.reduce(into: pastLatencies) { $0.add($1.session.counters.latencies) })
    var remarks: [String: [RelayRemark]] = [:]
    for (url, link) in links { remarks[url.text] = link.remarks }
    let latest = remarks.filter { !$0.value.isEmpty }.sorted {
      (($1.value.first?.at ?? 0), $0.key) < (($0.value.first?.at ?? 0), $1.key)
    }
    let told = Set(latest.prefix(RelayRemark.relayMaximum).map(\.key))
    for index in states.relays.indices where told.contains(states.relays[index].relay) {
      states.relays[index].remarks = remarks[states.relays[index].relay]
    }
    return states
  }

  func state(of url: RelayURL) -> RelayStates.Relay {
    var state = links[url]?.state ?? RelayStates.Relay(relay: url.text, state: .idle)
    if links[url] == nil { state.reason = reasonAgainst(url) }
    guard configured.contains(url) else { return state }
    state.isConfigured = true
    state.reads = settings.reads
    state.writes = settings.writes
    return state
  }

  /// One line for `roost status`. An idle relay does not count as a missing one.
  private func summary(_ states: RelayStates) -> String {
    let idle = states.relays.count { $0.state == .idle }
    let open = states.relays.count { $0.state == .open }
    let quarantined = states.relays.count { $0.state == .quarantined }
    let waiting = states.relays.count { $0.waitsForBudget == true }
    var text = "\(open) of \(states.relays.count - idle) relays connected"
    if waiting > 0 { text += ", \(waiting) over the budget" }
    if states.relays.isEmpty {
      text = settings.ephemeral ? "no relay outside the groups needed now" : "no relays"
    } else if idle == states.relays.count {
      text = "no relay needed now, of \(idle)"
    } else if idle > 0 {
      text += ", \(idle) not needed now"
    }
    return quarantined > 0 ? "\(text), \(quarantined) quarantined" : text
  }

  /// Announces to followers and subscribers that the state of these relays has changed.
  func relaysChanged(_ urls: [RelayURL]) {
    for url in urls { for follower in followers { follower.changed(url) } }
    areStatesNew = true
    if isTellingStates { return }
    isTellingStates = true
    EventLoopActor.task { [self] in await tellStates() }
  }

  /// Each publish contains all relays, so changes that come during one are gathered for the next: a hundred relays that
  /// connect at once do not cause a hundred lists of a hundred relays.
  private func tellStates() async {
    while areStatesNew {
      areStatesNew = false
      let states = states
      bus.sendStatus(StatusReport(text: summary(states)))
      // Subscribers receive the next publish; no caller waits for this one.
      do throws(Refusal) { try await bus.publish(RelayTopic.states, states) } catch {}
    }
    isTellingStates = false
  }
}

extension RelayStates.Latencies {
  /// What sessions have measured.
  fileprivate init(_ measured: SessionLatencies) {
    func told(_ histogram: LatencyHistogram) -> RelayStates.Latency {
      RelayStates.Latency(counts: histogram.counts, sumMicroseconds: histogram.sumMicroseconds)
    }
    self.init(connect: told(measured.connect), stored: told(measured.stored), accepted: told(measured.accepted))
  }
}

extension Refusal {
  /// The refusal that the caller receives for a session's failure.
  init(_ failure: WorkFailure) {
    let outcome: Outcome = failure.outcome == .unknown ? .unknown : .notStarted
    self.init(
      RefusalCode(rawValue: failure.code.rawValue), failure.message, outcome: outcome,
      retryAfterMilliseconds: failure.retryAfterMilliseconds.map { UInt32(clamping: $0) })
  }
}
