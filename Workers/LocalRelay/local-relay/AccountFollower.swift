import Bus
import Contracts
import Cryptography
import EventLoop
import Frames
import Logging
import Storage

// The accounts as this relay knows them: the signer's last answer, kept on disk for times without the signer.
//
// The signer publishes each change before it answers the caller that made it, so a request is rarely needed. The relay
// still requests the accounts when the signer starts, every 30 s in case a message was lost, and when a client
// authenticates with an unknown key, which may belong to a new account.

/// Knows the accounts of the signer.
@EventLoopActor
final class AccountFollower {
  /// The accounts.
  private(set) var keys: Set<PublicKey>
  /// Called when the accounts have changed.
  var onChange: (@EventLoopActor () -> Void)?

  private let bus: BusConnection
  private let log: Logger
  private var known: KnownAccounts
  private let timer = LoopTimer()
  private var isSignerReady = false
  private var isConfirming = false
  private var waiters: [CheckedContinuation<Void, Never>] = []

  private static let lookMilliseconds: UInt64 = 30_000
  private static let answerMilliseconds: UInt32 = 5_000
  /// Longest wait of a client that authenticates.
  private static let confirmationMilliseconds: UInt32 = 1_000

  init(_ bus: BusConnection, directory: String, _ log: Logger) throws(StorageFault) {
    self.bus = bus
    self.log = log
    known = try KnownAccounts(directory: directory)
    if let reason = known.dropped {
      log.warning(
        "what was known of accounts was damaged, and is asked of the signer again", metadata: ["why": "\(reason)"])
    }
    keys = known.keys
  }

  /// Subscribes to the signer's changes, and requests the accounts once.
  func start() async {
    EventLoopActor.task { [bus, log] in
      // Without the subscription, the accounts are still requested at intervals.
      do throws(Refusal) { try await bus.subscribe(SignerTopic.changes) } catch {
        log.warning("the signer's changes are not heard", metadata: ["why": "\(error.message)"])
      }
    }
    await look()
  }

  /// Requests the accounts when a signer becomes ready.
  func registryChanged(_ registry: Registry) {
    let wasReady = isSignerReady
    isSignerReady = Self.hasSigner(registry)
    if isSignerReady, !wasReady { EventLoopActor.task { [self] in await look() } }
  }

  /// Takes an event of a topic.
  func received(_ event: BusEvent) {
    do throws(Refusal) {
      if let changes = try event.value(of: SignerTopic.changes) { adopt(changes.accounts) }
    } catch {
      log.error("the signer's accounts cannot be read", metadata: ["why": "\(error.message)"])
    }
  }

  /// Requests the accounts again, and returns when they are known or after a second. Calls during a request share the
  /// next one, because an older request may miss what their clients know.
  func confirm() async {
    guard Self.hasSigner(bus.registry) else { return }
    await withCheckedContinuation { continuation in
      waiters.append(continuation)
      guard !isConfirming else { return }
      isConfirming = true
      EventLoopActor.task { [self] in await confirmAll() }
    }
  }

  private func confirmAll() async {
    while !waiters.isEmpty {
      let due = waiters
      waiters = []
      await ask(within: Self.confirmationMilliseconds)
      for waiter in due { waiter.resume() }
    }
    isConfirming = false
  }

  /// Forgets an account, which is left: it is removed from the file, with every trace.
  func forget(_ wanted: AccountForget) async throws(Refusal) -> AccountForgotten {
    guard let key = PublicKey(wanted.account) else {
      throw Refusal(.badRequest, "'account' is no public key", outcome: .notStarted)
    }
    await ask(within: Self.answerMilliseconds)
    guard !keys.contains(key) else {
      throw Refusal(.badRequest, "the account is not left: clients would be let in for it", outcome: .notStarted)
    }
    do throws(StorageFault) {
      try await known.write(known.keys)
      try await known.scrub()
    } catch {
      throw Refusal(error.mayPass ? .unavailable : .failed, error.description, outcome: .notStarted)
    }
    return AccountForgotten([])
  }

  /// Closes the file, with the write-ahead log merged into it. No call may follow.
  func close() throws(StorageFault) { try known.close() }

  private func look() async {
    timer.set(afterMilliseconds: Self.lookMilliseconds) { [unowned self] in
      EventLoopActor.task { [self] in await look() }
    }
    isSignerReady = Self.hasSigner(bus.registry)
    if isSignerReady { await ask(within: Self.answerMilliseconds) }
  }

  private func ask(within milliseconds: UInt32) async {
    do throws(Refusal) {
      adopt(try await bus.request(SignerMethod.accounts, NoArguments(), ttlMilliseconds: milliseconds).accounts)
    } catch {
      log.debug("the signer does not say which accounts there are", metadata: ["why": "\(error.message)"])
    }
  }

  private func adopt(_ told: [SignerAccount]) {
    // A client that proves to be a left account is let in as a stranger is.
    keys = Set(told.present.compactMap { PublicKey($0.publicKey) })
    guard known.adopt(keys) else { return }
    onChange?()
    EventLoopActor.task { [known, log] in
      do throws(StorageFault) { try await known.write(known.keys) } catch {
        log.error("the accounts could not be written down", metadata: ["why": "\(error)"])
      }
    }
  }

  private static func hasSigner(_ registry: Registry) -> Bool {
    registry.members.contains { $0.role == Role.signer.name && $0.isReady }
  }
}
