import Bus
import Contracts
import Cryptography
import EventLoop
import Frames
import Logging
import Storage

// Who the accounts are, as this relay knows it: what the signer said last, on disk for while it is away.
//
// The signer tells of each change before it answers whoever has caused it, so mostly nothing is asked. It is asked all
// the same at its start and every half a minute, in case a change went missing, and when a stranger shows himself who
// might be an account that is a moment old.

/// Knows the accounts of the signer.
@EventLoopActor
final class AccountFollower {
  /// The accounts.
  private(set) var keys: Set<PublicKey>
  /// Called when they are others than before.
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
  /// Longest wait of somebody who shows himself.
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

  /// Begins to listen to the signer, and asks it once.
  func start() async {
    EventLoopActor.task { [bus, log] in
      // Without it the signer is still asked from time to time.
      do throws(Refusal) { try await bus.subscribe(SignerTopic.changes) } catch {
        log.warning("the signer's changes are not heard", metadata: ["why": "\(error.message)"])
      }
    }
    await look()
  }

  /// A signer that has just come is asked at once.
  func registryChanged(_ registry: Registry) {
    let wasReady = isSignerReady
    isSignerReady = Self.hasSigner(registry)
    if isSignerReady, !wasReady { EventLoopActor.task { [self] in await look() } }
  }

  /// An event of a topic came.
  func received(_ event: BusEvent) {
    do throws(Refusal) {
      if let changes = try event.value(of: SignerTopic.changes) { adopt(changes.accounts) }
    } catch {
      log.error("the signer's accounts cannot be read", metadata: ["why": "\(error.message)"])
    }
  }

  /// Asks again who the accounts are, and returns when that is known, or a second has passed. Those who come while it
  /// is asked share the next asking: what was asked before they came may be older than what they know.
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

  /// Puts all into the one file; nothing may be asked afterwards.
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
    keys = Set(told.compactMap { PublicKey($0.publicKey) })
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
