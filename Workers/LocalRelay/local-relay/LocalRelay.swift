import Addresses
import Bus
import ClientSession
import Clocks
import Contracts
import Cryptography
import EventLoop
import Frames
import LinuxSystem
import WorkerLedger
import Logging
import Nostr
import Storage
import TLS
import WebSocket
import WorkerKit

// The local relay: which clients are admitted, and what all clients share.
//
// A client on this machine that belongs to the relay's user may do what Nostr relays permit, without authentication.
// Processes of other users, and clients behind a proxy, must authenticate (see `LocalUserCheck`). A page in a browser
// is on this machine too, and any web site may have written it: it may do nothing until its origin is allowed, or it
// has authenticated as an account. If a page's own name resolves to 127.0.0.1, its `Host` field reveals it. A client
// from the network must authenticate, over TLS.

/// Serves clients, and `local.*`.
@EventLoopActor
final class LocalRelay: ClientLink.Owner {
  let worker: Worker
  let log = Logger(label: "local-relay")
  let desk: EventIntake
  let questions = QueryScheduler()
  private(set) var environment = ClientEnvironment()
  private(set) var settings: LocalRelaySettings
  /// The addresses on which it listens.
  private(set) var places: [SocketAddress] = []
  private(set) var clients: [UInt64: ClientLink] = [:]
  /// Counters of clients that have left.
  private var pastDelivered: UInt64 = 0
  private var pastTaken: UInt64 = 0
  private var pastRefused: UInt64 = 0
  private var nextClient: UInt64 = 1
  private var server: WebSocketServer?
  private var security: TLSServer?
  private var origins: AllowedOrigins
  private let accounts: AccountFollower
  /// The origins, keys and filters whose queries also go to the network.
  private var fetchOrigins: Set<Origin> = []
  private var fetchKeys: Set<PublicKey> = []
  private var fetchFilters: [Filter] = []
  var userCheck: LocalUserCheck
  /// Whether the kernel could name the owner of a connection at the start.
  private let knowsUsers: Bool
  /// Clients that were not admitted since the start, by reason.
  private var outsiders: [LocalUserCheck.Outside: Int] = [:]
  /// The weight of all subscriptions: at most 12,000 with one value each, or 50 of the largest. Less than the store's
  /// 20,000 observations, which other workers need too.
  var standing = StandingShares(maximum: 500_000)
  /// Clients that do not read their output.
  var stalledCount = 0
  /// The URLs under which clients may know this relay.
  private var names: Set<RelayURL> = []
  private var lastStatus = ""
  private(set) lazy var look = StatusCollector(self)
  private(set) lazy var figures = FigureKeeper(look, directory: directory)
  private let directory: String
  /// When the process started, in milliseconds since 1970.
  let startedAtMilliseconds = WallClock.milliseconds

  /// Most subscriptions of one client that also go to the network.
  private static let fetchMaximum = 64

  var bus: BusConnection { worker.bus }
  var slowMilliseconds: UInt64 { settings.slowClientMilliseconds }

  init(_ worker: Worker, directory: String, owners: SocketOwners?, knowsUsers: Bool) throws(Refusal) {
    self.worker = worker
    self.directory = directory
    self.knowsUsers = knowsUsers
    userCheck = LocalUserCheck(owners)
    desk = EventIntake(worker.bus, Logger(label: "local-relay"))
    settings = try worker.settings(of: LocalRelaySettings.self)
    do throws(StorageFault) {
      origins = try AllowedOrigins(directory: directory, now: WallClock.seconds)
      accounts = try AccountFollower(worker.bus, directory: directory, Logger(label: "local-relay"))
    } catch {
      throw Refusal(error.mayPass ? .unavailable : .failed, "\(error)")
    }
    origins.rescue?.tell("the file of allowed origins", log)
    environment.accounts = accounts.keys
    try adopt(settings)
    if !knowsUsers {
      log.error(
        "the kernel does not tell whose programs connect: all of them, your own too, have to authenticate (AUTH)",
        metadata: ["do": "as root: modprobe tcp_diag; then: roost restart \(worker.name)"])
    }
  }

  /// Listens, and starts to serve.
  func start() async throws(Refusal) {
    serve()
    worker.onSettings = { [unowned self] _ in settingsChanged() }
    worker.onDrain = { [unowned self] in drain() }
    worker.onEnd = { [origins, accounts, figures, log] in
      do throws(StorageFault) {
        try figures.close()
        try origins.close()
        try accounts.close()
      } catch { log.error("cannot close", metadata: ["why": "\(error)"]) }
    }
    bus.onEvent = { [accounts] event in
      accounts.received(event)
      event.acknowledge()
    }
    bus.onRegistry = { [accounts] in accounts.registryChanged($0) }
    accounts.onChange = { [unowned self] in accountsChanged() }
    await accounts.start()
    try listen()
    figures.start()
    tellStatus()
  }

  private func listen() throws(Refusal) {
    let certificate = settings.certificateFile
    if !certificate.isEmpty {
      let key = settings.keyFile
      do throws(IdentityFault) {
        security = try TLSServer(certificateFile: certificate, keyFile: key.isEmpty ? certificate : key)
      } catch {
        throw Refusal(.failed, "certificate-file: \(error)")
      }
      security?.onRenewal = { [unowned self] in certificateRenewed($0) }
    }
    let server = WebSocketServer(delegate: self, limits: settings.serverLimits)
    for address in try settings.addresses() {
      if !address.isLoopback, security == nil {
        throw Refusal(.failed, "listen: \(address) is open to others: that needs certificate-file and key-file")
      }
      do throws(LoopFault) {
        // No other machine can read the loopback, and local clients connect without TLS.
        let port = try server.listen(on: address, security: address.isLoopback ? nil : security)
        places.append(SocketAddress(address.address, port: port))
      } catch {
        // A machine without IPv6 has no ::1, which the default includes.
        if address.isIPv6, address.isLoopback, error.hasNoSuchAddress, !places.isEmpty { continue }
        throw Refusal(.unavailable, "\(error)")
      }
    }
    self.server = server
    names = namesNow
    let words = addresses.map(\.text) + (everywhere ?? []).map { "(\($0))" }
    log.notice("listening", metadata: ["addresses": "\(words.joined(separator: " "))"])
  }

  private func drain() {
    server?.close()
    for client in clients.values { client.close(code: 1001, "the relay is stopping; come again") }
  }

  // MARK: Settings

  private func settingsChanged() {
    let before = userCheck
    do throws(Refusal) { try adopt(try worker.settings(of: LocalRelaySettings.self)) } catch {
      log.error("the new settings are not taken", metadata: ["why": "\(error.message)"])
    }
    // The requirement is fixed when a client connects, so a client whose requirement changes must reconnect.
    for client in clients.values where client.identity.address.isLoopback {
      let outside = userCheck.outside(client.identity)
      guard outside != before.outside(client.identity) else { continue }
      client.close(code: 1012, outside?.why ?? "you may come in now")
    }
    reloadCertificate()
  }

  /// `roost reload` reads the certificate again. Open connections stay; new connections use the new certificate.
  private func reloadCertificate() {
    guard let security else { return }
    do throws(IdentityFault) {
      if try security.reload() { certificateRenewed(.success(security.certificate)) }
    } catch { certificateRenewed(.failure(error)) }
  }

  private func certificateRenewed(_ result: Result<String, IdentityFault>) {
    switch result {
    case .success(let words): log.notice("the certificate is a new one", metadata: ["for": "\(words)"])
    case .failure(let fault):
      log.error(
        "the new certificate is not taken, and the old one stays in use",
        metadata: ["why": "\(fault)", "or": "'roost restart \(worker.name)', if a sandbox keeps the file closed"])
    }
  }

  /// Takes all new settings, or none of them.
  private func adopt(_ new: LocalRelaySettings) throws(Refusal) {
    let guests = try new.guestKeys()
    let fetchers = try new.fetchers()
    fetchFilters = try new.fetchFilters.map { text throws(Refusal) in
      do throws(FilterFault) { return try Filter(json: Array(text.utf8)) } catch {
        throw Refusal(.failed, "fetch-filters: \(text): \(error)")
      }
    }
    (fetchOrigins, fetchKeys) = fetchers
    environment.guests = guests
    for client in clients.values { client.noteAdmission() }
    userCheck.allowed = Set(new.allowUids)
    settings = new
    names = namesNow
  }

  // MARK: Accounts

  func confirmAccounts() async { await accounts.confirm() }

  private func accountsChanged() {
    environment.accounts = accounts.keys
    desk.houseChanged()
    for client in clients.values { client.noteAdmission() }
  }

  // MARK: Clients

  /// The URLs at which clients reach this relay.
  var addresses: [RelayURL] {
    Self.relays(
      places.flatMap { place in
        let names = settings.hosts
        // Network clients use TLS, and the names that the certificate may have. An unspecified address cannot be
        // dialled.
        let hosts =
          place.isLoopback
          ? [place.host]
          : place.address.isUnspecified
            ? names + [place.address.isVersion6 ? "::1" : "127.0.0.1"] : [place.host] + names
        return hosts.map { Self.url(place.isLoopback ? "ws" : "wss", $0, place.port) }
      })
  }

  /// The unspecified addresses on which it listens, in words.
  private var everywhere: [String]? {
    let open = places.filter(\.address.isUnspecified)
    return open.isEmpty ? nil : open.map { "every IPv\($0.address.isVersion6 ? 6 : 4) address, port \($0.port)" }
  }

  /// `addresses`, with all other URLs that a client may have dialled, also through a proxy.
  private var namesNow: Set<RelayURL> {
    let hosts = settings.hosts
    var texts = addresses.map(\.text) + hosts.flatMap { ["ws://\($0)", "wss://\($0)"] }
    for port in Set(places.map(\.port)) {
      for host in ["localhost", "127.0.0.1", "::1"] + hosts {
        texts += ["ws", "wss"].map { Self.url($0, host, port) }
      }
    }
    texts += texts.flatMap { text in
      ClientIdentity.Path.allCases.filter { $0 != .plain }.map {
        (text.hasSuffix("/") ? String(text.dropLast()) : text) + $0.rawValue
      }
    }
    return Set(Self.relays(texts))
  }

  private static func url(_ scheme: String, _ host: String, _ port: UInt16) -> String {
    "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)"
  }

  private static func relays(_ texts: [String]) -> [RelayURL] {
    // The settings were read with the same rules: a text that is no URL cannot have been dialled either.
    texts.compactMap { text in do throws(RelayURLFault) { return try RelayURL(text) } catch { return nil } }
  }

  /// What a client must do before it may use the relay.
  func requirement(for identity: ClientIdentity) -> ClientRequirement {
    if identity.path == .peer { return .closed(why: "this path is for other Roosts of the same accounts") }
    guard identity.address.isLoopback else {
      return .closed(why: "this relay is for its own accounts and guests")
    }
    if let outside = userCheck.outside(identity) { return .closed(why: outside.why) }
    guard let text = identity.origin else { return .open }
    if let origin = Origin(text) {
      if origins.origins.contains(origin.text) { return .open }
      return .closed(why: "pages of \(origin) may do nothing here yet; roost client allow \(origin) lets them")
    }
    return .closed(why: "a page that does not say where it is from must show that it is an account's")
  }

  func admit(_ connection: WebSocketConnection, _ identity: ClientIdentity) {
    let session = ClientSession(
      requirement: requirement(for: identity), limits: settings.clientLimits, isPeer: identity.path == .peer,
      challenge: Hexadecimal.text(of: RandomBytes.make(Self.challengeByteCount)), addresses: names)
    if identity.address.isLoopback, let outside = userCheck.outside(identity) { turnedOut(outside) }
    let link = ClientLink(connection, session, identity, number: nextClient, log: log, owner: self)
    clients[nextClient] = link
    nextClient += 1
    link.start()
    tellStatus()
  }

  private static let challengeByteCount = 16
  /// Most reasons that are counted separately; each user is one. Further users count as unknown.
  private static let outsiderMaximum = LocalRelayStatus.outsiderMaximum + 2

  /// A client on this machine must authenticate, or is refused the page.
  func turnedOut(_ outside: LocalUserCheck.Outside) {
    let known = outsiders[outside] != nil || outsiders.count < Self.outsiderMaximum
    if known, outsiders[outside] == nil { log.notice("a client is not let in", metadata: ["why": "\(outside.why)"]) }
    outsiders[known ? outside : .unknown, default: 0] += 1
  }

  func network(for link: ClientLink, _ question: ClientQuery) -> NetworkPart {
    let identity = link.identity
    guard identity.path != .local, identity.path != .peer, link.fetchingCount < Self.fetchMaximum else { return .none }
    if identity.path == .fetching { return .awaited }
    if let origin = identity.origin.flatMap({ Origin($0) }), fetchOrigins.contains(origin) { return .awaited }
    if !link.session.shown.isDisjoint(with: fetchKeys) { return .awaited }
    if !fetchFilters.isEmpty,
      question.filters.allSatisfy({ filter in fetchFilters.contains { $0.covers(filter.unbounded) } })
    {
      return .awaited
    }
    // Guests and programs of other users read what the store has.
    let isInside = requirement(for: identity) == .open || !link.session.shown.isDisjoint(with: accounts.keys)
    return settings.fetch && isInside ? .beside : .none
  }

  func makesRoom(for link: ClientLink) -> Bool {
    while true {
      switch standing.room(for: link.number) {
      case .enough: return true
      case .refused: return false
      case .from(let other):
        let before = standing.total
        guard let giver = clients[other], giver.endNewest(), standing.total < before else { return false }
      }
    }
  }

  func ended(_ link: ClientLink) {
    guard clients.removeValue(forKey: link.number) != nil else { return }
    pastDelivered += link.deliveredCount
    pastTaken += link.session.takenCount
    pastRefused += link.session.refusedCount
    tellStatus()
  }

  // MARK: Status

  /// The answer of `local.status`.
  var status: LocalRelayStatus {
    var status = LocalRelayStatus()
    status.addresses = addresses.map(\.text)
    status.everywhere = everywhere
    status.connections = clients.count
    status.connectionsMaximum = settings.serverLimits.connectionsMaximum
    status.subscriptions = clients.values.reduce(0) { $0 + $1.session.subscriptionCount }
    status.accepted = server?.counts.upgraded ?? 0
    status.turnedAway = server?.counts.turnedAway ?? 0
    tellOutside(&status)
    status.taken = clients.values.reduce(pastTaken) { $0 + $1.session.takenCount }
    status.refused = clients.values.reduce(pastRefused) { $0 + $1.session.refusedCount }
    let unknown = outsiders[.unknown] ?? 0
    let proxied = outsiders[.proxy] ?? 0
    status.outsideUsers = outsiders.values.reduce(0, +) - unknown - proxied
    status.outsideUnknown = unknown
    status.outsideProxied = proxied
    status.outsiders = outsiders.compactMap { outside, count in
      if case .user(let user) = outside { LocalRelayOutsider(uid: user, count: count) } else { nil }
    }.sorted { ($1.count, $0.uid) < ($0.count, $1.uid) }
    status.knowsUsers = knowsUsers
    status.delivered = clients.values.reduce(pastDelivered) { $0 + $1.deliveredCount }
    return status
  }

  /// Adds the counters of clients that have not authenticated and of clients that were turned away.
  private func tellOutside(_ status: inout LocalRelayStatus) {
    let now = EventLoop.process.now
    status.turnedAwaySecondsAgo = server?.turnedAwayAt.map { Int(now.milliseconds(since: $0) / 1_000) }
    status.outside = server?.outsideCount ?? 0
    status.outsideMaximum = settings.serverLimits.outsideMaximum
    status.displaced = server?.counts.displaced ?? 0
    status.displacedSecondsAgo = server?.displacedAt.map { Int(now.milliseconds(since: $0) / 1_000) }
  }

  private func tellStatus() {
    let place = addresses.first?.text ?? "nowhere"
    let text = "\(place), \(clients.count) client\(clients.count == 1 ? "" : "s")"
    guard text != lastStatus else { return }
    lastStatus = text
    bus.sendStatus(StatusReport(text: text))
  }

  // MARK: Serving

  private func serve() {
    worker.serve(AccountMethod.forget) { [unowned self] (_, wanted) throws(Refusal) in
      try await accounts.forget(wanted)
    }
    worker.serve(LocalRelayMethod.status) { [unowned self] (_, _) in status }
    worker.serve(LocalRelayMethod.clients) { [unowned self] (_, _) in
      let latest = clients.values.sorted { $0.number > $1.number }.prefix(LocalRelayClients.clientMaximum)
      return LocalRelayClients(
        clients: latest.map { $0.told(environment) }, others: clients.count - latest.count,
        allowed: origins.origins.sorted())
    }
    worker.serve(LocalRelayMethod.allow) { [unowned self] (_, wanted) throws(Refusal) in
      try await set(wanted, isAllowed: true)
    }
    worker.serve(LocalRelayMethod.deny) { [unowned self] (_, wanted) throws(Refusal) in
      try await set(wanted, isAllowed: false)
    }
  }

  private func set(_ wanted: LocalRelayOrigin, isAllowed: Bool) async throws(Refusal) -> LocalRelayOrigins {
    guard let origin = Origin(wanted.origin) else {
      throw Refusal(.badRequest, "\"\(wanted.origin)\" is not \(Origin.form)", outcome: .notStarted)
    }
    guard !isAllowed || origins.origins.count < AllowedOrigins.maximum || origins.origins.contains(origin.text) else {
      throw Refusal(.full, "\(AllowedOrigins.maximum) origins are allowed, and no more may be", outcome: .notStarted)
    }
    do throws(StorageFault) { try await origins.write(origin.text, isAllowed: isAllowed) } catch {
      LedgerHealth("the file of allowed origins", log) { [origins] in origins.markDamaged() }.leaveIfDamaged(error)
      throw Refusal(.failed, "that could not be written down: \(error)", outcome: .unknown)
    }
    origins.wrote(origin.text, isAllowed: isAllowed)
    // Permissions are fixed when a client connects, so pages of this origin must reconnect.
    for client in clients.values where client.identity.origin.flatMap({ Origin($0) }) == origin {
      client.close(code: 1012, isAllowed ? "you may come in now" : "you may no longer come in")
    }
    return LocalRelayOrigins(allowed: origins.origins.sorted())
  }
}

extension Filter {
  /// The filter without its limit: only what it matches.
  fileprivate var unbounded: Filter {
    var filter = self
    filter.limit = nil
    return filter
  }
}
