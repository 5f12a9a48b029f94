internal import Bus
public import Contracts
public import Cryptography
public import EventLoop
public import Frames
public import Logging
internal import Nostr
public import WorkerKit

/// The accounts of persons, as the signer has them at present. For an account that is left nothing is done: it counts
/// as none here, and what the ledger keeps of it stays.
@EventLoopActor
public final class AccountBook {
  /// By key. Accounts of workers are left out.
  public private(set) var accounts: [PublicKey: SignerAccount] = [:]
  /// The names of accounts of persons that are left.
  private var left: [String] = []
  /// Whether the signer has answered since the start.
  public private(set) var isKnown = false
  /// Called after each change.
  public var onChange: [@EventLoopActor () -> Void] = []
  private let worker: Worker
  private let log: Logger
  private let timer = LoopTimer()

  /// How often the accounts are asked for, in case a change was missed.
  private static let askMilliseconds: UInt64 = 30_000
  /// The longest wait after a failure of the signer.
  private static let retryMillisecondsMaximum: UInt64 = 10_000
  /// How long the signer has for an answer.
  private static let answerMilliseconds: UInt32 = 5_000

  /// No accounts yet.
  ///
  /// - Parameters:
  ///   - worker: the worker that asks.
  ///   - log: its log.
  public init(_ worker: Worker, _ log: Logger) { (self.worker, self.log) = (worker, log) }

  /// Reads the accounts, now and at each change.
  public func start() {
    worker.persist("signer.changes", ceilingMilliseconds: Self.retryMillisecondsMaximum, log) {
      [self] () async throws(Refusal) in
      try await worker.bus.subscribe(SignerTopic.changes)
      return true
    }
    ask()
  }

  /// Asks the signer now.
  public func ask() {
    guard !worker.isDraining else { return }
    timer.set(afterMilliseconds: Self.askMilliseconds) { [unowned self] in ask() }
    EventLoopActor.task { [self] in
      // `try?`: what is known stays; the signer may return.
      try? await read()
    }
  }

  /// Asks no more.
  public func drain() { timer.cancel() }

  /// Asks the signer and waits, unless it has answered since the start.
  ///
  /// - Throws: what the signer, or the hub in its place, refuses with.
  public func whenKnown() async throws(Refusal) {
    if !isKnown { try await read() }
  }

  private func read() async throws(Refusal) {
    received(
      try await worker.bus.request(SignerMethod.accounts, NoArguments(), ttlMilliseconds: Self.answerMilliseconds)
        .accounts)
  }

  /// The signer says which accounts there are.
  public func received(_ told: [SignerAccount]) {
    var new: [PublicKey: SignerAccount] = [:]
    for account in told.present where !account.isOfWorker {
      if let key = PublicKey(account.publicKey) { new[key] = account }
    }
    left = told.filter { $0.isLeft == true && !$0.isOfWorker }.map(\.name)
    guard !isKnown || new != accounts else { return }
    (isKnown, accounts) = (true, new)
    for tell in onChange { tell() }
  }

  /// What to say where no account is named, and it is not clear which one is meant.
  public static func whichOne(present: [String], left: [String]) -> String {
    if !present.isEmpty { return "name the account: \(present.sorted().joined(separator: ", "))" }
    guard let name = left.min() else {
      return "there is no account yet; 'roost setup' makes one, takes one over, or reads along with one"
    }
    return left.count == 1
      ? "'\(name)' is left; 'roost account use \(name)' brings it back"
      : "all accounts are left; 'roost account use NAME' brings one back"
  }

  /// Whether an account can sign and decrypt now.
  public func isOpen(_ key: PublicKey) -> Bool { accounts[key]?.state == .unlocked }

  /// The account that a request names: by its name, its `npub` or its key; without a text the one that is used, or
  /// the only one.
  ///
  /// - Throws: `no-such-account`, with what to say instead.
  public func account(_ text: String?) async throws(Refusal) -> (key: PublicKey, account: SignerAccount) {
    // An account may be newer than what the signer has told.
    if !isKnown || named(text) == nil { try await read() }
    if let found = named(text) { return found }
    guard let text else {
      throw Refusal(
        .noSuchAccount, Self.whichOne(present: accounts.values.map(\.name), left: left), outcome: .notStarted)
    }
    guard !left.contains(text) else {
      throw Refusal(
        .noSuchAccount, "'\(text)' is left; 'roost account use \(text)' brings it back", outcome: .notStarted)
    }
    throw Refusal(
      .noSuchAccount, "there is no account '\(text)'; 'roost account list' shows them", outcome: .notStarted)
  }

  private func named(_ text: String?) -> (key: PublicKey, account: SignerAccount)? {
    guard let text else {
      if let used = accounts.first(where: { $0.value.isUsed == true }) { return (used.key, used.value) }
      return accounts.count == 1 ? accounts.first.map { ($0.key, $0.value) } : nil
    }
    return accounts.first { [$0.value.name, $0.value.npub, $0.value.publicKey].contains(text) }
      .map { ($0.key, $0.value) }
  }
}
