import Bus
import Clocks
import Contracts
import EventLoop
import Frames
import Logging
import Nostr
import RelaySession
import TransportTLS
import WorkerKit

// The relay connector in its plain form: requests and publishes of the bus become REQ and EVENT on a relay.
//
// Back-pressure goes all the way: a part that finds no credit waits here, the session is told that delivery stalls, the
// socket is not read, and the relay's TCP window closes. One slow caller holds back the others of the same relay (they share
// its connection), and nobody else. While it is the caller who takes its time, the relay's deadline does not run.

/// The settings of a connector in `supervisor.conf`.
struct ConnectorSettings: Decodable, Sendable {
  /// The relays of the group.
  var relays: [String]?
  /// Whether relays are dialled that a caller names and no group has.
  var ephemeral: Bool?
  /// How long a relay may say nothing about a request.
  var requestTimeoutMilliseconds: UInt64?
  /// How long each step of connecting may take.
  var connectTimeoutMilliseconds: UInt64?
  /// A file of authorities that are trusted beside the system's; "" for none.
  var caFile: String?
}

/// Serves `relay.*`.
@EventLoopActor
final class Connector {
  private let worker: Worker
  private let bus: BusConnection
  private let log = Logger(label: "relay")
  private var settings: ConnectorSettings
  private var links: [RelayURL: RelayLink] = [:]
  private var configured: [RelayURL] = []
  private var requests: [RequestKey: RequestInHand] = [:]
  private var publishes: [PublishKey: PublishInHand] = [:]
  private var nextKey: UInt64 = 1
  private var idleTimers: [RelayURL: LoopTimer] = [:]
  /// Encrypts for all relays at `wss://`; made for the first, since the machine's authorities take memory.
  private var security: TLSClient?

  /// Relays that may be dialled by name besides the configured ones.
  static let ephemeralMaximum = 64
  /// An ephemeral relay without work is left after this long.
  static let idleMilliseconds: UInt64 = 60_000
  private static let defaultRequestMilliseconds: UInt64 = 30_000
  private static let defaultConnectMilliseconds: UInt64 = 10_000

  private struct PublishInHand {
    let request: BusRequest
    let relay: RelayURL
    let id: String
  }

  init(_ worker: Worker) throws(Refusal) {
    self.worker = worker
    bus = worker.bus
    settings = try worker.settings(as: ConnectorSettings.self)
    try adopt(settings)
    worker.onSettings = { [unowned self] _ in settingsChanged() }
    worker.onDrain = { [unowned self] in finishLive() }
    worker.serve("relay.request") { [unowned self] (request) throws(Refusal) in try self.request(request) }
    worker.serve("relay.publish") { [unowned self] (request) throws(Refusal) in try publish(request) }
    worker.serve("relay.list") { [unowned self] (request) throws(Refusal) in
      _ = try request.arguments(as: NoArguments.self)
      return BusPayload(json: states)
    }
  }

  // MARK: Settings

  private func settingsChanged() {
    do throws(Refusal) {
      settings = try worker.settings(as: ConnectorSettings.self)
      try adopt(settings)
    } catch {
      log.error("the new settings are not taken", metadata: ["why": "\(error.message)"])
    }
  }

  /// Opens what is configured and leaves what is not any more.
  private func adopt(_ settings: ConnectorSettings) throws(Refusal) {
    var wanted: [RelayURL] = []
    for text in settings.relays ?? [] { wanted.append(try parse(text)) }
    for url in configured where !wanted.contains(url) { retire(url) }
    configured = wanted
    for url in wanted { try link(url).tell { session, now in session.openRequested(at: now) } }
    announce()
  }

  private func retire(_ url: RelayURL) {
    guard let link = links[url] else { return }
    link.tell { session, now in session.closeRequested(at: now) }
    links[url] = nil
    log.info("left", metadata: ["relay": "\(url)"])
  }

  private var requestMilliseconds: UInt64 { settings.requestTimeoutMilliseconds ?? Self.defaultRequestMilliseconds }

  /// How long a relay may be silent: as configured, and a little less than the caller waits, so that the caller hears what
  /// was wrong instead of only that time ran out.
  private func patience(for request: BusRequest) -> UInt64 {
    guard request.ttlMilliseconds > 0 else { return requestMilliseconds }
    let ttl = UInt64(request.ttlMilliseconds)
    return min(requestMilliseconds, max(1, ttl - ttl / 10))
  }

  // MARK: Relays

  private func parse(_ text: String) throws(Refusal) -> RelayURL {
    do throws(RelayURLFault) { return try RelayURL(text) } catch {
      throw Refusal(.badRequest, error.description, outcome: .notStarted)
    }
  }

  /// The relay a caller means: the one it names, or the only one there is.
  private func resolve(_ text: String?) throws(Refusal) -> RelayLink {
    guard let text else {
      guard configured.count == 1, let only = configured.first else {
        throw Refusal(
          .badRequest, "'relay' is missing, and \(worker.name) has \(configured.count) relays", outcome: .notStarted)
      }
      return try link(only)
    }
    let url = try parse(text)
    if let known = links[url] { return known }
    guard settings.ephemeral == true else {
      throw Refusal(
        "no-such-relay", "\(url) is not one of \(worker.name)'s relays, and it dials no others (ephemeral = false)",
        outcome: .notStarted)
    }
    guard links.count - configured.count < Self.ephemeralMaximum else {
      throw Refusal(.full, "\(Self.ephemeralMaximum) relays are dialled by name already", outcome: .notStarted)
    }
    return try link(url)
  }

  /// What encrypts for this relay, if anything does. The file of authorities is of the worker's whole life: its sandbox
  /// was made for it.
  private func security(for url: RelayURL) throws(Refusal) -> TLSClient? {
    guard url.isSecure else { return nil }
    if let security { return security }
    do throws(TrustFault) {
      let file = settings.caFile ?? ""
      security = try TLSClient(authorityFile: file.isEmpty ? nil : file)
      return security
    } catch {
      throw Refusal(.failed, "ca-file: \(error)", outcome: .notStarted)
    }
  }

  private func link(_ url: RelayURL) throws(Refusal) -> RelayLink {
    if let link = links[url] { return link }
    let link = RelayLink(
      url: url, security: try security(for: url),
      connectMilliseconds: settings.connectTimeoutMilliseconds ?? Self.defaultConnectMilliseconds,
      messageByteCountMaximum: bus.welcome.frameLimit - FrameHeader.lengthMinimum, log: log)
    link.onEvent = { [unowned self] key, bytes in arrived(key, bytes) }
    link.onStoredEnd = { [unowned self] key in finish(key, isComplete: true) }
    link.onRequestFailed = { [unowned self] key, failure in
      guard let request = requests.removeValue(forKey: key) else { return }
      request.end(.failure(Refusal(failure)))
      settle(request.link)
    }
    link.onAnswer = { [unowned self] key, isAccepted, reason in answered(key, isAccepted, reason) }
    link.onPublishFailed = { [unowned self] key, failure in
      guard let publish = publishes.removeValue(forKey: key) else { return }
      publish.request.refuse(Refusal(failure))
      settle(links[publish.relay])
    }
    link.onNotice = { [unowned self] key, reason in noticed(key, "\(url) says: \(reason.text)") }
    link.onPhase = { [unowned self] _ in announce() }
    links[url] = link
    return link
  }

  /// A link that was dialled by name and has nothing to do is left after a while.
  private func settle(_ link: RelayLink?) {
    guard let link, !configured.contains(link.url), !link.hasWork else { return }
    let timer = idleTimers[link.url] ?? LoopTimer()
    idleTimers[link.url] = timer
    timer.set(afterMilliseconds: Self.idleMilliseconds) { [unowned self] in
      idleTimers[link.url] = nil
      if !link.hasWork { retire(link.url) }
    }
  }

  private func newKey() -> UInt64 {
    nextKey += 1
    return nextKey
  }

  // MARK: relay.request

  private func request(_ request: BusRequest) throws(Refusal) -> BusPayload? {
    let wanted = try request.arguments(as: RelayRequest.self)
    let link = try resolve(wanted.relay)
    let list = try Filter.list(argument: wanted.filters ?? [.object([:])], countMaximum: RawFilters.countMaximum)
    // Some relays take an empty list for no condition at all, and would send everything.
    guard let filters = RawFilters(matchingSomething: list) else {
      return BusPayload(json: RelayRequestResult(relay: link.url.text, events: 0, isComplete: true))
    }
    let key = RequestKey(newKey())
    let inHand = RequestInHand(request, link: link, key: key, limit: wanted.limit) { [unowned self] progressed in
      deadlineMoved(key, progressed)
    }
    requests[key] = inHand
    // It may take as long as the caller reads: that is not a stuck worker.
    request.accept()
    request.onCancel = { [unowned self] in cancelled(key) }
    let patience = patience(for: request)
    link.tell { session, now in
      session.requestStarted(key, filters, .stored, deadline: now.advanced(milliseconds: patience), at: now)
    }
    return nil
  }

  private func arrived(_ key: RequestKey, _ bytes: [UInt8]) {
    guard let request = requests[key] else { return }
    request.deliver(bytes)
    if request.hasEnough {
      request.link.tell { session, now in session.requestCancelled(key, at: now) }
      finish(key, isComplete: false)
    } else {
      deadlineMoved(key, true)
    }
  }

  /// The relay has shown life, or (`progressed` false) it is the caller's turn, for as long as it likes.
  private func deadlineMoved(_ key: RequestKey, _ progressed: Bool) {
    guard let request = requests[key] else { return }
    let milliseconds = progressed ? requestMilliseconds : UInt64.max / 2_000_000
    request.link.tell { session, now in
      session.deadlineMoved(key, to: now.advanced(milliseconds: milliseconds), at: now)
    }
  }

  private func finish(_ key: RequestKey, isComplete: Bool) {
    guard let request = requests.removeValue(forKey: key) else { return }
    request.end(
      .success(RelayRequestResult(relay: request.link.url.text, events: request.count, isComplete: isComplete)))
    settle(request.link)
  }

  private func cancelled(_ key: RequestKey) {
    guard let request = requests.removeValue(forKey: key) else { return }
    request.link.tell { session, now in session.requestCancelled(key, at: now) }
    request.end(.failure(Refusal(.cancelled, "cancelled by the caller", outcome: .done)))
    settle(request.link)
  }

  /// Draining: what streams is cut short, rather than waiting for a relay or a caller that takes its time.
  private func finishLive() {
    for url in configured { links[url]?.tell { session, _ in session.deliveryResumed() } }
  }

  // MARK: relay.publish

  private func publish(_ request: BusRequest) throws(Refusal) -> BusPayload? {
    let wanted = try request.arguments(as: RelayPublish.self)
    let link = try resolve(wanted.relay)
    let event = JSONPayload.encode(wanted.event)
    let glance: EventGlance
    do throws(EventGlanceFault) {
      glance = try event.withUnsafeBytes { bytes in
        Result { () throws(EventGlanceFault) in try EventGlance(bytes) }
      }.get()
    } catch {
      throw Refusal(.badRequest, "'event': \(error)", outcome: .notStarted)
    }
    let key = PublishKey(newKey())
    publishes[key] = PublishInHand(request: request, relay: link.url, id: "\(glance.id)")
    request.accept()
    request.onCancel = { [unowned self] in
      publishes[key] = nil
      link.tell { session, now in session.publishCancelled(key, at: now) }
      request.refuse(Refusal(.cancelled, "cancelled by the caller", outcome: .unknown))
    }
    let patience = patience(for: request)
    link.tell { session, now in
      session.publishStarted(
        key, event: event, id: glance.id, deadline: now.advanced(milliseconds: patience), at: now)
    }
    return nil
  }

  private func answered(_ key: PublishKey, _ isAccepted: Bool, _ reason: RelayReason) {
    guard let publish = publishes.removeValue(forKey: key) else { return }
    publish.request.respond(
      BusPayload(
        json: RelayPublishResult(
          relay: publish.relay.text, id: publish.id, isAccepted: isAccepted, message: reason.text)))
    settle(links[publish.relay])
  }

  private func noticed(_ key: WorkKey, _ text: String) {
    switch key {
    case .request(let key): requests[key]?.remark(text)
    case .publish(let key): publishes[key]?.request.progress(BusPayload(json: Status(text: text)))
    }
  }

  // MARK: States

  private var states: RelayStates {
    RelayStates(relays: links.values.map(state).sorted { $0.relay < $1.relay })
  }

  private func state(of link: RelayLink) -> RelayStates.Relay {
    let counters = link.session.counters
    let isOpen = link.session.phase == .open
    return RelayStates.Relay(
      relay: link.url.text, state: link.session.phase.rawValue,
      reason: isOpen || link.session.lastFailure.isEmpty ? nil : link.session.lastFailure, events: counters.events,
      bytes: counters.messageBytes, connections: counters.connections,
      latencyMilliseconds: counters.lastLatencyMilliseconds)
  }

  private func announce() {
    let states = states
    let open = states.relays.count { $0.state == RelaySession.Phase.open.rawValue }
    bus.sendStatus(Status(text: "\(open) of \(states.relays.count) relays connected"))
    EventLoopActor.task { [bus] in
      // Whoever listens gets the next one; nobody waits for this one.
      do throws(Refusal) { try await bus.publish("relay.states", BusPayload(json: states)) } catch {}
    }
  }
}

extension Refusal {
  /// What a session's failure is to the caller.
  init(_ failure: WorkFailure) {
    let outcome: Outcome = failure.outcome == .unknown ? .unknown : .notStarted
    self.init(
      RefusalCode(rawValue: failure.code.rawValue), failure.message, outcome: outcome,
      retryAfterMilliseconds: failure.retryAfterMilliseconds.map { UInt32(clamping: $0) })
  }
}
