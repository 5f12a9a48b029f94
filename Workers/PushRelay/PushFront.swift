import Addresses
import Cryptography
import Frames
import PushAdmission
import PushDelivery
import PushLedger
import PushRequests
import PushRules
import Storage
import Synchronization

// What a request means, and what it is answered: on the threads of HTTP, so that signatures are not verified on the
// loop of the process. What is to be kept or looked up goes to the loop, which has the ledger.
//
// Order: the network's share, the route, the body's form, the signature, and only then what anybody here has.

/// What is the same for all requests.
struct FrontRules: Sendable {
  var mount = PushMount()
  var signatures: SignatureRules
  var proxies: ProxyTrust
  var disclosure: DisclosurePolicy
  var admission: AdmissionPolicy
  var classes: WakeClasses
  var messages: PushMessageSettings
  var allowsPrivateEndpoints: Bool
  var info: RelayInfo
  /// By which address Nostr keys sign for this relay.
  var nostr: NostrRequests
  /// Platforms that are on.
  var platforms: Set<PushPlatform>

  /// Devices of one owner.
  var deviceMaximum = PushLedger.deviceMaximum

  /// How long a registration lasts: 30 days.
  static let registrationSeconds: Int64 = 30 * 86_400
}

/// A request as it came.
struct FrontRequest: Sendable {
  var method: String
  var target: String
  var fields: [HeaderField]
  /// The body; nil when it was longer than its route takes.
  var body: [UInt8]?
  var peer: IPAddress?
}

/// What it is answered.
struct FrontReply: Sendable {
  var status: Int
  var fields: [HeaderField] = []
  var body: [UInt8]

  init(_ body: [UInt8], status: Int = 200) {
    self.status = status
    self.body = body
  }

  init(_ refusal: PushRefusal) {
    status = refusal.status
    fields = refusal.fields
    body = refusal.body
  }
}

/// Understands and answers requests.
final class PushFront: Sendable {
  let rules: FrontRules
  private let desk: AdmissionDesk
  let house: any FrontHouse
  private let refusals = Mutex<[PushRefusal.Code: UInt64]>([:])
  private let dropCount = Mutex<UInt64>(0)

  init(_ rules: FrontRules, desk: AdmissionDesk, house: any FrontHouse) {
    self.rules = rules
    self.desk = desk
    self.house = house
  }

  /// Requests that were refused, by why; wakes that were dropped without a word.
  var counters: (refused: [PushRefusal.Code: UInt64], dropped: UInt64) {
    (refusals.withLock { $0 }, dropCount.withLock { $0 })
  }

  func answer(_ request: FrontRequest) async -> FrontReply {
    do throws(PushRefusal) { return try await reply(to: request) } catch {
      refusals.withLock { $0[error.code, default: 0] += 1 }
      return FrontReply(error)
    }
  }

  /// Most bytes that a request's body may have, told before it is read.
  func bodyMaximum(method: String, target: String) -> Int {
    // What is no target of ours is told so when it is answered.
    (try? PushTarget(method: method, target: target, mount: rules.mount))?.route.bodyByteCountMaximum
      ?? RequestBody.byteCountMaximum
  }

  private func reply(to request: FrontRequest) async throws(PushRefusal) -> FrontReply {
    let now = WallTime.seconds
    let address = request.peer.map { peer in
      rules.proxies.client(
        peer: peer, forwardedFor: request.fields.filter { $0.isNamed("x-forwarded-for") }.map(\.value))
    }
    if case .limited(let seconds, _) = desk.admit(requestFrom: address, now: now) {
      throw .rateLimited(retryAfterSeconds: seconds)
    }
    let target = try PushTarget(method: request.method, target: request.target, mount: rules.mount)
    if !target.route.isSigned { return try await open(target.route) }
    guard let body = request.body else { throw RequestBody.tooLarge(target.route.bodyByteCountMaximum) }
    let announced = request.fields.first { $0.isNamed("content-length") }.flatMap { Int($0.value) }
    try RequestBody.checkArrival(announcedByteCount: announced, received: body)
    try checkType(request.fields, body)
    let verified = try verify(request, target, body, now: now)
    if verified.needsRegistration, await !house.hasDevice(verified.owner) { throw VerifiedRequest.registrationNeeded }
    return try await serve(target, verified, body, from: address, now: now)
  }

  private func verify(
    _ request: FrontRequest, _ target: PushTarget, _ body: [UInt8], now: Int64
  ) throws(PushRefusal) -> VerifiedRequest {
    if let header = try NostrRequests.header(in: request.fields) {
      return try rules.nostr.verified(
        header: header, method: request.method, target: request.target, route: target.route, body: body, now: now)
    }
    return try SignedRequest(
      target: target, fields: request.fields, body: body, rules: rules.signatures, now: now
    ).verified()
  }

  private func checkType(_ fields: [HeaderField], _ body: [UInt8]) throws(PushRefusal) {
    guard !body.isEmpty, let type = fields.first(where: { $0.isNamed("content-type") })?.value.lowercased() else {
      return
    }
    let name = type.prefix { $0 != ";" && $0 != " " }
    guard name == "application/json" else {
      throw PushRefusal(.invalidRequest, "the body's Content-Type is not application/json: send a JSON object")
    }
  }

  private func open(_ route: PushRoute) async throws(PushRefusal) -> FrontReply {
    switch route {
    case .info:
      var info = rules.info
      info.serverTime = WallTime.seconds
      return FrontReply(PushReply.info(info))
    case .health:
      guard await house.isHealthy else { throw .unavailable(retryAfterSeconds: 5) }
      return FrontReply(PushReply.health)
    case .ready:
      let platforms = await house.platformWords
      let isReady = await house.isHealthy && platforms.values.contains("ok")
      return FrontReply(PushReply.ready(isReady: isReady, platforms: platforms), status: isReady ? 200 : 503)
    default: return FrontReply(PushOpenAPI.document)
    }
  }

  private func serve(
    _ target: PushTarget, _ verified: VerifiedRequest, _ body: [UInt8], from address: IPAddress?, now: Int64
  ) async throws(PushRefusal) -> FrontReply {
    let message = SignedMessage(owner: verified.owner, hash: verified.digest, timestamp: verified.timestamp)
    switch target.route {
    case .register: return try await register(message, body, from: address, now: now)
    case .unregister:
      let selection = try DeviceSelection(target: target, body: body)
      return try await finish(.unregister(UnregisterCommand(message: message, choice: selection.choice)))
    case .wake: return try await wake(message, body, now: now)
    case .wakeStatus(let id): return FrontReply(PushReply.state(await house.state(ofWake: id, sender: message.owner)))
    case .readContacts: return FrontReply(PushReply.contacts(try await book(of: message.owner)))
    case .readRules, .writeRules: return try await eventRules(target, message, body, now: now)
    default:
      try await admit(nostrKeyOf: message.owner)
      let book = try ContactBook(RequestBody(body, byteCountMaximum: target.route.bodyByteCountMaximum))
      let command = ContactsCommand(
        message: message, contacts: book.kinds, policy: book.policy.rawValue,
        keepUntil: now + FrontRules.registrationSeconds)
      _ = try await finish(.contacts(command))
      return FrontReply(PushReply.contacts(try await self.book(of: message.owner)))
    }
  }

  // MARK: Routes

  private func register(
    _ message: SignedMessage, _ bytes: [UInt8], from address: IPAddress?, now: Int64
  ) async throws(PushRefusal) -> FrontReply {
    let body = try RequestBody(bytes)
    try body.checkAudience(rules.signatures)
    let registration = try DeviceRegistration(body, allowsPrivateEndpoints: rules.allowsPrivateEndpoints)
    if case .limited(let seconds, _) = desk.admit(registrationBy: message.owner, from: address, now: now) {
      throw .rateLimited(retryAfterSeconds: seconds)
    }
    if registration.rules != nil, message.owner.realm != .nostr { throw Self.rulesNeedNostr }
    try await admit(nostrKeyOf: message.owner)
    var command = RegisterCommand(
      message: message, deviceID: registration.deviceID, token: registration.token,
      capabilities: registration.capabilities, now: now, expiresAt: now + FrontRules.registrationSeconds)
    command.deviceMaximum = rules.deviceMaximum
    command.sealingKey = registration.sealingKey
    command.policy = registration.policy?.rawValue
    command.challenge = registration.challenge
    command.rules = registration.rules.map(PushReply.rules)
    return try await finish(.register(command))
  }

  private func wake(_ message: SignedMessage, _ bytes: [UInt8], now: Int64) async throws(PushRefusal) -> FrontReply {
    let body = try RequestBody(bytes)
    try body.checkAudience(rules.signatures)
    let request = try WakeRequest(body, sender: message.owner)
    try request.ticket?.verify(recipient: request.recipient, sender: request.sender, now: now)
    let milliseconds = WallTime.milliseconds
    let wake = Wake(
      id: RandomBytes.make(16), recipient: request.recipient, sender: request.sender, type: request.type,
      payload: request.payload, nonce: request.nonce, acceptedAt: milliseconds,
      expiresAt: milliseconds + rules.classes[request.type].timeToLiveSeconds * 1_000)
    guard PushMessage.fits(wake, as: rules.classes[wake.type], rules.messages) else {
      throw Self.tooLarge(wake, as: rules.classes[wake.type], rules.messages)
    }
    let command = WakeCommand(message: message, wake: wake, bodyHash: SHA256.hash(bytes)) { [self] standing in
      ruling(for: wake, standing, hasTicket: request.ticket != nil, now: now)
    }
    return try await finish(.wake(command))
  }

  /// Decides on a wake, in the ledger's transaction: the same steps whoever the recipient is.
  private func ruling(for wake: Wake, _ found: WakeStanding, hasTicket: Bool, now: Int64) -> WakeRuling {
    FaultPoint.pass(.deciding)
    let standing: SenderStanding =
      switch found.contact {
      case .blocked: .blocked
      case .allowed: .contact
      case nil: wake.sender == wake.recipient ? .contact : hasTicket ? .ticket : .stranger
      }
    let isStranger = standing == .stranger || standing == .blocked
    let isRepeated = desk.isRepeated(wake)
    let verdict = desk.admit(
      WakeAsk(
        sender: wake.sender, recipient: wake.recipient,
        charge: isRepeated ? .nothing : isStranger ? .stranger : .contact,
        pushCount: min(max(1, found.verifiedCount), WakeAsk.pushCountMaximum)), now: now)
    let given = WakeCircumstances(
      standing: standing, isRegistered: found.verifiedCount > 0,
      admission: found.policy.flatMap(AdmissionPolicy.init) ?? rules.admission, disclosure: rules.disclosure,
      limit: verdict.limit)
    let decision = WakePolicy.decide(given)
    if decision.drop != nil { dropCount.withLock { $0 += 1 } } else if !isRepeated { desk.began(wake) }
    let answer: WakeRuling.Answer =
      switch decision.answer {
      case .queued: .queued
      case .notFound: .notFound
      case .limited(let seconds): .limited(retryAfterSeconds: seconds)
      }
    return WakeRuling(
      answer, isQueued: decision.isEnqueued,
      isTold: WakePolicy.mayKnowOutcome(
        standing: standing, admission: given.admission, disclosure: rules.disclosure))
  }

  private func book(of owner: PushOwner) async throws(PushRefusal) -> ContactBook {
    guard let kept = await house.contacts(of: owner) else { throw .unavailable(retryAfterSeconds: 5) }
    func keys(_ kind: ContactKind) -> [PushOwner] { kept.contacts.filter { $0.value == kind }.map(\.key) }
    return ContactBook(
      allowed: keys(.allowed), blocked: keys(.blocked),
      policy: kept.policy.flatMap(AdmissionPolicy.init) ?? rules.admission)
  }

  // MARK: Answers

  func finish(_ command: PushCommand) async throws(PushRefusal) -> FrontReply {
    guard let answer = await house.perform(command) else { throw .unavailable(retryAfterSeconds: 5) }
    switch answer {
    case .registered(let registration):
      let body =
        registration.isVerified
        ? PushReply.registered(relayID: registration.relayID, expiresAt: registration.expiresAt)
        : PushReply.challenged(relayID: registration.relayID, expiresAt: registration.expiresAt)
      return FrontReply(body)
    case .superseded, .stale:
      throw PushRefusal(.staleRequest, "a newer request of yours was answered before this one: sign it again")
    case .unregistered: return FrontReply(PushReply.unregistered)
    case .queued(let id): return FrontReply(PushReply.queued(wakeID: id))
    case .recipientNotFound: throw .recipientNotFound
    case .limited(let seconds): throw .rateLimited(retryAfterSeconds: seconds)
    case .nonceReused:
      throw PushRefusal(.nonceReused, "this nonce was used for another request: make another one for each")
    case .tooManyContacts: throw PushRefusal(.invalidRequest, "the lists have more keys than are kept")
    case .challengeFailed:
      throw PushRefusal(
        .wrongChallenge,
        "'challenge' is not the code that came by push, or too old: register without it, and another one is sent")
    case .unavailable: throw .unavailable(retryAfterSeconds: 60)
    case .contactsKept, .rulesKept, .noted, .challenge, .pruned, .swept, .rekeyed, .done:
      return FrontReply(PushReply.health)
    }
  }
}

/// What the front needs of the process behind it.
protocol FrontHouse: Sendable {
  /// Does a command; nil when nothing can be written.
  func perform(_ command: PushCommand) async -> LedgerAnswer?
  func hasDevice(_ owner: PushOwner) async -> Bool
  func contacts(of owner: PushOwner) async -> PushContacts?
  func nostrStanding(of owner: PushOwner) async -> NostrStanding
  /// What was kept, or the standard; nil when it cannot be read.
  func eventRules(of owner: PushOwner) async -> WakeRules?
  func state(ofWake id: [UInt8], sender: PushOwner) async -> WakeState
  var isHealthy: Bool { get async }
  /// `ok`, `off`, or what is wrong.
  var platformWords: [PushPlatform: String] { get async }
}

extension AdmissionVerdict {
  fileprivate var limit: WakeLimit {
    switch self {
    case .admitted: .within
    case .limited(let seconds, let scope):
      switch scope {
      case .pair, .strangers, .recipient: .ofRecipient(retryAfterSeconds: seconds)
      default: .ofSender(retryAfterSeconds: seconds)
      }
    case .dropped(_, let seconds): .ofRecipient(retryAfterSeconds: seconds)
    }
  }
}

extension DeviceSelection {
  fileprivate var choice: DeviceChoice {
    switch self {
    case .device(let id): .device(id)
    case .relay(let id): .relay(id)
    case .unnamed: .unnamed
    }
  }
}

extension ContactBook {
  fileprivate var kinds: [PushOwner: ContactKind] {
    var kinds: [PushOwner: ContactKind] = [:]
    for owner in allowed { kinds[owner] = .allowed }
    for owner in blocked { kinds[owner] = .blocked }
    return kinds
  }
}
