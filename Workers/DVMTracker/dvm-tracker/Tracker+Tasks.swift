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

// What other workers do for a job: the signer encrypts, signs and decrypts, the planner publishes, the store keeps.
//
// A refusal is of one of two kinds. One that another attempt would meet again ends the task, with its words. After any
// other (a worker that is away, an account that is locked, a disk that is full) the task is tried again, until one of
// the job's deadlines ends it.

extension Tracker {
  /// How long the planner and the store have.
  private static let publishMilliseconds: UInt32 = 30_000
  /// Refusals that another attempt would meet again.
  static let finalRefusals: Set<RefusalCode> = [
    .badRequest, .badPayload, .forbidden, .noSuchAccount, .invalidEvent, .denied, .superseded, .deletedEvent,
    .expiredEvent,
  ]

  /// Performs a task of the machine, and reports its outcome.
  func carryOut(_ task: JobTask) async {
    do throws(Refusal) {
      switch task {
      case .make(let job, let attempt): try await make(job, attempt)
      case .publish(let job, let request): try await publish(job, request)
      case .open(let job, let event): try await open(job, event)
      case .withdraw(let job, let request): try await withdraw(job, request)
      case .zap(let job, let target): try await zap(job, target)
      case .pay(let job, let intent):
        let outcome = await rail.pay(intent, zap: jobs.zap(job, for: intent))
        perform { $0.settled(job, intent, outcome, at: $1) }
      case .lookUp(let job, let intent):
        let outcome = await rail.lookUp(intent, zap: jobs.zap(job, for: intent))
        perform { $0.settled(job, intent, outcome, at: $1) }
      }
    } catch {
      guard !worker.isDraining else { return }
      log.debug("a step is tried again", metadata: ["job": "\(task.job)", "why": "\(error.message)"])
      switch task {
      case .make(let job, _): noteObstacle(job, "its request waits to be signed: \(error.message)")
      case .publish(let job, _): noteObstacle(job, "its request waits to be published: \(error.message)")
      case .open, .withdraw, .zap, .pay, .lookUp: break
      }
      let isLocked = jobs.order(task.job).map { accounts.hindrance(of: $0.account.description) != nil } ?? false
      perform { $0.failed(task, error.message, isLocked: isLocked, at: $1) }
    }
  }

  // MARK: Making

  private func make(_ job: JobID, _ attempt: Int) async throws(Refusal) {
    guard let order = jobs.order(job), let terms = jobs.terms(job, attempt: attempt) else { return }
    do throws(Refusal) {
      let event = try await requests.request(terms, order) { jobs.isRequest($0) }
      noteObstacle(job, nil)
      perform { $0.made(job, attempt: attempt, event: event, at: $1) }
    } catch {
      guard Self.finalRefusals.contains(error.code) else { throw error }
      perform { $0.undone(job, attempt: attempt, error.message, at: $1) }
    }
  }

  // MARK: Publishing

  private func publish(_ job: JobID, _ request: EventID) async throws(Refusal) {
    guard let json = jobs.requestJSON(job, request), let order = jobs.order(job) else { return }
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

  /// The first message about a relay.
  private static func words(_ publication: Publication) -> String? {
    publication.targets.lazy.compactMap { target in
      target.message.map { $0.contains(target.relay) ? $0 : "\(target.relay): \($0)" }
    }.first
  }

  /// Offers the store the requests of jobs under way that it should have: its file may be an earlier one, or a rescued
  /// one, and a provider of this machine would wait for ever.
  func offerRequests() {
    var left = Array(jobs.storedRequests.reversed())
    guard !left.isEmpty else { return }
    worker.offerAgain("requests for jobs", ceilingMilliseconds: Self.retryMillisecondsMaximum, log) {
      [self] () async throws(Refusal) in
      // A job that has ended meanwhile needs no answer.
      while let (job, request) = left.popLast() {
        if let json = jobs.requestJSON(job, request) { return json }
      }
      return nil
    }
  }

  // MARK: Opening

  private func open(_ job: JobID, _ id: EventID) async throws(Refusal) {
    guard let order = jobs.order(job), let sealed = jobs.sealed(job, id),
      let form = EncryptedForm(of: sealed.event.content)
    else { return perform { $0.opened(job, id, plaintext: nil, at: $1) } }
    do throws(Refusal) {
      // The whole event: for this worker the signer opens answers to jobs, and nothing else.
      let event = try JSONPayload.decode(JSONValue.self, from: sealed.event.json)
      let plain = try await signer.text(
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
    guard let order = jobs.order(job), let published = jobs.request(job, request) else { return }
    do throws(Refusal) {
      let event = try await signer.sign(
        published.cancellation(createdAt: now / 1_000), by: order.account, deleting: published.event)
      if !order.isLocal {
        // `try?`: relays that do not have it yet need not get it, and it may never have been accepted for publishing.
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
