import Bus
import Clocks
import Contracts
import Cryptography
import EventLoop
import Frames
import Logging
import Nostr
import PushDelivery
import WorkerKit

// Who may register with a Nostr key. Wakes are for events that come to this machine's store, so a key is of use here
// only if somebody on this machine has its events fetched: an account of the signer, or one that the operator names. A
// stranger's key would cost a device's row, and questions to relays, for nothing.

/// Whether a key may register.
enum NostrStanding: Sendable {
  case allowed
  case refused
  /// As many keys as are watched for have devices already.
  case full
  /// The signer does not say which accounts there are.
  case unknown
}

/// Says it.
@EventLoopActor
final class NostrOwners {
  private let worker: Worker
  private let log: Logger
  private let isOpen: Bool
  private let listed: Set<PublicKey>
  /// The signer's accounts, as they were when it was last asked; nil when it did not say.
  private var accounts: Set<PublicKey>?
  /// When it had answered, or had not.
  private var answeredAt: Instant?
  private var isAsking = false
  /// It has answered, or has not.
  private let answered = Signal(waiterMaximum: waiterMaximum)

  /// Registrations that wait for its answer.
  private static let waiterMaximum = 1_024
  /// How long the signer has for an answer.
  private static let signerMilliseconds: UInt32 = 3_000
  /// For how long its answer counts, and its silence: whoever comes with a thousand keys has it asked once.
  private static let answerMilliseconds: UInt64 = 1_000

  /// - Parameters:
  ///   - isOpen: whether every key may register.
  ///   - listed: those that may beside the accounts.
  init(_ worker: Worker, _ log: Logger, isOpen: Bool, listed: Set<PublicKey>) {
    self.worker = worker
    self.log = log
    self.isOpen = isOpen
    self.listed = listed
  }

  func standing(of key: PublicKey) async -> NostrStanding {
    if isOpen || listed.contains(key) { return .allowed }
    guard worker.bus.registry.members.contains(where: { $0.role == Role.signer.name }) else { return .refused }
    guard await isAnswered() else { return .unknown }
    return accounts.map { $0.contains(key) ? .allowed : .refused } ?? .unknown
  }

  /// Asks the signer, unless it has been asked just now; who comes while it is being asked waits for the same answer.
  /// Accounts come and go, and registrations are seldom.
  ///
  /// - Returns: false when it was waited for in vain.
  private func isAnswered() async -> Bool {
    let now = EventLoop.process.now
    if isAsking { return await answered.wait(until: now.advanced(milliseconds: UInt64(Self.signerMilliseconds))) }
    if let answeredAt, now.milliseconds(since: answeredAt) < Self.answerMilliseconds { return true }
    isAsking = true
    let found = await askSigner()
    (accounts, answeredAt, isAsking) = (found, EventLoop.process.now, false)
    answered.raise()
    return true
  }

  private func askSigner() async -> Set<PublicKey>? {
    do throws(Refusal) {
      let answer = try await worker.bus.request(
        SignerMethod.accounts, NoArguments(), ttlMilliseconds: Self.signerMilliseconds)
      return Set(answer.accounts.compactMap { PublicKey($0.publicKey) })
    } catch {
      log.debug("the signer does not say which accounts there are", metadata: ["why": "\(error.message)"])
      return nil
    }
  }
}
