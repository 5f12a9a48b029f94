import Contracts
import Cryptography
import EventLoop
import Frames
import JobTracking
import LinuxSystem
import Nostr
import NostrContracts

/// Makes requests of jobs: encrypted where the job says so, dated so that no two are the same, and signed.
@EventLoopActor
final class RequestMaker {
  private let signer: SignerRequests
  private let store: StoreQueries
  /// Requests that are being signed.
  private var drafts: Set<EventID> = []

  init(_ signer: SignerRequests, _ store: StoreQueries) { (self.signer, self.store) = (signer, store) }

  /// The request of an attempt.
  ///
  /// - Parameter isTaken: whether an event is a request already.
  /// - Throws: what signer and store refuse with; `bad-request`; `full`, while other jobs ask the same.
  func request(
    _ terms: JobTerms, _ order: JobOrder, isTaken: (EventID) -> Bool
  ) async throws(Refusal) -> Event {
    let draft = try draft(terms, order, try await ciphertext(terms, order), isTaken)
    drafts.insert(draft.id)
    defer { drafts.remove(draft.id) }
    return try await signer.sign(draft, by: order.account, allowsSecrets: order.submit.allowSecrets == true)
  }

  /// The request, to be signed, dated so that no other one is the same (``RequestDate``).
  private func draft(
    _ terms: JobTerms, _ order: JobOrder, _ ciphertext: String?, _ isTaken: (EventID) -> Bool
  ) throws(Refusal) -> UnsignedEvent {
    for date in RequestDate.candidates(from: WallClock.seconds) {
      let draft: UnsignedEvent
      do throws(JobDraftFault) {
        draft = try terms.template(by: order.account, createdAt: date, ciphertext: ciphertext)
      } catch { throw Refusal(.badRequest, "\(error)") }
      if !drafts.contains(draft.id), !isTaken(draft.id) { return draft }
    }
    // Not in ``Tracker/finalRefusals``: it is tried again, until a second is free.
    throw Refusal(.full, "other jobs ask the same, one a second", outcome: .notStarted)
  }

  /// Inputs and parameters, encrypted for the one provider; nil when they are public.
  private func ciphertext(_ terms: JobTerms, _ order: JobOrder) async throws(Refusal) -> String? {
    guard terms.isEncrypted, let provider = terms.providers.first else { return nil }
    let plain: String
    do throws(JobDraftFault) { plain = try terms.secretTags() } catch { throw Refusal(.badRequest, "\(error)") }
    var form = EncryptedForm.nip04
    switch order.submit.encryption {
    case .nip44: form = .nip44
    case .auto:
      let announced = try await store.announcements(terms.kind, of: provider)
      if announced.first?.announcesNIP44 == true { form = .nip44 }
    case .nip04, .some(.none), nil: break
    }
    return try await signer.text(
      form.encryption, SignerCipher(account: order.account.description, peer: provider.description, text: plain))
  }
}
