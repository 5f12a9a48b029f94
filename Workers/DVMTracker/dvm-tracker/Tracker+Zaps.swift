import Addresses
import Bus
import Contracts
import Cryptography
import EventLoop
import Frames
import JobTracking
import Nostr
import WorkerKit

// Zaps: the request is made and signed here, and given to the person or program that pays. The payer asks the
// provider's lnurl page for an invoice: this process has no network, and the page's address is from a stranger's
// profile.

extension Tracker {
  /// How long the planner may take to say where a request is.
  private static let plannerMilliseconds: UInt32 = 5_000
  /// Most relays that a zap's request names for the receipt.
  private static let receiptRelayMaximum = 8

  /// Has the request for a zap signed.
  func zap(_ job: JobID, _ target: EventID) async throws(Refusal) {
    defer { zaps.attemptEnded(for: job) }
    guard let terms = jobs.zapTerms(job, target) else { return }
    do throws(Refusal) {
      let relays = try await receiptRelays(terms)
      let lnurl = try await profile(of: terms.provider)?.lightningAddress.flatMap { LightningAddress($0) }?.lnurl
      let draft: UnsignedEvent
      do throws(ZapFault) {
        draft = try ZapRequest.template(
          for: terms.provider, by: terms.account, createdAt: now / 1_000, amountMillisatoshis: terms.amount,
          relays: relays, lnurl: lnurl, target: (terms.target, terms.targetKind))
      } catch { throw Refusal(.badRequest, "\(error)") }
      let event = try await signer.sign(draft, by: terms.account)
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
    if found.isEmpty, let list = try await store.newest(EventKind.relayList, of: terms.account) {
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
    let answer = try await bus.ask(PlanMethod.publications, wanted, ttlMilliseconds: Self.plannerMilliseconds)
    var found: [RelayURL] = []
    while let publication = try await answer.nextPart() { found += Self.urls(publication.targets.map(\.relay)) }
    return found
  }

  private static func urls(_ relays: [String]) -> [RelayURL] {
    // `try?`: a text that is no relay's address gets no receipt.
    relays.compactMap { try? RelayURL($0) }
  }

  private func profile(of provider: PublicKey) async throws(Refusal) -> Profile? {
    // `try?`: a profile that cannot be read says nothing.
    try await store.newest(EventKind.metadata, of: provider).flatMap { try? Profile($0) }
  }
}
