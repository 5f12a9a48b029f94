import Bus
import Contracts
import Cryptography
import EventLoop
import Frames
import JobTracking
import Logging
import Nostr
import NostrContracts
import WorkerKit

// What others do for a job: the signer encrypts, signs and decrypts, the planner publishes, the store keeps.
//
// A refusal is one of two. What would be refused again tomorrow ends the matter, with its words. All else (a worker
// that is away, an account that is locked, a disk that is full) is tried again, until a deadline of the job's own says
// that it is over.

extension Tracker {
  /// How long the signer has: it keeps a request while its account is locked.
  private static let signerMilliseconds: UInt32 = 20_000
  /// How long the planner and the store have.
  private static let publishMilliseconds: UInt32 = 30_000
  /// Refusals that another attempt changes nothing of.
  static let finalRefusals: Set<RefusalCode> = [
    .badRequest, .badPayload, .forbidden, .noSuchAccount, .invalidEvent, .denied, .superseded, .deletedEvent,
    .expiredEvent,
  ]

  /// Does what the machine wants done, and tells it what has come of it.
  func carryOut(_ task: JobTask) async {
    do throws(Refusal) {
      switch task {
      case .make(let job, let attempt): try await make(job, attempt)
      case .publish(let job, let request): try await publish(job, request)
      case .open(let job, let event): try await open(job, event)
      case .withdraw(let job, let request): try await withdraw(job, request)
      case .zap(let job, let target): try await zap(job, target)
      case .pay(let job, let intent):
        let outcome = await rail.pay(intent, zap: book.zap(job, for: intent))
        perform { $0.settled(job, intent, outcome, at: $1) }
      case .lookUp(let job, let intent):
        let outcome = await rail.lookUp(intent, zap: book.zap(job, for: intent))
        perform { $0.settled(job, intent, outcome, at: $1) }
      }
    } catch {
      guard !isDraining else { return }
      log.debug("a step is tried again", metadata: ["job": "\(task.job)", "why": "\(error.message)"])
      switch task {
      case .make(let job, _): noteObstacle(job, "its request waits to be signed: \(error.message)")
      case .publish(let job, _): noteObstacle(job, "its request waits to be published: \(error.message)")
      case .open, .withdraw, .zap, .pay, .lookUp: break
      }
      let isLocked = book.order(task.job).map { accounts.hindrance(of: $0.account.description) != nil } ?? false
      perform { $0.failed(task, error.message, isLocked: isLocked, at: $1) }
    }
  }

  // MARK: Making

  private func make(_ job: JobID, _ attempt: Int) async throws(Refusal) {
    guard let order = book.order(job), let terms = book.terms(job, attempt: attempt) else { return }
    do throws(Refusal) {
      let draft = try draft(terms, order, try await ciphertext(terms, order))
      drafts.insert(draft.id)
      defer { drafts.remove(draft.id) }
      let event = try await sign(draft, by: order.account, allowsSecrets: order.submit.allowSecrets == true)
      noteObstacle(job, nil)
      perform { $0.made(job, attempt: attempt, event: event, at: $1) }
    } catch {
      guard Self.finalRefusals.contains(error.code) else { throw error }
      perform { $0.undone(job, attempt: attempt, error.message, at: $1) }
    }
  }

  /// The request, to be signed, dated so that no other one is the same (``RequestDate``).
  private func draft(
    _ terms: JobTerms, _ order: JobOrder, _ ciphertext: String?
  ) throws(Refusal) -> UnsignedEvent {
    for date in RequestDate.candidates(from: now / 1_000) {
      let draft: UnsignedEvent
      do throws(JobDraftFault) {
        draft = try terms.template(by: order.account, createdAt: date, ciphertext: ciphertext)
      } catch { throw Refusal(.badRequest, "\(error)") }
      if !drafts.contains(draft.id), !book.isRequest(draft.id) { return draft }
    }
    // Not in ``finalRefusals``: it is tried again, until a second is free.
    throw Refusal(.full, "other jobs ask the same, one a second", outcome: .notStarted)
  }

  /// Inputs and parameters, encrypted for the one provider; nil when everybody may read them.
  private func ciphertext(_ terms: JobTerms, _ order: JobOrder) async throws(Refusal) -> String? {
    guard terms.isEncrypted, let provider = terms.providers.first else { return nil }
    let plain: String
    do throws(JobDraftFault) { plain = try terms.secretTags() } catch { throw Refusal(.badRequest, "\(error)") }
    var form = EncryptedForm.nip04
    switch order.submit.encryption {
    case .nip44: form = .nip44
    case .auto:
      let announced = try await announcements(terms.kind, of: provider)
      if announced.first?.announcesNIP44 == true { form = .nip44 }
    case .nip04, .some(.none), nil: break
    }
    return try await cipher(
      form.encryption, SignerCipher(account: order.account.description, peer: provider.description, text: plain))
  }

  private func cipher(
    _ method: Method<SignerCipher, SignerText>, _ wanted: SignerCipher
  ) async throws(Refusal) -> String {
    try await signer.ask(method, wanted, ttlMilliseconds: Self.signerMilliseconds).text
  }

  func sign(
    _ draft: UnsignedEvent, by account: PublicKey, allowsSecrets: Bool = false, deleting deleted: Event? = nil
  ) async throws(Refusal) -> Event {
    let event = JSONValue.object([
      "kind": .integer(Int64(draft.kind)), "content": .string(draft.content),
      "created_at": .integer(draft.createdAt), "pubkey": .string(draft.pubkey.description),
      "tags": .array(draft.tags.map { .array($0.map { .string($0) }) }),
    ])
    let shown = try deleted.map { event throws(Refusal) in try JSONPayload.decode(JSONValue.self, from: event.json) }
    let wanted = SignerSign(
      account: account.description, event: event, allowSecrets: allowsSecrets ? true : nil,
      deleted: shown.map { [$0] })
    return try Self.event(
      try await signer.ask(SignerMethod.sign, wanted, ttlMilliseconds: Self.signerMilliseconds).event)
  }

  private static func event(_ signed: RawJSON) throws(Refusal) -> Event {
    do throws(EventFault) { return try Event(json: signed.bytes) } catch {
      throw Refusal(.failed, "what was signed cannot be read: \(error)")
    }
  }

  // MARK: Publishing

  private func publish(_ job: JobID, _ request: EventID) async throws(Refusal) {
    guard let json = book.requestJSON(job, request), let order = book.order(job) else { return }
    do throws(Refusal) {
      if !order.isLocal, let publication = try await plan(json, relays: order.submit.relays) {
        return note(publication, job, request)
      }
      _ = try await bus.request(StoreMethod.publish, SignedEvent(json), ttlMilliseconds: Self.publishMilliseconds)
      noteObstacle(job, nil)
      perform { $0.published(job, request, confirmed: 0, of: 0, isStored: true, at: $1) }
    } catch {
      guard Self.finalRefusals.contains(error.code) else { throw error }
      perform { $0.unpublished(job, request, error.message, at: $1) }
    }
  }

  /// Has an event published; nil when there is no relay for it.
  private func plan(_ json: [UInt8], relays: [String]?) async throws(Refusal) -> Publication? {
    let wanted = PlanPublish(event: RawJSON(json), relays: relays?.isEmpty == false ? relays : nil)
    do throws(Refusal) {
      return try await bus.request(PlanMethod.publish, wanted, ttlMilliseconds: Self.publishMilliseconds)
    } catch {
      if error.code == .noRelays { return nil }
      throw error
    }
  }

  /// How far a request's publication is.
  func note(_ publication: Publication, _ job: JobID, _ request: EventID) {
    let confirmed = publication.targets.count { $0.state == .confirmed }
    noteObstacle(job, confirmed == 0 ? Self.obstacle(publication) : nil)
    perform {
      $0.published(
        job, request, confirmed: confirmed, of: max(1, publication.targets.count), isStored: true, at: $1)
    }
    guard publication.state == .failed || publication.state == .cancelled else { return }
    let why = "no relay has taken it" + (Self.words(publication).map { ": \($0)" } ?? "")
    perform { $0.unpublished(job, request, why, at: $1) }
  }

  /// Why a request waits that no relay has.
  private static func obstacle(_ publication: Publication) -> String {
    "its request waits for \(Amount.count(publication.targets.count, "relay")): none has it yet"
      + (words(publication).map { " (\($0))" } ?? "")
  }

  /// What is said of the first relay that anything is said of.
  private static func words(_ publication: Publication) -> String? {
    publication.targets.lazy.compactMap { target in
      target.message.map { $0.contains(target.relay) ? $0 : "\(target.relay): \($0)" }
    }.first
  }

  /// Offers the store the requests that it should have of jobs that go on: its file may be an earlier one, or a rescued
  /// one, and a provider of this machine would wait for what never comes.
  func offerRequests() {
    var left = Array(book.storedRequests.reversed())
    guard !left.isEmpty else { return }
    worker.offerAgain("requests for jobs", ceilingMilliseconds: Self.retryMillisecondsMaximum, log) {
      [self] () async throws(Refusal) in
      // Of a job that has ended meanwhile nobody waits for an answer.
      while let (job, request) = left.popLast() {
        if let json = book.requestJSON(job, request) { return json }
      }
      return nil
    }
  }

  // MARK: Opening

  private func open(_ job: JobID, _ id: EventID) async throws(Refusal) {
    guard let order = book.order(job), let sealed = book.sealed(job, id),
      let form = EncryptedForm(of: sealed.event.content)
    else { return perform { $0.opened(job, id, plaintext: nil, at: $1) } }
    do throws(Refusal) {
      // The whole event: the signer opens for us what answers a job, and nothing else.
      let event = try JSONPayload.decode(JSONValue.self, from: sealed.event.json)
      let plain = try await cipher(
        form.decryption,
        SignerCipher(account: order.account.description, peer: sealed.provider.description, contentOf: event))
      perform { $0.opened(job, id, plaintext: plain, at: $1) }
    } catch {
      let isFinal = Self.finalRefusals.contains(error.code) || error.code == .failed
      guard isFinal else { throw error }
      perform { $0.opened(job, id, plaintext: nil, at: $1) }
    }
  }

  // MARK: Taking back

  /// Has a request deleted (kind 5) where it was published, and not sent any further.
  private func withdraw(_ job: JobID, _ request: EventID) async throws(Refusal) {
    guard let order = book.order(job), let published = book.request(job, request) else { return }
    do throws(Refusal) {
      let event = try await sign(
        published.cancellation(createdAt: now / 1_000), by: order.account, deleting: published.event)
      if !order.isLocal {
        // What relays do not have yet they need not be sent. It may never have been accepted for publishing.
        _ = try? await bus.request(
          PlanMethod.cancel, PlanPublication(id: request.description),
          ttlMilliseconds: Self.publishMilliseconds)
        if try await plan(event.json, relays: order.submit.relays) != nil {
          return perform { $0.withdrawn(job, request, at: $1) }
        }
      }
      _ = try await bus.request(StoreMethod.publish, SignedEvent(event.json), ttlMilliseconds: Self.publishMilliseconds)
    } catch {
      guard Self.finalRefusals.contains(error.code) else { throw error }
      log.warning("a request is not taken back", metadata: ["job": "\(job)", "why": "\(error.message)"])
    }
    perform { $0.withdrawn(job, request, at: $1) }
  }
}
