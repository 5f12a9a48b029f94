import Addresses
import Cryptography
import LinuxSystem
import PushAdmission
import PushDelivery
import PushLedger
import PushRequests
import Synchronization

// What a request means, and its answer: on the threads of HTTP, so that signatures are not verified on the process's
// event loop. Work on the ledger is done on that loop.
//
// Order: the limits of the relay and of the client's network, the Host field, the route, the form of the body, the
// signature, and only then anything that is stored here.

/// Reads and answers requests.
final class PushFront: Sendable {
  let rules: FrontRules
  private let desk: SharedAdmission
  let backend: any PushBackend
  private let refusals = Mutex<[PushRefusal.Code: UInt64]>([:])
  private let dropCount = Mutex<UInt64>(0)

  init(_ rules: FrontRules, desk: SharedAdmission, backend: any PushBackend) {
    self.rules = rules
    self.desk = desk
    self.backend = backend
  }

  /// Refused requests by reason; wakes that were dropped without notice to the sender.
  var counters: (refused: [PushRefusal.Code: UInt64], dropped: UInt64) {
    (refusals.withLock { $0 }, dropCount.withLock { $0 })
  }

  func answer(_ request: FrontRequest) async -> FrontReply {
    var reply: FrontReply
    do throws(PushRefusal) { reply = try await self.reply(to: request) } catch {
      if let preflight = preflight(request, error) {
        reply = preflight
      } else {
        refusals.withLock { $0[error.code, default: 0] += 1 }
        reply = FrontReply(error)
      }
    }
    reply.fields += rules.origins.fields(for: request.fields)
    return reply
  }

  /// The answer to a browser that asks whether a page may use a path; nil for another request, or a page that may not.
  private func preflight(_ request: FrontRequest, _ refusal: PushRefusal) -> FrontReply? {
    guard request.method == "OPTIONS", refusal.code == .methodNotAllowed,
      let fields = rules.origins.preflightFields(for: request.fields, methods: refusal.allow)
    else { return nil }
    var reply = FrontReply([], status: 204)
    reply.fields = fields
    return reply
  }

  /// Most bytes of a request's body, known before it is read.
  func bodyMaximum(method: String, target: String) -> Int {
    // An unknown target is refused later, in the answer.
    (try? PushTarget(method: method, target: target, mount: rules.mount))?.route.bodyByteCountMaximum
      ?? RequestBody.byteCountMaximum
  }

  private func reply(to request: FrontRequest) async throws(PushRefusal) -> FrontReply {
    let now = WallClock.seconds
    let address = request.peer.map { peer in
      rules.proxies.client(
        peer: peer, forwardedFor: request.fields.filter { $0.isNamed("x-forwarded-for") }.map(\.value))
    }
    try pass(desk.admit(requestFrom: address, now: now))
    try HostField.check(request.fields)
    let target = try PushTarget(method: request.method, target: request.target, mount: rules.mount)
    if !target.route.isSigned { return try await open(target.route) }
    guard let body = request.body else { throw RequestBody.tooLarge(target.route.bodyByteCountMaximum) }
    let announced = request.fields.first { $0.isNamed("content-length") }.flatMap { Int($0.value) }
    try RequestBody.checkArrival(announcedByteCount: announced, received: body)
    try checkType(request.fields, body)
    let verified = try verify(request, target, body, now: now)
    if verified.needsRegistration {
      guard let hasDevice = await backend.hasDevice(verified.owner) else { throw .unavailable(retryAfterSeconds: 5) }
      if !hasDevice { throw VerifiedRequest.registrationNeeded }
    }
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
      info.serverTime = WallClock.seconds
      return FrontReply(PushReply.info(info))
    case .health:
      guard await backend.isHealthy else { throw .unavailable(retryAfterSeconds: 5) }
      return FrontReply(PushReply.health)
    case .ready:
      let platforms = await backend.platformWords
      let isReady = await backend.isHealthy && platforms.values.contains("ok")
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
    case .wakeStatus(let id):
      guard let state = await backend.state(ofWake: id, sender: message.owner) else {
        throw .unavailable(retryAfterSeconds: 5)
      }
      return FrontReply(PushReply.state(state))
    case .readContacts: return FrontReply(PushReply.contacts(try await book(of: message.owner)))
    case .readRules, .writeRules: return try await eventRules(target, message, body, from: address, now: now)
    default:
      try admit(changeBy: message.owner, from: address, now: now)
      try await admit(nostrKeyOf: message.owner)
      let book = try ContactRules(RequestBody(body, byteCountMaximum: target.route.bodyByteCountMaximum))
      let command = ContactsCommand(
        message: message, contacts: book.kinds, policy: book.policy?.rawValue,
        keepUntil: now + FrontRules.registrationSeconds)
      _ = try await finish(.contacts(command))
      return FrontReply(PushReply.contacts(try await self.book(of: message.owner)))
    }
  }

  // MARK: Routes

  /// Lists and rules need no device: the limits are checked before thousands of keys are read.
  func admit(changeBy owner: PushOwner, from address: IPAddress?, now: Int64) throws(PushRefusal) {
    try pass(desk.admit(changeBy: owner, from: address, now: now))
  }

  private func pass(_ verdict: AdmissionVerdict) throws(PushRefusal) {
    guard case .limited(let seconds, let scope) = verdict else { return }
    throw .rateLimited(scope.things, retryAfterSeconds: seconds)
  }

  private func register(
    _ message: SignedMessage, _ bytes: [UInt8], from address: IPAddress?, now: Int64
  ) async throws(PushRefusal) -> FrontReply {
    let body = try RequestBody(bytes)
    try body.checkAudience(rules.signatures)
    let registration = try DeviceRegistration(body, allowsPrivateEndpoints: rules.allowsPrivateEndpoints)
    try pass(desk.admit(registrationBy: message.owner, from: address, now: now))
    if registration.rules != nil, message.owner.realm != .nostr { throw Self.rulesNeedNostr }
    try await admit(nostrKeyOf: message.owner)
    var command = RegisterCommand(
      message: message, deviceID: registration.deviceID, token: registration.token,
      capabilities: registration.capabilities, now: now, expiresAt: now + FrontRules.registrationSeconds)
    command.deviceMaximum = rules.deviceMaximum
    command.nostrKeyMaximum = rules.nostrKeyMaximum
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
    let milliseconds = WallClock.milliseconds
    let wake = Wake(
      id: Wake.makeID(unixMilliseconds: milliseconds), recipient: request.recipient, sender: request.sender,
      type: request.type,
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

  /// Decides on a wake, in the ledger's transaction: with the same steps for every recipient.
  private func ruling(for wake: Wake, _ found: WakeStanding, hasTicket: Bool, now: Int64) -> WakeRuling {
    FaultPoint.pass(.deciding)
    let unblocked: SenderStanding = wake.sender == wake.recipient ? .contact : hasTicket ? .ticket : .stranger
    let standing: SenderStanding =
      switch found.contact {
      case .blocked: .blocked
      case .allowed: .contact
      case nil: unblocked
      }
    var given = WakeCircumstances(
      standing: standing, isRegistered: found.verifiedCount > 0,
      admission: found.policy.flatMap(AdmissionPolicy.init) ?? rules.admission, disclosure: rules.disclosure)
    var wake = wake
    wake.isOfContact = wake.isOfContact || standing == .contact
    let isRepeated = desk.isRepeated(wake)
    given.limit =
      desk.admit(
        WakeAsk(
          sender: wake.sender, recipient: wake.recipient,
          charge: isRepeated ? .nothing : WakePolicy.isStrangers(given) ? .stranger : .contact,
          isTold: WakePolicy.isToldTruth(given),
          pushCount: min(max(1, found.verifiedCount), WakeAsk.pushCountMaximum)), now: now
      ).limit
    let decision = WakePolicy.decide(given)
    if decision.drop != nil { dropCount.withLock { $0 += 1 } } else if !isRepeated { desk.began(wake) }
    let answer: WakeRuling.Answer =
      switch decision.answer {
      case .queued: .queued
      case .notFound: .notFound
      case .limited(let seconds):
        .limited(retryAfterSeconds: seconds, isOwnLimit: decision.drop == .senderLimited)
      }
    let view = WakePolicy.outcome(given, unblocked: unblocked)
    return WakeRuling(
      answer, isQueued: decision.isEnqueued, isTold: view != .none, isDisguised: view == .disguise)
  }
}
