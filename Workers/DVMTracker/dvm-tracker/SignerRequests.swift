import Bus
import Clocks
import Contracts
import Cryptography
import EventLoop
import Frames
import Nostr

/// Asks the signer, and again in turn when it has had too many questions.
///
/// The signer limits the questions of each role, and refuses others with the time to wait. A burst of jobs is no fault
/// of theirs: a refused question goes to the end of a queue, and is asked again when its place comes.
@EventLoopActor
final class SignerRequests {
  private let bus: BusConnection
  /// The next free place in the queue; in the past while no question waits.
  private var nextPlace: Instant
  /// Between two places.
  private var spacing: UInt64 = 0

  /// Longest wait in the queue. A question that is refused after it stays refused.
  private static let queueMilliseconds: UInt64 = 20_000

  init(_ bus: BusConnection) {
    self.bus = bus
    nextPlace = EventLoop.process.now
  }

  /// Asks for something of the signer's.
  ///
  /// - Parameters:
  ///   - ttl: how long the signer has for it, once it takes the question.
  ///   - isAhead: whether it passes the queue: a submitter waits for the answer before anything can be done.
  /// - Throws: what the signer refuses with; `rate-limited` only after ``queueMilliseconds``.
  func ask<Arguments, Answer>(
    _ method: Method<Arguments, Answer>, _ arguments: Arguments, ttlMilliseconds ttl: UInt32, isAhead: Bool = false
  ) async throws(Refusal) -> Answer {
    let end = EventLoop.process.now.advanced(milliseconds: Self.queueMilliseconds)
    while true {
      if !isAhead { await awaitTurn() }
      do throws(Refusal) { return try await bus.request(method, arguments, ttlMilliseconds: ttl) } catch {
        guard error.code == .rateLimited, EventLoop.process.now < end else { throw error }
        spacing = UInt64(max(1, error.retryAfterMilliseconds ?? 50))
        if isAhead {
          await EventLoopActor.sleep(milliseconds: spacing)
          continue
        }
        nextPlace = max(nextPlace, EventLoop.process.now.advanced(milliseconds: spacing))
      }
    }
  }

  private func awaitTurn() async {
    let now = EventLoop.process.now
    guard nextPlace > now else { return }
    let wait = nextPlace.milliseconds(since: now)
    nextPlace = nextPlace.advanced(milliseconds: spacing)
    await EventLoopActor.sleep(milliseconds: wait)
  }

  // MARK: For a job

  /// How long the signer may take: it keeps a request while its account is locked.
  private static let answerMilliseconds: UInt32 = 20_000

  /// Has a text encrypted or decrypted.
  func text(
    _ method: Method<SignerCipher, SignerText>, _ wanted: SignerCipher
  ) async throws(Refusal) -> String {
    try await ask(method, wanted, ttlMilliseconds: Self.answerMilliseconds).text
  }

  /// Has an event signed; a deletion with the event that it deletes.
  func sign(
    _ draft: UnsignedEvent, by account: PublicKey, allowsSecrets: Bool = false, deleting deleted: Event? = nil
  ) async throws(Refusal) -> Event {
    let shown = try deleted.map { event throws(Refusal) in [try JSONPayload.decode(JSONValue.self, from: event.json)] }
    let wanted = SignerSign(
      account: account.description, event: RawJSON(draft.json), allowSecrets: allowsSecrets ? true : nil,
      deleted: shown)
    let signed = try await ask(SignerMethod.sign, wanted, ttlMilliseconds: Self.answerMilliseconds).event
    do throws(EventFault) { return try Event(json: signed.bytes) } catch {
      throw Refusal(.failed, "what was signed cannot be read: \(error)")
    }
  }
}
