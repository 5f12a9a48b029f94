import Bus
import Contracts
import Cryptography
import EventLoop
import Frames
import Logging
import Nostr
import PersonAccounts
import NostrContracts
import WorkerKit

/// The accounts of the signer, and the private entries of their lists, which the signer decrypts.
@EventLoopActor
final class ListOpener {
  private let bus: BusConnection
  private let log: Logger
  private var accounts: [SignerAccount]?
  /// What was decrypted, by the version of the list; forgotten when its account is locked.
  private var opened: [EventID: (owner: PublicKey, tags: [[String]])] = [:]
  /// Called when accounts were unlocked.
  var onUnlocked: (@EventLoopActor () -> Void)?

  /// How long the signer may take.
  private static let openMilliseconds: UInt32 = 2_000
  /// Lists whose entries are remembered; at the limit all are forgotten, and decrypted again when they are needed.
  private static let rememberedMaximum = 64
  /// The most entries of a list.
  private static let entryMaximum = 20_000

  init(_ bus: BusConnection, _ log: Logger) { (self.bus, self.log) = (bus, log) }

  // MARK: Accounts

  /// The signer has other accounts, or one was locked or unlocked.
  func accountsAre(_ accounts: [SignerAccount]) {
    let before = unlocked
    self.accounts = accounts
    let now = unlocked
    opened = opened.filter { now.contains("\($0.value.owner)") }
    if !now.subtracting(before).isEmpty { onUnlocked?() }
  }

  private var unlocked: Set<String> { Set((accounts ?? []).filter { $0.state == .unlocked }.map(\.publicKey)) }

  /// Accounts for which no relay is asked.
  var left: Set<PublicKey> {
    Set((accounts ?? []).filter { $0.isLeft == true }.compactMap { PublicKey($0.publicKey) })
  }

  /// Whether an account is left; no if the signer does not answer.
  func isLeft(_ account: PublicKey) async -> Bool {
    // `try?`: without the signer no account is known, and the feed waits for nothing.
    if accounts == nil { _ = try? await ask() }
    return left.contains(account)
  }

  private func ask() async throws(Refusal) -> [SignerAccount] {
    let told = try await bus.request(SignerMethod.accounts, NoArguments(), ttlMilliseconds: Self.openMilliseconds)
    accountsAre(told.accounts)
    return told.accounts
  }

  /// The key of the account that a caller means.
  ///
  /// - Parameter text: a name, 64 hexadecimal digits, `npub` or `nprofile`; nil: the account that is used, or the only
  ///   one that is not left.
  /// - Throws: `no-such-account`, `bad-request`.
  func key(of text: String?) async throws(Refusal) -> PublicKey {
    if let text {
      do throws(EntityFault) { return try PublicKey(spelled: text) } catch {
        // A secret is repeated nowhere. Anything else that is no key is a name.
        if case .secret = error { throw Refusal(.badRequest, "'account' is a secret key", outcome: .notStarted) }
      }
    }
    let people = try await ask().filter { !$0.isOfWorker }
    if let text {
      guard let key = people.first(where: { $0.name == text }).flatMap({ PublicKey($0.publicKey) }) else {
        throw Refusal(
          .noSuchAccount, "there is no account \(text.prefix(64)); a key is an npub or 64 hexadecimal digits",
          outcome: .notStarted)
      }
      return key
    }
    let used = people.first { $0.isUsed == true }
    let meant = used.map { [$0] } ?? people.present
    guard meant.count == 1, let key = meant.first.flatMap({ PublicKey($0.publicKey) }) else {
      throw Refusal(
        .noSuchAccount,
        AccountBook.whichOne(
          present: people.present.map(\.name), left: people.filter { $0.isLeft == true }.map(\.name)),
        outcome: .notStarted)
    }
    return key
  }

  // MARK: Entries

  /// The private entries of a list, or why they cannot be read.
  func open(_ list: Event) async -> (hidden: [[String]]?, FeedState.PrivateEntries) {
    if let known = opened[list.id] { return (known.tags, .read) }
    do throws(Refusal) {
      let told = if let accounts { accounts } else { try await ask() }
      guard let account = told.first(where: { $0.publicKey == "\(list.pubkey)" }) else { return (nil, .foreign) }
      // The signer would wait for its passphrase, and the feed waits for nothing.
      guard account.state == .unlocked else { return (nil, .locked) }
      let event = try JSONPayload.decode(JSONValue.self, from: list.json)
      let method = list.content.contains("?iv=") ? SignerMethod.nip04Decrypt : SignerMethod.nip44Decrypt
      let wanted = SignerCipher(account: "\(list.pubkey)", peer: "\(list.pubkey)", contentOf: event)
      let text = try await bus.request(method, wanted, ttlMilliseconds: Self.openMilliseconds).text
      let tags = try JSONPayload.decode([[String]].self, from: Array(text.utf8))
      if opened.count >= Self.rememberedMaximum { opened = [:] }
      let some = Array(tags.filter { !$0.isEmpty }.prefix(Self.entryMaximum))
      opened[list.id] = (list.pubkey, some)
      return (some, .read)
    } catch {
      log.notice(
        "the private entries of a list are not read",
        metadata: ["of": "\(list.pubkey)", "kind": "\(list.kind)", "why": "\(error.code.rawValue)"])
      return (nil, [.badPayload, .badRequest].contains(error.code) ? .unreadable : .locked)
    }
  }
}
