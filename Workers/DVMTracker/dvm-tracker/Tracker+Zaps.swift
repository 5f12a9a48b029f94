import Addresses
import Bus
import Contracts
import Cryptography
import EventLoop
import Frames
import JobTracking
import Logging
import Nostr
import WorkerKit

// Zaps: the request is made and signed here, and handed to whoever pays. That somebody asks the provider's lnurl page
// for an invoice is for them: this process has no network, and what it would fetch there is an address out of a
// stranger's profile.

extension Tracker {
  /// How long the event store has to say where somebody reads, or is paid.
  private static let storeMilliseconds: UInt32 = 5_000
  /// How long whoever approves waits for the request to be signed; later it is told by `job.show`.
  private static let zapMilliseconds: UInt64 = 3_000
  /// Most relays that a receipt is asked for at.
  private static let receiptRelayMaximum = 8

  /// Has the request for a zap signed.
  func zap(_ job: JobID, _ target: EventID) async throws(Refusal) {
    defer { resumeZapWaiters(job) }
    guard let terms = book.zapTerms(job, target) else { return }
    do throws(Refusal) {
      let relays = try await receiptRelays(terms)
      let lnurl = try await profile(of: terms.provider)?.lightningAddress.flatMap { LightningAddress($0) }?.lnurl
      let draft: UnsignedEvent
      do throws(ZapFault) {
        draft = try ZapRequest.template(
          for: terms.provider, by: terms.account, createdAt: now / 1_000, amountMillisatoshis: terms.amount,
          relays: relays, lnurl: lnurl, target: (terms.target, terms.targetKind))
      } catch { throw Refusal(.badRequest, "\(error)") }
      let event = try await sign(draft, by: terms.account)
      perform { $0.zapMade(job, target, event: event, at: $1) }
    } catch {
      guard Self.finalRefusals.contains(error.code) || error.code == .noRelays else { throw error }
      perform { $0.unzapped(job, target, error.message, at: $1) }
    }
  }

  // MARK: What it says

  /// Where the receipt is to be published: where the job's answers are, else where its account reads, else where its
  /// request went.
  ///
  /// - Throws: `no-relays` when none is known; what store and planner refuse with.
  func receiptRelays(_ terms: JobTable.ZapTerms) async throws(Refusal) -> [RelayURL] {
    var found = Self.urls(terms.relays)
    if found.isEmpty, let list = try await newest(EventKind.relayList, of: terms.account) {
      // `try?`: a list that cannot be read names no relay.
      found = (try? RelayList(list))?.readRelays ?? []
    }
    if found.isEmpty { found = try await requestRelays(terms.request) }
    guard !found.isEmpty else {
      throw Refusal(
        .noRelays, "no relay is known to which the receipt of its zap could come: submit the job with --relay wss://…",
        outcome: .notStarted)
    }
    return Array(found.prefix(Self.receiptRelayMaximum))
  }

  private func requestRelays(_ request: EventID) async throws(Refusal) -> [RelayURL] {
    let wanted = PlanPublications(ids: [request.description], limit: 1)
    let answer = try await bus.ask(PlanMethod.publications, wanted, ttlMilliseconds: Self.storeMilliseconds)
    var found: [RelayURL] = []
    while let publication = try await answer.nextPart() { found += Self.urls(publication.targets.map(\.relay)) }
    return found
  }

  private static func urls(_ relays: [String]) -> [RelayURL] {
    // `try?`: what is no relay's address gets no receipt.
    relays.compactMap { try? RelayURL($0) }
  }

  private func profile(of provider: PublicKey) async throws(Refusal) -> Profile? {
    // `try?`: a profile that cannot be read says nothing.
    try await newest(EventKind.metadata, of: provider).flatMap { try? Profile($0) }
  }

  /// The newest event of a kind that the store has of somebody.
  private func newest(_ kind: UInt16, of author: PublicKey) async throws(Refusal) -> Event? {
    let filter = Filter(authors: [author], kinds: [kind], limit: 1)
    let answer = try await bus.ask(
      StoreMethod.query, StoreQuery(filters: [Self.value(filter)]),
      ttlMilliseconds: Self.storeMilliseconds)
    var found: Event?
    while let part = try await answer.nextPart() {
      // `try?`: the store has verified it; a form that cannot be read is as if it were not there.
      found = found ?? (try? Event(json: part.bytes))
    }
    return found
  }

  // MARK: Waiting

  /// Waits until the request for a zap that was approved is signed, or cannot be now.
  func awaitZap(_ job: JobID) async {
    guard book.isZapWanted(job) else { return }
    let timer = LoopTimer()
    await withCheckedContinuation { waiter in
      zapWaiters[job, default: []].append(waiter)
      timer.set(afterMilliseconds: Self.zapMilliseconds) { [unowned self] in resumeZapWaiters(job) }
    }
    timer.cancel()
  }

  private func resumeZapWaiters(_ job: JobID) {
    for waiter in zapWaiters.removeValue(forKey: job) ?? [] { waiter.resume() }
  }
}
