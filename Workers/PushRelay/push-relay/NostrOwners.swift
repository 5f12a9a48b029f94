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

// Which Nostr keys may register. Wakes are for events in this machine's store, so a key is useful here only if this
// machine fetches its events: an account of the signer, or a key that the operator names. A stranger's key would cost a
// row for its device, and requests to relays, for nothing.

/// Whether a key may register.
enum NostrStanding: Sendable {
  case allowed
  case refused
  /// The maximum of watched keys already have devices.
  case full
  /// The signer does not answer with its accounts.
  case unknown
}

/// Decides it.
@EventLoopActor
final class NostrOwners {
  private let worker: Worker
  private let log: Logger
  /// Accounts that are left: they keep their devices, and nothing is asked of relays for them.
  private(set) var left: Set<PublicKey> = []
  /// Called when other accounts are left.
  var onLeft: (@EventLoopActor () -> Void)?
  private let isOpen: Bool
  private let listed: Set<PublicKey>
  /// The signer's accounts in its last answer; nil if it did not answer.
  private var accounts: Set<PublicKey>?
  /// When it last answered, or failed to.
  private var answeredAt: Instant?
  private var isAsking = false
  /// Raised when it has answered, or failed to.
  private let answered = Signal(waiterMaximum: waiterMaximum)

  /// Most registrations that wait for its answer.
  private static let waiterMaximum = 1_024
  /// How long the signer may take for an answer.
  private static let signerMilliseconds: UInt32 = 3_000
  /// The longest wait before it is asked again for its changes.
  private static let retryMillisecondsMaximum: UInt64 = 10_000
  /// How long its answer, or its failure, is reused: a client that comes with a thousand keys causes one request.
  private static let answerMilliseconds: UInt64 = 1_000

  /// - Parameters:
  ///   - isOpen: whether every key may register.
  ///   - listed: the keys that may register in addition to the accounts.
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

  /// Asks the signer, unless it has just answered; calls during a request wait for the same answer. Accounts change,
  /// and registrations are rare.
  ///
  /// - Returns: false if the wait for that answer was in vain.
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

  /// Learns which accounts are left: now, and whenever that changes.
  func follow() {
    worker.bus.onEvent = { [unowned self] in received($0) }
    worker.persist("signer.changes", ceilingMilliseconds: Self.retryMillisecondsMaximum, log) {
      [self] () async throws(Refusal) in
      guard worker.bus.registry.members.contains(where: { $0.role == Role.signer.name }) else { return true }
      try await worker.bus.subscribe(SignerTopic.changes)
      _ = await isAnswered()
      return true
    }
  }

  private func received(_ event: BusEvent) {
    defer { event.acknowledge() }
    do throws(Refusal) {
      guard let changes = try event.value(of: SignerTopic.changes) else { return }
      adopt(changes.accounts)
      accounts = Set(changes.accounts.present.compactMap { PublicKey($0.publicKey) })
    } catch {
      log.error("the signer's accounts cannot be read", metadata: ["why": "\(error.message)"])
    }
  }

  private func adopt(_ told: [SignerAccount]) {
    let new = Set(told.filter { $0.isLeft == true }.compactMap { PublicKey($0.publicKey) })
    guard new != left else { return }
    left = new
    onLeft?()
  }

  private func askSigner() async -> Set<PublicKey>? {
    do throws(Refusal) {
      let answer = try await worker.bus.request(
        SignerMethod.accounts, NoArguments(), ttlMilliseconds: Self.signerMilliseconds)
      adopt(answer.accounts)
      return Set(answer.accounts.present.compactMap { PublicKey($0.publicKey) })
    } catch {
      log.debug("the signer does not say which accounts there are", metadata: ["why": "\(error.message)"])
      return nil
    }
  }
}
