import Addresses
import Bus
import Contracts
import Cryptography
import EventLoop
import Frames
import JobProviding
import LinuxSystem
import Logging
import Nostr
import NostrContracts

// What customers get: encrypted if their request was, signed, and published through the store or the planner. Messages
// about one request leave in the order in which they were made.
//
// If the signer, the store or the planner is away, what must be said (`compose`, `publish`) is retried until it is done
// or refused for good. What may be left out (that the work has begun, a part of the result) is tried once.

/// Sends messages to customers.
@EventLoopActor
final class CustomerReplies {
  private unowned let provider: Provider
  private let key: PublicKey
  private let bus: BusConnection
  private let log: Logger
  /// The last message under way about each request, with its number.
  private var lines: [EventID: (number: Int, task: Task<Void, Never>)] = [:]
  private var lineNumber = 0

  /// The wait before a retry of what must be said.
  private static let retryMilliseconds: UInt64 = 250
  /// How long the signer, the planner or the store may take for what must be said.
  private static let answerMilliseconds: UInt32 = 10_000
  /// The same for what may be left out, because the result waits behind it.
  private static let briefMilliseconds: UInt32 = 2_000
  /// Refusals that another attempt would not change.
  private static let finalCodes: Set<RefusalCode> = [
    .forbidden, .badRequest, .badPayload, .denied, .invalidEvent, .deletedEvent, .expiredEvent, .superseded,
  ]

  init(_ provider: Provider, _ key: PublicKey) {
    self.provider = provider
    self.key = key
    bus = provider.bus
    log = provider.log
  }

  // MARK: What must be said

  /// Signs a message, and reports that to the machine.
  func compose(_ id: EventID, _ word: ServingWord) {
    line(id) { [self] in
      await insisting("sign an answer", id) { () async throws(Refusal) in
        guard let request = try self.request(id) else { return }
        let event = try await self.signed(try await self.template(word, request))
        self.provider.perform { $0.composed(id, event.json, id: event.id, at: $1) }
      } refused: { refusal in
        log.error("an answer is not signed", metadata: ["request": "\(id)", "why": "\(refusal.message)"])
        provider.perform { $0.couldNotCompose(id, refusal.message, at: $1) }
      }
    }
  }

  /// Publishes a signed event, and reports that to the machine.
  func publish(_ id: EventID, _ event: [UInt8]) {
    line(id) { [self] in
      await insisting("publish an answer", id) { () async throws(Refusal) in
        guard let request = try self.request(id) else { return }
        try await self.publish(event, for: request, within: Self.answerMilliseconds)
        self.provider.perform { $0.published(id, at: $1) }
      } refused: { refusal in
        log.error("an answer is not taken", metadata: ["request": "\(id)", "why": "\(refusal.message)"])
        provider.perform { $0.published(id, at: $1) }
      }
    }
  }

  // MARK: What may be left out

  /// Says that a request is being worked on, or sends a part of its result. Leaves it out if that cannot be done soon.
  func say(_ id: EventID, _ status: JobStatus, remark: String? = nil, content: String = "") {
    line(id) { [self] in
      do throws(Refusal) {
        guard let request = try request(id), provider.desk?[id]?.state == .running else { return }
        let shown = request.terms.isEncrypted ? nil : remark?.cut(toByteCount: JobLimits.remarkByteCountMaximum)
        let brief = Self.briefMilliseconds
        let payload = try await encrypted(content, for: request, within: brief)
        let template = try draft { () throws(JobDraftFault) in
          try request.feedbackTemplate(
            status, remark: shown, content: payload, by: key, createdAt: WallClock.seconds)
        }
        try await publish(try await signed(template, within: brief).json, for: request, within: brief)
      } catch {
        log.notice("feedback was left out", metadata: ["request": "\(id)", "why": "\(error.message)"])
      }
    }
  }

  // MARK: Order

  private func line(_ id: EventID, _ body: @escaping @EventLoopActor () async -> Void) {
    let before = lines[id]?.task
    lineNumber += 1
    let number = lineNumber
    let task = EventLoopActor.task { [self] in
      await before?.value
      await body()
      if lines[id]?.number == number { lines[id] = nil }
    }
    lines[id] = (number, task)
  }

  /// Retries until it is done, refused for good, or no longer wanted.
  private func insisting(
    _ what: String, _ id: EventID, _ body: @escaping @EventLoopActor () async throws(Refusal) -> Void,
    refused: (Refusal) -> Void
  ) async {
    var lastWords = ""
    while !provider.isDraining, bus.isOpen, provider.desk?[id] != nil {
      do throws(Refusal) { return try await body() } catch {
        if Self.finalCodes.contains(error.code) { return refused(error) }
        if error.message != lastWords {
          log.notice("cannot \(what) yet", metadata: ["request": "\(id)", "why": "\(error.message)"])
        }
        lastWords = error.message
        await EventLoopActor.sleep(milliseconds: max(Self.retryMilliseconds, UInt64(error.retryAfterMilliseconds ?? 0)))
      }
    }
  }

  // MARK: Composing

  /// The request as it was published; nil if nothing is left to say about it.
  private func request(_ id: EventID) throws(Refusal) -> JobRequest? {
    guard let served = provider.desk?[id] else { return nil }
    guard let event = try? Event(json: served.request), let request = try? JobRequest(event) else {
      throw Refusal(.badPayload, "the request in the ledger cannot be read")
    }
    return request
  }

  private func template(_ word: ServingWord, _ request: JobRequest) async throws(Refusal) -> UnsignedEvent {
    let now = WallClock.seconds
    switch word {
    case .result(let content):
      let payload = try await encrypted(content, for: request)
      return try draft { () throws(JobDraftFault) in
        try request.resultTemplate(payload, by: key, createdAt: now)
      }
    case .error(let reason):
      return try draft { () throws(JobDraftFault) in
        try request.feedbackTemplate(.error, remark: reason, by: key, createdAt: now)
      }
    case .paymentRequired(let price):
      return try draft { () throws(JobDraftFault) in
        try request.feedbackTemplate(
          .paymentRequired, by: key, createdAt: now, amount: JobAmount(millisatoshis: price))
      }
    }
  }

  private func draft(_ body: () throws(JobDraftFault) -> UnsignedEvent) throws(Refusal) -> UnsignedEvent {
    do throws(JobDraftFault) { return try body() } catch {
      throw Refusal(.badRequest, "the answer cannot be written: \(error)")
    }
  }

  /// Encrypts what only the customer may read, in the way in which the customer encrypted the request.
  private func encrypted(
    _ text: String, for request: JobRequest, within milliseconds: UInt32 = CustomerReplies.answerMilliseconds
  ) async throws(Refusal) -> String {
    guard case .encrypted(_, let form) = request.content, !text.isEmpty else { return text }
    let wanted = SignerCipher(account: key.description, peer: request.customer.description, text: text)
    return try await cipher(form.encryption, wanted, milliseconds)
  }

  /// Decrypts what only this provider may read.
  func decrypted(_ request: JobRequest) async throws(Refusal) -> JobRequest {
    guard case .encrypted(_, let form) = request.content else { return request }
    // The whole event, because the signer opens requests for us and nothing else.
    let event = try JSONPayload.decode(JSONValue.self, from: request.event.json)
    let wanted = SignerCipher(account: key.description, peer: request.customer.description, contentOf: event)
    return request.decrypted(try await cipher(form.decryption, wanted, Self.answerMilliseconds))
  }

  private func cipher(
    _ method: Method<SignerCipher, SignerText>, _ wanted: SignerCipher, _ milliseconds: UInt32
  ) async throws(Refusal) -> String {
    try await bus.request(method, wanted, ttlMilliseconds: milliseconds).text
  }

  /// Has an event signed. For a deletion, the signer also sees the event to be deleted.
  func signed(
    _ template: UnsignedEvent, within milliseconds: UInt32 = CustomerReplies.answerMilliseconds,
    deleting deleted: Event? = nil
  ) async throws(Refusal) -> Event {
    let shown = try deleted.map { event throws(Refusal) in try JSONPayload.decode(JSONValue.self, from: event.json) }
    let wanted = SignerSign(account: key.description, event: RawJSON(template.json), deleted: shown.map { [$0] })
    let signed = try await bus.request(SignerMethod.sign, wanted, ttlMilliseconds: milliseconds).event
    do throws(EventFault) {
      let event = try Event(json: signed.bytes)
      guard event.id == template.id else { throw .wrongID(template.id) }
      guard event.json.count <= EventLimit.byteCountMaximum() else {
        throw .tooLarge(byteCount: event.json.count, maximum: EventLimit.byteCountMaximum())
      }
      return event
    } catch { throw Refusal(.badPayload, "the answer is no event that can be published: \(error)") }
  }

  // MARK: Publishing

  /// Publishes an event: through the store, or, with the network, through the planner. The planner sends it to the
  /// relays that it chooses, and to those that the request names; the latter are foreign, because a stranger may have
  /// named them.
  func publish(_ event: [UInt8], for request: JobRequest?, within milliseconds: UInt32) async throws(Refusal) {
    guard provider.configuration.settings.network else { return try await keep(event, milliseconds) }
    let foreign = request?.terms.relays.prefix(PlanPublish.relayMaximum / 2).map(\.url.text) ?? []
    let wanted = PlanPublish(event: RawJSON(event), foreignRelays: foreign.isEmpty ? nil : foreign)
    do throws(Refusal) {
      _ = try await bus.request(PlanMethod.publish, wanted, ttlMilliseconds: milliseconds)
    } catch {
      // A customer of this machine finds the event in the store.
      guard error.code == .noRelays || error.code == .unknownMethod else { throw error }
      try await keep(event, milliseconds)
    }
  }

  private func keep(_ event: [UInt8], _ milliseconds: UInt32) async throws(Refusal) {
    _ = try await bus.request(StoreMethod.publish, SignedEvent(event), ttlMilliseconds: milliseconds)
  }
}
