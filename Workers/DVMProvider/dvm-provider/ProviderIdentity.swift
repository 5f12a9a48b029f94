import Bus
import Contracts
import Cryptography
import EventLoop
import Frames
import Logging
import Nostr
import WorkerKit

/// Which key answers, and which accounts this machine has, according to the signer.
@EventLoopActor
final class ProviderIdentity {
  /// The accounts' keys.
  private(set) var accounts: Set<PublicKey> = []
  /// Called when the accounts have changed.
  var onAccounts: ((Set<PublicKey>) -> Void)?

  private let bus: BusConnection
  private let log: Logger
  private let account: String
  private var isSubscribed = false
  private var strangers: Set<PublicKey> = []
  private let strangerTimer = LoopTimer()

  private static let retryMilliseconds: UInt64 = 500
  private static let answerMilliseconds: UInt32 = 5_000
  /// How long a customer that the signer does not know counts as a stranger, before the provider asks the signer again.
  private static let strangerMilliseconds: UInt64 = 1_000
  /// Most questions to the signer about a customer, if it does not answer.
  private static let recogniseMaximum = 10

  /// - Parameter account: a name, `npub` or key; "" for the worker's own account.
  init(_ bus: BusConnection, _ log: Logger, account: String) {
    self.bus = bus
    self.log = log
    self.account = account
  }

  /// Asks the signer until it says which key answers; nil if the connection ends.
  func find() async -> PublicKey? {
    var lastWords = ""
    while bus.isOpen {
      do throws(Refusal) {
        if !isSubscribed {
          try await bus.subscribe(SignerTopic.changes)
          isSubscribed = true
        }
        let own = try await own()
        try await ask()
        return own
      } catch {
        if error.message != lastWords {
          log.notice("no account can answer yet", metadata: ["why": "\(error.message)"])
          bus.sendStatus(StatusReport(text: "cannot answer yet: \(error.message)"))
        }
        lastWords = error.message
        await EventLoopActor.sleep(milliseconds: Self.retryMilliseconds)
      }
    }
    return nil
  }

  private func own() async throws(Refusal) -> PublicKey {
    if account.isEmpty {
      return try key(
        of: try await bus.request(SignerMethod.own, NoArguments(), ttlMilliseconds: Self.answerMilliseconds))
    }
    let list = try await list()
    let wanted = try? PublicKey(spelled: account)  // `try?`: else it is a name.
    guard let found = list.first(where: { $0.name == account || $0.publicKey == wanted?.description }) else {
      throw Refusal(.noSuchAccount, "there is no account '\(account)' to answer as")
    }
    return try key(of: found)
  }

  private func key(of account: SignerAccount) throws(Refusal) -> PublicKey {
    guard let key = PublicKey(account.publicKey) else {
      throw Refusal(.badPayload, "the signer has told no public key of '\(account.name)'")
    }
    return key
  }

  private func list() async throws(Refusal) -> [SignerAccount] {
    try await bus.request(SignerMethod.accounts, NoArguments(), ttlMilliseconds: Self.answerMilliseconds).accounts
  }

  private func ask() async throws(Refusal) { adopt(try await list()) }

  private func adopt(_ list: [SignerAccount]) {
    let keys = Set(list.compactMap { PublicKey($0.publicKey) })
    guard keys != accounts else { return }
    accounts = keys
    onAccounts?(keys)
  }

  /// The signer reports that accounts have changed.
  func received(_ event: BusEvent) {
    do throws(Refusal) {
      if let changes = try event.value(of: SignerTopic.changes) { adopt(changes.accounts) }
    } catch {
      log.error("the signer's accounts cannot be read", metadata: ["why": "\(error.message)"])
    }
  }

  /// Makes sure that a new account is known before its request is taken for a stranger's.
  func recognise(_ customer: PublicKey) async {
    for _ in 0..<Self.recogniseMaximum {
      guard !accounts.contains(customer), !strangers.contains(customer), bus.isOpen else { return }
      do throws(Refusal) {
        try await ask()
        if accounts.contains(customer) { return }
        strangers.insert(customer)
        if !strangerTimer.isSet {
          strangerTimer.set(afterMilliseconds: Self.strangerMilliseconds) { [unowned self] in strangers = [] }
        }
      } catch {
        log.debug("the signer does not say who a customer is", metadata: ["why": "\(error.message)"])
        await EventLoopActor.sleep(milliseconds: Self.retryMilliseconds)
      }
    }
  }
}
